//! Types, aliases, members and names that are defined by themselves, in all the ways that languages
//! have: what leads back to itself comes to an end, and what else a name leads to is found.
//!
//! `COGRAPH_TEST_SEEDS=100..1100` tries other programs than the usual few.

use super::endless::{Files, files, holds, run};
use super::setup::{Random, Repository, stdout};
use crate::incremental::asked_seeds;
use serde::Deserialize;

/// Names of the types of a program; their values have the same names in lower case.
const NAMES: [&str; 4] = ["A", "B", "C", "D"];
/// Programs of each language.
const PROGRAMS: u64 = 12;
/// Nesting of a type expression.
const DEPTH: usize = 3;

/// A language, as `circles/dialects.toml` describes it.
#[derive(Deserialize)]
struct Dialect {
    extension: String,
    head: String,
    types: Vec<String>,
    leaves: Vec<String>,
    declarations: Vec<String>,
    always: String,
    function: [String; 2],
    parameter: String,
    uses: String,
}

#[derive(Deserialize)]
struct Dialects {
    dialect: Vec<Dialect>,
}

fn dialects() -> Vec<Dialect> {
    let text = include_str!("circles/dialects.toml");
    toml::from_str::<Dialects>(text).expect("the dialects are TOML").dialect
}

/// Replaces the marks of a text.
fn fill(dialect: &Dialect, text: &str, own: &str, depth: usize, random: &mut Random) -> String {
    let mut parts = text.split('%');
    let mut filled = parts.next().expect("a text has a part").to_owned();
    for part in parts {
        let (what, rest) = part.split_at(1);
        let any = NAMES[random.below(NAMES.len())];
        match what {
            "O" => filled.push_str(own),
            "o" => filled.push_str(&own.to_lowercase()),
            "N" => filled.push_str(any),
            "n" => filled.push_str(&any.to_lowercase()),
            "T" => {
                let more = if depth < DEPTH { &dialect.types } else { &dialect.leaves };
                let ty = &more[random.below(more.len())];
                filled.push_str(&fill(dialect, ty, any, depth + 1, random));
            }
            _ => panic!("{text}: %{what}"),
        }
        filled.push_str(rest);
    }
    filled
}

/// A program: types that are defined by each other, and everything that can be done with a value.
fn program(dialect: &Dialect, seed: u64) -> String {
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (seed + 1));
    let mut lines = vec![dialect.head.clone()];
    for own in NAMES {
        let declaration = &dialect.declarations[random.below(dialect.declarations.len())];
        for text in [declaration, &dialect.always] {
            lines.push(fill(dialect, text, own, 0, &mut random));
        }
    }
    let [open, close] = &dialect.function;
    let parameters = NAMES.map(|own| fill(dialect, &dialect.parameter, own, 0, &mut random));
    lines.push(open.replace('%', &parameters.join(", ")));
    lines.extend(NAMES.map(|own| fill(dialect, &dialect.uses, own, 0, &mut random)));
    lines.push(close.clone());
    lines.join("\n")
}

#[test]
fn any_types_that_are_defined_by_each_other_come_to_an_end() {
    let (first, end) = asked_seeds().unwrap_or((0, PROGRAMS));
    let repository = Repository::with(&[]);
    let dialects = dialects();
    for dialect in &dialects {
        for seed in first..end {
            let path = format!("{}{seed}/main.{}", dialect.extension, dialect.extension);
            repository.write(&path, program(dialect, seed).as_bytes());
        }
    }
    run(&repository, &["index"]);
    let statement = "SELECT DISTINCT path || ' is given up' FROM refs WHERE step = 'fault' \
                     UNION ALL SELECT path || ' is left out' FROM files WHERE skipped IS NOT NULL \
                     UNION ALL SELECT count(DISTINCT path) || ' files' FROM refs \
                     WHERE kind = 'call' AND verdict = 'resolved'";
    let found = stdout(&run(&repository, &["sql", statement]));
    let all = format!("{} files", dialects.len() as u64 * (end - first));
    assert_eq!(found.lines().skip(2).collect::<Vec<_>>(), [all], "{found}");
}

/// Modules that export each other's names, one of them its own, under further names.
fn exports() -> Files {
    files([
        (
            "a.js",
            "import { b as a1, own as b1 } from './b';\nexport { a1 as a, b1 as own };\n\
             export function real() {}\n"
                .to_owned(),
        ),
        (
            "b.js",
            "import { a as b1, own as b2, real } from './a';\nimport { self as b3 } from './b';\n\
             export { b1 as b, b2 as own, b3 as self };\nreal();\n"
                .to_owned(),
        ),
        (
            "main.js",
            "import { a, own } from './a';\nimport { self } from './b';\na();\nown();\nself();\n\
             function f() { var one = other; var other = one; one({ key: 1 }); }\n"
                .to_owned(),
        ),
    ])
}

#[test]
fn names_that_modules_export_in_circles_come_to_an_end() {
    holds("exports", exports, &["real resolved a.js"]);
}

/// Aliases with themselves among the arguments of their target, in languages that allow it, and
/// extensions of a type with arguments.
fn aliases_of_themselves() -> Files {
    files([
        (
            "types.ts",
            "export class Leaf { name() {} }\n\
             export class List<T> { item: T; }\n\
             export type Tree = Leaf | List<Tree> | Map<Tree, Leaf | List<Tree>>;\n\
             export type Pair = List<Pair> | List<List<Pair> | Tree>;\n\
             export function isTree(one: unknown): one is Tree { return isPair(one); }\n\
             export function isPair(one: unknown): one is Pair { return isTree(one); }\n\
             export function leaf(of: List<Tree>) { if (isPair(of)) of.item; inTs(new Leaf()); }\n\
             export function inTs(one: Tree) { if (isTree(one)) isPair(one); }\n\
             type Choice<T> = T extends string ? Leaf : Choice<T>;\n\
             type Ping = Pong | Leaf;\n\
             type Pong = Ping | Choice<Pong>;\n\
             export function ends(one: Choice<1>, other: Ping) { one.name(); other.name(); }\n"
                .to_owned(),
        ),
        (
            "types.py",
            "type Tree = Leaf | list[Tree] | dict[Tree, Leaf | list[Tree]]\n\n\
             class Leaf:\n    def name(self): ...\n\n\
             def in_py(one: Tree, other: list[Tree]) -> Tree:\n    return in_py(other[0], [one])\n"
                .to_owned(),
        ),
        (
            "types.swift",
            "struct Box<T> { func open() {} }\n\
             extension Box<Int> {\n  func inSwift() { open() }\n  func more() { inSwift() }\n}\n\
             extension Collection<String> {\n  func all() { item() }\n  func item() {}\n}\n"
                .to_owned(),
        ),
    ])
}

#[test]
fn types_that_name_themselves_cost_what_others_do() {
    let found = [
        "inTs resolved types.ts",
        "isPair resolved types.ts",
        "in_py resolved types.py",
        "inSwift resolved types.swift",
        "item resolved types.swift",
    ];
    holds("aliases_of_themselves", aliases_of_themselves, &found);
    let repository = Repository::with(&[]);
    for (path, text) in aliases_of_themselves() {
        repository.write(&path, text.as_bytes());
    }
    run(&repository, &["index"]);
    let statement = "SELECT count(*) FROM refs WHERE step = 'fault'";
    let given_up = stdout(&run(&repository, &["sql", statement]));
    assert_eq!(given_up.lines().last(), Some("0"), "{given_up}");
}

/// Types that lead back to themselves by what is done with their values: each is iterated,
/// subscripted, called, awaited or dereferenced before its other alternative is found.
fn operations() -> Files {
    files([
        (
            "rows.ts",
            "export class Item { atRows() {} inRows() {} made() {} waited() {} keyed() {} }\n\
             type Rows<T> = T extends [] ? Item[] : T extends [1, ...infer B] ? Rows<B> : T;\n\
             type Make<T> = T extends string ? Make<T[]> : () => Item;\n\
             type Keys<T> = Keys<T[]> | Map<Item, T>;\n\
             class Steps { [Symbol.iterator](): Steps | Item[] { return this; } }\n\
             export async function all(rows: Rows<1>, make: Make<1>, keys: Keys<1>, by: Steps) {\n\
             for (const row of rows) row.inRows();\n\
             rows[0].atRows();\n\
             make().made();\n\
             for (const [key] of keys) key.keyed();\n\
             for (const step of by) step.waited();\n}\n"
                .to_owned(),
        ),
        (
            "tree.py",
            "from typing import List, Union\n\nclass Leaf:\n    def in_tree(self): ...\n\
             \u{20}   def at_tree(self): ...\n\n\
             Tree = Union[List[Leaf], \"Tree\"]\n\n\
             def walk(tree: Tree):\n    for leaf in tree:\n        leaf.in_tree()\n\
             \u{20}   tree[0].at_tree()\n"
                .to_owned(),
        ),
        (
            "guard.rs",
            "struct End;\nimpl End { fn at_end(&self) {} }\n\nuse std::ops::Deref;\n\
             struct Left(Box<Right>);\nstruct Right(Box<Left>);\n\
             impl Deref for Left { type Target = Right; fn deref(&self) -> &Right { &self.0 } }\n\
             impl Deref for Right { type Target = Left; fn deref(&self) -> &Left { &self.0 } }\n\
             fn ends(left: Left, end: End) {\n    left.missing().more();\n\
             \u{20}   left.deref().deref().x();\n    end.at_end();\n}\n"
                .to_owned(),
        ),
    ])
}

#[test]
fn operations_on_types_that_lead_back_to_themselves_come_to_an_end() {
    let found = [
        "inRows resolved rows.ts",
        "atRows resolved rows.ts",
        "made resolved rows.ts",
        "keyed resolved rows.ts",
        "in_tree resolved tree.py",
        "at_tree resolved tree.py",
        "at_end resolved guard.rs",
    ];
    holds("operations", operations, &found);
}
