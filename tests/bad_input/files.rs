//! Files that are no ordinary source: encodings, sizes, shapes, links, names.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use cograph::model::{ProblemKind, SkipReason, Step};

use super::setup::{Repository, file, paths, skipped, symbol_rows, symbols};

#[test]
fn encodings_are_read_or_reported() {
    let mut utf16 = vec![0xff, 0xfe];
    utf16.extend("def from_utf16():\n    pass\n".encode_utf16().flat_map(u16::to_le_bytes));
    let repository = Repository::with(&[
        ("bom.py", b"\xef\xbb\xbfdef after_mark():\n    pass\n"),
        ("crlf.py", b"def first():\r\n    pass\r\n\r\ndef second():\r\n    pass\r\n"),
        ("latin1.py", b"# caf\xe9\ndef latin():\n    return 'na\xefve'\n"),
        ("utf16.py", &utf16),
        ("nul.py", b"def hidden():\0\n    pass\n"),
        ("foreign.py", b"\xe9\xe8\xe0\xe7\xf9 \xe9\xe8\xe0\xe7\xf9\n"),
        ("empty.py", b""),
    ]);
    let store = repository.store();
    assert_eq!(symbols(&store, "bom.py"), ["after_mark"]);
    assert_eq!(symbols(&store, "crlf.py"), ["first", "second"]);
    assert_eq!(symbols(&store, "latin1.py"), ["latin"]);
    assert_eq!(symbols(&store, "utf16.py"), ["from_utf16"]);
    assert_eq!(symbols(&store, "empty.py"), [""; 0]);
    assert_eq!(skipped(&store, "nul.py"), SkipReason::Binary);
    assert_eq!(skipped(&store, "foreign.py"), SkipReason::Encoding);

    let problems = store.problems_of(file(&store, "latin1.py").key).expect("the store can be read");
    let places: Vec<_> = problems
        .iter()
        .map(|row| (row.problem.kind, row.problem.first_line, row.problem.last_line))
        .collect();
    assert_eq!(places, [(ProblemKind::Encoding, 1, 3)]);

    let crlf = symbol_rows(&store, "crlf.py");
    let lines: Vec<_> =
        crlf.iter().map(|symbol| (symbol.name_at.line, symbol.name_at.column)).collect();
    assert_eq!(lines, [(1, 4), (4, 4)], "a carriage return is no line of its own");
}

#[test]
fn binary_data_under_any_name_is_skipped() {
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let store =
        Repository::with(&[("picture.png", png), ("picture.py", png), ("tool", png)]).store();
    assert_eq!(skipped(&store, "picture.png"), SkipReason::NoLanguage);
    assert_eq!(skipped(&store, "picture.py"), SkipReason::Binary);
    assert_eq!(skipped(&store, "tool"), SkipReason::NoLanguage);
}

#[test]
fn a_module_that_cannot_be_read_costs_its_importers_nothing() {
    let app = b"import broken\nfrom broken import part\nimport broken as other\n\ndef run():\n    \
                broken.run()\n    part()\n    \
                other.deep.call()\n";
    let store =
        Repository::with(&[("broken.py", b"def run():\0\n    pass\n"), ("app.py", app)]).store();
    assert_eq!(skipped(&store, "broken.py"), SkipReason::Binary);
    let sites = store.sites_of(&file(&store, "app.py")).expect("the store can be read");
    let steps: Vec<_> = sites.iter().map(|site| site.step).collect();
    assert!(steps.len() >= 6 && steps.iter().all(|step| *step != Step::Fault), "{steps:?}");
}

#[test]
fn a_file_of_200_megabytes_is_not_read() {
    let repository = Repository::with(&[("small.py", b"def small():\n    pass\n")]);
    let large = File::create(repository.root().join("large.py")).expect("created");
    large.set_len(200 << 20).expect("the file system has sparse files");
    let store = repository.store();
    assert_eq!(skipped(&store, "large.py"), SkipReason::TooLarge);
    assert_eq!(file(&store, "large.py").hash, 0, "it was not read");
    assert_eq!(symbols(&store, "small.py"), ["small"]);
}

#[test]
fn five_megabytes_on_one_line_are_skipped_for_their_size_and_a_shorter_line_for_its_length() {
    let five = [b"x = '".as_slice(), &vec![b'a'; 5 << 20], b"'\n"].concat();
    let one = [b"x = '".as_slice(), &vec![b'a'; 1 << 20], b"'\n"].concat();
    let store = Repository::with(&[("five.py", &five), ("one.py", &one)]).store();
    assert_eq!(skipped(&store, "five.py"), SkipReason::TooLarge);
    assert_eq!(skipped(&store, "one.py"), SkipReason::LongLine);
}

#[test]
fn ten_thousand_nested_brackets_are_reported_in_every_language() {
    let deep = "(".repeat(10_000);
    let lines: String = deep
        .as_bytes()
        .chunks(100)
        .map(|line| format!("{}\n", String::from_utf8_lossy(line)))
        .collect();
    let closed = format!("{lines}1{}", lines.replace('(', ")"));
    let mut languages = 0;
    for language in cograph::grammar::all() {
        let Some(extension) = an_extension(language.name) else { continue };
        languages += 1;
        // To a format of text or data brackets are text.
        let is_code = language.tier() == cograph::grammar::Tier::Full;
        for (kind, text) in [("open", &lines), ("closed", &closed)] {
            let name = format!("{kind}.{extension}");
            let mark = if language.name == "php" { "<?php\n" } else { "" };
            let text = format!("{mark}{text}");
            let store = Repository::with(&[(&name, text.as_bytes())]).store();
            let file = file(&store, &name);
            let is_left_out = file.skipped.is_some_and(|reason| reason.is_of_cost());
            assert!(file.skipped.is_none() || is_left_out, "{} {kind}", language.name);
            assert!(!is_left_out || !is_code, "{} {kind}: {:?}", language.name, file.skipped);
            if is_left_out {
                continue;
            }
            let problems = store.problems_of(file.key).expect("the store can be read");
            assert!(
                !problems.is_empty() || !is_code,
                "{} {kind}: the region is reported",
                language.name
            );
        }
    }
    assert_eq!(
        languages,
        cograph::grammar::all().len(),
        "every language has an extension in this list"
    );
    assert!(languages > 0);
}

/// A file extension that detection maps to the language.
fn an_extension(language: &str) -> Option<&'static str> {
    let known = cograph::grammar::by_name(language).expect("it is in the table");
    known.manifest.detect.extensions.iter().map(String::as_str).find(|extension| {
        let path = cograph::model::RepoPath::new(&format!("x.{extension}")).expect("a plain name");
        cograph::grammar::detect(&path, &[], &[])
            .is_some_and(|id| cograph::grammar::language(id).name == language)
    })
}

#[test]
fn links_are_recorded_and_not_followed() {
    let repository = Repository::with(&[("real/a.py", b"def a():\n    pass\n")]);
    let root = repository.root();
    symlink("a.py", root.join("real/b.py")).expect("linked");
    symlink(".", root.join("real/loop")).expect("linked");
    symlink("/", root.join("out")).expect("linked");
    symlink("gone.py", root.join("dangling.py")).expect("linked");
    let store = repository.store();
    assert_eq!(paths(&store), ["dangling.py", "out", "real/a.py", "real/b.py", "real/loop"]);
    assert_eq!(symbols(&store, "real/a.py"), ["a"]);
    for path in ["dangling.py", "out", "real/b.py", "real/loop"] {
        assert_eq!(skipped(&store, path), SkipReason::Symlink, "{path}");
    }
}

#[test]
fn pipes_are_recorded_and_do_not_block() {
    let repository = Repository::with(&[("a.py", b"def a():\n    pass\n")]);
    let pipe = repository.root().join("pipe.py");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o644.into(), 0)
        .expect("a pipe");
    let store = repository.store();
    assert_eq!(skipped(&store, "pipe.py"), SkipReason::Special);
    assert_eq!(symbols(&store, "a.py"), ["a"]);
}

#[test]
fn names_that_are_not_utf8_have_a_path_and_are_read() {
    let repository = Repository::new();
    let write = |name: &[u8], text: &str| {
        fs::write(repository.root().join(OsStr::from_bytes(name)), text).expect("written")
    };
    write(b"caf\xe9.py", "def one():\n    pass\n");
    write(b"caf%E9.py", "def two():\n    pass\n");
    write("caf\u{e9}.py".as_bytes(), "def three():\n    pass\n");
    let store = repository.store();
    assert_eq!(symbols(&store, "caf%E9.py"), ["one"]);
    assert_eq!(symbols(&store, "caf%25E9.py"), ["two"]);
    assert_eq!(symbols(&store, "caf\u{e9}.py"), ["three"]);
}

#[test]
fn what_is_walked_is_what_the_documentation_says() {
    let repository = Repository::with(&[
        (".gitignore", b"*.gen.py\n/build/\n!keep.gen.py\n"),
        (".ignore", b"by_ignore.py\n"),
        (".cographignore", b"by_cographignore.py\n"),
        ("a.py", b""),
        ("x.gen.py", b""),
        ("keep.gen.py", b""),
        ("build/made.py", b""),
        ("sub/build/not_made.py", b""),
        ("sub/.gitignore", b"only_here.py\n"),
        ("sub/only_here.py", b""),
        ("only_here.py", b""),
        ("by_ignore.py", b""),
        ("by_cographignore.py", b""),
        (".hidden.py", b""),
        (".hidden.txt", b""),
        (".tool/script.py", b""),
        (".venv/pyvenv.cfg", b""),
        (".venv/lib/module.py", b""),
        (".git/hooks/hook.py", b""),
        ("env/target/vendor/dist/deploy.py", b""),
        ("checkout/.git", b"gitdir: /elsewhere/.git/worktrees/checkout\n"),
        ("checkout/a.py", b""),
        ("module/.git", b"gitdir: ../.git/modules/module\n"),
        ("module/a.py", b""),
    ]);
    assert_eq!(
        paths(&repository.store()),
        [
            ".hidden.py",
            ".tool/script.py",
            "a.py",
            "env/target/vendor/dist/deploy.py",
            "keep.gen.py",
            "module/a.py",
            "only_here.py",
            "sub/build/not_made.py",
        ]
    );
}

/// A text with a construct nested in itself to `DEPTH`: its opening, the innermost text, its
/// closing.
fn nested(before: &str, open: &str, inside: &str, close: &str, after: &str) -> String {
    const DEPTH: usize = 30_000;
    format!("{before}{}{inside}{}{after}\n", open.repeat(DEPTH), close.repeat(DEPTH))
}

#[test]
fn what_is_nested_without_end_costs_what_is_nested_and_not_the_file() {
    let texts = [
        ("patterns.rs", nested("fn f() { let ", "Some(", "a", ")", " = x; }")),
        ("references.rs", nested("fn f() { let ", "&", "a", "", " = x; }")),
        ("uses.rs", nested("use ", "a::{", "b", "}", ";")),
        ("conditions.rs", nested("#[cfg(", "not(", "a", ")", ")]\nfn g() {}")),
        ("cases.py", nested("match x:\n case ", "[", "a", "]", ": pass")),
        ("quoted.py", nested("x: \"", "List[", "int", "]", "\"")),
        ("ands.py", nested("if ", "isinstance(a, B) and ", "b", "", ": pass")),
        ("objects.ts", nested("let ", "{a:", "b", "}", " = x;")),
        ("arrays.ts", nested("let ", "[", "b", "]", " = x;")),
        ("names.ts", nested("namespace a", ".b", "", "", " {}")),
        ("types.js", nested("/** @type {", "Array<", "T", ">", "} */\nlet x = 1;")),
        ("lists.js", nested("/** @type {T", "[]", "", "", "} */\nlet x = 1;")),
        ("names.cpp", nested("namespace a", "::b", "", "", " {}")),
        ("pointers.go", nested("package a\nvar x ", "*", "int", "", "")),
    ];
    let files: Vec<(&str, &[u8])> =
        texts.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    let repository = Repository::with(&files);
    let output = super::setup::program(&repository.sibling("cache"))
        .args(["index", "--log-level", "warn"])
        .arg(repository.root())
        .env("COGRAPH_LINE_LIMIT", "10000000")
        .output()
        .expect("the program starts");
    let log = super::setup::stderr(&output);
    assert!(output.status.success() && !log.contains("has died"), "{log}");
    let variables = [
        ("COGRAPH_CACHE_DIR", repository.sibling("cache").into_os_string()),
        ("COGRAPH_LINE_LIMIT", "10000000".into()),
    ];
    let config = cograph::config::Config::from_variables(|name| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    });
    let rules = config.expect("both are valid").repository_at(&repository.root());
    let location = repository.location().under(rules.expect("it exists").rules);
    let store =
        std::sync::Arc::new(cograph::store::Store::open_newest(&location).expect("it was made"));
    let store =
        store.snapshot(&cograph::model::cancel::CancelToken::new()).expect("it can be read");
    for (path, _) in texts {
        let row = file(&store, path);
        assert_eq!(row.skipped, None, "{path}");
    }
}
