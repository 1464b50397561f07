//! Files that change between the walk and the read, and extraction that fails: they cost
//! themselves, and the run goes on.

use std::fs;

use cograph::extract::{self, Exhausted};
use cograph::index::{IndexError, Phase, Progress, Run};
use cograph::model::cancel::CancelToken;
use cograph::model::facts::{FileFacts, ImportId};
use cograph::model::{LanguageId, SiteKind, SkipReason, Step, Verdict};
use cograph::store::{Snapshot, Store};

use super::setup::{Repository, file, limits, skipped, symbols};

const SOURCE: &[u8] = b"def before():\n    pass\n";

/// The store of a repository in which `act` happens after the walk and before the first file is
/// read.
fn store_with(repository: &Repository, act: &(dyn Fn() + Sync)) -> Snapshot {
    let cancel = CancelToken::new();
    let progress = |progress: Progress| {
        if progress.phase == Phase::Extract && progress.done == 0 {
            act();
        }
    };
    repository
        .indexed(&Run { progress: &progress, ..Run::quiet(limits(), &cancel) })
        .expect("the root can be read")
}

#[test]
fn a_file_that_vanishes_is_recorded() {
    let repository =
        Repository::with(&[("gone.py", SOURCE), ("sub/gone.py", SOURCE), ("stays.py", SOURCE)]);
    let store = store_with(&repository, &|| {
        fs::remove_file(repository.root().join("gone.py")).expect("removed");
        fs::remove_dir_all(repository.root().join("sub")).expect("removed");
    });
    assert_eq!(skipped(&store, "gone.py"), SkipReason::Vanished);
    assert_eq!(skipped(&store, "sub/gone.py"), SkipReason::Vanished);
    assert_eq!(symbols(&store, "stays.py"), ["before"]);
}

#[test]
fn a_file_that_changes_is_taken_as_it_is_when_read() {
    let repository = Repository::with(&[("a.py", SOURCE)]);
    let after = b"def after():\n    pass\n# longer than it was\n";
    let store = store_with(&repository, &|| repository.write("a.py", after));
    assert_eq!(symbols(&store, "a.py"), ["after"]);
    assert_eq!(
        file(&store, "a.py").size,
        after.len() as u64,
        "the stamp is that of the bytes that were read"
    );
}

#[test]
fn a_file_that_becomes_a_link_or_a_directory_is_not_followed() {
    let repository = Repository::with(&[
        ("link.py", SOURCE),
        ("directory.py", SOURCE),
        ("sub/inner.py", SOURCE),
    ]);
    let root = repository.root();
    fs::create_dir(repository.sibling("outside")).expect("created");
    fs::write(repository.sibling("outside/inner.py"), b"def secret():\n    pass\n")
        .expect("written");
    let store = store_with(&repository, &|| {
        fs::remove_file(root.join("link.py")).expect("removed");
        std::os::unix::fs::symlink(repository.sibling("outside/inner.py"), root.join("link.py"))
            .expect("linked");
        fs::remove_file(root.join("directory.py")).expect("removed");
        fs::create_dir(root.join("directory.py")).expect("created");
        fs::remove_dir_all(root.join("sub")).expect("removed");
        std::os::unix::fs::symlink(repository.sibling("outside"), root.join("sub"))
            .expect("linked");
    });
    assert_eq!(skipped(&store, "link.py"), SkipReason::Symlink);
    assert_eq!(skipped(&store, "directory.py"), SkipReason::Special);
    assert!(
        file(&store, "sub/inner.py").skipped.is_some(),
        "a directory that became a link leads out of the root"
    );
}

#[test]
fn a_panic_in_extraction_costs_its_file() {
    fn extract_or_panic(
        language: LanguageId,
        path: &str,
        source: &[u8],
        limits: extract::Limits,
    ) -> Result<FileFacts, Exhausted> {
        assert!(!path.starts_with("bad"), "planted");
        extract::extract(language, path, source, limits)
    }
    let repository = Repository::with(&[("bad.py", SOURCE), ("good.py", SOURCE)]);
    let cancel = CancelToken::new();
    let run = Run { extract: extract_or_panic, ..Run::quiet(limits(), &cancel) };
    let store = repository.indexed(&run).expect("the run goes on");
    assert_eq!(skipped(&store, "bad.py"), SkipReason::Quarantined);
    assert_eq!(symbols(&store, "good.py"), ["before"]);
}

/// Extracts, and makes facts of `bad.py` contradict themselves.
fn spoiled(
    language: LanguageId,
    path: &str,
    source: &[u8],
    limits: extract::Limits,
    spoil: fn(&mut FileFacts),
) -> Result<FileFacts, Exhausted> {
    let mut facts = extract::extract(language, path, source, limits)?;
    if path.starts_with("bad") {
        spoil(&mut facts);
    }
    Ok(facts)
}

const CALLS: &[u8] = b"def f():\n    g()\n\ndef g():\n    f()\n";

#[test]
fn facts_that_cannot_be_arranged_cost_their_file() {
    fn extract_nameless(
        language: LanguageId,
        path: &str,
        source: &[u8],
        limits: extract::Limits,
    ) -> Result<FileFacts, Exhausted> {
        spoiled(language, path, source, limits, |facts| facts.names.clear())
    }
    let repository = Repository::with(&[("bad.py", CALLS), ("good.py", CALLS)]);
    let cancel = CancelToken::new();
    let store = repository
        .indexed(&Run { extract: extract_nameless, ..Run::quiet(limits(), &cancel) })
        .expect("the run goes on");
    assert_eq!(skipped(&store, "bad.py"), SkipReason::Quarantined);
    let good = store.sites_of(&file(&store, "good.py")).expect("the store can be read");
    assert!(
        good.len() == 2 && good.iter().all(|site| site.verdict == Verdict::Resolved),
        "{good:?}"
    );
}

#[test]
fn facts_that_resolution_cannot_work_with_cost_its_file() {
    /// References of an import that does not exist.
    fn extract_nonsense(
        language: LanguageId,
        path: &str,
        source: &[u8],
        limits: extract::Limits,
    ) -> Result<FileFacts, Exhausted> {
        spoiled(language, path, source, limits, |facts| {
            for site in facts.sites.list_mut() {
                (site.kind, site.import) = (SiteKind::Import, ImportId(9_999));
            }
        })
    }
    let repository = Repository::with(&[("bad.py", CALLS), ("good.py", CALLS)]);
    let cancel = CancelToken::new();
    let run = Run { extract: extract_nonsense, ..Run::quiet(limits(), &cancel) };
    let store = repository.indexed(&run).expect("the run goes on");
    let sites = |path: &str| store.sites_of(&file(&store, path)).expect("the store can be read");
    let (bad, good) = (sites("bad.py"), sites("good.py"));
    assert_eq!((bad.len(), good.len()), (2, 2));
    assert!(
        bad.iter().all(|site| site.verdict == Verdict::Unresolved && site.step == Step::Fault),
        "bad.py: {bad:?}"
    );
    assert!(good.iter().all(|site| site.verdict == Verdict::Resolved), "good.py: {good:?}");
}

#[test]
fn a_cancelled_run_ends_with_that_error() {
    let repository = Repository::with(&[("a.py", SOURCE), ("b.py", SOURCE)]);
    for phase in [Phase::Walk, Phase::Extract, Phase::Tables, Phase::Resolve] {
        let cancel = CancelToken::new();
        let progress = |progress: Progress| {
            if progress.phase == phase {
                cancel.cancel();
            }
        };
        let ended =
            repository.indexed(&Run { progress: &progress, ..Run::quiet(limits(), &cancel) });
        let error = ended.err().unwrap_or_else(|| panic!("{phase:?}: it goes on"));
        assert!(matches!(error, IndexError::Cancelled { .. }), "{phase:?}: {error}");
        assert!(
            Store::open_newest(&repository.location()).is_err(),
            "{phase:?}: there is no store"
        );
    }
}
