//! A workspace: several repositories asked as one, with the edges between them, as the program
//! prints them.

mod managers;
mod receivers;
mod results;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// Directory with repositories, and a cache next to it.
struct Workspace {
    place: TempDir,
    cache: TempDir,
}

impl Workspace {
    /// Repositories with these files; the first directory of each path is the repository.
    fn with(files: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().expect("a temporary directory");
        let cache = tempfile::tempdir().expect("a temporary directory");
        let workspace = Self { place, cache };
        workspace.write(".cograph/workspace.toml", "");
        for (path, text) in files {
            let (repository, _) = path.split_once('/').expect("a path in a repository");
            workspace.write(&format!("{repository}/.git/HEAD"), "ref: refs/heads/main\n");
            workspace.write(path, text);
        }
        workspace
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.place.path()).expect("it exists")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
        fs::write(path, text).expect("written");
    }

    /// Exit code, answer, and remarks.
    fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
        command.current_dir(self.root()).args(arguments).env_remove("CLAUDE_PROJECT_DIR");
        command.env("COGRAPH_CACHE_DIR", self.cache.path());
        let output = command.output().expect("the program starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    fn asked(&self, arguments: &[&str]) -> String {
        let (code, answer, remarks) = self.run(arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {answer}{remarks}");
        answer
    }
}

/// Asks for the callers of each symbol, and compares whole lines of the answer.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &[(&str, &[&str])]) {
    let workspace = Workspace::with(files);
    for (symbol, lines) in expected {
        let answer = workspace.asked(&["trace", symbol]);
        for line in *lines {
            let has_line = answer.lines().any(|own| own == *line);
            assert!(has_line, "{symbol}: `{line}` is missing in\n{answer}");
        }
    }
}

const PYTHON: &[(&str, &str)] = &[
    ("lib/pyproject.toml", "[project]\nname = 'greet-lib'\nversion = '1.2.0'\n"),
    ("lib/src/greetlib/__init__.py", "from .core import greet, Greeter\nfrom .more import *\n"),
    (
        "lib/src/greetlib/core.py",
        "def greet(name):\n    return name\n\n\n\
         class Base:\n    def shout(self):\n        pass\n\n\n\
         class Greeter(Base):\n    def hello(self):\n        pass\n\n\n\
         def make() -> Greeter:\n    return Greeter()\n",
    ),
    ("lib/src/greetlib/more.py", "def wave():\n    pass\n"),
    (
        "user/pyproject.toml",
        "[project]\nname = 'app'\ndependencies = ['greet-lib==1.1.0', 'other']\n",
    ),
    (
        "user/app.py",
        "import greetlib\nimport greetlib.core as core\nimport other\n\
         from greetlib import Greeter, greet as hi, wave\nfrom greetlib.core import make\n\n\n\
         def main():\n    hi('a')\n    greetlib.greet('b')\n    core.greet('c')\n    wave()\n    \
         other.greet()\n    greeter = Greeter()\n    greeter.hello()\n    greeter.shout()\n    \
         make().hello()\n",
    ),
];

#[test]
fn callers_in_another_repository_python() {
    check(
        PYTHON,
        &[
            (
                "greet",
                &[
                    "== lib ==",
                    "3 calls of greet (src/greetlib/core.py:1) from other repositories",
                    "user/app.py: main:9,10,11",
                    "user names version 1.1.0; here is 1.2.0",
                    "outside of all of them: other.greet (1 in user)",
                ],
            ),
            ("wave", &["user/app.py: main:12"]),
            ("Greeter", &["user/app.py: main:14"]),
            // What a function returns is read from its header.
            ("hello", &["user/app.py: main:15; likely: main:17"]),
            ("Base.shout", &["user/app.py: main:16"]),
        ],
    );
}

#[test]
fn callers_in_another_repository_typescript() {
    check(
        &[
            ("lib/package.json", "{\"name\": \"@acme/greet\", \"main\": \"dist/index.js\"}"),
            (
                "lib/src/index.ts",
                "export { greet, Greeter } from './core';\nexport * from './more';\n\
                 export default function start() {}\n",
            ),
            (
                "lib/src/core.ts",
                "export function greet(name: string) {}\n\
                 export class Greeter { hello() {} }\n",
            ),
            ("lib/src/more.ts", "export function wave() {}\n"),
            ("user/package.json", "{\"dependencies\": {\"@acme/greet\": \"^2.0.0\"}}"),
            (
                "user/app.ts",
                "import { greet, Greeter, wave as w } from '@acme/greet';\n\
                 import * as all from '@acme/greet';\n\
                 import begin from '@acme/greet';\n\
                 import { greet as deep } from '@acme/greet/core';\n\
                 import { greet as other } from '@acme/other';\n\
                 export function main() {\n  greet('a');\n  all.greet('b');\n  deep('c');\n  \
                 other();\n  w();\n  new Greeter().hello();\n  begin();\n}\n",
            ),
        ],
        &[
            (
                "greet",
                &[
                    "user/app.ts: main:7,8,9",
                    "outside of all of them: @acme/other/greet (1 in user)",
                ],
            ),
            ("wave", &["user/app.ts: main:11"]),
            ("Greeter", &["user/app.ts: main:12"]),
            ("Greeter.hello", &["user/app.ts: main:12"]),
            ("start", &["user/app.ts: main:13"]),
        ],
    );
}

#[test]
fn members_of_fields_and_of_results_without_a_type_typescript() {
    check(
        &[
            ("lib/package.json", "{\"name\": \"@acme/tree\", \"main\": \"dist/index.js\"}"),
            ("lib/src/index.ts", "export { Tree, Kind, Place } from './tree';\n"),
            (
                "lib/src/tree.ts",
                "export class Kind { create() {}  label() { return '' } }\n\
                 export class Place {\n  constructor(readonly tree: Tree) {}\n  \
                 depth() { return 1 }\n  get parent(): Tree { return this.tree }\n}\n\
                 export class Tree {\n  readonly kind: Kind\n  \
                 resolve(at: number) { return cached(at) }\n  fold() {}\n  size() {}\n}\n\
                 export class Other { size() {} }\n\
                 function cached(at: number) { return new Place(new Tree()) }\n",
            ),
            ("user/package.json", "{\"dependencies\": {\"@acme/tree\": \"^1.0.0\"}}"),
            (
                "user/app.ts",
                "import { Tree, Place } from '@acme/tree';\n\
                 export function main(tree: Tree, place: Place) {\n  tree.kind.create();\n  \
                 place.tree.fold();\n  place.parent.fold();\n  tree.resolve(1).depth();\n  \
                 tree.resolve(1).size();\n}\n",
            ),
        ],
        &[
            ("Kind.create", &["user/app.ts: likely: main:3"]),
            // A parameter that declares a field, a getter.
            ("Tree.fold", &["user/app.ts: likely: main:4,5"]),
            // Only one type of the library has a member of the name; two have the next.
            ("Place.depth", &["user/app.ts: likely: main:6"]),
            ("Tree.size", &["user/app.ts: possible: main:7"]),
        ],
    );
}

#[test]
fn callers_in_another_repository_rust() {
    check(
        &[
            ("lib/Cargo.toml", "[package]\nname = \"greet-lib\"\nversion = \"0.3.0\"\n"),
            (
                "lib/src/lib.rs",
                "pub mod core;\nmod same;\npub use same::same;\npub mod twice {\n    \
                 pub use crate::other::greet;\n}\nmod other;\n\
                 pub use core::greet;\npub struct Greeter;\nimpl Greeter {\n    \
                 pub fn new() -> Self {\n        Greeter\n    }\n    pub fn hello(&self) {}\n}\n",
            ),
            ("lib/src/core.rs", "pub fn greet(name: &str) {}\n"),
            ("lib/src/same.rs", "pub fn same() {}\n"),
            ("lib/src/other.rs", "pub fn greet(name: &str) {}\n"),
            ("user/Cargo.toml", "[package]\nname = \"app\"\n[dependencies]\ngreet-lib = \"0.3\"\n"),
            (
                "user/src/main.rs",
                "use greet_lib::{Greeter, core, greet};\n\nfn main() {\n    greet(\"a\");\n    \
                 core::greet(\"b\");\n    greet_lib::core::greet(\"c\");\n    \
                 greet_other::greet();\n    let greeter = Greeter::new();\n    \
                 greeter.hello();\n    greet_lib::twice::greet(\"d\");\n    \
                 greet_lib::same();\n}\n",
            ),
        ],
        &[
            ("core.rs::greet", &["user/src/main.rs: main:4,5,6"]),
            ("other.rs::greet", &["user/src/main.rs: main:10"]),
            // A module and what it hands on have one name.
            ("same", &["user/src/main.rs: main:11"]),
            ("Greeter.new", &["user/src/main.rs: main:8"]),
            ("hello", &["user/src/main.rs: likely: main:9"]),
        ],
    );
}

#[test]
fn callers_in_another_repository_go() {
    check(
        &[
            ("lib/go.mod", "module example.com/acme/greet\n\ngo 1.21\n"),
            (
                "lib/greet.go",
                "package greet\n\nfunc Greet(name string) {}\n\ntype Greeter struct{}\n\n\
                 func New() *Greeter { return nil }\n\nfunc (g *Greeter) Hello() {}\n",
            ),
            ("lib/sub/sub.go", "package sub\n\nfunc Wave() {}\n"),
            (
                "user/go.mod",
                "module example.com/acme/app\n\nrequire example.com/acme/greet v1.0.0\n",
            ),
            (
                "user/main.go",
                "package main\n\nimport (\n\t\"example.com/acme/greet\"\n\
                 \t\"example.com/acme/greet/sub\"\n\tother \"example.com/other/greet\"\n)\n\n\
                 func main() {\n\tgreet.Greet(\"a\")\n\tother.Greet(\"b\")\n\tg := greet.New()\n\
                 \tg.Hello()\n\th := greet.Greeter{}\n\th.Hello()\n\tsub.Wave()\n}\n",
            ),
        ],
        &[
            (
                "Greet",
                &[
                    "user/main.go: main:10",
                    "outside of all of them: example.com/other/greet.Greet (1 in user)",
                ],
            ),
            ("New", &["user/main.go: main:12"]),
            ("Hello", &["user/main.go: main:15; likely: main:13"]),
            ("Greeter", &["user/main.go: main:14"]),
            ("Wave", &["user/main.go: main:16"]),
        ],
    );
}

#[test]
fn callers_in_another_repository_java() {
    check(
        &[
            (
                "lib/src/main/java/com/acme/greet/Greeter.java",
                "package com.acme.greet;\npublic class Greeter {\n  \
                 public static Greeter create() { return new Greeter(); }\n  \
                 public void hello() {}\n  public void hello(int n) {}\n}\n",
            ),
            (
                "user/src/main/java/com/acme/app/Main.java",
                "package com.acme.app;\nimport com.acme.greet.Greeter;\n\
                 public class Main {\n  void run(com.other.Greeter other) {\n    \
                 Greeter g = new Greeter();\n    g.hello();\n    g.hello(1);\n    \
                 Greeter.create().hello();\n    other.hello();\n  }\n}\n",
            ),
        ],
        &[
            (
                "Greeter.hello",
                &[
                    "user/src/main/java/com/acme/app/Main.java: Main.run:6,7; likely: Main.run:8",
                    "outside of all of them: com.other.Greeter.hello (1 in user)",
                ],
            ),
            ("Greeter.create", &["user/src/main/java/com/acme/app/Main.java: Main.run:8"]),
            ("Greeter", &["user/src/main/java/com/acme/app/Main.java: Main.run:5"]),
        ],
    );
}

#[test]
fn a_name_that_is_imported_with_all_of_its_package_java() {
    check(
        &[
            (
                "lib/src/main/java/com/acme/greet/Greeter.java",
                "package com.acme.greet;\npublic class Greeter {\n  public void hello() {}\n  \
                 public Greeter next(String name) { return this; }\n}\n",
            ),
            (
                "user/src/main/java/com/acme/app/Main.java",
                "package com.acme.app;\nimport java.util.*;\nimport com.acme.greet.*;\n\
                 public class Main {\n  void run(Greeter g) {\n    g.hello();\n    \
                 g.next(\"a\").hello();\n  }\n}\n",
            ),
            // The same name, and no import of the package.
            (
                "user/src/main/java/com/acme/app/Other.java",
                "package com.acme.app;\nimport com.other.*;\nimport java.util.*;\n\
                 public class Other {\n  void run(Greeter g) {\n    g.hello();\n  }\n}\n",
            ),
        ],
        &[(
            "Greeter.hello",
            &[
                "user/src/main/java/com/acme/app/Main.java: Main.run:6; likely: Main.run:7",
                "outside of all of them: Greeter.hello (1 in user)",
            ],
        )],
    );
}

#[test]
fn installed_packages_are_members_although_rules_exclude_them() {
    let files: &[(&str, &str)] = &[
        ("user/.gitignore", ".venv/\nnode_modules/\n"),
        ("user/app.py", "from greetlib import greet\n\n\ndef main():\n    greet()\n"),
        ("user/.venv/.gitignore", "*\n"),
        ("user/.venv/lib/site-packages/greetlib/__init__.py", "def greet():\n    pass\n"),
        ("user/app.ts", "import { wave } from '@acme/wave';\nexport function run() { wave(); }\n"),
        ("user/node_modules/@acme/wave/package.json", "{\"name\": \"@acme/wave\"}"),
        ("user/node_modules/@acme/wave/index.ts", "export function wave() {}\n"),
    ];
    let workspace = Workspace::with(files);
    let members = ["user/.venv/lib/site-packages", "user/node_modules/@acme/wave"];
    workspace.write(
        ".cograph/workspace.toml",
        &format!("members = ['user', '{}', '{}']\n", members[0], members[1]),
    );
    let answer = workspace.asked(&["trace", "greet"]);
    assert!(answer.contains("user/app.py: main:5"), "{answer}");
    let answer = workspace.asked(&["trace", "wave"]);
    assert!(answer.contains("user/app.ts: run:2"), "{answer}");
    let answer = workspace.asked(&["show", "greet"]);
    assert!(answer.contains("def greet():"), "{answer}");
}

#[test]
fn callers_in_another_repository_php() {
    check(
        &[
            (
                "lib/composer.json",
                "{\"name\": \"acme/greet\", \"version\": \"1.2.0\", \"autoload\": {\"psr-4\": \
                 {\"Acme\\\\Greet\\\\\": \"src/\"}}}",
            ),
            (
                "lib/src/Greeter.php",
                "<?php\nnamespace Acme\\Greet;\nclass Base { public function shout() {} }\n\
                 class Greeter extends Base {\n    public function __construct() {}\n    \
                 public function hello() {}\n    public static function make(): Greeter {\n        \
                 return new Greeter();\n    }\n}\nfunction wave() {}\n",
            ),
            // The same names in another namespace.
            (
                "other/src/Greeter.php",
                "<?php\nnamespace Other;\nclass Greeter { public function hello() {} }\n\
                 function wave() {}\n",
            ),
            (
                "user/composer.json",
                "{\"name\": \"acme/app\", \"require\": {\"acme/greet\": \"1.1.0\"}}",
            ),
            (
                "user/app.php",
                "<?php\nnamespace App;\nuse Acme\\Greet\\Greeter;\n\
                 use function Acme\\Greet\\wave;\nfunction main() {\n    \
                 $greeter = new Greeter();\n    $greeter->hello();\n    Greeter::make();\n    \
                 \\Acme\\Greet\\Greeter::make();\n    wave();\n    $greeter->shout();\n}\n",
            ),
        ],
        &[
            ("wave", &["user/app.php: main:10", "user names version 1.1.0; here is 1.2.0"]),
            ("src/Greeter.php::Greeter.hello", &["user/app.php: main:7"]),
            ("make", &["user/app.php: main:8,9"]),
            ("shout", &["user/app.php: main:11"]),
        ],
    );
}

#[test]
fn an_edit_is_seen_and_what_two_members_export_is_possible() {
    let workspace = Workspace::with(PYTHON);
    let before = workspace.asked(&["trace", "greet"]);
    assert!(before.starts_with("trace: 2 of 2 repositories answered; 3 calls"), "{before}");
    workspace.write("user/late.py", "from greetlib import greet\n\ndef late():\n    greet(1)\n");
    let after = workspace.asked(&["trace", "greet"]);
    assert!(after.contains("user/late.py: late:4"), "{after}");
    // Another member with the same module and function.
    workspace.write("twin/.git/HEAD", "ref: refs/heads/main\n");
    workspace.write("twin/greetlib/__init__.py", "def greet(name):\n    pass\n");
    let both = workspace.asked(&["trace", "src/greetlib/core.py::greet"]);
    assert!(
        both.contains("user/app.py: main:11; possible, several have the name: main:9,10"),
        "{both}"
    );
    let twin = workspace.asked(&["trace", "greetlib/__init__.py::greet"]);
    assert!(twin.contains("0 calls of greet (greetlib/__init__.py:1)"), "{twin}");
    assert!(twin.contains("3 possible") && !twin.contains("main:9,10,11"), "{twin}");
}

#[test]
fn references_and_other_tools_are_asked_of_all_members() {
    let workspace = Workspace::with(PYTHON);
    let answer = workspace.asked(&["references", "Greeter", "--kinds", "import"]);
    assert!(answer.contains("user/app.py: (top level):4"), "{answer}");
    let answer = workspace.asked(&["search", "main"]);
    assert!(answer.contains("== user ==") && answer.contains("app.py"), "{answer}");
    let (code, answer, _) = workspace.run(&["trace", "main"]);
    assert!(code == Some(1) && answer.contains("no such name in lib"), "{answer}");
    let answer = workspace.asked(&["show", "main"]);
    assert!(answer.contains("== user ==") && answer.contains("def main():"), "{answer}");
    let (code, answer, _) = workspace.run(&["trace", "nothing_has_this_name"]);
    assert_eq!((code, answer.as_str()), (Some(1), ""));
    let (code, _, remarks) = workspace.run(&["sql", "SELECT 1"]);
    assert!(code == Some(3) && remarks.contains("asks one repository"), "{remarks}");
    let json = workspace.asked(&["trace", "greet", "--json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let symbol = &json["crossing"]["symbols"][0];
    assert_eq!(symbol["repository"], "lib");
    assert_eq!(symbol["uses"][0]["certainty"], "certain");
    assert_eq!(json["crossing"]["elsewhere"][0]["name"], "other.greet");
    let small = workspace.asked(&["trace", "greet", "Greeter", "hello", "--budget", "150"]);
    assert!(small.len() <= 601, "{} bytes: {small}", small.len());
    assert!(small.contains("raise `budget`"), "what is left out is reported: {small}");
}

#[test]
fn members_are_named_by_a_file_or_a_list_and_one_that_cannot_be_opened_is_named() {
    let workspace = Workspace::with(PYTHON);
    workspace.write(".cograph/workspace.toml", "members = ['lib', 'user', 'gone']\n");
    let answer = workspace.asked(&["trace", "greet"]);
    assert!(answer.starts_with("trace: 2 of 3 repositories answered"), "{answer}");
    assert!(answer.contains("\ngone: not opened: "), "{answer}");
    assert!(answer.contains("user/app.py: main:9,10,11"), "{answer}");
    let list = if cfg!(windows) { "lib;user" } else { "lib:user" };
    let answer = workspace.asked(&["trace", "greet", "--root", list]);
    assert!(answer.starts_with("trace: 2 of 2 repositories answered"), "{answer}");
    let answer = workspace.asked(&["trace", "greet", "--root", "lib"]);
    assert!(!answer.contains("=="), "one repository answers as ever: {answer}");
    workspace.write(".cograph/workspace.toml", "members = ['../elsewhere']\n");
    let (code, _, remarks) = workspace.run(&["trace", "greet"]);
    assert!(code == Some(2) && remarks.contains("no directory below"), "{remarks}");
}
