//! Files that change between the walk and the read, and extraction that fails: they cost themselves, and the run goes on.

use std::fs;

use cograph::extract;
use cograph::index::{IndexError, Phase, Progress, Run, build_graph};
use cograph::model::cancel::CancelToken;
use cograph::model::facts::{FileFacts, ImportId};
use cograph::model::graph::Graph;
use cograph::model::{LanguageId, SkipReason, Step, Verdict};

use super::setup::{Repository, file, limits, skipped, symbols};

const SOURCE: &[u8] = b"def before():\n    pass\n";

/// The graph of a repository in which `act` happens after the walk and before the first file is read.
fn graph_with(repository: &Repository, act: &(dyn Fn() + Sync)) -> Graph {
    let cancel = CancelToken::new();
    let progress = |progress: Progress| {
        if progress.phase == Phase::Extract && progress.done == 0 {
            act();
        }
    };
    build_graph(&repository.root(), &Run { progress: &progress, ..Run::quiet(limits(), &cancel) })
        .expect("the root can be read")
        .0
}

#[test]
fn a_file_that_vanishes_is_recorded() {
    let repository = Repository::with(&[("gone.py", SOURCE), ("sub/gone.py", SOURCE), ("stays.py", SOURCE)]);
    let graph = graph_with(&repository, &|| {
        fs::remove_file(repository.root().join("gone.py")).expect("removed");
        fs::remove_dir_all(repository.root().join("sub")).expect("removed");
    });
    assert_eq!(skipped(&graph, "gone.py"), SkipReason::Vanished);
    assert_eq!(skipped(&graph, "sub/gone.py"), SkipReason::Vanished);
    assert_eq!(symbols(&graph, "stays.py"), ["before"]);
}

#[test]
fn a_file_that_changes_is_taken_as_it_is_when_read() {
    let repository = Repository::with(&[("a.py", SOURCE)]);
    let after = b"def after():\n    pass\n# longer than it was\n";
    let graph = graph_with(&repository, &|| repository.write("a.py", after));
    assert_eq!(symbols(&graph, "a.py"), ["after"]);
    assert_eq!(file(&graph, "a.py").stamp.size, after.len() as u64, "the stamp is that of the bytes that were read");
}

#[test]
fn a_file_that_becomes_a_link_or_a_directory_is_not_followed() {
    let repository = Repository::with(&[("link.py", SOURCE), ("directory.py", SOURCE), ("sub/inner.py", SOURCE)]);
    let root = repository.root();
    fs::create_dir(repository.beside("outside")).expect("created");
    fs::write(repository.beside("outside/inner.py"), b"def secret():\n    pass\n").expect("written");
    let graph = graph_with(&repository, &|| {
        fs::remove_file(root.join("link.py")).expect("removed");
        std::os::unix::fs::symlink(repository.beside("outside/inner.py"), root.join("link.py")).expect("linked");
        fs::remove_file(root.join("directory.py")).expect("removed");
        fs::create_dir(root.join("directory.py")).expect("created");
        fs::remove_dir_all(root.join("sub")).expect("removed");
        std::os::unix::fs::symlink(repository.beside("outside"), root.join("sub")).expect("linked");
    });
    assert_eq!(skipped(&graph, "link.py"), SkipReason::Symlink);
    assert_eq!(skipped(&graph, "directory.py"), SkipReason::Special);
    assert!(file(&graph, "sub/inner.py").content.is_err(), "a directory that became a link leads out of the root");
}

#[test]
fn a_panic_in_extraction_costs_its_file() {
    fn extract_or_panic(language: LanguageId, path: &str, source: &[u8], limits: extract::Limits) -> FileFacts {
        assert!(!path.starts_with("bad"), "planted");
        extract::extract(language, path, source, limits)
    }
    let repository = Repository::with(&[("bad.py", SOURCE), ("good.py", SOURCE)]);
    let cancel = CancelToken::new();
    let run = Run { extract: extract_or_panic, ..Run::quiet(limits(), &cancel) };
    let (graph, _) = build_graph(&repository.root(), &run).expect("the run goes on");
    assert_eq!(skipped(&graph, "bad.py"), SkipReason::Quarantined);
    assert_eq!(symbols(&graph, "good.py"), ["before"]);
}

/// The graph of two files with the same text, where the facts of one of them are made to contradict themselves.
fn graph_of_nonsense(extract: fn(LanguageId, &str, &[u8], extract::Limits) -> FileFacts) -> Graph {
    let call: &[u8] = b"import os\n\ndef f():\n    g()\n\ndef g():\n    f()\n";
    let repository = Repository::with(&[("bad.py", call), ("good.py", call)]);
    let cancel = CancelToken::new();
    let run = Run { extract, ..Run::quiet(limits(), &cancel) };
    build_graph(&repository.root(), &run).expect("the run goes on").0
}

#[test]
fn facts_that_resolution_cannot_work_with_cost_its_sites() {
    fn of_no_import(language: LanguageId, path: &str, source: &[u8], limits: extract::Limits) -> FileFacts {
        let mut facts = extract::extract(language, path, source, limits);
        let bad = facts.sites.list_mut().iter_mut().filter(|site| site.import.is_some() && path.starts_with("bad"));
        bad.for_each(|site| site.import = ImportId(9_999));
        facts
    }
    let graph = graph_of_nonsense(of_no_import);
    let found = |place: usize| graph.resolutions[place].sites.iter().map(|site| (site.verdict, site.step)).collect::<Vec<_>>();
    assert_eq!(found(0), [(Verdict::Unresolved, Step::Fault); 3], "bad.py");
    assert_eq!(found(1)[1..], [(Verdict::Resolved, Step::Lexical); 2], "good.py");
}

#[test]
fn facts_that_no_tables_can_be_made_of_cost_its_file() {
    fn without_expressions(language: LanguageId, path: &str, source: &[u8], limits: extract::Limits) -> FileFacts {
        let mut facts = extract::extract(language, path, source, limits);
        if path.starts_with("bad") {
            facts.names.clear();
            facts.scopes.clear();
            facts.exprs.clear();
        }
        facts
    }
    let graph = graph_of_nonsense(without_expressions);
    assert_eq!(skipped(&graph, "bad.py"), SkipReason::Quarantined);
    assert_eq!(symbols(&graph, "good.py"), ["f", "g"]);
    let good = &graph.resolutions[1].sites;
    assert!(good.len() == 3 && good[1..].iter().all(|site| site.verdict == Verdict::Resolved), "{good:?}");
}

#[test]
fn a_cancelled_run_ends_with_that_error() {
    let repository = Repository::with(&[("a.py", SOURCE), ("b.py", SOURCE)]);
    for phase in [Phase::Walk, Phase::Extract, Phase::Resolve] {
        let cancel = CancelToken::new();
        let progress = |progress: Progress| {
            if progress.phase == phase {
                cancel.cancel();
            }
        };
        let ended = build_graph(&repository.root(), &Run { progress: &progress, ..Run::quiet(limits(), &cancel) });
        assert!(matches!(ended, Err(IndexError::Cancelled { .. })), "{phase:?}: {ended:?}");
    }
}
