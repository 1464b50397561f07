//! Completions of a prefix: symbols by name and by their scope, paths step by step.

use cograph::model::SymbolKind;
use cograph::query::complete::Wanted;
use cograph::query::{CompleteParams, CompleteResult, Total, complete};
use cograph::store::Snapshot;

use super::token;

use crate::sample::{Cache, GraphBuilder, Options, functions, stored_sample};

fn ask(snapshot: &Snapshot, wanted: Wanted, typed: &str) -> CompleteResult {
    let params = CompleteParams { wanted, typed: typed.to_owned(), ..CompleteParams::default() };
    complete(snapshot, &params, &token())
        .expect("a completion is no question that can be put wrongly")
}

fn check(snapshot: &Snapshot, wanted: Wanted, typed: &str, expected: &[&str]) {
    let result = ask(snapshot, wanted, typed);
    assert_eq!(
        (&result.values[..], result.total),
        (&expected.map_to_owned()[..], Total::Exact(expected.len() as u64)),
        "{typed}"
    );
}

trait Owned {
    fn map_to_owned(&self) -> Vec<String>;
}

impl Owned for [&str] {
    fn map_to_owned(&self) -> Vec<String> {
        self.iter().map(|text| (*text).to_owned()).collect()
    }
}

#[test]
fn a_symbol_is_given_in_the_shortest_form_that_means_one() {
    let (_cache, snapshot, _) = stored_sample();
    for (typed, expected) in [
        ("hel", &["helper", "helper_two"][..]),
        ("HEL", &["helper", "helper_two"]),
        ("helper_", &["helper_two"]),
        ("fet", &["lib/util.x::fetch", "app/util.x::fetch"]),
        // Two overloads have one name; no form distinguishes them.
        ("pu", &["put"]),
        ("Service.", &["Service.handle", "Service.get", "Service.new", "Service.run"]),
        ("Service::ha", &["Service::handle"]),
        ("app/util.x::", &["app/util.x::helper", "app/util.x::fetch"]),
        ("app/service.x::Service.g", &["app/service.x::Service.get"]),
        ("util.x::", &[]),
        ("zzz", &[]),
        ("Service.zzz", &[]),
        ("a%", &[]),
        ("*", &[]),
        ("é", &[]),
    ] {
        let result = ask(&snapshot, Wanted::Symbol, typed);
        let mut values = result.values.clone();
        let mut expected = expected.map_to_owned();
        // Of those that are used equally often the order does not matter.
        values.sort();
        expected.sort();
        assert_eq!(
            (values, result.total),
            (expected.clone(), Total::Exact(expected.len() as u64)),
            "{typed}"
        );
    }
    let first = ask(&snapshot, Wanted::Symbol, "Service.").values.swap_remove(0);
    assert_eq!(first, "Service.handle", "what is used most comes first");
    let all = ask(&snapshot, Wanted::Symbol, "");
    assert!(
        all.values.contains(&"main".to_owned())
            && all.total == Total::Exact(all.values.len() as u64),
        "{all:?}"
    );
}

#[test]
fn every_name_is_offered_once_before_any_is_offered_again() {
    let mut builder = GraphBuilder::default();
    for number in 0..150 {
        let file = builder.file(&format!("f{number:03}.x"), 0, "");
        builder.symbol(file, SymbolKind::Function, "get", (1, 1), Options::default());
    }
    let file = builder.file("only.x", 0, "");
    builder.symbol(file, SymbolKind::Function, "get_other", (1, 1), Options::default());
    let cache = Cache::new();
    cache.publish(&builder.finish().0).expect("published");
    let snapshot = cache.snapshot();
    let offered = |typed: &str| ask(&snapshot, Wanted::Symbol, typed);
    assert!(
        offered("ge").values[..2].contains(&"get_other".to_owned()),
        "{:?}",
        offered("ge").values
    );
    assert!(
        offered("get").values.iter().all(|value| value.ends_with("::get")),
        "the name is whole"
    );
    assert_eq!((offered("get").values.len(), offered("get").total), (100, Total::Exact(151)));
}

#[test]
fn every_value_means_what_it_was_made_of() {
    let (_cache, snapshot, _) = stored_sample();
    let all = ask(&snapshot, Wanted::Symbol, "");
    assert!(all.values.len() > 10);
    let mut meant = std::collections::BTreeSet::new();
    for value in all.values.iter().filter(|value| *value != "put") {
        let params =
            cograph::query::ReferencesParams { symbol: value.clone(), ..Default::default() };
        let found = cograph::query::references(&snapshot, &params, &token())
            .unwrap_or_else(|error| panic!("{value}: {error}"));
        let name = value.rsplit([':', '.']).next().unwrap_or(value);
        assert_eq!(found.symbol.name, name, "{value}");
        assert!(
            meant.insert(found.symbol.full_name()),
            "{value} means what another one means: {}",
            found.symbol.full_name()
        );
    }
}

#[test]
fn a_path_is_given_step_by_step() {
    let (_cache, snapshot, _) = stored_sample();
    for (typed, expected) in [
        ("", &["README.md", "app/", "blob.bin", "lib/", "native/", "tests/"][..]),
        ("a", &["app/", "native/api.c", "native/api.h"]),
        ("./app/s", &["app/service.x"]),
        ("app/", &["app/base.x", "app/main.x", "app/over.x", "app/service.x", "app/util.x"]),
        ("UTIL", &["app/util.x", "lib/util.x"]),
        ("app/zzz", &[]),
        ("..", &[]),
        ("/", &[]),
    ] {
        check(&snapshot, Wanted::Path, typed, expected);
    }
}

#[test]
fn values_are_bounded_and_the_total_says_how_many_there_are() {
    let cache = Cache::new();
    cache.publish(&functions(250)).expect("published");
    let snapshot = cache.snapshot();
    let result = ask(&snapshot, Wanted::Symbol, "func");
    assert_eq!((result.values.len(), result.total), (100, Total::Exact(250)));
    let few = ask(&snapshot, Wanted::Symbol, "function_24");
    assert_eq!((few.values.len(), few.total), (11, Total::Exact(11)));
}

#[test]
fn a_total_that_was_not_counted_is_marked() {
    let mut builder = GraphBuilder::default();
    let file = builder.file("only.x", 0, "");
    for number in 0..10_050u32 {
        builder.symbol(
            file,
            SymbolKind::Function,
            &format!("f{number}"),
            (number + 1, number + 1),
            Options::default(),
        );
    }
    let cache = Cache::new();
    cache.publish(&builder.finish().0).expect("published");
    let snapshot = cache.snapshot();
    assert_eq!(ask(&snapshot, Wanted::Symbol, "f").total, Total::AtLeast(10_000));
    assert!(matches!(ask(&snapshot, Wanted::Symbol, "").total, Total::AtLeast(_)));
}
