//! What a question reads: as many rows of a large store as of a small one, where what it asks for
//! is the same, and a file once.

use std::fmt::Debug;
use std::io;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use cograph::model::{RepoPath, SiteKind, SkipReason, Step, SymbolKind};
use cograph::query::explore::neighbourhood::{AroundParams, around};
use cograph::query::outline::{OutlineParams, outline};
use cograph::query::{
    ElsewhereSearch, ExploreParams, QueryError, ReadFile, ReferencesParams, SearchParams,
    ShowParams, TraceParams, explore, references, search, show, trace,
};
use cograph::store::Snapshot;

use super::token;
use crate::sample::{Answer, Cache, Files, GraphBuilder, Options};

/// Files of the small store, more than a question reads, and how often there are as many in the
/// large one.
const FEW: u32 = 500;
const TIMES: u32 = 6;

/// Files in directories of ten. Each has a function of its own, one of a name that all have, and
/// calls its neighbour; the first ten call `settle_ledger`, which is in the first.
fn store(files: u32) -> (Cache, Files) {
    let mut builder = GraphBuilder::default();
    let (mut before, mut hub) = (None, None);
    for at in 0..files {
        let path = format!("part{:04}/file{at:05}.x", at / 10);
        let text = match at {
            0 => "settle ledger parse input once\n".repeat(30),
            _ => format!("parse input number{at} common step\n").repeat(30),
        };
        let file = builder.file(&path, 0, &text);
        let name = if at == 0 { "settle_ledger".to_owned() } else { format!("parse_input{at}") };
        let function = SymbolKind::Function;
        let own = builder.symbol(file, function, &name, (1, 9), Options::default());
        builder.symbol(file, function, "common", (12, 20), Options::default());
        for (called, to) in [("before", before), ("settle_ledger", hub.filter(|_| at < 10))] {
            if let Some(to) = to {
                let answer = Answer::To(to);
                let place = (3 + u32::from(called != "before"), 4);
                builder.site(file, Some(own), SiteKind::Call, called, place, answer, Step::Import);
            }
        }
        before = Some(own);
        hub = hub.or(Some(own));
    }
    let cache = Cache::new();
    let (graph, texts) = builder.finish();
    cache.publish(&graph).expect("a store");
    (cache, texts)
}

/// A question, which must succeed.
type Question = (&'static str, fn(&Snapshot, &Files));

fn answered<T: Debug>(result: Result<T, QueryError>) {
    result.expect("an answer");
}

fn named(symbol: &str) -> String {
    symbol.to_owned()
}

const QUESTIONS: [Question; 9] = [
    ("show", |snapshot, files| {
        let params = ShowParams { targets: vec![named("settle_ledger")], ..ShowParams::default() };
        answered(show(snapshot, files, &params, &token()));
    }),
    ("show of calls", |snapshot, files| {
        let targets = vec![named("parse_input70")];
        let params = ShowParams { targets, calls: true, ..ShowParams::default() };
        answered(show(snapshot, files, &params, &token()));
    }),
    ("search of a name", |snapshot, _| {
        let params = SearchParams { text: named("settle_ledger"), ..SearchParams::default() };
        answered(search(snapshot, &params, &token()));
    }),
    ("search of a start that every name has", |snapshot, _| {
        let params = SearchParams { text: named("parse_in"), ..SearchParams::default() };
        answered(search(snapshot, &params, &token()));
    }),
    ("explore", |snapshot, files| {
        let params =
            ExploreParams { text: named("how is the ledger settled"), ..ExploreParams::default() };
        answered(explore(snapshot, files, &params, &token()));
    }),
    ("trace", |snapshot, _| {
        let params = TraceParams { symbol: named("settle_ledger"), ..TraceParams::default() };
        answered(trace(snapshot, &params, &token()));
    }),
    ("references", |snapshot, _| {
        let params =
            ReferencesParams { symbol: named("settle_ledger"), ..ReferencesParams::default() };
        answered(references(snapshot, &params, &token()));
    }),
    ("outline", |snapshot, _| {
        let params = OutlineParams { path: named("part0003"), ..OutlineParams::default() };
        answered(outline(snapshot, &params, &token()));
    }),
    ("around", |snapshot, files| {
        let symbol = named("settle_ledger");
        let params = AroundParams { symbol, line: None, lines: 100, limit: 100 };
        answered(around(snapshot, files, &params, &token()));
    }),
];

/// Rows that each question reads of a store of a number of files.
fn rows(files: u32) -> Vec<u64> {
    let (cache, texts) = store(files);
    let store = cache.open();
    let count = |(_, ask): &Question| {
        let snapshot = store.snapshot(&token()).expect("a snapshot");
        ask(&snapshot, &texts);
        snapshot.rows_read()
    };
    // What is kept of a generation is read once.
    for question in &QUESTIONS {
        count(question);
    }
    QUESTIONS.iter().map(count).collect()
}

#[test]
fn a_question_reads_as_many_rows_of_a_large_store_as_of_a_small_one() {
    let (small, large) = (rows(FEW), rows(FEW * TIMES));
    for (((name, _), small), large) in QUESTIONS.iter().zip(&small).zip(&large) {
        assert!(
            *small > 0 && *large <= small + small / 4 + 20,
            "{name}: {small} rows, then {large}"
        );
    }
}

/// Files, and how often one was read.
struct Counted {
    files: Files,
    reads: AtomicUsize,
}

impl ReadFile for Counted {
    fn read(&self, path: &RepoPath) -> io::Result<Vec<u8>> {
        self.reads.fetch_add(1, Relaxed);
        self.files.read(path)
    }
}

#[test]
fn a_file_without_an_index_of_its_words_is_read_once_for_many_names() {
    let mut builder = GraphBuilder::default();
    let file = builder.file("a.x", 0, "nothing of that\n");
    for (at, name) in ["settle", "refund", "ledger"].into_iter().enumerate() {
        let lines = (at as u32 + 1, at as u32 + 1);
        builder.symbol(file, SymbolKind::Function, name, lines, Options::default());
    }
    for at in 0..20 {
        builder.skipped_of(&format!("large/{at:02}.x"), 0, SkipReason::TooLarge);
    }
    for at in 0..20 {
        builder.skipped(&format!("notes/{at:02}.txt"), SkipReason::NoLanguage, "a text\n");
    }
    let cache = Cache::new();
    let (graph, files) = builder.finish();
    cache.publish(&graph).expect("a store");
    let (store, files) = (cache.open(), Counted { files, reads: AtomicUsize::default() });
    for (name, reads) in [("settle", 40), ("refund", 40), ("ledger", 40)] {
        let snapshot = store.snapshot(&token()).expect("a snapshot");
        let row = snapshot.file_at("a.x").expect("a read").expect("a file");
        let all = snapshot.symbols_of(&row).expect("symbols");
        let own = all.iter().find(|one| *one.name_text == *name).expect("it is defined");
        let cancel = token();
        let found = ElsewhereSearch::new(&snapshot, &files, &cancel).of(&[own.key]);
        let found = found.expect("evidence");
        assert_eq!(found.unsearched, 0, "{name}");
        assert_eq!(files.reads.load(Relaxed), reads, "{name}");
    }
}

#[test]
fn a_scan_of_files_would_be_seen() {
    let (cache, _) = store(FEW);
    let snapshot = cache.snapshot();
    let before = snapshot.rows_read();
    assert_eq!(snapshot.files().expect("files").len() as u64, u64::from(FEW));
    assert_eq!(snapshot.rows_read() - before, u64::from(FEW));
    let path = RepoPath::new("part0001").expect("a path");
    assert_eq!(snapshot.files_below(&path).expect("files").len(), 10);
    assert_eq!(snapshot.rows_read() - before, u64::from(FEW) + 10);
}
