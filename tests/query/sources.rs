//! Queries over real sources, from files to answers: what extraction and resolution find arrives
//! in the answers.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use cograph::config::Limits;
use cograph::index::{Run, refresh};
use cograph::model::SiteKind;
use cograph::model::cancel::CancelToken;
use cograph::query::trace::{Direction, TraceEnd, TraceFinding};
use cograph::query::{
    ExploreParams, QueryError, ReferencesParams, TraceParams, explore, references, trace,
};
use cograph::store::{Location, Snapshot, Store};
use tempfile::TempDir;

use super::token;
use crate::sample::Files;

pub(super) struct Project {
    _directory: TempDir,
    pub(super) snapshot: Snapshot,
    pub(super) files: Files,
}

/// Indexes files that are given as `//- path` and text.
pub(super) fn project(text: &str) -> Project {
    let directory = TempDir::new().expect("a temporary directory");
    let top = fs::canonicalize(directory.path()).expect("it exists");
    let mut files = Files::default();
    for part in text.split("//- ").skip(1) {
        let (path, text) = part.split_once('\n').expect("a path on a line of its own");
        let place = top.join("root").join(path);
        fs::create_dir_all(place.parent().expect("the root is above it")).expect("created");
        fs::write(place, text).expect("written");
        files.0.insert(path.to_owned(), text.as_bytes().to_vec());
    }
    let location = Location::new(&top.join("cache"), &top.join("root"));
    let cancel = CancelToken::new();
    let limits = Limits { threads: 2, ..Limits::default() };
    refresh(&location, Duration::ZERO, &Run::quiet(limits, &cancel))
        .expect("nothing stands in the way");
    let store = Arc::new(Store::open_newest(&location).expect("there is a store"));
    Project {
        snapshot: store.snapshot(&cancel).expect("it can be read"),
        _directory: directory,
        files,
    }
}

/// `name:lines` of the nodes one step away; dispatch is marked by `*`.
fn step(project: &Project, symbol: &str, direction: Direction) -> Vec<String> {
    let params = TraceParams { symbol: symbol.to_owned(), direction, ..TraceParams::default() };
    let result = trace(&project.snapshot, &params, &token())
        .unwrap_or_else(|error| panic!("{symbol}: {error}"));
    let TraceFinding::Tree(tree) = result.finding else { panic!("no path was asked for") };
    let line = |node: &cograph::query::trace::TraceNode| {
        let name = match &node.end {
            TraceEnd::Symbol(symbol) => symbol.qualified_name(),
            TraceEnd::File(path) => path.to_string(),
            TraceEnd::External(name) => format!("external {name}"),
        };
        let lines: Vec<_> = node.sites.iter().map(|site| site.at.line.to_string()).collect();
        format!("{name}:{}{}", lines.join(","), if node.through.is_some() { "*" } else { "" })
    };
    tree.nodes.iter().map(line).collect()
}

fn callers(project: &Project, symbol: &str) -> Vec<String> {
    step(project, symbol, Direction::Callers)
}

fn callees(project: &Project, symbol: &str) -> Vec<String> {
    step(project, symbol, Direction::Callees)
}

#[test]
fn methods_of_a_hierarchy() {
    let project = project(
        "//- shop/__init__.py
from .cart import Cart
//- shop/cart.py
class Base:
    def total(self):
        return 0

class Cart(Base):
    def total(self):
        return self.tax() + self.tax()

    def tax(self):
        return len('x')
//- main.py
from shop import Cart

def run():
    cart = Cart()
    return cart.total()

def generic(base):
    return base.total()

def declared(base: 'Base'):
    return base.unknown()

run()
//- tests/test_cart.py
from shop import Cart

def test_total():
    assert Cart().total() == 0
",
    );
    assert_eq!(callers(&project, "Cart.total"), ["run:5", "test_total:4"]);
    assert_eq!(callers(&project, "Cart.tax"), ["Cart.total:7,7"]);
    assert_eq!(callees(&project, "main.py::run"), ["Cart:4", "Cart.total:5"]);
    assert_eq!(callers(&project, "main.py::run"), ["main.py:13"]);
    // A way through the package names the class that the package passes on.
    let params = ReferencesParams { symbol: "shop.Cart".to_owned(), ..ReferencesParams::default() };
    let cart = references(&project.snapshot, &params, &token()).expect("references");
    assert_eq!(cart.symbol.full_name(), "shop/cart.py::Cart");
    assert_eq!(
        cart.related.iter().map(|other| other.symbol.name.as_str()).collect::<Vec<_>>(),
        ["Base"]
    );
    let params =
        ReferencesParams { symbol: "Cart.total".to_owned(), ..ReferencesParams::default() };
    let total = references(&project.snapshot, &params, &token()).expect("references");
    assert_eq!(
        (total.counts.certain, total.counts.possible + total.counts.textual),
        (2, 1),
        "a parameter without a type"
    );
    let params = ExploreParams { text: "cart total".to_owned(), ..ExploreParams::default() };
    let explored =
        explore(&project.snapshot, &project.files, &params, &token()).expect("an exploration");
    let tests: Vec<_> = explored.tests.iter().map(|test| test.symbol.name.as_str()).collect();
    assert_eq!((explored.symbols[0].symbol.name.as_str(), tests), ("total", vec!["test_total"]));
}

#[test]
fn overloads_are_symbols_of_their_own() {
    let project = project(
        "//- app/Printer.java
package app;

class Printer {
    void print(int number) {
        print(\"\" + number);
    }

    void print(String text) {
        System.out.println(text);
    }

    void both() {
        print(1);
        print(\"one\");
    }
}
",
    );
    assert_eq!(callers(&project, "app/Printer.java:4"), ["Printer.both:13"]);
    assert_eq!(callers(&project, "app/Printer.java:8"), ["Printer.print:5", "Printer.both:14"]);
    let params = TraceParams { symbol: "Printer.print".to_owned(), ..TraceParams::default() };
    let Err(QueryError::AmbiguousSymbol { choices, total: 2, .. }) =
        trace(&project.snapshot, &params, &token())
    else {
        panic!("two methods have the name")
    };
    assert!(
        choices[0].signature.contains("String text") && choices[1].signature.contains("int number"),
        "{choices:?}"
    );
}

#[test]
fn who_calls_a_constructor_uses_its_type() {
    let project = project(
        "//- app/Box.java
package app;

class Box {
    Box(int side) {
    }

    static Box make() {
        return new Box(1);
    }
}
//- shop/cart.py
class Cart:
    def __init__(self, owner):
        self.owner = owner

def open_cart():
    return Cart('me')
",
    );
    assert_eq!(callers(&project, "Box"), ["Box.make:8"]);
    assert_eq!(callers(&project, "Box.Box"), ["Box.make:8"]);
    assert_eq!(callers(&project, "Cart"), ["open_cart:6"]);
    assert_eq!(callers(&project, "Cart.__init__"), ["open_cart:6"]);
    for name in ["Box", "Cart"] {
        let params = ReferencesParams { symbol: name.to_owned(), ..ReferencesParams::default() };
        let found = references(&project.snapshot, &params, &token()).expect("references");
        let kinds: Vec<_> = found.by_kind.iter().map(|(kind, _)| *kind).collect();
        assert!(
            kinds.contains(&SiteKind::Construct) || kinds.contains(&SiteKind::Call),
            "{name}: {kinds:?}"
        );
    }
}

#[test]
fn a_call_through_an_interface_reaches_what_implements_it() {
    let project = project(
        "//- app/Shapes.java
package app;

interface Shape {
    int area();
}

class Square implements Shape {
    int side;

    public int area() { return side * side; }
}

class Sum {
    int of(Shape shape) {
        return shape.area();
    }
}
",
    );
    assert_eq!(callees(&project, "Sum.of"), ["Shape.area:15", "Square.area:15*"]);
    assert_eq!(callers(&project, "Square.area"), ["Sum.of:15*"]);
    assert_eq!(callers(&project, "Shape.area"), ["Sum.of:15"]);
}

#[test]
fn traits_and_modules() {
    let project = project(
        "//- Cargo.toml
[package]
name = \"greet\"
//- src/lib.rs
pub mod words;

use words::{Hello, Speak};

pub fn greet() -> String {
    let hello = Hello::new();
    hello.speak()
}

#[test]
fn greets() {
    assert_eq!(crate::greet(), \"hello\");
}
//- src/words.rs
pub trait Speak {
    fn speak(&self) -> String;
}

pub struct Hello;

impl Hello {
    pub fn new() -> Self {
        Hello
    }
}

impl Speak for Hello {
    fn speak(&self) -> String {
        String::from(\"hello\")
    }
}
",
    );
    assert_eq!(callees(&project, "lib.rs::greet"), ["Hello.new:6", "Hello.speak:7"]);
    assert_eq!(callers(&project, "Hello.speak"), ["greet:7"]);
    assert_eq!(callers(&project, "lib.rs::greet"), ["greets:12"]);
    let params =
        ReferencesParams { symbol: "Speak.speak".to_owned(), ..ReferencesParams::default() };
    let speak = references(&project.snapshot, &params, &token()).expect("references");
    assert_eq!(
        speak.related.iter().map(|other| other.symbol.qualified_name()).collect::<Vec<_>>(),
        ["Hello.speak"]
    );
}
