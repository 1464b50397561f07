//! Words of everyday speech that the project does not use where the field has a term: `nobody`,
//! `whoever`, `told`. Comments of sources, tests, scripts, manifests and workflows, messages,
//! identifiers and subjects of commits are held to them.

use super::lexer::{Kind, Token, tokens};
use super::prose::prose;
use super::rules::Violation;
use std::path::Path;
use std::process::Command;

/// Places, in addition to the sources in Rust, whose comments and messages are held to `PRIVATE`:
/// folders, and files at the top.
const PLACES: &[&str] = &[
    ".ci",
    ".cograph",
    ".config",
    ".github",
    "Cargo.toml",
    "clippy.toml",
    "deny.toml",
    "grammars",
    "pyproject.toml",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "scripts",
];

/// Tables of English words, which are no prose.
const TABLES: &[&str] = &["src/model/words/irregular.rs"];

/// The commit before the first whose subject is held to `PRIVATE`.
const BEFORE: &str = "76329c8c";

/// Words and phrases, each with the terms that it hides.
const PRIVATE: &[(&str, &str)] = &[
    ("anybody", "client, caller, process"),
    ("nobody", "client, caller, process"),
    ("somebody", "client, caller, process"),
    ("whoever", "client, caller, process"),
    ("stranger", "client, user"),
    ("strangers", "clients, users"),
    ("told", "sent, reported, notified"),
    ("tells", "sends, reports, notifies"),
    ("hears", "receives"),
    ("heard", "received"),
    ("beside", "next to, in addition to"),
    ("stands for", "represents, abbreviates"),
    ("stood", "was"),
    ("taken in", "indexed, applied, admitted"),
    ("takes in", "indexes, applies, admits"),
    ("let go", "dropped, released, evicted"),
    ("lets go", "drops, releases, evicts"),
    ("gives way", "is evicted"),
    ("mend", "fix"),
    ("so many", "a number, a limit"),
    ("so often", "a number, a rate"),
    ("so long", "a timeout, a duration"),
    ("as good as", "equal to"),
    ("is there", "exists"),
    ("looked at", "checked, read, compared"),
    ("looks at", "checks, reads, compares"),
    ("it says", "contains, reports"),
    ("says so", "reports"),
    ("is asked", "is queried, is requested"),
    ("was asked", "was queried, was requested"),
    ("other side", "peer, parent process"),
    ("the life of", "the lifetime of, the main loop of"),
    ("stand for", "represent, abbreviate"),
    ("speak for", "are evidence for"),
    ("speaks for", "is evidence for"),
    ("goes by", "is named, uses"),
    ("go by", "are named, use"),
    ("is said", "is reported"),
    ("looked through", "scanned, searched"),
    ("looks through", "scans, searches"),
    ("at hand", "current, in memory"),
    ("in the place of", "instead of"),
    ("take in", "index, apply, admit"),
    ("settle", "resolve, finish, decide"),
];

/// Names that say nothing by themselves, each with the keywords before it and the terms that it
/// hides. A longer name may have them as a part.
const NAMES: &[(&[&str], &str, &str)] = &[
    (&["mod"], "instead", "what is substituted"),
    (&["mod"], "around", "context, scope"),
    (&["mod"], "made", "generated, expanded"),
    (&["mod"], "held", "function values, captured"),
    (&["mod"], "own", "what the parent does with it"),
    (&["mod"], "several", "ambiguous, federation"),
    (&["mod"], "elsewhere", "other evidence"),
    (&["mod"], "within", "group, range"),
    (&["mod"], "unruled", "fallback"),
    (&["mod"], "moment", "race"),
    (&["mod"], "steps", "single changes"),
    (&["mod"], "room", "quota, eviction"),
    (&["mod"], "trust", "completeness"),
    (&["mod"], "unseen", "unreported changes"),
    (&["mod"], "forty", "failure modes"),
    (&["mod", "fn", "struct"], "seen", "visited"),
    (&["fn"], "look", "stat, compare, sweep, lock"),
    (&["fn"], "whole", "total, canonical"),
    (&["fn"], "leave", "pop, remove"),
    (&["fn"], "together", "merged, joint changes"),
    (&["struct", "enum", "type"], "asked", "footprint, queries"),
    (&["struct", "enum", "type"], "altered", "invalidated keys"),
    (&["struct", "enum", "type"], "given", "arguments"),
    (&["struct", "enum", "type"], "caution", "isolation"),
    (&["struct", "enum", "type"], "suspicion", "suspects"),
    (&["struct", "enum", "type"], "left", "remaining"),
    (&["struct", "enum", "type"], "whole", "results"),
    (&["struct", "enum", "type"], "head", "header, summary"),
    (&["struct", "enum", "type"], "reach", "reachability, closure"),
    (&["def"], "whole", "total"),
    (&["def"], "look", "read, compare"),
    (&["def"], "seen", "visited"),
];

/// The private words in the comments and messages of a file. Code in backticks is exempt; a phrase
/// may be broken over two lines.
pub(super) fn private_words(path: &str, text: &str) -> Vec<Violation> {
    if TABLES.contains(&path) {
        return Vec::new();
    }
    let all = prose(path, text);
    let comments: Vec<&Token> = all.iter().filter(|token| token.kind == Kind::Comment).collect();
    let blocks = comments.chunk_by(|one, next| one.line + 1 == next.line);
    let prose = blocks.map(|block| block.iter().flat_map(|token| words_of(token)).collect());
    let strings = all.iter().filter(|token| token.kind == Kind::Literal);
    let mut found = Vec::new();
    for words in prose.chain(strings.map(words_of)) {
        phrases(&words, &mut found);
    }
    found
}

/// Adds the phrases among these words.
fn phrases(words: &[(usize, String)], found: &mut Vec<Violation>) {
    for (at, (line, first)) in words.iter().enumerate() {
        // Most words begin no phrase: nothing is split for them.
        for (phrase, terms) in PRIVATE.iter().filter(|(phrase, _)| phrase.starts_with(first)) {
            let parts = phrase.split(' ');
            let these = words[at..].iter().map(|(_, word)| word.as_str());
            if these.take(parts.clone().count()).eq(parts) {
                let what = format!("a private word, `{phrase}`: say {terms}");
                found.push(Violation { line: *line, what });
            }
        }
    }
}

/// The words of a comment or a string in lower case, each with its line; of code in backticks only
/// that it separates the words around it.
fn words_of(token: &Token) -> Vec<(usize, String)> {
    let text = match token.kind == Kind::Literal && !token.is_raw {
        // An escape is no letter of a word.
        true => token.text.replace("\\n", " ").replace("\\t", " "),
        false => token.text.clone(),
    };
    let (mut line, mut found) = (token.line, Vec::new());
    for (at, part) in text.split('`').enumerate() {
        let is_code = at % 2 == 1;
        if is_code {
            found.push((line, "`".to_owned()));
        }
        for (number, row) in part.split('\n').enumerate() {
            line += usize::from(number > 0);
            let words = row.split(|c: char| !c.is_alphanumeric() && c != '\'');
            let words = words.filter(|word| !is_code && !word.is_empty());
            found.extend(words.map(|word| (line, word.to_lowercase())));
        }
    }
    found
}

/// The private words in the identifiers of a file, its own name among them: those of `PRIVATE` in
/// any, those of `NAMES` alone.
fn private_names(path: &str, text: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    let stem = path.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or(path);
    identifier(1, "mod", stem, &mut found);
    if path.ends_with(".rs") {
        let all = tokens(text);
        let mut before = "";
        for token in all.iter().filter(|token| token.kind == Kind::Identifier) {
            identifier(token.line, before, &token.text, &mut found);
            before = &token.text;
        }
    } else {
        for (line, text) in (1..).zip(text.lines()) {
            let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            let is_definition = |word: &&str| matches!(*word, "def" | "class");
            if let Some(keyword) = words.by_ref().find(is_definition) {
                identifier(line, keyword, words.next().unwrap_or_default(), &mut found);
            }
        }
    }
    found
}

/// Adds what is private in one identifier behind a keyword.
fn identifier(line: usize, keyword: &str, name: &str, found: &mut Vec<Violation>) {
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut after_small = false;
    for part in name.split('_').filter(|part| !part.is_empty()) {
        let mut word = String::new();
        for c in part.chars() {
            if c.is_uppercase() && after_small {
                words.push((line, std::mem::take(&mut word)));
            }
            word.extend(c.to_lowercase());
            after_small = c.is_lowercase();
        }
        words.push((line, word));
        after_small = false;
    }
    phrases(&words, found);
    if let [(_, word)] = &words[..]
        && let Some((.., terms)) =
            NAMES.iter().find(|(kinds, name, _)| kinds.contains(&keyword) && name == word)
    {
        found.push(Violation { line, what: format!("a private name, `{name}`: say {terms}") });
    }
}

/// The subjects of the commits after `BEFORE`; none in an export or a clone without that commit.
fn subjects() -> Vec<String> {
    let range = format!("{BEFORE}..HEAD");
    let git = Command::new("git")
        .args(["log", "--no-merges", "--format=%s", &range, "--"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output();
    let output = git.ok().filter(|output| output.status.success());
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default().lines().map(str::to_owned).collect()
}

fn private_subject(subject: &str) -> Vec<Violation> {
    let token = Token { kind: Kind::Comment, text: subject.to_owned(), line: 1, is_raw: false };
    let mut found = Vec::new();
    phrases(&words_of(&token), &mut found);
    found
}

#[test]
fn comments_and_messages_use_the_words_of_the_field() {
    let mut files = super::sources(&["src", "tests", "benches", "grammars"]);
    files.extend(super::files(PLACES, &["", "py", "toml", "yml"]));
    for ending in [".rs", ".py", "/grammar.toml", ".yml", "Cargo.toml", "scripts/check"] {
        assert!(files.iter().any(|(path, _)| path.ends_with(ending)), "{ending} was found");
    }
    super::hold(&files, private_words);
}

#[test]
fn identifiers_use_the_words_of_the_field() {
    let own = |path: &str| path == "tests/layering/words.rs";
    let mut files = super::sources(&["src", "tests", "benches", "grammars"]);
    files.extend(super::scripts());
    files.retain(|(path, _)| !own(path));
    super::hold(&files, private_names);
}

#[test]
fn subjects_of_commits_use_the_words_of_the_field() {
    for subject in subjects() {
        assert_eq!(private_subject(&subject), [], "{subject}");
    }
}

#[test]
fn planted_private_words_are_seen() {
    let planted = [
        "//! Nobody waits.\n",
        "    /// Whoever waits is\n    /// told of it.\n",
        "fn f() {} // there are so\n// many\n",
        "// The file beside it.\n",
        "\nfn f() { g(\"it could not be let go\\nagain\") }\n",
        "const F: &str = r#\"Nobody\"#;",
    ];
    let seen = planted.map(|text| super::lines(private_words("src/store/x.rs", text)));
    assert_eq!(seen, [vec![1], vec![1, 2], vec![1], vec![1], vec![2], vec![1]]);
    let docstring = "\"\"\"A server.\n\n`so` many, and\n    there are so\n    many.\"\"\"\n";
    assert_eq!(super::lines(private_words("scripts/x.py", docstring)), [4]);
    for (phrase, _) in PRIVATE {
        for (path, text) in [
            ("src/lib.rs", format!("\n/// Reason: {phrase}.\n")),
            ("src/lib.rs", format!("\nfn f() {{ g(\"{{}}: {phrase}\") }}\n")),
            ("tests/x.rs", format!("//! X.\nfn f() {{}} // Reason: {phrase}.\n")),
            ("benches/x.rs", format!("\n//! Reason: {phrase}.\n")),
            ("grammars/build.rs", format!("\n// Reason: {phrase}.\n")),
            ("scripts/x.py", format!("\n\"\"\"Reason: {phrase}.\"\"\"\n")),
            ("scripts/x.py", format!("\nf()  # Reason: {phrase}.\n")),
            ("scripts/x.py", format!("\nadd_argument(help='reason: {phrase}')\n")),
            ("scripts/x.py", format!("\nprint(f\"{{it}}: {phrase}\")\n")),
            ("scripts/x", format!("#!/usr/bin/env python3\n\"\"\"Reason: {phrase}.\"\"\"\n")),
            ("scripts/x", format!("#!/usr/bin/env bash\n# Reason: {phrase}.\n")),
            ("grammars/x/grammar.toml", format!("\nkey = 1 # Reason: {phrase}.\n")),
            ("Cargo.toml", format!("\n# Reason: {phrase}.\n")),
            (".github/workflows/x.yml", format!("\n  # Reason: {phrase}.\n")),
        ] {
            assert_eq!(super::lines(private_words(path, &text)), [2], "{path}: {text}");
        }
        let snake = phrase.replace(' ', "_");
        for name in [
            format!("fn what_{snake}_is() {{}}"),
            format!("const WHAT_{}: u8 = 0;", snake.to_uppercase()),
            format!("struct S {{ {snake}: u8 }}"),
        ] {
            assert_eq!(super::lines(private_names("tests/x.rs", &name)), [1], "{name}");
        }
        let python = format!("\nclass A:\n    def the_{snake}(self):\n");
        assert_eq!(super::lines(private_names("scripts/x.py", &python)), [3], "{phrase}");
        assert_eq!(private_subject(&format!("Add what {phrase} to it")).len(), 1, "{phrase}");
    }
    for (keywords, name, _) in NAMES {
        for keyword in *keywords {
            let path = if *keyword == "def" { "scripts/x.py" } else { "src/x.rs" };
            let text = format!("{keyword} {name}");
            assert_eq!(super::lines(private_names(path, &text)), [1], "{text}");
            let longer = format!("{keyword} {name}_of_files");
            assert_eq!(private_names(path, &longer), [], "{longer}");
        }
    }
    assert_eq!(super::lines(private_names("tests/server/forty.rs", "")), [1]);
    assert_eq!(super::lines(private_names("src/x.rs", "enum LetGo {}")), [1]);
    assert_eq!(super::lines(private_names("src/x.rs", "\nstruct Altered;")), [2]);
    for (path, allowed) in [
        ("src/store/x.rs", "fn f() { g(\"a `told` b\") }\n"),
        ("src/store/x.rs", "/// The variant `Nobody`, and `f(told)`.\n"),
        ("src/store/x.rs", "/// So.\n\n/// Many.\n"),
        ("tests/x.rs", "let text = \"Nobody\";\n"),
        ("scripts/x.py", "told = nobody(told)\n"),
        ("grammars/x/grammar.toml", "nobody = \"told\"\n"),
        ("src/model/words/irregular.rs", "\"tell told\""),
    ] {
        assert_eq!(private_words(path, allowed), [], "{allowed}");
    }
    for allowed in ["fn f(altered: &Altered) {}", "use a::Whole;", "let look = 1;"] {
        assert_eq!(private_names("src/x.rs", allowed), [], "{allowed}");
    }
}
