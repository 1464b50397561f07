//! Answers of a store after changes come in the order of those of a fresh build,
//! though its row keys do not: files that sort before others are added, files outgrow their keys
//! and are renamed, names come and go. Everything ties with something.

use std::fmt::{Debug, Write};
use std::fs;
use std::sync::Arc;

use cograph::model::SymbolKind;
use cograph::model::cancel::CancelToken;
use cograph::query::complete::Wanted;
use cograph::query::search::SearchMode;
use cograph::query::trace::Direction;
use cograph::query::{
    Certainty, CompleteParams, ExploreParams, OutlineParams, OverviewParams, ReadFile,
    ReferencesParams, SearchParams, TraceParams, complete, explore, outline, overview, references,
    search, trace,
};
use cograph::store::Store;
use regex::Regex;

use super::Repository;

/// No source is shown: an answer says that it cannot be read.
struct NoFiles;

impl ReadFile for NoFiles {
    fn read(&self, _: &cograph::model::RepoPath) -> std::io::Result<Vec<u8>> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

/// What is done to a repository.
type Edit<'e> = &'e dyn Fn(&Repository);

/// A module like the others, with symbols of the same names that are used as often.
fn module(stem: &str) -> String {
    let (many, stem) = ("many() + ".repeat(16), stem.replace('/', "_"));
    format!(
        "from base import Base, leaf\n\n\ndef shared():\n    return leaf()\n\n\ndef many():\n    \
         return unknown(leaf)\n\n\n\
         def only_{stem}():\n    return {many}shared() + shared()\n\n\nclass Worker(Base):\n    \
         def run(self):\n        return shared()\n\n\
         \x20   def stop(self, other):\n        return other.run() + other.halt()\n"
    )
}

fn base() -> String {
    "def leaf():\n    return 1\n\n\nclass Base:\n    def run(self):\n        return leaf()\n\n\n\
     def start(base: Base):\n    \
     return base.run()\n"
        .to_owned()
}

/// A file with more symbols than its keys have space for, so that it needs other keys.
fn grown(stem: &str) -> String {
    let more = (0..20).map(|number| format!("\n\ndef added_{number}():\n    return shared()\n"));
    module(stem) + &more.collect::<String>()
}

fn write(repository: &Repository, path: &str, text: &str) {
    let path = repository.root().join(path);
    fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
    fs::write(path, text).expect("written");
}

fn test(stem: &str) -> String {
    format!("from {stem} import shared\n\n\ndef test_shared():\n    assert shared()\n")
}

/// The answers to questions of all kinds, without keys.
fn answers(repository: &Repository, cache: &str) -> String {
    let store = Arc::new(Store::open_newest(&repository.location(cache)).expect("a store"));
    let token = CancelToken::new();
    let snapshot = &store.snapshot(&token).expect("it can be read");
    let mut all = String::new();
    let mut add = |question: &dyn Debug, answer: &dyn Debug| {
        writeln!(all, "== {question:?}\n{answer:#?}").expect("room")
    };
    for params in searches() {
        add(&params, &search(snapshot, &params, &token));
    }
    for text in ["shared", "worker run", "leaf many base", "only halt shared"] {
        for limit in [2, 6] {
            let params = ExploreParams { text: text.to_owned(), limit, ..ExploreParams::default() };
            add(&params, &explore(snapshot, &NoFiles, &params, &token));
        }
    }
    for params in traces() {
        add(&params, &trace(snapshot, &params, &token));
    }
    for symbol in ["leaf", "base.py::Base", "Base.run", "start", "many", "c.py::Worker.stop"] {
        for limit in [3, 500] {
            let params = ReferencesParams {
                symbol: symbol.to_owned(),
                list: Some(Certainty::Textual),
                limit,
                ..ReferencesParams::default()
            };
            add(&params, &references(snapshot, &params, &token));
        }
    }
    for limit in [2, 20] {
        let params = OverviewParams { limit, ..OverviewParams::default() };
        add(&params, &overview(snapshot, &params, &token));
        for typed in ["", "s", "shared", "only_", "WORK", "added_1", "Worker.", "base.py::"] {
            let params = CompleteParams { wanted: Wanted::Symbol, typed: typed.to_owned(), limit };
            add(&params, &complete(snapshot, &params, &token));
        }
    }
    for path in ["", "c.py", "x.py"] {
        let params = OutlineParams { path: path.to_owned(), depth: 3, ..OutlineParams::default() };
        add(&params, &outline(snapshot, &params, &token));
    }
    let keys = Regex::new(r"Key\(\s*\d+,?\s*\)").expect("a valid pattern");
    keys.replace_all(&all, "Key").into_owned()
}

fn searches() -> Vec<SearchParams> {
    let of = |mode, texts: &[&str]| {
        let params = |text: &&str| SearchParams {
            text: (*text).to_owned(),
            mode,
            ..SearchParams::default()
        };
        texts.iter().map(params).collect::<Vec<_>>()
    };
    let words = [
        "shared",
        "SHARED",
        "only",
        "shaerd",
        "worker run",
        "run worker zebra",
        "added shared",
        "py many",
        "test",
        "e",
    ];
    let mut all = of(SearchMode::Words, &words);
    all.extend(of(SearchMode::Name, &["shared", "Worker.run", "missing"]));
    all.extend(of(SearchMode::Substring, &["r", "o", "dd"]));
    all.extend(of(SearchMode::Regex, &[".", "^[ms]", "_"]));
    let short =
        all.clone().into_iter().map(|params| SearchParams { limit: 3, offset: 1, ..params });
    let kinds = vec![SymbolKind::Function];
    let filtered = all.clone().into_iter().map(|params| SearchParams {
        kinds: kinds.clone(),
        limit: 4,
        ..params
    });
    let more: Vec<_> = short.chain(filtered).collect();
    all.extend(more);
    all
}

fn traces() -> Vec<TraceParams> {
    let mut all = Vec::new();
    for symbol in [
        "leaf",
        "base.py::Base.run",
        "start",
        "shared",
        "many",
        "c.py::Worker.stop",
        "c.py::shared",
        "shraed",
        "c.py::Worker",
    ] {
        for direction in [Direction::Callers, Direction::Callees] {
            for (follow, limit) in
                [(Certainty::Likely, 500), (Certainty::Textual, 500), (Certainty::Possible, 3)]
            {
                let symbol = symbol.to_owned();
                all.push(TraceParams {
                    symbol,
                    direction,
                    depth: 3,
                    follow,
                    limit,
                    ..TraceParams::default()
                });
            }
        }
    }
    for symbol in ["c.py::only_c", "start", "c.py::Worker.stop"] {
        let (symbol, to) = (symbol.to_owned(), Some("leaf".to_owned()));
        all.push(TraceParams {
            symbol,
            to,
            depth: 5,
            follow: Certainty::Possible,
            ..TraceParams::default()
        });
    }
    all
}

#[test]
fn answers_come_in_the_order_of_a_fresh_build() {
    let mut repository = Repository::new();
    write(&repository, "base.py", &base());
    for stem in ["c", "d", "e", "lib/f", "z"] {
        write(&repository, &format!("{stem}.py"), &module(stem));
    }
    write(&repository, "tests/test_c.py", &test("c"));
    repository.refresh();
    let root = repository.root();
    let edits: [(&str, Edit<'_>); 10] = [
        ("files that sort first", &|repository| {
            write(repository, "b.py", &module("b"));
            write(repository, "a.py", &module("a"));
        }),
        ("a file outgrows its keys", &|repository| write(repository, "c.py", &grown("c"))),
        ("one is renamed", &|_| {
            fs::rename(root.join("z.py"), root.join("cc.py")).expect("renamed")
        }),
        ("in a new folder", &|repository| write(repository, "ba/x.py", &module("x"))),
        ("the last ones go, and others come", &|repository| {
            fs::remove_file(root.join("tests/test_c.py")).expect("removed");
            write(repository, "b0.py", &module("b0"));
        }),
        ("another test", &|repository| write(repository, "a_test/test_d.py", &test("d"))),
        ("names go", &|repository| write(repository, "c.py", &module("c"))),
        ("and come", &|repository| write(repository, "e.py", &grown("c"))),
        ("the base is moved", &|repository| {
            write(repository, "base.py", &(base() + &grown("base").replace("from base", "from c")))
        }),
        ("a file goes and comes", &|repository| {
            fs::remove_file(root.join("d.py")).expect("removed");
            repository.refresh();
            write(repository, "d.py", &module("d"));
        }),
    ];
    for (number, (what, edit)) in edits.iter().enumerate() {
        edit(&repository);
        if number % 3 == 1 {
            repository.forget();
        }
        repository.refresh();
        assert_eq!(repository.dump("kept"), repository.fresh(), "{what}");
        let (kept, fresh) = (answers(&repository, "kept"), answers(&repository, "fresh"));
        if let Some((line, (kept, fresh))) =
            kept.lines().zip(fresh.lines()).enumerate().find(|(_, (kept, fresh))| kept != fresh)
        {
            let question = answers(&repository, "kept")
                .lines()
                .take(line)
                .filter(|line| line.starts_with("=="))
                .last()
                .map(str::to_owned);
            panic!(
                "{what}: {question:?}\n    after changes: {kept}\n    in a fresh build: {fresh}"
            );
        }
        assert_eq!(kept, fresh, "{what}");
    }
}
