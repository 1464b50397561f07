//! Random damage to what is read from a cache: packed facts, pages of a store, the segment.
//! Whatever the bytes are, reading them ends promptly with a value or an error; what has a checksum
//! is made anew and says what a fresh index says.
//!
//! `PROPTEST_CASES=10000` runs longer. What has failed once is kept in `damage.seeds` and tried
//! first.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cograph::extract::{Limits as ExtractLimits, extract};
use cograph::grammar;
use cograph::model::RepoPath;
use cograph::model::cancel::CancelToken;
use cograph::model::packed::{Reader, Writer, facts};
use cograph::store::{Location, Store};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::FileFailurePersistence;

use super::projects::{cpu_time, peak};
use super::setup::Repository;
use crate::incremental::dump;

/// Maximum CPU time of one read, and maximum memory of the process.
const TIME: Duration = Duration::from_secs(1);
const MEMORY_KIB: usize = 256 << 10;

const SOURCE: &str = "import os\n\nclass Base:\n    \"\"\"What others extend.\"\"\"\n    \
                      def run(self, count: int = 3) -> 'Base':\n        return self\n\n\
                      class Other(Base):\n    kind = 'other'\n    def run(self, count=4):\n        \
                      for n in range(count):\n            super().run(n).run()\n        \
                      return os.path.join('a', self.kind)\n\n\
                      def main(*rest, **named):\n    made = [Other() for _ in rest]\n    \
                      return made[0].run() if made else Base().run(1)\n";

/// Bytes that take the place of others, further bytes, or the end of all that comes after.
#[derive(Clone, Debug)]
enum Damage {
    Put(Index, Vec<u8>),
    Insert(Index, Vec<u8>),
    Cut(Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let bytes = || {
        proptest::collection::vec(
            prop_oneof![Just(0_u8), Just(0xff), Just(0x80), any::<u8>()],
            1..24,
        )
    };
    prop_oneof![
        6 => (any::<Index>(), bytes()).prop_map(|(at, bytes)| Damage::Put(at, bytes)),
        2 => (any::<Index>(), bytes()).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        1 => any::<Index>().prop_map(Damage::Cut),
    ]
}

fn damaged(bytes: &[u8], changes: &[Damage]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for change in changes {
        match change {
            Damage::Put(at, new) => {
                let at = at.index(bytes.len().max(1));
                let end = (at + new.len()).min(bytes.len());
                bytes.splice(at.min(end)..end, new.iter().copied());
            }
            Damage::Insert(at, new) => {
                let at = at.index(bytes.len() + 1);
                bytes.splice(at..at, new.iter().copied());
            }
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len() + 1)),
        }
    }
    bytes
}

fn settings(share: u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    let failure_persistence =
        Some(Box::new(FileFailurePersistence::Direct("tests/bad_input/damage.seeds")) as Box<_>);
    ProptestConfig {
        cases: usual.cases.div_ceil(share),
        failure_persistence,
        max_shrink_iters: 200,
        ..usual
    }
}

/// The facts of a file as they travel and are kept: words, and bytes in their terms.
fn packed() -> (Vec<u8>, Vec<u8>) {
    let python = grammar::detect(&RepoPath::new("a.py").expect("a path"), SOURCE.as_bytes(), &[])
        .expect("a language with this ending");
    let limits = ExtractLimits::default();
    let mut writer = Writer::default();
    let facts = extract(python, "a.py", SOURCE.as_bytes(), limits).expect("it is small");
    facts::write(&mut writer, &facts);
    writer.into_parts()
}

/// A repository whose index has been made, and the files of its cache with an ending.
fn indexed() -> (Repository, Vec<PathBuf>) {
    let repository = Repository::new();
    repository.write("a.py", SOURCE.as_bytes());
    for number in 0..40 {
        repository.write(
            &format!("m{number}.py"),
            format!("from a import main\n\ndef f{number}():\n    return main({number})\n")
                .as_bytes(),
        );
    }
    drop(repository.store());
    let location = repository.location();
    let store = Store::open_newest(&location).expect("it was made").path().to_owned();
    let mut segment = store.clone().into_os_string();
    segment.push("-facts");
    (repository, vec![store, PathBuf::from(segment)])
}

/// What a fresh index of a repository says.
fn fresh(repository: &Repository) -> String {
    let other = Repository::new();
    for entry in fs::read_dir(repository.root()).expect("it exists") {
        let entry = entry.expect("it can be listed");
        fs::copy(entry.path(), other.root().join(entry.file_name())).expect("it can be copied");
    }
    drop(other.store());
    said(&other.location())
}

fn said(location: &Location) -> String {
    dump::of(Store::open_newest(location).expect("there is a store").path())
}

proptest! {
    #![proptest_config(settings(1))]

    #[test]
    fn packed_facts_of_any_bytes_are_read_promptly(
        words in proptest::collection::vec(damage(), 0..3),
        bytes in proptest::collection::vec(damage(), 0..6)
    ) {
        let (sound_words, sound) = packed();
        let (word_bytes, bytes) = (damaged(&sound_words, &words), damaged(&sound, &bytes));
        let before = cpu_time();
        if let Some((words, _)) = Reader::words(&word_bytes) {
            let whole = facts::read(&mut Reader::new(&bytes, &words));
            let part = facts::read_stored(&mut Reader::new(&bytes, &words));
            if word_bytes == sound_words && bytes == sound {
                prop_assert!(whole.is_some() && part.is_some(), "what was written is read");
            }
        }
        let took = cpu_time() - before;
        prop_assert!(took < TIME, "{took:?}");
        prop_assert!(peak() < MEMORY_KIB, "{} KiB", peak());
    }
}

proptest! {
    #![proptest_config(settings(4))]

    #[test]
    fn a_damaged_store_costs_an_answer_and_nothing_else(
        changes in proptest::collection::vec(damage(), 1..5)
    ) {
        let (repository, files) = indexed();
        let bytes = damaged(&fs::read(&files[0]).expect("it exists"), &changes);
        fs::write(&files[0], &bytes).expect("it is ours");
        let before = cpu_time();
        // Pages have no checksum: what is read may be an error or another value, and never a crash.
        if let Ok(store) = Store::open_newest(&repository.location()).map(Arc::new) {
            let _ = store.verify(&CancelToken::new());
            if let Ok(snapshot) = store.snapshot(&CancelToken::new()) {
                for (_, path) in snapshot.paths().unwrap_or_default() {
                    if let Ok(Some(file)) = snapshot.file_at(&path) {
                        let _ = (snapshot.symbols_of(&file), snapshot.sites_of(&file));
                    }
                }
            }
        }
        let took = cpu_time() - before;
        prop_assert!(took < TIME, "{took:?}");
        prop_assert!(peak() < MEMORY_KIB, "{} KiB", peak());
    }
}

proptest! {
    #![proptest_config(settings(16))]

    #[test]
    fn a_damaged_segment_is_as_none(changes in proptest::collection::vec(damage(), 1..5)) {
        let (repository, files) = indexed();
        let bytes = damaged(&fs::read(&files[1]).expect("it exists"), &changes);
        fs::write(&files[1], &bytes).expect("it is ours");
        repository.write("a.py", format!("{SOURCE}\ndef more():\n    return main()\n").as_bytes());
        let before = cpu_time();
        drop(repository.store());
        let took = cpu_time() - before;
        prop_assert!(took < 2 * TIME, "{took:?}");
        prop_assert!(peak() < MEMORY_KIB, "{} KiB", peak());
        prop_assert_eq!(said(&repository.location()), fresh(&repository));
    }
}
