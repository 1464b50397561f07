//! Definitions without a known use that something may use all the same: what manifests name, bases
//! register, macros take, tests have executed.

use std::fs;

use super::{names, program, unused};

#[test]
fn the_visible_definitions_of_a_file_that_a_manifest_names_are_doubtful() {
    let package = r#"{"main": "./lib/index", "exports": {"types": "./dist/types/built.d.ts"}}"#;
    let source =
        "export function api() {}\nexport class Store {\n  open() {}\n}\nfunction gone() {}\n";
    let crates = "[package]\nname = \"tool\"\n[[bin]]\nname = \"tool\"\npath = \"src/tool.rs\"\n";
    let files = [
        ("web/package.json", package),
        ("web/lib/index.ts", source),
        ("web/src/built.ts", "export function built() {}\n"),
        ("web/lib/other.ts", "export function other() {}\n"),
        ("Cargo.toml", crates),
        ("src/tool.rs", "pub fn visible() {}\nfn hidden() {}\n"),
        ("pyproject.toml", "[project.entry-points.'a.b']\nplug = 'tool.plug'\n"),
        ("src/tool/plug.py", "def hook():\n    pass\n"),
    ];
    let (found, _) = unused(&files, &[]);
    assert_eq!(names(&found, "unused"), ["hidden", "gone"], "{found:?}");
    assert_eq!(names(&found, "unused-in-this-repository"), ["other"], "{found:?}");
    let doubts = ["visible", "hook", "api", "Store", "built"];
    assert_eq!(names(&found, "cannot-know"), doubts, "{found:?}");
    assert!(found.iter().filter(|one| !one.2.is_empty()).all(|one| one.2.contains("entry point")));
}

const REGISTRY: &str = "\
class _Plugin:
    kinds = []

    def __init_subclass__(cls):
        _Plugin.kinds.append(cls)


class _Reader(_Plugin):
    pass


class _Nested(_Reader):
    def _gone(self):
        pass


class _Other:
    pass


print(_Plugin.kinds)
";

#[test]
fn a_class_that_its_base_may_register_is_doubtful() {
    let (found, _) = unused(&[("plugins.py", REGISTRY)], &[]);
    assert_eq!(names(&found, "unused"), ["_Nested._gone", "_Other"], "{found:?}");
    let reason = |name: &str| found.iter().find(|one| one.0 == name).map_or("", |one| &one.2);
    assert_eq!(reason("_Nested"), "`__init_subclass__` of _Plugin may register it", "{found:?}");
    let ruby = "class Base\n  def self.inherited(one)\n    list << one\n  end\nend\n\n\
                class Derived < Base\nend\n";
    let (found, _) = unused(&[("plugins.rb", ruby)], &[]);
    let derived = found.iter().find(|one| one.0 == "Derived").expect("it is listed");
    assert!(derived.2.contains("`inherited` of Base"), "{found:?}");
}

const GO: &str = "\
package shop

import \"io\"

type state int

const (
	first state = iota
	second
	third
)

const alone = 3

const (
	red  = iota + 1
	plain = 7
	blue = 1 << iota
)

type Node interface{ isNode() }

type Leaf struct{}

func (*Leaf) isNode() {}

type Reader interface {
	io.RuneReader
	Skip() int
}

type reader struct{}

func (r *reader) Skip() int { return 1 }

func (r *reader) gone() int { return 1 }

func (r *reader) ModTime() int { return 1 }

func Make(n Node) Reader {
	println(third)
	return Reader(any(&reader{}).(Reader))
}
";

#[test]
fn places_of_constants_and_methods_that_interfaces_need_are_doubtful() {
    let (found, _) = unused(&[("go.mod", "module shop\n"), ("shop.go", GO)], &[]);
    assert_eq!(names(&found, "unused"), ["alone", "reader.gone"], "{found:?}");
    let reason = |name: &str| found.iter().find(|one| one.0 == name).map_or("", |one| &one.2);
    assert!(reason("reader.ModTime").contains("of a library"), "{found:?}");
    assert!(reason("first").contains("by their places"), "{found:?}");
    assert!(reason("second").contains("by their places"), "{found:?}");
    for name in ["red", "plain", "blue"] {
        assert!(reason(name).contains("by their places"), "{name}: {found:?}");
    }
    assert!(!found.iter().any(|one| one.0.contains("isNode")), "it is a mark: {found:?}");
}

const COMPUTED: &str = "\
class Cell {
  [name('a')]() {}
  #gone() {}
}
new Cell();
";

#[test]
fn a_computed_name_is_doubtful() {
    let (found, _) = unused(&[("cell.js", COMPUTED)], &[]);
    assert_eq!(names(&found, "unused"), ["Cell.#gone"], "{found:?}");
}

const MACROS: &str = "\
quickcheck! {
    fn reversed(list: Vec<u32>) -> bool {
        list == twice(list)
    }
}

fn twice(list: Vec<u32>) -> Vec<u32> {
    list
}

fn gone() {}

pub(crate) mod inner {
    pub struct Config;

    impl Config {
        pub fn set(&mut self) {}
        fn hidden(&self) {}
    }
}

pub(crate) mod globbed {
    pub fn taken() {}
}

pub(crate) mod kept {
    pub fn left() {}
}

pub mod outer {
    pub use super::inner::Config;
    pub use super::globbed::*;
}
";

#[test]
fn arguments_of_macros_and_what_is_exported_out_of_a_module_may_be_used() {
    let (found, _) = unused(&[("src/lib.rs", MACROS)], &[]);
    assert_eq!(names(&found, "unused"), ["gone", "inner.Config.hidden", "kept.left"], "{found:?}");
    let reason = |name: &str| found.iter().find(|one| one.0 == name).map_or("", |one| &one.2);
    assert_eq!(reason("reversed"), "it is in the arguments of a macro", "{found:?}");
}

#[test]
fn what_tests_executed_is_not_unused() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let cache = tempfile::tempdir().expect("a temporary directory");
    let source = "class _Plugin:\n    def _run(self):\n        return 1\n\n\n\
                  def _gone():\n    return 2\n";
    fs::write(root.path().join("plugins.py"), source).expect("written");
    let lines = "TN:loads\nSF:plugins.py\nDA:3,1\nDA:7,0\nend_of_record\n";
    fs::write(root.path().join("loads.info"), lines).expect("written");
    let listed = || program(root.path(), cache.path(), &["unused", "--classes", "unused"]).1;
    assert!(listed().contains("_Plugin") && listed().contains("_gone"), "{}", listed());
    let added = program(root.path(), cache.path(), &["coverage", "add", "loads.info"]);
    assert_eq!(added.0, 0, "{}", added.1);
    assert!(!listed().contains("_Plugin") && listed().contains("_gone"), "{}", listed());
}
