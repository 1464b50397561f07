//! The store: what is published is what is read, whole or not at all, whatever else lies in the
//! directory.

mod damage;
mod large;
mod pool;

use std::fs;
use std::time::Duration;

use cograph::model::cancel::CancelToken;
use cograph::model::facts::NameId;
use cograph::model::{SiteKind, SkipReason, Step, SymbolKind, Verdict};
use cograph::store::{BuildInfo, Location, SiteTarget, Store, StoreErrorKind, publish};

use crate::sample::{Answer, Cache, GraphBuilder, Options, functions, info, sample, stored_sample};

#[test]
fn what_was_published_is_read() {
    let (_cache, snapshot, _) = stored_sample();
    let (graph, _) = sample();
    let meta = snapshot.meta();
    assert_eq!((meta.files, meta.identity.generation, meta.fingerprint), (12, 1, u64::MAX - 5));
    assert_eq!(meta.root, std::path::Path::new("/somewhere/sample"));
    for (row, record) in snapshot.files().expect("files").iter().zip(&graph.files) {
        assert_eq!(
            (&row.path, row.size, row.hash),
            (&record.path, record.stamp.size, record.stamp.hash)
        );
        assert_eq!((row.modified_ns, row.stamp()), (-1, record.stamp));
        let Ok(facts) = &record.content else {
            assert!(matches!(row.skipped, Some(SkipReason::NoLanguage | SkipReason::Binary)));
            continue;
        };
        assert_eq!((row.skipped, row.lines, row.test), (None, facts.lines, facts.test));
        let symbols = snapshot.symbols_of(row).expect("symbols");
        assert_eq!(symbols.len(), facts.symbols.len());
        for (symbol, (wanted, details)) in
            symbols.iter().zip(facts.symbols.iter().zip(&facts.details))
        {
            assert_eq!(*symbol.name_text, *facts.names[wanted.name.0 as usize]);
            assert_eq!(
                (symbol.kind, symbol.extent, symbol.name_at),
                (wanted.kind, wanted.extent(details), details.name_at)
            );
            assert_eq!((symbol.arity, symbol.flags), (wanted.arity, wanted.flags));
            assert_eq!(
                symbol.container.map(|key| key.0 - row.first_symbol),
                wanted.container.get().map(|at| at as u32)
            );
        }
    }
}

#[test]
fn every_site_is_kept_but_those_of_local_values() {
    let (_cache, snapshot, _) = stored_sample();
    let service = snapshot.file_at("app/service.x").expect("a read").expect("a file");
    let sites = snapshot.sites_of(&service).expect("sites");
    let places: Vec<_> =
        sites.iter().map(|site| (site.at.line, site.at.column, site.kind, site.verdict)).collect();
    assert_eq!(
        places,
        [
            (1, 16, SiteKind::Inherit, Verdict::Resolved),
            (5, 9, SiteKind::Call, Verdict::Resolved),
            (6, 4, SiteKind::Call, Verdict::Resolved),
            (9, 4, SiteKind::Call, Verdict::Likely),
            (11, 14, SiteKind::Call, Verdict::Ambiguous),
        ]
    );
    assert_eq!(service.verdicts, [3, 1, 1, 0, 0, 0]);
    let SiteTarget::Candidates(set) = sites[4].target else {
        panic!("an ambiguous site has candidates")
    };
    assert_eq!(snapshot.candidates(set).expect("candidates").len(), 2);
    let main = snapshot.file_at("app/main.x").expect("a read").expect("a file");
    let sites = snapshot.sites_of(&main).expect("sites");
    assert_eq!(snapshot.site_file(sites[0].key).expect("a read"), Some(service.key));
    let SiteTarget::External(name) = sites[3].target else { panic!("an external site has a name") };
    assert_eq!(snapshot.name(name).expect("a name"), "builtins.print");
}

#[test]
fn files_depend_on_each_other_by_sites_and_imports() {
    let (_cache, snapshot, _) = stored_sample();
    let path = |key| snapshot.file(key).expect("a read").expect("a file").path.to_string();
    let mut edges = Vec::new();
    let visited = snapshot.visit_file_edges(|edge| {
        edges.push((edge.from, edge.to, edge.sites));
        true
    });
    visited.expect("edges");
    let edges: Vec<_> =
        edges.into_iter().map(|(from, to, sites)| (path(from), path(to), sites)).collect();
    let expected = [
        ("app/main.x", "app/service.x", 4),
        ("app/service.x", "app/base.x", 2),
        ("app/service.x", "app/util.x", 2),
        ("app/util.x", "lib/util.x", 1),
        ("lib/util.x", "app/util.x", 1),
        ("native/use.c", "native/api.h", 2),
        ("tests/test_service.x", "app/service.x", 2),
    ];
    assert_eq!(edges, expected.map(|(from, to, sites)| (from.to_owned(), to.to_owned(), sites)));
}

#[test]
fn the_same_graph_gives_the_same_rows() {
    let (_first, one, _) = stored_sample();
    let (_second, two, _) = stored_sample();
    assert_ne!(one.identity().uid, two.identity().uid, "each store has an identity of its own");
    assert_eq!(one.files().expect("files"), two.files().expect("files"));
    for file in one.files().expect("files") {
        assert_eq!(one.sites_of(&file).expect("sites"), two.sites_of(&file).expect("sites"));
        assert_eq!(
            one.symbols_of(&file).expect("symbols"),
            two.symbols_of(&file).expect("symbols")
        );
    }
}

#[test]
fn a_new_generation_supersedes_the_old_which_is_read_to_the_end() {
    let cache = Cache::new();
    cache.publish(&functions(1)).expect("the first generation");
    let old = cache.snapshot();
    let published = cache.publish(&functions(3)).expect("the second generation");
    assert_eq!(published.identity.generation, 2);
    assert_eq!(cache.location.generations().expect("a directory"), [2]);
    assert_eq!(cache.snapshot().meta().symbols, 3);
    let files = old.files().expect("an old snapshot goes on");
    assert_eq!((old.meta().symbols, files[0].symbols), (1, 1));
    old.store().meta();
    cache.open().verify(&CancelToken::new()).expect("a published store is whole");
}

#[test]
fn a_graph_without_files_is_a_store() {
    let cache = Cache::new();
    cache.publish(&cograph::model::graph::Graph::default()).expect("an empty graph");
    assert_eq!(cache.snapshot().files().expect("no files").len(), 0);
}

#[test]
fn what_has_no_name_is_stored_without_one() {
    let mut builder = GraphBuilder::default();
    let file = builder.file("only.x", 0, "");
    let symbol = builder.symbol(file, SymbolKind::Function, "f", (1, 2), Options::default());
    builder.site(
        file,
        Some(symbol),
        SiteKind::Import,
        "anything",
        (2, 0),
        Answer::Unknown,
        Step::Dynamic,
    );
    let (mut graph, _) = builder.finish();
    let facts =
        std::sync::Arc::make_mut(graph.files[0].content.as_mut().expect("a file with facts"));
    facts.sites.list_mut()[0].name = NameId::NONE;
    let cache = Cache::new();
    cache.publish(&graph).expect("a store");
    let snapshot = cache.snapshot();
    let sites = snapshot.sites_of(&snapshot.files().expect("files")[0]).expect("sites");
    assert_eq!(snapshot.name(sites[0].name).expect("a name"), "");
}

#[test]
fn one_writer_at_a_time() {
    let cache = Cache::new();
    let held = cache.location.lock(Duration::ZERO).expect("nobody writes");
    let error = cache.location.lock(Duration::from_millis(20)).expect_err("somebody writes");
    assert_eq!(error.kind, StoreErrorKind::Locked);
    assert!(error.to_string().contains("writer.lock"), "{error}");
    drop(held);
    cache.location.lock(Duration::ZERO).expect("the writer has ended");
}

#[test]
fn a_failed_build_leaves_everything_as_it_was() {
    let cache = Cache::new();
    cache.publish(&functions(2)).expect("the first generation");
    let lock = cache.location.lock(Duration::ZERO).expect("nobody writes");
    let bounded = BuildInfo { max_bytes: Some(100_000), ..info() };
    let error = publish(&lock, &functions(5_000), &bounded).expect_err("no room");
    assert_eq!(error.kind, StoreErrorKind::Full);
    assert_eq!(cache.location.generations().expect("a directory"), [1]);
    let left: Vec<_> = fs::read_dir(cache.location.directory())
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .filter(|name| name.ends_with(".building"))
        .collect();
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(cache.snapshot().meta().symbols, 2);
}

#[test]
fn leftovers_of_a_killed_writer_are_removed_by_the_next() {
    let cache = Cache::new();
    cache.publish(&functions(1)).expect("the first generation");
    let leftover = cache.location.directory().join("v1-2.db.building");
    let foreign = cache.location.directory().join("notes.building");
    fs::write(&leftover, "half a store").expect("a file");
    // A reader that was killed leaves these, and does not prevent the removal of a store.
    let side_files =
        ["v1-9.db-wal", "v1-9.db-shm"].map(|name| cache.location.directory().join(name));
    side_files.iter().for_each(|path| fs::write(path, "of a store that is gone").expect("a file"));
    fs::write(&foreign, "not ours").expect("a file");
    assert_eq!(cache.snapshot().identity().generation, 1, "a reader does not care");
    cache.publish(&functions(2)).expect("the second generation");
    assert!(!leftover.exists() && side_files.iter().all(|path| !path.exists()));
    assert!(foreign.exists());
}

#[test]
fn a_repository_without_a_store_is_reported() {
    let cache = Cache::new();
    let error = Store::open_newest(&cache.location).expect_err("there is none");
    assert_eq!(error.kind, StoreErrorKind::Missing);
    assert!(error.calls_for_build());
    assert!(!cache.location.directory().exists(), "reading creates nothing");
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let cache = Cache::new();
    let file = cache.directory.path().join("file");
    fs::write(&file, "").expect("a file");
    let location = Location::new(&file, std::path::Path::new("/r"));
    let error = location.lock(Duration::ZERO).expect_err("a file is no directory");
    assert!(
        error.to_string().starts_with("creating store directory") && error.path.starts_with(&file),
        "{error}"
    );
}
