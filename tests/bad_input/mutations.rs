//! Sources that were cut, doubled and scrambled: whatever they are, extraction and resolution take
//! them without a panic. The mutations are drawn from a fixed seed; each is small enough that most
//! of the file stays what it was.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cograph::index::{Run, retry_slow};
use cograph::model::cancel::CancelToken;
use cograph::model::{SkipReason, Step};

use super::setup::{Random, Repository, limits};
use crate::incremental::assert_names_what_exists;

/// A range of some bytes.
fn range(random: &mut Random, length: usize) -> std::ops::Range<usize> {
    let start = random.below(length);
    start..(start + 1 + random.below(60)).min(length)
}

/// Every file of every fixture: its path and text.
fn sources() -> Vec<(String, Vec<u8>)> {
    let mut fixtures = Vec::new();
    let mut pending = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("grammars")];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).expect("the project is readable") {
            let path: PathBuf = entry.expect("the project is readable").path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "txt") {
                fixtures.push(path);
            }
        }
    }
    fixtures.sort();
    let mut sources = Vec::new();
    for (number, fixture) in fixtures.iter().enumerate() {
        let text = fs::read_to_string(fixture).expect("fixtures are UTF-8");
        for part in text.split("//- ").skip(1) {
            let (path, body) = part.split_once('\n').expect("a path is a line");
            let path = path
                .split_whitespace()
                .next()
                .expect("a fixture names its files")
                .trim_start_matches('/');
            sources.push((format!("{number}/{path}"), body.as_bytes().to_vec()));
        }
    }
    sources
}

fn mutate(source: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = source.to_vec();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let range = range(random, bytes.len());
        match random.below(6) {
            0 => drop(bytes.drain(range)),
            1 => bytes.truncate(range.start),
            2 => {
                let copy = bytes[range].to_vec();
                let at = random.below(bytes.len());
                bytes.splice(at..at, copy);
            }
            3 => bytes[range].reverse(),
            4 => {
                const SIGNS: &[u8] = b"(){}[]<>:;,.=\"'`#*&@\n \t\\";
                bytes.insert(range.start, SIGNS[random.below(SIGNS.len())]);
            }
            _ => bytes[range.start] ^= 1 << random.below(8),
        }
    }
    // A zero byte would make it binary, and nothing would be tried.
    bytes.retain(|&byte| byte != 0);
    bytes
}

#[test]
fn scrambled_sources_cost_no_file() {
    const ROUNDS: u64 = 12;
    let sources = sources();
    assert!(
        sources.len() >= cograph::grammar::all().len(),
        "there are fixtures: {}",
        sources.len()
    );
    for round in 1..=ROUNDS {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ round);
        let repository = Repository::new();
        for (path, source) in &sources {
            repository.write(path, &mutate(source, &mut random));
        }
        drop(repository.store());
        let (cancel, patience) = (CancelToken::new(), Duration::from_secs(60));
        // What a full build defers is not in its graph.
        let run = Run::quiet(limits(), &cancel);
        retry_slow(&repository.location(), patience, &run).expect("the run goes on");
        let store = repository.store();
        let mut indexed = 0;
        for file in store.files().expect("the store can be read") {
            let text = || {
                fs::read(repository.root().join(file.path.as_str()))
                    .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            };
            let sites = store.sites_of(&file).expect("the store can be read");
            assert!(
                file.skipped != Some(SkipReason::Quarantined),
                "round {round}, {}:\n{:?}",
                file.path,
                text()
            );
            assert!(
                sites.iter().all(|site| site.step != Step::Fault),
                "round {round}, {}:\n{:?}",
                file.path,
                text()
            );
            indexed += usize::from(file.skipped.is_none());
        }
        assert!(
            indexed * 2 > sources.len(),
            "most of them are indexed: {indexed} of {}",
            sources.len()
        );
        if round == ROUNDS {
            // Names and signatures that are like nothing else come out of a store as they went in.
            assert_names_what_exists(&repository.location());
        }
    }
}
