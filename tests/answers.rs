//! Answers as the program gives them: names as people and agents have them, what a list leaves out,
//! why a symbol has no callers, filters of lists, several questions in one call.

use super::bad_input::setup::Repository;

fn asked(files: &[(&str, &[u8])], arguments: &[&str]) -> String {
    Repository::with(files).asked(arguments)
}

fn first_line(answer: &str) -> &str {
    answer.lines().next().unwrap_or_default()
}

#[test]
fn a_name_is_taken_as_answers_and_tools_print_it() {
    let files: &[(&str, &[u8])] = &[
        (
            "graph.js",
            b"export class Graph {\n  #grow() {}\n  grow() {}\n\
            \x20 add() { this.#grow(); }\n}\n",
        ),
        (
            "kit/core.py",
            b"class Core:\n    def run(self):\n        pass\n\n\ndef go():\n\
            \x20   Core().run()\n",
        ),
        (
            "num.hpp",
            b"struct Num {\n  int value() const { return 1; }\n};\n\
            int use(Num n) { return n.value(); }\n",
        ),
        ("m.lua", b"local M = {}\nfunction M.open(x)\n  return x\nend\nM.open(1)\nreturn M\n"),
    ];
    let repository = Repository::with(files);
    for (name, expected) in [
        ("Graph.#grow", "1 caller of .#grow (graph.js:2)"),
        ("Graph##grow", "1 caller of .#grow (graph.js:2)"),
        ("graph.js::Graph.#grow", "1 caller of .#grow (graph.js:2)"),
        ("kit/core.py:Core.run", "1 caller of .run (kit/core.py:2)"),
        ("core.py:go", "0 callers of go (kit/core.py:6)"),
        ("Core.run(self)", "1 caller of .run (kit/core.py:2)"),
        ("Num::value", "1 caller of .value (num.hpp:2)"),
        ("num.hpp:Num::value()", "1 caller of .value (num.hpp:2)"),
    ] {
        let answer = repository.asked(&["trace", name]);
        let plain = answer.replace("Graph.", ".").replace("Core.", ".").replace("Num.", ".");
        assert!(plain.starts_with(expected), "{name}: {answer}");
    }
    let answer = repository.asked(&["show", "M.open"]);
    assert!(answer.contains("function M.open(x)"), "{answer}");
}

#[test]
fn a_name_under_which_a_symbol_is_exported_means_that_symbol() {
    let files: &[(&str, &[u8])] = &[
        ("impl.ts", b"export function inner() { return 1; }\nexport default function main() {}\n"),
        ("api.ts", b"export { inner as published } from './impl';\n"),
        (
            "use.ts",
            b"import { published } from './api';\nimport Entry from './impl';\n\
            published();\nEntry();\n",
        ),
        ("lib.py", b"def compute():\n    return 1\n"),
        (
            "face.py",
            b"from lib import compute as calculate\n\n\ndef go():\n\
            \x20   return calculate()\n",
        ),
    ];
    let repository = Repository::with(files);
    for (name, own) in [("published", "inner"), ("Entry", "main"), ("calculate", "compute")] {
        let answer = repository.asked(&["references", name]);
        assert!(answer.contains(&format!("to function {own} (")), "{name}: {answer}");
    }
}

#[test]
fn what_is_outside_can_be_asked_for_by_its_name() {
    let files: &[(&str, &[u8])] = &[
        ("page.py", b"from markupsafe import Markup\n\n\ndef page():\n    return Markup('x')\n"),
        ("other.py", b"import markupsafe\n\n\ndef other():\n    return markupsafe.Markup('y')\n"),
        (
            "Main.java",
            b"import java.util.concurrent.Phaser;\nclass Main {\n\
            \x20 Phaser own = new Phaser();\n  void run() { own.register(); }\n}\n",
        ),
        ("web.ts", b"import { memo } from 'react';\nexport const A = memo(() => 1);\n"),
    ];
    let repository = Repository::with(files);
    for (command, name, expected) in [
        ("references", "markupsafe.Markup", &["page.py", "other.py", "is outside"][..]),
        ("references", "Markup", &["page.py", "is outside"]),
        ("trace", "markupsafe.Markup", &["page:5", "other:5"]),
        ("references", "java.util.concurrent.Phaser", &["Main.java", "Main:3"]),
        ("references", "react.memo", &["web.ts"]),
        ("references", "react/memo", &["web.ts"]),
    ] {
        let answer = repository.asked(&[command, name]);
        for part in expected {
            assert!(answer.contains(part), "{command} {name}: {answer}");
        }
    }
    let answer = repository.asked(&["references", "markupsafe.Nothing"]);
    assert!(!answer.contains("is outside"), "{answer}");
}

#[test]
fn why_a_symbol_has_no_callers_is_reported() {
    let files: &[(&str, &[u8])] = &[
        (
            "Hook.kt",
            b"import org.junit.Before\nclass HookTest {\n    @Before fun prepare() {}\n\
            \x20   override fun toString(): String = \"x\"\n}\n",
        ),
        ("job.ts", b"import { Job } from './registry';\n@Job()\nexport class Nightly {}\n"),
        ("registry.ts", b"export function Job() { return (c: unknown) => c; }\n"),
        (
            "run.py",
            b"import threading\n\n\nclass Worker(threading.Thread):\n    def run(self):\n\
            \x20       pass\n\n    def __len__(self):\n        return 0\n",
        ),
        ("Box.php", b"<?php\nclass Box {\n    public function __get($name) { return $name; }\n}\n"),
        ("plain.py", b"def lonely():\n    pass\n"),
    ];
    let repository = Repository::with(files);
    for (name, expected) in [
        ("HookTest.prepare", "decorated with org.junit.Before"),
        ("HookTest.toString", "a special name: the language (Kotlin)"),
        ("Nightly", "decorated with Job (registry.ts:1)"),
        ("Worker.run", "its type derives from threading.Thread, which is outside"),
        ("Worker.__len__", "a special name: the language (Python)"),
        ("Box.__get", "a special name: the language (PHP)"),
    ] {
        let answer = repository.asked(&["trace", name]);
        assert!(first_line(&answer).contains(expected), "{name}: {answer}");
    }
    let answer = repository.asked(&["trace", "lonely"]);
    assert!(!answer.contains("decorated") && !answer.contains("special"), "{answer}");
}

#[test]
fn a_list_of_uses_says_what_it_leaves_out() {
    let files: &[(&str, &[u8])] = &[
        ("a.py", b"def collect_all():\n    return 1\n\n\ndef one():\n    return collect_all()\n"),
        (
            "b.py",
            b"# collect_all is slow\nfrom vendor import collect_all\n\n\ndef two(x):\n\
            \x20   collect_all()\n    return x.collect_all()\n",
        ),
        ("page.tmpl", b"{{ collect_all }}\n"),
    ];
    let repository = Repository::with(files);
    for command in ["trace", "references"] {
        let answer = repository.asked(&[command, "a.py::collect_all"]);
        let last = answer.lines().last().unwrap_or_default();
        assert!(last.starts_with("left out: "), "{answer}");
        assert!(
            last.contains("2 whose target is thought to be outside (b.py:2, b.py:6)"),
            "{answer}"
        );
        assert!(last.contains("2 in comments, strings, templates or data"), "{answer}");
        assert!(!last.contains("left out: nothing"), "{answer}");
    }
    let clean: &[(&str, &[u8])] =
        &[("c.go", b"package c\n\nfunc Used() {}\n\nfunc caller() { Used() }\n")];
    let answer = asked(clean, &["trace", "Used"]);
    assert!(answer.contains("\nleft out: nothing"), "{answer}");
}

#[test]
fn the_zero_is_not_sure_over_a_reference_that_is_thought_to_be_outside() {
    let files: &[(&str, &[u8])] = &[
        ("own.ts", b"export function refresh() {}\n"),
        (
            "use.ts",
            b"import { refresh } from '@nowhere/own';\nexport const go = () => refresh();\n",
        ),
    ];
    let answer = asked(files, &["trace", "refresh"]);
    assert!(answer.contains("2 whose target is thought to be outside"), "{answer}");
    assert!(!answer.contains("left out: nothing"), "{answer}");
}

#[test]
fn a_filter_of_the_list_does_not_cut_the_walk() {
    let files: &[(&str, &[u8])] = &[
        (
            "low.go",
            b"package p\n\nfunc low() int { return 1 }\n\n\
            func middle() int { return low() }\n\nfunc top() int { return middle() }\n",
        ),
        (
            "low_test.go",
            b"package p\n\nimport \"testing\"\n\n\
            func helper() int { return top() }\n\nfunc TestTop(t *testing.T) { helper() }\n\n\
            func TestMiddle(t *testing.T) { middle() }\n",
        ),
    ];
    let repository = Repository::with(files);
    let answer = repository.asked(&["trace", "low", "--tests", "only"]);
    assert!(first_line(&answer).starts_with("3 callers in tests of low"), "{answer}");
    assert!(
        answer.contains("in 2 steps: TestMiddle:9;") && answer.contains("in 4 steps: TestTop:7"),
        "{answer}"
    );
    let (near, far) = (answer.find("TestMiddle"), answer.find("TestTop"));
    assert!(near < far, "nearest first: {answer}");
    let answer = repository.asked(&["trace", "low", "--tests", "exclude", "--depth", "9"]);
    assert!(
        answer.contains("\nlow.go: middle:5\n  low.go: top:7"),
        "a tree, with its parents: {answer}"
    );
    assert!(first_line(&answer).starts_with("2 callers outside of tests of low"), "{answer}");
    assert!(!answer.contains("Test"), "{answer}");
    let rust: &[(&str, &[u8])] = &[(
        "src/lib.rs",
        b"pub fn low() -> u8 { 1 }\npub fn middle() -> u8 { low() }\n#[cfg(test)]\nmod tests {\n\
            \x20   \
          #[test]\n    fn reaches() { super::middle(); }\n}\n",
    )];
    let answer = asked(rust, &["trace", "low", "--tests", "only"]);
    assert!(answer.contains("in 2 steps: tests.reaches:6"), "{answer}");
}

#[test]
fn a_filter_of_tests_holds_for_implementations() {
    let files: &[(&str, &[u8])] = &[
        (
            "port.py",
            b"class Port:\n    def send(self):\n        pass\n\n\nclass Wire(Port):\n\
                       \x20   def send(self):\n        pass\n\n\n\
                       def go(port: Port):\n    port.send()\n",
        ),
        (
            "test_port.py",
            b"from port import Port\n\n\nclass Fake(Port):\n    def send(self):\n\
                            \x20       pass\n",
        ),
    ];
    let repository = Repository::with(files);
    for arguments in [
        ["references", "port.py::Port", "--tests", "exclude"].as_slice(),
        &["references", "port.py::Port.send", "--tests", "exclude"],
        &["trace", "go", "--direction", "callees", "--tests", "exclude"],
    ] {
        let answer = repository.asked(arguments);
        assert!(answer.contains("Wire") && !answer.contains("Fake"), "{arguments:?}: {answer}");
    }
    let answer = repository.asked(&["references", "port.py::Port"]);
    assert!(answer.contains("Fake"), "{answer}");
}

#[test]
fn code_comes_before_keys_of_data_and_equal_keys_are_one_row() {
    let keys = b"{\"invoice\": {\"title\": \"x\", \"invoice_total\": \"y\"}}\n";
    let files: &[(&str, &[u8])] = &[
        ("locales/de.json", keys),
        ("locales/en.json", keys),
        ("locales/fr.json", keys),
        ("config.yaml", b"invoice: 1\n"),
        ("zz/bill.rb", b"def print_invoice_now\n  1\nend\n"),
        ("zz/Bill.java", b"class Bill { void invoiceAll() {} }\n"),
    ];
    let repository = Repository::with(files);
    for query in ["invoice", "invoice total"] {
        let answer = repository.asked(&["search", query]);
        let second = answer.lines().nth(1).unwrap_or_default();
        assert!(query == "invoice total" || second.starts_with("zz/"), "{query}: {answer}");
        assert!(answer.contains("(equal in 2 other files)"), "{query}: {answer}");
        assert_eq!(answer.matches("locales/").count(), 1, "{query}: {answer}");
    }
    let json = repository.asked(&["search", "invoice", "--json"]);
    assert!(json.contains("\"same_in\":2"), "{json}");
}

#[test]
fn several_symbols_are_answered_one_after_the_other() {
    let files: &[(&str, &[u8])] = &[(
        "a.py",
        b"def one():\n    return two()\n\n\ndef two():\n    return three()\n\n\n\
            def three():\n    return 1\n",
    )];
    let repository = Repository::with(files);
    for command in ["trace", "references"] {
        let answer = repository.asked(&[command, "two", "nowhere_at_all", "three"]);
        assert!(first_line(&answer).starts_with("3 of 3 answers"), "{answer}");
        assert!(answer.contains("no symbol is named `nowhere_at_all`"), "{answer}");
        let (two, three) = (answer.find("(a.py:5)"), answer.find("(a.py:9)"));
        assert!(command == "references" || (two.is_some() && two < three), "{answer}");
    }
    let answer = repository.asked(&["trace", "one", "--via", "two", "--to", "three"]);
    assert!(answer.contains("reaches three (a.py:9) in 2 calls"), "{answer}");
    let answer = repository.asked(&["trace", "two", "--via", "one", "--to", "three"]);
    assert!(answer.contains("no path of calls from two (a.py:5) to"), "{answer}");
    let answer = repository.asked(&["outline", "a.py", "a.py"]);
    assert_eq!(answer.matches("1-2 def one()").count(), 2, "{answer}");
}

#[test]
fn few_sites_have_their_source_and_many_their_directories() {
    let many: String = (0..12).map(|at| format!("def f{at}():\n    return used()\n\n")).collect();
    let one = format!("from base import used\n\n{many}");
    let files: &[(&str, &[u8])] = &[
        (
            "base.py",
            b"def used():\n    return 1\n\n\ndef rare():\n    return used() + used()\n\n\
            \ndef last():\n    return rare()\n",
        ),
        ("sub/one.py", one.as_bytes()),
    ];
    let repository = Repository::with(files);
    let answer = repository.asked(&["trace", "rare"]);
    assert!(answer.contains("\nbase.py: last:10| return rare()"), "{answer}");
    let answer = repository.asked(&["references", "rare"]);
    assert!(answer.contains("\nbase.py: last:10| return rare()"), "{answer}");
    let answer = repository.asked(&["trace", "used"]);
    assert!(!answer.contains("return used()"), "{answer}");
    let totals = "call sites: 14 certain · up to date\ncall sites by directory: sub 12, . 2\n";
    assert!(answer.contains(totals), "{answer}");
}

#[test]
fn a_long_function_is_shown_by_its_calls_or_around_a_name() {
    let body: String = (0..20).map(|at| format!("    value_{at} = {at}\n")).collect();
    let text = format!(
        "def helper():\n    return 1\n\n\ndef long(\n    first,\n):\n{body}    if first:\n\
            \x20       helper()\n{body}    return value_7\n"
    );
    let files: &[(&str, &[u8])] = &[("a.py", text.as_bytes())];
    let repository = Repository::with(files);
    let answer = repository.asked(&["show", "long", "--calls"]);
    for part in ["5| def long(", "7| ):", "… 20 lines", "28|     if first:", "29|         helper()"]
    {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    assert!(!answer.contains("value_3 = 3"), "{answer}");
    let answer = repository.asked(&["show", "long", "--around", "value_7"]);
    assert!(answer.contains("value_7 = 7") && answer.contains("value_8 = 8"), "{answer}");
    assert!(!answer.contains("value_15 = 15") && answer.contains("… "), "{answer}");
    let c: &[(&str, &[u8])] = &[(
        "a.c",
        b"int helper(int x) { return x; }\nint big(int a)\n{\n  int b = 1;\n  int c = 2;\n\
            \x20 int d = 3;\n  \
          for (;;) {\n    b += helper(c);\n  }\n  d = 4;\n  d = 5;\n  return d;\n}\n",
    )];
    let answer = asked(c, &["show", "big", "--calls"]);
    assert!(answer.contains("| int big(int a)") && answer.contains("b += helper(c)"), "{answer}");
    assert!(answer.contains("… 3 lines") || answer.contains("… 4 lines"), "{answer}");
}

#[test]
fn files_of_other_encodings_are_not_said_to_have_changed() {
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(
            "class Shelf:\n    def fill(self):\n        return 'é'\n"
                .encode_utf16()
                .flat_map(u16::to_le_bytes),
        )
        .collect();
    let files: &[(&str, &[u8])] = &[
        ("shelf.py", &utf16),
        ("prix.rb", b"# l'unit\xe9 compt\xe9e\ndef total\n  1\nend\n"),
        ("marked.go", b"\xef\xbb\xbfpackage m\n\nfunc Marked() {}\n"),
    ];
    let repository = Repository::with(files);
    for (arguments, expected) in [
        (["show", "Shelf"], "return 'é'"),
        (["show", "total"], "def total"),
        (["show", "Marked"], "func Marked"),
        (["grep", "unit"], "l'unit\u{fffd} compt\u{fffd}e"),
    ] {
        let answer = repository.asked(&arguments);
        assert!(answer.contains(expected), "{arguments:?}: {answer}");
        assert!(!answer.contains("changed since"), "{arguments:?}: {answer}");
    }
}

#[test]
fn meanings_without_uses_are_not_said_to_have_any() {
    for (name, text) in [
        ("a.py", "def handle():\n    return 1\n"),
        ("a.go", "package a\n\nfunc handle() {}\n"),
        ("a.js", "function handle() {}\n"),
    ] {
        let (other, user) = (format!("x/{name}"), format!("y/{name}"));
        let call = if name.ends_with("py") { "\nhandle()\n" } else { "\nfunc go() { handle() }\n" };
        let call = if name.ends_with("js") { "\nhandle();\n" } else { call };
        let used = format!("{text}{call}");
        let files: &[(&str, &[u8])] =
            &[(name, text.as_bytes()), (&other, text.as_bytes()), (&user, used.as_bytes())];
        for command in ["trace", "references"] {
            let answer = asked(files, &[command, "handle"]);
            assert!(!answer.contains("with uses as a value"), "{answer}");
            assert!(answer.contains("of these definitions"), "{answer}");
        }
    }
}

#[test]
fn none_at_any_depth_is_reported_only_of_bodies_that_were_understood() {
    let files: &[(&str, &[u8])] = &[
        ("a.py", b"def start():\n    return 1\n\n\ndef target():\n    return 2\n"),
        ("b.ex", b"defmodule B do\n  def begin_here() do\n    go()\n    go()\n  end\nend\n"),
    ];
    let repository = Repository::with(files);
    let answer = repository.asked(&["trace", "start", "--to", "target"]);
    assert!(answer.contains("there is none at any depth"), "{answer}");
    let answer = repository.asked(&["trace", "begin_here", "--to", "target"]);
    assert!(!answer.contains("at any depth"), "{answer}");
    assert!(answer.contains("1 body on the way not understood (b.ex:"), "{answer}");
}

/// The first body by path, not by the order in which files came to the index.
#[test]
fn the_body_that_is_named_does_not_depend_on_the_history_of_the_index() {
    let body = |name: &str| format!("def {name}():\n    one = 1\n    two = 2\n    three = 3\n");
    let calls = "from a import lower\nfrom b import upper\n\n\n\
                 def start():\n    upper()\n    lower()\n\n\n\
                 def target():\n    return start\n";
    let repository =
        Repository::with(&[("b.py", body("upper").as_bytes()), ("calls.py", calls.as_bytes())]);
    let first = repository.asked(&["trace", "start", "--to", "target"]);
    assert!(first.contains("1 body on the way not understood (b.py:1)"), "{first}");
    repository.write("a.py", body("lower").as_bytes());
    let then = repository.asked(&["trace", "start", "--to", "target"]);
    assert!(then.contains("2 bodies on the way not understood (a.py:1)"), "{then}");
}

#[test]
fn absolute_paths_and_paths_of_the_working_directory_are_taken_everywhere() {
    let files: &[(&str, &[u8])] = &[
        ("src/kit/core.py", b"def handler():\n    return 1\n"),
        ("src/kit/other.py", b"from .core import handler\n\nhandler()\n"),
    ];
    let repository = Repository::with(files);
    let root = std::fs::canonicalize(repository.root()).expect("it exists");
    let file = root.join("src/kit/core.py");
    let file = file.to_str().expect("it is UTF-8");
    let directory = root.join("src");
    let directory = directory.to_str().expect("it is UTF-8");
    for arguments in [
        vec!["show", file],
        vec!["outline", file],
        vec!["grep", "handler", "--path", file],
        vec!["search", "handler", "--path", directory],
        vec!["references", "handler", "--path", directory],
        vec!["explore", "handler", "--path", directory],
        vec!["overview", directory],
    ] {
        let answer = repository.asked(&arguments);
        let found = answer.contains("handler") || answer.contains("src/kit");
        assert!(found && !answer.contains("no indexed"), "{arguments:?}: {answer}");
    }
    for place in [format!("{file}:1"), format!("{file}::handler"), format!("{file}:handler")] {
        let answer = repository.asked(&["trace", &place]);
        assert!(first_line(&answer).starts_with("1 caller of handler"), "{place}: {answer}");
    }
}
