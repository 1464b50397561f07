//! `cograph unused`: what nothing uses, and what may be used unseen.

mod doubtful;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Class and reason of each entry of a repository with these files.
fn unused(files: &[(&str, &str)], arguments: &[&str]) -> (Vec<(String, String, String)>, i32) {
    let root = tempfile::tempdir().expect("a temporary directory");
    let cache = tempfile::tempdir().expect("a temporary directory");
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
        fs::write(path, text).expect("written");
    }
    let done = program(root.path(), cache.path(), &[&["unused", "--json"], arguments].concat());
    let (code, output) = done;
    let value: Value = serde_json::from_str(&output).expect("it is JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = value["symbols"].as_array().expect("a list").iter();
    (
        found.map(|one| (text(&one["name"]), text(&one["class"]), text(&one["reason"]))).collect(),
        code,
    )
}

fn program(root: &Path, cache: &Path, arguments: &[&str]) -> (i32, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_cograph"))
        .current_dir(root)
        .args(arguments)
        .args(["--root", "."])
        .env("COGRAPH_CACHE_DIR", cache)
        .output()
        .expect("the program starts");
    (done.status.code().expect("no signal"), String::from_utf8(done.stdout).expect("it is UTF-8"))
}

/// Names of a class.
fn names<'f>(found: &'f [(String, String, String)], class: &str) -> Vec<&'f str> {
    found.iter().filter(|one| one.1 == class).map(|one| one.0.as_str()).collect()
}

const RUST: &str = "\
pub fn api() -> u32 {
    used()
}

fn used() -> u32 {
    LIMIT
}

const LIMIT: u32 = 3;

const FORGOTTEN: u32 = 4;

fn left() {
    right();
}

fn right() {
    left();
    only_of_the_dead();
}

fn only_of_the_dead() {}

fn named_in_text() {}

struct Kept;

impl Kept {
    fn dead_method(&self) {}
}

impl std::ops::Deref for Kept {
    type Target = u32;
    fn deref(&self) -> &u32 {
        &3
    }
}

pub fn make() -> Kept {
    // `named_in_text` is called by a script.
    Kept
}

#[cfg(test)]
mod tests {
    fn helper() {}

    #[test]
    fn works() {
        helper();
        super::for_tests();
    }
}

fn for_tests() {}
";

#[test]
fn what_only_the_dead_use_is_dead_and_a_name_in_text_is_a_doubt() {
    let (found, code) = unused(&[("src/lib.rs", RUST)], &[]);
    assert_eq!(code, 0);
    assert_eq!(
        names(&found, "unused"),
        ["FORGOTTEN", "left", "right", "only_of_the_dead", "Kept.dead_method"],
        "{found:?}"
    );
    assert_eq!(names(&found, "unused-in-this-repository"), ["api", "make"], "{found:?}");
    assert_eq!(names(&found, "only-tests-use-it"), ["for_tests"], "{found:?}");
    assert_eq!(
        names(&found, "cannot-know"),
        ["named_in_text", "Kept.Target", "Kept.deref"],
        "what its base asks for: {found:?}"
    );
    let reason = &found.iter().find(|one| one.0 == "named_in_text").expect("listed").2;
    assert!(reason.contains("text at src/lib.rs:40"), "{reason}");
}

const PYTHON: &str = "\
import registry
from base import Base


@registry.register
def handler():
    _helper()


def _helper():
    pass


def _unused():
    _recursive(1)


def _recursive(n):
    return _recursive(n - 1)


class Outside(Base):
    def on_event(self):
        pass


_connection = registry.connect()


class _Gone:
    def method(self):
        return self.method()


def dynamic(obj):
    obj.maybe()


class Holder:
    def maybe(self):
        pass


__all__ = [\"Outside\"]


def outer():
    return lambda: Reader()


class Reader:
    pass


print(Outside, Holder, dynamic, outer)
";

#[test]
fn what_may_be_called_unseen_is_doubtful_and_keeps_what_it_uses() {
    let (found, _) = unused(&[("app.py", PYTHON)], &[]);
    assert_eq!(names(&found, "unused"), ["_unused", "_recursive", "_Gone"], "{found:?}");
    let doubts: Vec<(&str, &str)> = found
        .iter()
        .filter(|one| one.1 == "cannot-know")
        .map(|one| (one.0.as_str(), one.2.as_str()))
        .collect();
    let reason = |name: &str| doubts.iter().find(|one| one.0 == name).map_or("", |one| one.1);
    assert!(reason("handler").contains("register"), "{doubts:?}");
    assert!(reason("Outside.on_event").contains("Base"), "{doubts:?}");
    assert!(reason("_connection").contains("a call returns"), "{doubts:?}");
    assert!(reason("__all__").contains("Python itself"), "{doubts:?}");
    assert!(!found.iter().any(|one| one.0 == "_helper"), "the handler uses it: {found:?}");
}

#[test]
fn a_definition_under_the_name_of_an_import_is_doubtful() {
    let compat = "\
import sys

if sys.platform == 'win32':
    from console import _stream
else:
    def _stream():
        pass

_stream()
";
    let console = "def _stream():\n    pass\n";
    let (found, _) = unused(&[("compat.py", compat), ("console.py", console)], &[]);
    assert_eq!(names(&found, "unused"), Vec::<&str>::new(), "{found:?}");
}

const TYPESCRIPT: &str = "\
function parse(text: string): number;
function parse(text: number): number;
function parse(text: string | number): number {
  return Number(text);
}

function gone() {}

export function make() {
  parse('1');
  const store = { del() {}, get: function getIt() {} };
  return function named() {
    return store;
  };
}
";

#[test]
fn overloads_object_literals_and_names_of_function_values_are_not_unused() {
    let (found, _) = unused(&[("src/a.ts", TYPESCRIPT)], &[]);
    assert_eq!(names(&found, "unused"), ["gone"], "{found:?}");
    assert_eq!(names(&found, "unused-in-this-repository"), ["make"], "{found:?}");
}

#[test]
fn a_path_and_classes_select_and_nothing_is_exit_code_one() {
    let files = [
        ("a/one.go", "package a\n\nfunc dead() {}\n"),
        ("b/two.go", "package b\n\nfunc gone() {}\n"),
    ];
    let (found, code) = unused(&files, &["a"]);
    assert_eq!((names(&found, "unused"), code), (vec!["dead"], 0), "{found:?}");
    let (found, code) = unused(&files, &["--classes", "only-tests-use-it"]);
    assert_eq!((found.len(), code), (0, 1));
}

const FIELDS: &str = "\
class Field:
    _CHECK = True

    def read(self):
        return self._CHECK


class Method(Field):
    _CHECK = False
    _SPARE = 1


print(Field().read(), Method)


class Meta(type):
    def __new__(mcs, name, bases, members):
        raise ValueError(name)


class Schema(metaclass=Meta):
    pass


def error():
    with raises(ValueError):
        class Bad(Schema):
            fields = 1


error()
";

#[test]
fn what_a_base_reads_and_what_a_metaclass_makes_is_doubtful() {
    let (found, _) = unused(&[("fields.py", FIELDS)], &[]);
    assert_eq!(names(&found, "unused"), ["Method._SPARE"], "{found:?}");
    let reason = |name: &str| found.iter().find(|one| one.0 == name).map_or("", |one| &one.2);
    assert!(reason("Method._CHECK").contains("a base of its class has it too"), "{found:?}");
    assert!(reason("error.Bad").contains("derives from type"), "{found:?}");
}

const JAVA: &str = "\
class Adapter {
  private static final Cache<String> NAMES =
      new Cache<String>() {
        @Override
        protected String computeValue(Class<?> type) {
          return type.getName();
        }
      };

  public static String name() {
    return NAMES.get();
  }

  private void gone() {}
}
";

const JAVA_TEST: &str = "\
import org.junit.jupiter.api.Test;

class AdapterTest {
  @Test
  void names() {
    Adapter.name();
  }

  private static void printed() {}
}
";

#[test]
fn members_of_types_without_a_name_and_types_whose_members_a_runner_calls_are_not_unused() {
    let files =
        [("src/main/java/Adapter.java", JAVA), ("src/test/java/AdapterTest.java", JAVA_TEST)];
    let (found, _) = unused(&files, &[]);
    assert_eq!(names(&found, "unused"), ["Adapter.gone", "AdapterTest.printed"], "{found:?}");
}

const TRAITS: &str = "\
use std::process::Command;

trait CommandExt {
    fn guarded(self) -> u32;
    fn spare(self) -> u32;
}

impl CommandExt for Command {
    fn guarded(self) -> u32 {
        1
    }
    fn spare(self) -> u32 {
        2
    }
}

pub fn run() -> u32 {
    enum Terminator {
        Newline,
        End,
    }

    use Terminator::*;

    let end = if Command::new(\"a\").guarded() == 1 { Newline } else { End };
    match end {
        Newline => 1,
        End => 2,
    }
}
";

#[test]
fn what_an_implementation_for_a_type_outside_defines_goes_with_it() {
    let (found, _) = unused(&[("src/lib.rs", TRAITS)], &[]);
    assert_eq!(names(&found, "unused"), Vec::<&str>::new(), "{found:?}");
}

#[test]
fn what_a_manifest_names_is_doubtful() {
    let manifest = "[project]\nname = 'tool'\n[project.scripts]\ntool = 'tool.cli:_main'\n";
    let package = "{\"name\": \"tool\", \"bin\": \"./cli.js\"}\n";
    let files = [
        ("pyproject.toml", manifest),
        ("tool/cli.py", "def _main():\n    pass\n\n\ndef _gone():\n    pass\n"),
        ("package.json", package),
        ("cli.js", "function run() {}\n\nfunction gone() {}\n\nrun();\n"),
    ];
    let (found, _) = unused(&files, &[]);
    assert_eq!(names(&found, "unused"), ["gone", "_gone"], "{found:?}");
    let main = found.iter().find(|one| one.0 == "_main").expect("it is listed");
    assert!(main.2.contains("entry point: pyproject.toml"), "{main:?}");
}

const BASES: &str = "\
interface Value {
  readonly note: string;
  toText(): string;
}
interface Line extends Value {
  readonly text: string;
}
class LineOf implements Line {
  text = '';
  get note() {
    return this.text;
  }
  toText() {
    return this.text;
  }
  private gone() {}
}
declare module 'library' {
  interface Options {
    tool: string;
  }
}
export const value: Value = new LineOf();
";

#[test]
fn what_a_base_has_and_what_is_added_to_a_library_is_not_unused() {
    let (found, _) = unused(&[("src/a.ts", BASES)], &[]);
    let pair = ["Value.toText", "LineOf.toText", "LineOf.gone"];
    assert_eq!(names(&found, "unused"), pair, "what is declared and what does it go together");
}
