//! Small repositories through which there are exponentially many ways: imports of everything in
//! circles and diamonds, configurations that extend themselves, types that double, bases without an
//! end. Each is indexed by the program in seconds, whole and as a change, and what can be found is
//! found.

use std::fs;
use std::process::Output;
use std::time::{Duration, Instant};

use super::setup::{Repository, program, stderr, stdout};

/// Far more than a build without optimisations takes, far less than to walk every way.
const SECONDS: u64 = 60;

pub(super) type Files = Vec<(String, String)>;

pub(super) fn files<const N: usize>(files: [(&str, String); N]) -> Files {
    files.into_iter().map(|(path, text)| (path.to_owned(), text)).collect()
}

/// Modules that import everything of each other.
fn ring() -> Files {
    let module = |own: usize| {
        let others = (0..12)
            .filter(|other| *other != own)
            .map(|other| format!("from m{other} import *\n"))
            .collect::<String>();
        (
            format!("m{own}.py"),
            format!("{others}def f{own}():\n    missing()\n    f{}()\n", (own + 5) % 12),
        )
    };
    (0..12).map(module).collect()
}

/// Modules in pairs, each of which exports everything of the next pair.
fn barrels() -> Files {
    let both = |level: usize| format!("export * from './a{level}';\nexport * from './b{level}';\n");
    let mut all: Files = (0..28)
        .flat_map(|level| ["a", "b"].map(|side| (format!("{side}{level}.ts"), both(level + 1))))
        .collect();
    all.extend(files([
        ("a28.ts", "export function last() {}\n".to_owned()),
        ("b28.ts", "export const other = 1;\n".to_owned()),
        ("main.ts", "import { last, missing } from './a0';\nlast();\nmissing();\n".to_owned()),
    ]));
    all
}

/// Modules inside of a file that import everything of each other.
fn globs() -> Files {
    let module = |own: usize| {
        let others = (0..12)
            .filter(|other| *other != own)
            .map(|other| format!("pub use crate::m{other}::*; "))
            .collect::<String>();
        format!(
            "pub mod m{own} {{ {others}pub fn f{own}() {{ missing(); f{}(); }} }}\n",
            (own + 5) % 12
        )
    };
    let text = (0..12).map(module).collect();
    files([("Cargo.toml", "[package]\nname = \"x\"\n".to_owned()), ("src/lib.rs", text)])
}

/// A configuration that extends itself many times.
fn configuration() -> Files {
    let extends = ["\"./tsconfig.json\""; 12].join(", ");
    let config = format!(
        "{{\"extends\": [{extends}], \"compilerOptions\": {{\"paths\": {{\"@/*\": [\"src/*\"]}}}}}}"
    );
    let main = "import { f } from '@/b';\nf();\n".to_owned();
    files([
        ("tsconfig.json", config),
        ("a.ts", main),
        ("src/b.ts", "export function f() {}\n".to_owned()),
    ])
}

/// Configurations in fours, each of which only names all of the next four.
fn parts() -> Files {
    const SIDES: [&str; 4] = ["a", "b", "c", "d"];
    let next =
        |level: usize| SIDES.map(|side| format!("{{\"path\": \"../{side}{level}\"}}")).join(", ");
    let all = (0..12).flat_map(|level| SIDES.map(|side| (level, side)));
    let mut all: Files = all
        .map(|(level, side)| {
            (
                format!("{side}{level}/tsconfig.json"),
                format!("{{\"references\": [{}]}}", next(level + 1)),
            )
        })
        .collect();
    let paths = "{\"compilerOptions\": {\"paths\": {\"@/*\": [\"../src/*\"]}}}".to_owned();
    all.extend(SIDES.map(|side| (format!("{side}12/tsconfig.json"), paths.clone())));
    all.extend(files([
        ("a0/main.ts", "import { f } from '@/b';\nf();\n".to_owned()),
        ("src/b.ts", "export function f() {}\n".to_owned()),
    ]));
    all
}

/// A package whose main file lies below more folders than a path can have.
fn folders() -> Files {
    // In lines that are not too long: the last folder of each has the end of the line in its name.
    let path = format!("{}\n", "a/".repeat(200)).repeat(200);
    let manifest = format!(
        "{{\"name\": \"pkg\", \"main\": \"{path}x.js\", \"exports\": {{\"./*\": \"./{path}*\"}}}}"
    );
    let main = "import f from 'pkg';\nimport g from 'pkg/x';\nimport { h } from './pkg/h';\n\
                f(); g(); h();\n"
        .to_owned();
    files([
        ("pkg/package.json", manifest),
        ("main.ts", main),
        ("pkg/h.ts", "export function h() {}\n".to_owned()),
    ])
}

/// Increments of elements whose place an increment gives, and so on.
fn increments() -> Files {
    let levels = 200;
    let (java, script) = ("x[--".repeat(levels), "x[y -= ".repeat(levels));
    let java = format!(
        "class A {{\n  void f(int[] x) {{ --{java}x[0]{}; g(); }}\n  void g() {{}}\n}}\n",
        "]".repeat(levels)
    );
    let script = format!(
        "function g() {{}}\nfunction f(x, y) {{ {script}0{} += 1; g(); }}\n",
        "]".repeat(levels)
    );
    let nested = format!(
        "function h(a) {{ {}a[0]{} += 1; g(); }}\n",
        "a[".repeat(levels),
        " += 1]".repeat(levels)
    );
    files([("A.java", java), ("a.js", script + &nested)])
}

/// Tuples, each of two of the one before, and a choice between two of them.
fn tuples() -> Files {
    let chain = |name: &str| {
        (1..60).map(|n| format!("{name}{n} = ({name}{0}, {name}{0})\n", n - 1)).collect::<String>()
    };
    let text = format!(
        "class Door:\n    def open(self): pass\na0 = Door()\nb0 = Door()\n\
         {}{}c = a59 if a0 else b59\nc.open()\na1[0].open()\n",
        chain("a"),
        chain("b")
    );
    files([("tuples.py", text)])
}

/// Names for one of two types, each of which is one of the two before.
fn aliases() -> Files {
    let pair =
        |n: usize| format!("type A{n} = A{0} | B{0};\ntype B{n} = B{0} | A{0} | A{0}[];\n", n - 1);
    let chain = (1..40).map(pair).collect::<String>();
    let text = format!(
        "class Door {{ open() {{}} }}\ntype A0 = Door;\ntype B0 = Door[];\n\
         {chain}function f(x: A39, y: A0) {{ x.open(); y.open(); }}\n"
    );
    files([("aliases.ts", text)])
}

/// A chain of classes, whose last one is resolved first, and a diamond of classes over a base
/// class outside of the repository.
fn bases() -> Files {
    let row = (1..5_000).map(|n| format!("class A{n}(A{}): pass\n", n - 1)).collect::<String>();
    let pair =
        |n: usize| format!("class A{n}(A{0}, B{0}): pass\nclass B{n}(B{0}, A{0}): pass\n", n - 1);
    let diamond = (1..40).map(pair).collect::<String>();
    files([
        ("a.py", "from b import A4999, A50\nA4999().go()\nA50().go()\n".to_owned()),
        ("b.py", format!("class A0:\n    def go(self): pass\n{row}")),
        (
            "c.py",
            format!(
                "import outside\nclass A0(outside.Base): pass\nclass B0(outside.Other): pass\n\
                 {diamond}A39().go()\n"
            ),
        ),
    ])
}

/// Types that are pointers to pointers, deeper than any stack.
fn pointers() -> Files {
    files([(
        "p.go",
        format!(
            "package p\n\ntype P {}int\n\nfunc f() {{ g() }}\nfunc g() {{}}\n",
            "*".repeat(30_000)
        ),
    )])
}

/// A variable that is given the value of a call on itself again and again: the name of what is
/// outside would grow with each.
fn calls_on_calls() -> Files {
    let again = "  v = v.go(v);\n".repeat(25_000);
    files([(
        "v.ts",
        format!(
            "function end() {{}}\nfunction f(x: any) {{\n  let v = x as any;\n{again}  end();\n}}\n"
        ),
    )])
}

/// As many overloads of one name as calls of it.
fn overloads() -> Files {
    let declared = (0..1_500).map(|n| format!("int over(P{n} x);\n")).collect::<String>();
    let called = (0..1_500)
        .map(|n| format!("int f{n}(int x) {{ return over(over(x)); }}\n"))
        .collect::<String>();
    files([(
        "o.cpp",
        format!("int one() {{ return 1; }}\nint two() {{ return one(); }}\n{declared}{called}"),
    )])
}

/// Classes in a circle, each of which takes the members of many others.
fn using_declarations() -> Files {
    const CLASSES: usize = 60;
    let class = |own: usize| {
        let uses = (1..30).map(|step| format!("using C{}::f; ", (own + step) % CLASSES));
        let (one, other) = ((own + 1) % CLASSES, (own + 3) % CLASSES);
        let member = if own.is_multiple_of(2) { "" } else { "void f(int); " };
        format!("struct C{own} : C{one}, C{other} {{ {member}{}}};\n", uses.collect::<String>())
    };
    let declared = (0..CLASSES).map(|own| format!("struct C{own};\n")).collect::<String>();
    let classes = (0..CLASSES).map(class).collect::<String>();
    let calls = "c->f(1);\n".repeat(3_000);
    let file = |number: usize| {
        let text =
            format!("{declared}{classes}void end() {{}}\nvoid go(C0 *c) {{\n{calls}end();\n}}\n");
        (format!("u{number}.cpp"), text.replace("C", &format!("D{number}_")))
    };
    (0..10).map(file).collect()
}

/// Types each of which has the one before in it, and a method.
fn embedded() -> Files {
    let row = (1..3_000)
        .map(|n| format!("type T{n} struct {{ T{} }}\nfunc (t T{n}) M{n}() {{ t.Go() }}\n", n - 1))
        .collect::<String>();
    files([("e.go", format!("package p\n\ntype T0 struct {{}}\nfunc (t T0) Go() {{}}\n{row}"))])
}

pub(super) fn run(repository: &Repository, arguments: &[&str]) -> Output {
    let begun = Instant::now();
    let output = program(&repository.sibling("cache"))
        .args(arguments)
        .current_dir(repository.root())
        .env("COGRAPH_FILE_SECONDS", (SECONDS / 2).to_string())
        .env("COGRAPH_MEMORY_LIMIT", (1_u64 << 30).to_string())
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    assert!(begun.elapsed() < Duration::from_secs(SECONDS), "{arguments:?}: {:?}", begun.elapsed());
    output
}

/// Calls with their verdict, and what is left out: `name verdict target`.
fn calls(repository: &Repository) -> String {
    let statement = "SELECT DISTINCT r.name || ' ' || r.verdict || ' ' || coalesce((SELECT path \
                     FROM symbols WHERE id = r.to_id), '-') AS call \
                     FROM refs r WHERE kind = 'call' UNION ALL SELECT path || ' is left out' FROM \
                     files WHERE skipped IN ('quarantined', 'too-slow', 'too-much-memory')";
    stdout(&run(repository, &["sql", statement]))
}

pub(super) fn holds(name: &str, make: fn() -> Files, expected: &[&str]) {
    let repository = Repository::with(&[("other.py", b"def other():\n    pass\n")]);
    run(&repository, &["index"]);
    for (path, text) in make() {
        repository.write(&path, text.as_bytes());
    }
    // As a change of a repository that is known, and whole.
    for (how, arguments) in [("as a change", &["index"][..]), ("whole", &["index", "--force"])] {
        run(&repository, arguments);
        let calls = calls(&repository);
        for call in expected {
            assert!(
                calls.lines().any(|line| line.trim() == *call),
                "{name}, {how}: {call}: {calls}"
            );
        }
        assert!(!calls.contains("is left out"), "{name}, {how}: {calls}");
    }
    assert!(fs::metadata(repository.root()).is_ok());
}

#[test]
fn imports_of_everything_in_circles_come_to_an_end() {
    holds("ring", ring, &["f5 resolved m5.py", "missing unresolved -"]);
    holds("barrels", barrels, &["last resolved a28.ts"]);
    holds("globs", globs, &["f5 resolved src/lib.rs", "missing unresolved -"]);
}

/// The steps that a file may take do not suffice for a step for each name and module: one module
/// hands on two hundred, and another asks it for ten thousand names that none of them has.
#[test]
fn modules_behind_wildcards_are_found_once_for_all_names() {
    let repository = Repository::with(&[]);
    let imports: String = (0..200).map(|leaf| format!("from leaf{leaf} import *\n")).collect();
    let missing: String = (0..10_000).map(|name| format!("none{name}()\n")).collect();
    for leaf in 0..200 {
        let text = format!("def f{leaf}():\n    pass\n");
        repository.write(&format!("leaf{leaf}.py"), text.as_bytes());
    }
    repository.write("hub.py", imports.as_bytes());
    repository.write("main.py", format!("from hub import *\n{missing}f199()\n").as_bytes());
    run(&repository, &["index"]);
    let statement = "SELECT verdict FROM refs WHERE name = 'f199' AND kind = 'call'";
    let found = stdout(&run(&repository, &["sql", statement]));
    assert_eq!(found.lines().last(), Some("resolved"), "{found}");
}

#[test]
fn configurations_that_extend_themselves_come_to_an_end() {
    holds("configuration", configuration, &["f resolved src/b.ts"]);
    holds("parts", parts, &["f resolved src/b.ts"]);
    holds("folders", folders, &["h resolved pkg/h.ts"]);
}

#[test]
fn types_that_double_come_to_an_end() {
    holds("tuples", tuples, &["open resolved tuples.py"]);
    holds("aliases", aliases, &["open resolved aliases.ts"]);
}

#[test]
fn bases_and_types_without_an_end_come_to_one() {
    holds("bases", bases, &["go resolved b.py", "go external -"]);
    holds("pointers", pointers, &["g resolved p.go"]);
    holds("using_declarations", using_declarations, &["end resolved u0.cpp"]);
}

#[test]
fn assignments_in_targets_of_assignments_come_to_an_end() {
    holds("increments", increments, &["g resolved A.java", "g resolved a.js"]);
}

#[test]
fn what_grows_with_every_call_comes_to_an_end() {
    holds("calls_on_calls", calls_on_calls, &["end resolved v.ts"]);
    holds("overloads", overloads, &["one resolved o.cpp"]);
    holds("embedded", embedded, &["Go resolved e.go"]);
}
