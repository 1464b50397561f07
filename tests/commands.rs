//! The command line as a person and a script meet it: every tool is a command, answers go to
//! stdout, and the exit code says found (0), nothing found (1), not understood (2) or failed (3).

mod profile;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cograph::server::TOOLS;
use tempfile::TempDir;

struct Project(TempDir);

impl Project {
    fn new() -> Self {
        let project = Self(tempfile::tempdir().expect("a temporary directory"));
        project.write(".git/HEAD", "ref: refs/heads/main\n");
        project.write(
            "shop/cart.py",
            "class Cart:\n    def total(self):\n        return add(1, 2)\n\ndef add(a, b):\n    \
             return a + b\n",
        );
        project.write("notes.txt", "nothing to parse\n");
        project
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("it exists")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("the root is above it")).expect("created");
        fs::write(path, text).expect("written");
    }

    fn command(&self, directory: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cograph"));
        command
            .current_dir(directory)
            .env("COGRAPH_CACHE_DIR", self.root().join(".git/cache"))
            .env_remove("CLAUDE_PROJECT_DIR");
        command
    }

    /// Runs the program below the root: exit code, stdout, stderr.
    fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        texts(
            &self
                .command(&self.root().join("shop"))
                .args(arguments)
                .output()
                .expect("the program starts"),
        )
    }
}

fn texts(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is UTF-8");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// A question for each tool that the project has an answer to, what only that answer says, and
/// where the same stands in JSON.
const QUESTIONS: &[(&str, &[&str], &str, &str)] = &[
    (
        "explore",
        &["cart total"],
        "calls (1): add:5",
        "/symbols/0/symbol/symbol = \"shop/cart.py::Cart.total\"",
    ),
    ("search", &["add"], "function add(a, b)", "/symbols/0/symbol = \"shop/cart.py::add\""),
    (
        "show",
        &["add", "Cart.total"],
        "6|     return a + b",
        "/items/0/lines/1 = \"    return a + b\"",
    ),
    ("outline", &["shop/cart.py"], "1-3 class Cart", "/symbols/0/symbol = \"shop/cart.py::Cart\""),
    ("trace", &["Cart.total", "--direction", "callees"], "add:5 at 3", "/tree/counts/certain = 1"),
    (
        "references",
        &["add"],
        "cart.py: Cart.total:3| return add(1, 2)",
        "/sites/0/path = \"shop/cart.py\"",
    ),
    (
        "impact",
        &["add"],
        "0 tests: no test file is recognized",
        "/dependents/0/symbol = \"Cart.total\"",
    ),
    ("overview", &[], "shop 1 file, 6 lines, 3 symbols", "/modules/0/symbols = 3"),
    ("grep", &["RETURN add", "--ignore-case"], "Cart.total", "/files/0/hits/0/line = 3"),
    ("sql", &["select count(*) as files from files"], "files\n2", "/rows/0/0 = 2"),
    ("status", &[], "2 files, 3 symbols", "/files = 2"),
];

#[test]
fn every_tool_is_a_command_with_the_same_options() {
    let project = Project::new();
    let asked: Vec<&str> = QUESTIONS.iter().map(|(tool, ..)| *tool).collect();
    assert_eq!(asked, TOOLS.map(|tool| tool.name), "every tool is asked");
    for tool in TOOLS {
        let (code, help, _) = project.run(&[tool.name, "--help"]);
        assert_eq!(code, Some(0));
        for option in ["--json", "--root", "--budget"] {
            assert!(help.contains(option), "{}: {option}", tool.name);
        }
        for parameter in tool.own {
            let (named, first) = (
                format!("--{}", parameter.name.replace('_', "-")),
                format!("<{}>", parameter.name),
            );
            assert!(
                help.contains(&named)
                    || help.contains(&first)
                    || help.contains(&format!("[{}]", parameter.name)),
                "{named}"
            );
        }
    }
}

#[test]
fn every_command_answers_as_text_and_as_json() {
    let project = Project::new();
    for (tool, arguments, expected, in_json) in QUESTIONS {
        // There is no test to run, which is no success.
        let expected_code = if *tool == "impact" { Some(1) } else { Some(0) };
        let (code, answer, remarks) = project.run(&[&[*tool][..], arguments].concat());
        assert_eq!((code, remarks.as_str()), (expected_code, ""), "{tool}: {answer}");
        assert!(answer.contains(expected), "{tool}: {answer}");
        let (code, answer, remarks) = project.run(&[&[*tool, "--json"][..], arguments].concat());
        assert_eq!((code, remarks.as_str()), (expected_code, ""), "{tool}: {answer}");
        let value: serde_json::Value = serde_json::from_str(&answer)
            .unwrap_or_else(|error| panic!("{tool}: {error}: {answer}"));
        let (place, expected) = in_json.split_once(" = ").expect("a place and a value");
        let found = value.pointer(place).map(ToString::to_string);
        assert_eq!(found.as_deref(), Some(expected), "{tool}: {answer}");
    }
}

#[test]
fn the_exit_code_distinguishes_nothing_found_from_a_mistake_and_a_failure() {
    let project = Project::new();
    let code = |arguments: &[&str]| project.run(arguments).0;
    assert_eq!(code(&["search", "add"]), Some(0));
    for nothing in [
        &["search", "zzzzqqqq"][..],
        &["grep", "zzzzqqqq"],
        &["show", "zzzzqqqq"],
        &["outline", "no/such/file.py"],
    ] {
        let (code, answer, remarks) = project.run(nothing);
        assert_eq!(code, Some(1), "{nothing:?}: {answer}{remarks}");
        assert!(!(answer + &remarks).is_empty(), "{nothing:?}: it is said in words, too");
    }
    for mistake in [
        &["search"][..],
        &["search", "add", "--mode", "nope"],
        &["search", "add", "--kinds", "nope"],
        &["search", "add", "--budget", "1"],
        &["search", "add", "--nope", "1"],
        &["search", ""],
        &["trace", "add", "--depth", "many"],
    ] {
        let (code, answer, remarks) = project.run(mistake);
        assert_eq!((code, answer.as_str()), (Some(2), ""), "{mistake:?}: {remarks}");
        assert!(!remarks.is_empty(), "{mistake:?}");
    }
    let (code, _, remarks) = project.run(&["search", "add", "--root", "no/such/directory"]);
    assert_eq!(code, Some(3));
    assert!(remarks.contains("no/such/directory") && remarks.contains("hint:"), "{remarks}");
}

#[test]
fn the_budget_bounds_an_answer() {
    let project = Project::new();
    let many: String =
        (0..500).map(|number| format!("def function_number_{number}():\n    pass\n\n")).collect();
    project.write("many.py", &many);
    let length =
        |budget: &str| project.run(&["search", "function_number", "--budget", budget]).1.len();
    assert!(length("200") <= 800, "{}", length("200"));
    assert!(length("2000") > 2 * length("200"));
}

#[test]
fn a_question_sees_the_files_as_they_are() {
    let project = Project::new();
    assert_eq!(project.run(&["search", "subtract", "--mode", "name"]).0, Some(1));
    project.write("shop/more.py", "def subtract(a, b):\n    return a - b\n");
    let (code, answer, remarks) = project.run(&["search", "subtract", "--mode", "name"]);
    assert_eq!(code, Some(0), "{answer}{remarks}");
    assert!(answer.contains("shop/more.py"), "{answer}");
    fs::remove_file(project.root().join("shop/more.py")).expect("removed");
    assert_eq!(project.run(&["search", "subtract", "--mode", "name"]).0, Some(1));
}

#[test]
fn the_repository_is_the_one_around_unless_a_root_is_given() {
    let project = Project::new();
    let (_, answer, _) = project.run(&["search", "add"]);
    assert!(answer.contains("shop/cart.py"), "paths start at the root of the repository: {answer}");
    let (_, answer, _) = project.run(&["search", "add", "--root", "."]);
    assert!(
        answer.contains("cart.py") && !answer.contains("shop/"),
        "exactly the directory that is given: {answer}"
    );
    let elsewhere = tempfile::tempdir().expect("a temporary directory");
    let mut command = project.command(elsewhere.path());
    command.args(["search", "add"]).env("CLAUDE_PROJECT_DIR", project.root().join("shop"));
    let (code, answer, remarks) = texts(&command.output().expect("the program starts"));
    assert_eq!(code, Some(0), "{remarks}");
    assert!(answer.contains("shop/cart.py"), "the client's project: {answer}");
}

#[test]
fn the_index_is_counted_in_a_table_and_in_json() {
    let project = Project::new();
    let (code, table, phases) = project.run(&["index"]);
    assert_eq!(code, Some(0), "{phases}");
    for part in [
        "python",
        "total",
        "resolved",
        "unresolved",
        "problems",
        "2 files met, 1 indexed, 1 skipped: 1 no-language",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert!(
        phases.contains("parse 2 files"),
        "a line a phase where there is no terminal: {phases}"
    );
    let (_, again, _) = project.run(&["index"]);
    assert!(again.contains("nothing has changed since generation 1"), "{again}");
    let (_, json, phases) = project.run(&["index", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(
        (value["changed"].as_bool(), value["files"].as_u64(), value["indexed"].as_u64()),
        (Some(false), Some(2), Some(1))
    );
    assert_eq!(phases, "", "nothing beside JSON");
    let (_, json, _) = project.run(&["index", "--json", "--force"]);
    let forced: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!((forced["changed"].as_bool(), forced["generation"].as_u64()), (Some(true), Some(2)));
    assert_eq!(
        forced["languages"], value["languages"],
        "counted from the graph and from the store"
    );
}

#[test]
fn an_index_of_a_part_says_what_questions_will_be_about() {
    let project = Project::new();
    let (code, _, remarks) = project.run(&["index", "."]);
    assert_eq!(code, Some(0));
    assert!(
        remarks.contains("is part of") && remarks.contains(&project.root().display().to_string()),
        "{remarks}"
    );
}

#[test]
fn a_directory_of_repositories_is_called_one() {
    let project = Project(tempfile::tempdir().expect("a temporary directory"));
    let cache = tempfile::tempdir().expect("a temporary directory");
    for name in ["one", "two"] {
        project.write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
        project.write(&format!("{name}/{name}.py"), "def helper():\n    pass\n");
    }
    let run = |arguments: &[&str]| {
        let mut command = project.command(&project.root());
        command.args(arguments).env("COGRAPH_CACHE_DIR", cache.path());
        texts(&command.output().expect("the program starts"))
    };
    let (code, answer, remarks) = run(&["search", "helper"]);
    assert_eq!(code, Some(0), "{remarks}");
    assert!(answer.contains("one/one.py") && answer.contains("two/two.py"), "{answer}");
    assert!(remarks.contains("holds 2: one, two; all are read as one, `--root one`"), "{remarks}");
    let (_, answer, remarks) = run(&["search", "helper", "--root", "one"]);
    assert!(answer.contains("one.py") && !answer.contains("two.py"), "{answer}");
    assert!(!remarks.contains("holds"), "{remarks}");
}

#[test]
fn completions_know_the_commands_of_tools() {
    let project = Project::new();
    let (code, script, _) = project.run(&["completions", "bash"]);
    assert_eq!(code, Some(0));
    assert!(
        script.contains("references") && script.contains("--ignore-case"),
        "{} bytes",
        script.len()
    );
}

#[test]
fn calls_are_exported_one_pair_a_line() {
    let project = Project::new();
    project.write(
        "shop/main.py",
        "from .cart import Cart, add\n\n@staticmethod\ndef run():\n    cart = Cart()\n    \
         add(1, 2)\n    add(3, 4)\n    return [add(n, n) for n in map(lambda n: add(n, 1), [])]\n\n\
         run()\n",
    );
    project.write("shop/__init__.py", "");
    let (code, lines, remarks) = project.run(&["export", "calls"]);
    assert_eq!((code, remarks.as_str()), (Some(0), ""), "{lines}");
    let calls: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is an object"))
        .collect();
    let text =
        |call: &serde_json::Value, key: &str| call[key].as_str().expect("it is text").to_owned();
    let number = |call: &serde_json::Value, key: &str| call[key].as_u64().expect("it is a number");
    let mut pairs: Vec<String> = calls
        .iter()
        .map(|call| {
            assert!(
                ["resolved", "likely"].contains(&text(call, "verdict").as_str())
                    && !text(call, "step").is_empty(),
                "{call}"
            );
            format!(
                "{} {}:{} {} -> {}:{} {}",
                text(call, "kind"),
                text(call, "caller_file"),
                number(call, "caller_line"),
                text(call, "caller_name"),
                text(call, "callee_file"),
                number(call, "callee_line"),
                text(call, "callee_name"),
            )
        })
        .collect();
    pairs.sort();
    assert_eq!(
        pairs,
        [
            "call shop/cart.py:2 total -> shop/cart.py:5 add",
            "call shop/main.py:0 <module> -> shop/main.py:4 run",
            "call shop/main.py:4 run -> shop/cart.py:1 Cart",
            "call shop/main.py:4 run -> shop/cart.py:5 add",
        ],
        "a pair once, the caller of a closure is the function around it, lines are those of the \
         names"
    );
    let modules: Vec<&serde_json::Value> =
        calls.iter().filter(|call| call["module"] == true).collect();
    assert_eq!(modules.len(), 1);
    assert_eq!(text(modules[0], "caller_name"), "<module>");

    // What has changed since is indexed first; a file that comes later stands at its place.
    project.write("shop/a.py", "from .cart import add\n\ndef first():\n    add(1, 2)\n");
    let (code, lines, remarks) = project.run(&["export", "calls"]);
    assert_eq!((code, lines.lines().count(), remarks.as_str()), (Some(0), calls.len() + 1, ""));
    assert!(
        lines.starts_with("{\"caller_file\":\"shop/a.py\",\"caller_name\":\"first\""),
        "{lines}"
    );
}

#[test]
fn a_member_belongs_to_its_type_though_they_are_in_different_files() {
    let project = Project::new();
    project.write("go.mod", "module example.com/till\n");
    project.write("till/till.go", "package till\n\ntype Till struct{ open bool }\n");
    project.write("till/open.go", "package till\n\nfunc (t *Till) Open() { t.open = true }\n");
    let (code, shown, errors) = project.run(&["show", "Till.Open"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(shown.contains("till/open.go:3 method Till.Open"), "{shown}");
    let (_, outline, _) = project.run(&["outline", "till/open.go"]);
    assert!(
        outline.contains("Open()"),
        "a member whose type is elsewhere is in its own file's outline: {outline}"
    );
}

#[test]
fn a_manifest_is_checked_with_all_its_errors() {
    let project = Project::new();
    let grammars = Path::new(env!("CARGO_MANIFEST_DIR")).join("grammars");
    let lua = grammars.join("lua").display().to_string();
    // One that extends another is read after that.
    let (code, said, _) =
        project.run(&["grammar", "check", &lua, &grammars.join("tsx").display().to_string()]);
    assert!(
        code == Some(0) && said.lines().count() == 2 && said.contains("Lua fits its grammar"),
        "{said}"
    );
    let text = fs::read_to_string(grammars.join("lua/grammar.toml")).expect("it exists");
    let broken = text
        .replace("role = \"call\"", "role = \"cal\"")
        .replace("[names]\n", "[names]\nno-such-key = 1\n");
    project.write("gram/grammar.toml", &broken);
    let (code, said, _) = project.run(&["grammar", "check", "../gram"]);
    let expected =
        ["names: unknown field `no-such-key`", "nodes.function_call: unknown variant `cal`"];
    assert!(code == Some(1) && expected.iter().all(|error| said.contains(error)), "{said}");
    let first = broken.lines().position(|line| line == "[names]").expect("it has names") + 1;
    assert!(said.starts_with(&format!("../gram/grammar.toml: line {first}: ")), "{said}");
    let (code, _, said) = project.run(&["grammar", "check", "../nowhere"]);
    assert!(code == Some(3) && said.contains("cannot read ../nowhere/grammar.toml"), "{said}");
}

/// Manifests of a directory count instead of those of the program, without a build; one that does
/// not fit costs its language, which every answer about the languages says.
#[test]
fn manifests_of_a_directory_are_used() {
    let project = Project::new();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let write = |language: &str, text: &str| {
        let folder = directory.path().join(language);
        fs::create_dir_all(&folder).expect("created");
        fs::write(folder.join("grammar.toml"), text).expect("written");
    };
    let run = |arguments: &[&str], directory: &Path| {
        let mut command = project.command(&project.root());
        texts(
            &command
                .args(arguments)
                .env("COGRAPH_GRAMMARS", directory)
                .output()
                .expect("the program starts"),
        )
    };
    project.write("prices.zz", "{\"unit\": {\"cents\": 1}}\n");
    project.write("sizes.json", "{\"small\": 1}\n");
    let (code, answer, _) = project.run(&["search", "cents"]);
    assert_eq!(code, Some(1), "a file of no language: {answer}");

    write("zz", "extends = \"json\"\n[detect]\nextensions = [\"zz\"]\n");
    let (code, answer, remarks) = run(&["search", "cents"], directory.path());
    assert_eq!((code, remarks.as_str()), (Some(0), ""), "{answer}");
    assert!(answer.contains("prices.zz"), "{answer}");

    write("json", "extends = \"json\"\n");
    let (code, answer, remarks) = run(&["status"], directory.path());
    assert_eq!(code, Some(0), "{remarks}");
    for text in [&answer, &remarks] {
        assert!(text.contains("json/grammar.toml: json extends itself"), "{text}");
    }
    assert!(answer.contains("python (full): 1 file"), "the others are read: {answer}");
    let (_, answer, _) = run(&["status", "--json"], directory.path());
    assert!(answer.contains("\"manifest_errors\":"), "{answer}");

    let (code, _, remarks) = run(&["status"], &directory.path().join("none"));
    assert!(code == Some(3) && remarks.contains("of COGRAPH_GRAMMARS"), "{remarks}");
    let (code, _, remarks) = run(&["status"], Path::new("grammars"));
    assert!(code == Some(3) && remarks.contains("is not an absolute path"), "{remarks}");
    let (code, answer, _) = project.run(&["search", "small"]);
    assert!(code == Some(0) && answer.contains("sizes.json"), "{answer}");
}

#[test]
fn a_file_is_explained_node_by_node() {
    let project = Project::new();
    let (code, said, _) = project.run(&["grammar", "explain", "cart.py"]);
    assert_eq!(code, Some(0));
    let line = |kind: &str, fact: &str| {
        said.lines().any(|line| line.contains(kind) && line.ends_with(fact))
    };
    assert!(
        line("class_definition [type]", "]") && line("identifier", "= defines class Cart"),
        "{said}"
    );
    assert!(
        line("call [call, types: expression]", "]") && line("function: identifier", "= call add"),
        "{said}"
    );
    assert!(
        !said.contains("\"(\"")
            && project.run(&["grammar", "explain", "cart.py", "--tokens"]).1.lines().count()
                > said.lines().count()
    );
    let (code, _, said) = project.run(&["grammar", "explain", "../notes.txt"]);
    assert!(code == Some(2) && said.contains("--language is one of"), "{said}");
    assert_eq!(
        project.run(&["grammar", "explain", "../notes.txt", "--language", "python"]).0,
        Some(0)
    );
}
