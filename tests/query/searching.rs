//! Words in names, in containers and in paths: a search finds what a scan of all symbols finds, and
//! reports where it did not search all of them.

use std::collections::BTreeSet;

use cograph::model::graph::SymbolRef;
use cograph::model::{SiteKind, Step, SymbolKind};
use cograph::query::search::Match;
use cograph::query::{SearchParams, SymbolInfo, Total, search};
use cograph::store::Snapshot;

use super::token;
use crate::sample::{Answer, Cache, GraphBuilder, Options};

const WORDS: [&str; 8] = ["alloc", "node", "page", "free", "lock", "tree", "zone", "busy"];

fn ask(snapshot: &Snapshot, text: &str, limit: usize) -> (Vec<(SymbolInfo, Match)>, Total) {
    let params = SearchParams { text: text.to_owned(), limit, ..SearchParams::default() };
    let result = search(snapshot, &params, &token()).expect("a valid search");
    (result.hits.into_iter().map(|hit| (hit.symbol, hit.matched)).collect(), result.total)
}

/// Numbers that look like chance and are the same in every run.
fn draw(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % below
}

/// Types with members and members of members in files, all named with words of `WORDS`.
fn forest() -> Cache {
    let mut builder = GraphBuilder::default();
    let mut state = 7;
    let mut word = || WORDS[draw(&mut state, WORDS.len())];
    let mut paths: Vec<String> =
        (0..40).map(|number| format!("{}/{}{number}.x", word(), word())).collect();
    paths.sort_unstable();
    for path in &paths {
        let file = builder.file(path, 0, "");
        let mut line = 0;
        let mut symbol =
            |builder: &mut GraphBuilder, kind, name: String, around: Option<SymbolRef>| {
                line += 1;
                let options = around.map_or_else(Options::default, Options::inside);
                builder.symbol(file, kind, &name, (line, line), options)
            };
        for _ in 0..4 {
            let outer =
                symbol(&mut builder, SymbolKind::Class, format!("{}_{}", word(), word()), None);
            let inner = symbol(&mut builder, SymbolKind::Class, word().to_owned(), Some(outer));
            symbol(&mut builder, SymbolKind::Method, format!("{}_{}", word(), word()), Some(outer));
            symbol(&mut builder, SymbolKind::Method, word().to_owned(), Some(inner));
            symbol(&mut builder, SymbolKind::Method, "other".to_owned(), Some(inner));
        }
    }
    let cache = Cache::new();
    cache.publish(&builder.finish().0).expect("a store");
    cache
}

fn words_of(text: &str) -> BTreeSet<&str> {
    text.split(['_', '.', '/'])
        .map(|part| part.trim_end_matches(|letter: char| letter.is_ascii_digit()))
        .collect()
}

#[test]
fn words_around_a_symbol_are_found_as_by_looking_at_every_symbol() {
    let cache = forest();
    let snapshot = cache.snapshot();
    let mut every: Vec<SymbolInfo> = Vec::new();
    for text in WORDS.iter().chain(&["other"]) {
        every.extend(ask(&snapshot, text, 10_000).0.into_iter().map(|(symbol, _)| symbol));
    }
    every.sort_by_key(|symbol| symbol.key);
    every.dedup_by_key(|symbol| symbol.key);
    assert_eq!(every.len(), 40 * 4 * 5);
    let mut around_found = 0;
    for (one, two, three) in [
        ("alloc", "node", ""),
        ("page", "free", "lock"),
        ("tree", "zone", "busy"),
        ("busy", "lock", ""),
    ] {
        let asked = [one, two, three].join(" ");
        let asked: BTreeSet<&str> = asked.split_whitespace().collect();
        let mut expected = BTreeSet::new();
        for symbol in &every {
            let own = words_of(&symbol.name);
            let mut all = own.clone();
            all.extend(words_of(symbol.path.as_str()));
            all.extend(words_of(&symbol.container));
            if asked.is_subset(&all) && !own.is_disjoint(&asked) {
                let matched = if asked.is_subset(&own) { "name" } else { "around" };
                expected.insert((symbol.key, matched));
            }
        }
        let text = asked.iter().copied().collect::<Vec<_>>().join(" ");
        let (hits, total) = ask(&snapshot, &text, 10_000);
        assert_eq!(total, Total::Exact(hits.len() as u64), "{text}");
        let is_around = |matched| if matched == Match::Around { "around" } else { "name" };
        let found: BTreeSet<_> =
            hits.iter().map(|(symbol, matched)| (symbol.key, is_around(*matched))).collect();
        assert_eq!(found.len(), hits.len(), "each once: {text}");
        assert_eq!(found, expected, "{text}");
        around_found += hits.iter().filter(|(_, matched)| *matched == Match::Around).count();
    }
    assert!(around_found > 50, "{around_found}");
}

#[test]
fn a_list_that_names_fill_says_that_there_may_be_more() {
    let cache = forest();
    let snapshot = cache.snapshot();
    let (all, total) = ask(&snapshot, "alloc node", 10_000);
    let by_name = all.iter().filter(|(_, matched)| *matched != Match::Around).count();
    assert!(
        by_name > 1 && all.len() > by_name && total == Total::Exact(all.len() as u64),
        "{by_name} {total}"
    );
    let (page, total) = ask(&snapshot, "alloc node", by_name - 1);
    assert_eq!(page, all[..by_name - 1]);
    assert_eq!(total, Total::AtLeast(by_name as u64));
}

#[test]
fn more_symbols_than_are_checked_make_the_total_a_lower_bound() {
    let mut builder = GraphBuilder::default();
    let file = builder.file("plain.x", 0, "");
    let outer = builder.symbol(file, SymbolKind::Class, "alloc", (1, 9_000), Options::default());
    for line in 2..9_000 {
        builder.symbol(file, SymbolKind::Method, "node", (line, line), Options::inside(outer));
    }
    let cache = Cache::new();
    cache.publish(&builder.finish().0).expect("a store");
    let (hits, total) = ask(&cache.snapshot(), "alloc node", 10_000);
    assert!(hits.len() > 200 && hits.len() < 8_998, "{}", hits.len());
    assert_eq!(total, Total::AtLeast(hits.len() as u64));
    assert!(hits.iter().all(|(_, matched)| *matched == Match::Around));
}

/// Totals of the same symbols must not depend on which other names, some of them of symbols long
/// gone, share a block of the name index.
#[test]
fn whether_a_total_is_exact_depends_on_the_total_alone() {
    let total_of = |matching: u32, others_between: u32| {
        let mut builder = GraphBuilder::default();
        let file = builder.file("all.x", 0, "");
        let mut line = 0;
        let mut symbol = |builder: &mut GraphBuilder, name: &str| {
            line += 1;
            builder.symbol(file, SymbolKind::Constant, name, (line, line), Options::default())
        };
        for number in 0..matching {
            let found = symbol(&mut builder, &format!("k{number:04}_of"));
            // Enough for a list of names that outrank all others.
            if number < 20 {
                let (to, step) = (Answer::To(found), Step::Lexical);
                let name = format!("k{number:04}_of");
                builder.site(file, None, SiteKind::Read, &name, (1, number), to, step);
            }
            for other in 0..others_between {
                symbol(&mut builder, &format!("k{number:04}_zz{other}"));
            }
        }
        let cache = Cache::new();
        cache.publish(&builder.finish().0).expect("a store");
        let (hits, total) = ask(&cache.snapshot(), "of", 20);
        assert_eq!(hits.len(), 20);
        total
    };
    for others_between in [0, 12] {
        assert_eq!(total_of(500, others_between), Total::Exact(500), "{others_between}");
        let total = total_of(501, others_between);
        assert!(matches!(total, Total::AtLeast(501)), "{others_between}: {total}");
    }
}

#[test]
fn the_best_of_very_many_names_are_found_without_looking_at_all() {
    let mut builder = GraphBuilder::default();
    let symbol = |builder: &mut GraphBuilder, file, name: &str, line| {
        builder.symbol(file, SymbolKind::Constant, name, (line, line), Options::default())
    };
    let file = builder.file("few.x", 0, "");
    let used = symbol(&mut builder, file, "gs_zone", 1);
    symbol(&mut builder, file, "his_gt_gs_in_all", 2);
    symbol(&mut builder, file, "zebra_stripe", 3);
    // So that its run has only names that begin so.
    for number in 0..300 {
        symbol(&mut builder, file, &format!("his_{number}"), number + 4);
        symbol(&mut builder, file, &format!("his_z{number}"), number + 4);
    }
    builder.site(file, None, SiteKind::Read, "gs_zone", (4, 0), Answer::To(used), Step::Lexical);
    for part in 0..350 {
        let file = builder.file(&format!("many/{part:03}.x"), 0, "");
        for number in 0..200 {
            symbol(&mut builder, file, &format!("gs_{part}_in_{number}_gt"), number + 1);
        }
    }
    let cache = Cache::new();
    cache.publish(&builder.finish().0).expect("a store");
    let snapshot = cache.snapshot();
    let first = |text: &str| {
        let (hits, total) = ask(&snapshot, text, 20);
        (hits[0].0.name.clone(), hits[0].1, hits.len(), total)
    };
    let (name, matched, hits, total) = first("gs");
    assert_eq!(
        (name.as_str(), matched, hits),
        ("gs_zone", Match::Prefix, 20),
        "the last by its letters, the first by its uses"
    );
    assert!(matches!(total, Total::AtLeast(20..70_000)), "{total}");
    // Every run of names may have its words somewhere, only one has the text.
    let (name, matched, _, total) = first("gt_gs_in");
    assert_eq!((name.as_str(), matched), ("his_gt_gs_in_all", Match::Words));
    assert!(matches!(total, Total::AtLeast(1..70_000)), "{total}");
    assert_eq!(
        first("zbera_stripe"),
        ("zebra_stripe".to_owned(), Match::Fuzzy, 1, Total::Exact(1))
    );
    assert_eq!(
        first("zebra stripe"),
        ("zebra_stripe".to_owned(), Match::IgnoringCase, 1, Total::Exact(1))
    );
}

#[test]
fn a_directory_has_no_files_of_others_that_begin_with_its_name() {
    let mut builder = GraphBuilder::default();
    for path in ["app/main.x", "apple/main.x", "application.x"] {
        let file = builder.file(path, 0, "");
        builder.symbol(file, SymbolKind::Function, "main", (1, 2), Options::default());
    }
    let cache = Cache::new();
    cache.publish(&builder.finish().0).expect("a store");
    let params =
        SearchParams { text: "main".into(), path: Some("app".into()), ..SearchParams::default() };
    let result = search(&cache.snapshot(), &params, &token()).expect("a valid search");
    let paths: Vec<_> = result.hits.iter().map(|hit| hit.symbol.path.as_str()).collect();
    assert_eq!(paths, ["app/main.x"]);
}

#[test]
fn a_better_match_precedes_one_with_more_references() {
    let mut builder = GraphBuilder::default();
    let file = builder.file("only.x", 0, "");
    let function = |builder: &mut GraphBuilder, name: &str, line| {
        builder.symbol(file, SymbolKind::Function, name, (line, line), Options::default())
    };
    let used = function(&mut builder, "open_all", 1);
    function(&mut builder, "open", 2);
    builder.site(file, None, SiteKind::Call, "open_all", (3, 0), Answer::To(used), Step::Lexical);
    let cache = Cache::new();
    cache.publish(&builder.finish().0).expect("a store");
    let (hits, _) = ask(&cache.snapshot(), "open", 10);
    let names: Vec<_> = hits.iter().map(|(symbol, _)| symbol.name.as_str()).collect();
    assert_eq!(names, ["open", "open_all"]);
}
