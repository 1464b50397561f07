//! A graph is the same however it is built, and says of every file what became of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cograph::config::Limits;
use cograph::index::{Phase, Progress, Run, build_graph};
use cograph::model::cancel::CancelToken;
use cograph::model::graph::Graph;
use std::sync::Mutex;

/// This project: it has files in every language that it knows.
fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn graph(root: &Path, threads: usize) -> Graph {
    let limits = Limits { threads, ..Limits::default() };
    build_graph(root, &Run::quiet(limits, &CancelToken::new())).expect("the root can be read").0
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let serial = graph(&project(), 1);
    assert!(serial.files.len() > 50, "the project is indexed, not an empty directory");
    for threads in [2, 5] {
        let parallel = graph(&project(), threads);
        for (position, (one, other)) in serial.files.iter().zip(&parallel.files).enumerate() {
            assert!(one == other, "{} with {threads} threads", one.path);
            assert!(serial.resolutions[position] == parallel.resolutions[position], "{} with {threads} threads", one.path);
        }
        assert_eq!(serial.files.len(), parallel.files.len());
    }
}

#[test]
fn files_are_sorted_and_every_site_has_an_answer() {
    let graph = graph(&project(), 2);
    assert!(graph.files.is_sorted_by(|one, next| one.path < next.path), "sorted, and no path twice");
    assert_eq!(graph.files.len(), graph.resolutions.len());
    for (file, resolution) in graph.files.iter().zip(&graph.resolutions) {
        let (sites, imports) = file.content.as_ref().map_or((0, 0), |facts| (facts.sites.len(), facts.imports.len()));
        assert_eq!((resolution.sites.len(), resolution.imports.len()), (sites, imports), "{}", file.path);
    }
}

#[test]
fn progress_names_every_phase_and_ends_with_all_files() {
    let seen: Mutex<Vec<Progress>> = Mutex::default();
    let cancel = CancelToken::new();
    let note = |progress| seen.lock().expect("nobody panics").push(progress);
    let limits = Limits { threads: 2, ..Limits::default() };
    let (graph, timings) =
        build_graph(&project(), &Run { progress: &note, ..Run::quiet(limits, &cancel) }).expect("the root can be read");
    let seen = seen.into_inner().expect("nobody panics");
    let files = graph.files.len() as u64;
    for phase in [Phase::Extract, Phase::Resolve] {
        let of_phase: Vec<_> = seen.iter().filter(|progress| progress.phase == phase).collect();
        assert_eq!(of_phase.iter().map(|progress| progress.done).min(), Some(0), "{phase:?} begins");
        assert!(of_phase.iter().any(|progress| progress.done == files), "{phase:?} ends");
        assert!(of_phase.len() <= 500, "{phase:?}: {} reports for {files} files", of_phase.len());
        assert_eq!(of_phase.iter().map(|progress| progress.total).collect::<BTreeSet<_>>(), BTreeSet::from([files]));
    }
    let phases: Vec<Phase> = timings.iter().map(|timing| timing.phase).collect();
    assert_eq!(phases, [Phase::Walk, Phase::Extract, Phase::Tables, Phase::Resolve]);
    assert!(timings.iter().any(|timing| !timing.cpu.is_zero()), "something was computed: {timings:?}");
}
