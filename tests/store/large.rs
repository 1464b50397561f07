//! Stores of which every table and index takes many pages hold what their graph says.

use std::collections::BTreeMap;

use cograph::model::facts::flags;
use cograph::model::graph::{FileId, Graph, SymbolRef};
use cograph::model::{ProblemKind, RelationKind, SiteKind, SkipReason, Step, SymbolKind};
use rusqlite::Connection;

use crate::incremental::{contents, dump};
use crate::sample::{Answer, Cache, GraphBuilder, Options, sample};

/// How large the graph is: files, symbols in each of them, and files that are not indexed.
const FILES: usize = 1_000;
const SYMBOLS: usize = 48;
const SKIPPED: usize = 1_500;

/// Tables that are the same for every graph, or take one row, or are filled by changes only.
const SMALL: [&str; 8] = [
    "meta",
    "word",
    "language",
    "name_tops",
    "name_changed",
    "file_lengths",
    "words_changed",
    "known",
];

#[test]
fn a_store_says_what_its_graph_says() {
    let cache = Cache::new();
    let (graph, _) = sample();
    let published = cache.publish(&graph).expect("a store");
    contents::assert_same(&dump::of(&published.path), &graph);
}

#[test]
fn a_large_store_is_sound_and_whole_in_every_table_and_index() {
    let (cache, graph) = (Cache::new(), large());
    let published = cache.publish(&graph).expect("a store");
    let snapshot = cache.snapshot();
    assert_eq!(snapshot.meta().symbols as usize, FILES * SYMBOLS);
    // SQLite finds every row by every index, and the rows are those of the graph.
    contents::assert_same(&dump::of(&published.path), &graph);
    let levels = levels(&Connection::open(&published.path).expect("a store"));
    let flat: Vec<_> = levels
        .iter()
        .filter(|(name, levels)| **levels < 2 && !SMALL.contains(&name.as_str()))
        .collect();
    assert!(flat.is_empty(), "a page of each leads to others: {flat:?}");
    for name in ["symbol", "name", "other_name"] {
        assert!(levels[name] >= 3, "pages of {name} that lead to others are full too: {levels:?}");
    }
}

/// How many pages one behind the other lead to the rows of each table and index.
fn levels(connection: &Connection) -> BTreeMap<String, usize> {
    // A page's path says from the root which page of each it is, like `/000/01f/`.
    let statement = "SELECT name, max(length(path) - length(replace(path, '/', ''))) FROM dbstat \
                     WHERE pagetype <> 'overflow' \
                     GROUP BY name";
    let mut statement = connection.prepare(statement).expect("SQLite counts pages");
    let rows =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("they can be read");
    rows.collect::<Result<_, _>>().expect("names and numbers")
}

/// A graph with many rows of every kind, all of them different.
fn large() -> Graph {
    let mut builder = GraphBuilder::default();
    let files: Vec<FileId> = (0..FILES)
        .map(|number| {
            let path = format!(
                "folder_{:02}/with_a_longer_name_that_takes_room/file_{number:05}.x",
                number / 50
            );
            builder.file(&path, (number % 2) as u16, "")
        })
        .collect();
    for number in 0..SKIPPED {
        builder.skipped(&format!("last/{number:04}.bin"), SkipReason::Binary, "\0");
    }
    let at = |file: usize, symbol: usize| SymbolRef {
        file: files[file % FILES],
        symbol: cograph::model::facts::LocalSymbol::at(symbol % SYMBOLS),
    };
    for (number, file) in files.iter().copied().enumerate() {
        for symbol in 0..SYMBOLS {
            let line = symbol as u32 + 1;
            let container = (symbol % 4 > 0).then(|| at(number, symbol - symbol % 4));
            let kind = if symbol % 4 > 0 { SymbolKind::Method } else { SymbolKind::Class };
            let options = Options {
                container,
                flags: if symbol % 3 == 0 { flags::EXPORTED } else { 0 },
                ..Options::default()
            };
            // Most names have one symbol, some have many.
            let name = if symbol < 4 {
                format!("shared{symbol}")
            } else {
                format!("Name{}of{symbol}_in{number}", number % 7)
            };
            builder.symbol(file, kind, &name, (line, line), options);
        }
        for site in 0..SYMBOLS {
            let place = (site as u32 + 1, (number % 90) as u32);
            let (other, enclosing) = (number * 31 + site * 17 + 1, at(number, site));
            let (answer, step) = match site % 8 {
                0 | 6 | 7 => (Answer::To(at(number + 1, 0)), Step::Import),
                1 => (Answer::Likely(at(other, site)), Step::UniqueName),
                2 => (Answer::ToFile(files[other % FILES]), Step::Import),
                3 => (Answer::Unknown, Step::ReceiverUnknown),
                4 => (Answer::External("library.member"), Step::Builtin),
                5 => (
                    Answer::OneOf((0..10).map(|of| at(number, site * 3 / 4 + of)).collect()),
                    Step::Overloads,
                ),
                _ => (Answer::To(at(other, site * 5)), Step::ModuleMember),
            };
            builder.site(
                file,
                Some(enclosing),
                SiteKind::Call,
                &format!("used{site}_in{number}"),
                place,
                answer,
                step,
            );
            builder.relation(RelationKind::Overrides, enclosing, at(other, site));
        }
        for place in 0..24 {
            let target = (place % 3 > 0).then(|| files[(number + place * 41) % FILES]);
            builder.import(
                file,
                &format!("module{place}.of{number}"),
                (place as u32 + 1, 0),
                target,
            );
            builder.problem(
                file,
                ProblemKind::Syntax,
                (place as u32 * 2 + 1, place as u32 * 2 + 2),
            );
        }
    }
    let (mut graph, _) = builder.finish();
    graph.resolutions.iter_mut().for_each(|found| found.relations.sort_unstable());
    graph
}
