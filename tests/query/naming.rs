//! How symbols are named: suffixes, places, choices, near names.

use cograph::model::SymbolKind;
use cograph::query::{QueryError, ReferencesParams, SymbolInfo, references};
use cograph::store::Snapshot;

use super::{names, token};

use crate::sample::{Cache, GraphBuilder, Options, stored_sample};

fn named(snapshot: &Snapshot, name: &str) -> Result<SymbolInfo, QueryError> {
    let params = ReferencesParams { symbol: name.to_owned(), ..ReferencesParams::default() };
    references(snapshot, &params, &token()).map(|result| result.symbol)
}

#[test]
fn any_unambiguous_suffix_names_a_symbol() {
    let (_cache, snapshot, _) = stored_sample();
    for (name, expected) in [
        ("app/service.x::Service.handle", "app/service.x::Service.handle"),
        ("service.x::Service.handle", "app/service.x::Service.handle"),
        ("service.x::handle", "app/service.x::Service.handle"),
        ("Service.handle", "app/service.x::Service.handle"),
        ("Service::handle", "app/service.x::Service.handle"),
        ("Service#handle", "app/service.x::Service.handle"),
        ("app.service.Service.handle", "app/service.x::Service.handle"),
        ("handle", "app/service.x::Service.handle"),
        (" `handle()` ", "app/service.x::Service.handle"),
        ("./app/util.x::fetch", "app/util.x::fetch"),
        ("lib.util.fetch", "lib/util.x::fetch"),
        ("app/service.x:5", "app/service.x::Service.handle"),
        ("service.x:5:3", "app/service.x::Service.handle"),
        ("app/over.x:4", "app/over.x::Over.put"),
        ("Service.run", "app/service.x::Service.run"),
        // A type's name is the type, though its constructor may have the same.
        ("Service", "app/service.x::Service"),
        // A definition is preferred to its declaration.
        ("connect", "native/api.c::connect"),
        ("api.h::connect", "native/api.h::connect"),
    ] {
        let symbol = named(&snapshot, name).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(symbol.full_name(), expected, "{name}");
    }
    assert_eq!(named(&snapshot, "app/over.x:4").expect("a place").first_line, 4);
}

#[test]
fn an_ambiguous_name_answers_with_the_choices() {
    let (_cache, snapshot, _) = stored_sample();
    for (name, expected) in [
        ("fetch", vec!["app/util.x::fetch", "lib/util.x::fetch"]),
        ("run", vec!["app/base.x::Base.run", "app/service.x::Service.run"]),
        ("Over.put", vec!["app/over.x::Over.put", "app/over.x::Over.put"]),
        ("util.x::fetch", vec!["app/util.x::fetch", "lib/util.x::fetch"]),
    ] {
        let Err(QueryError::AmbiguousSymbol { choices, total, .. }) = named(&snapshot, name) else {
            panic!("{name}")
        };
        assert_eq!(
            (names(&choices), total),
            (expected.iter().map(|&name| name.to_owned()).collect(), expected.len() as u64)
        );
    }
    let Err(QueryError::AmbiguousSymbol { choices, .. }) = named(&snapshot, "put") else {
        panic!("overloads")
    };
    let distinguished: Vec<_> =
        choices.iter().map(|choice| (choice.signature.as_str(), choice.first_line)).collect();
    assert_eq!(distinguished, [("def put(a)", 2), ("def put(a, b)", 4)]);
}

#[test]
fn an_unknown_name_never_answers_for_another() {
    let (_cache, snapshot, _) = stored_sample();
    for (name, near) in [
        ("Handle", "app/service.x::Service.handle"),
        ("handel", "app/service.x::Service.handle"),
        ("Other.handle", "app/service.x::Service.handle"),
        ("lib/util.x::handle", "app/service.x::Service.handle"),
        ("elper", "app/util.x::helper"),
        ("README.md:1", ""),
    ] {
        let Err(QueryError::NoSuchSymbol { near: found, .. }) = named(&snapshot, name) else {
            panic!("{name}")
        };
        assert_eq!(found.first().map(SymbolInfo::full_name).unwrap_or_default(), near, "{name}");
    }
    let Err(QueryError::NoSuchSymbol { near, .. }) = named(&snapshot, "zebra") else {
        panic!("no zebra")
    };
    assert_eq!(near, []);
    let Err(QueryError::AmbiguousPath { choices, total, .. }) = named(&snapshot, "util.x:1") else {
        panic!("two files")
    };
    assert_eq!((choices, total), (vec!["app/util.x".to_owned(), "lib/util.x".to_owned()], 2));
}

#[test]
fn a_way_through_packages_may_leave_out_files_but_not_containers() {
    let mut builder = GraphBuilder::default();
    let file = builder.file("deep/pkg/inner/hidden.x", 0, "");
    let class = builder.symbol(file, SymbolKind::Class, "Hidden", (1, 3), Options::default());
    builder.symbol(file, SymbolKind::Method, "get_it", (2, 3), Options::inside(class));
    let cache = Cache::new();
    cache.publish(&builder.finish().0).expect("a store");
    let snapshot = cache.snapshot();
    for (name, expected) in [
        ("deep.pkg.Hidden", Some("Hidden")),
        ("deep.inner.Hidden.get_it", Some("Hidden.get_it")),
        ("deep.pkg.get_it", None),
        ("pkg.deep.Hidden", None),
        ("other.Hidden", None),
        ("deep.pkg.inner.hidden.extra.Hidden", None),
    ] {
        let found = named(&snapshot, name).ok().map(|symbol| symbol.qualified_name());
        assert_eq!(found.as_deref(), expected, "{name}");
    }
}

#[test]
fn a_line_means_what_begins_on_it_not_what_its_header_declares() {
    let mut builder = GraphBuilder::default();
    let file = builder.file("a.x", 0, "");
    let function = builder.symbol(file, SymbolKind::Function, "parse", (1, 5), Options::default());
    builder.symbol(file, SymbolKind::Field, "strict", (1, 1), Options::inside(function));
    builder.symbol(file, SymbolKind::Function, "inner", (3, 4), Options::inside(function));
    let cache = Cache::new();
    cache.publish(&builder.finish().0).expect("a store");
    let snapshot = cache.snapshot();
    for (line, expected) in
        [(1, "parse"), (2, "parse"), (3, "parse.inner"), (4, "parse.inner"), (5, "parse")]
    {
        let found = named(&snapshot, &format!("a.x:{line}")).expect("a symbol around the line");
        assert_eq!(found.qualified_name(), expected, "line {line}");
    }
}
