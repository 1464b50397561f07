//! The rules as functions over a file's path and text, and the tables they hold: who may name which
//! part of the system. Reads nothing from disk, so that a planted violation can be shown to each of
//! them.

use std::collections::HashSet;

use super::lexer::{Kind, Token, paths, tokens};

/// A broken rule: the line and what is wrong there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Violation {
    pub(super) line: usize,
    pub(super) what: String,
}

/// Files are split by meaning when they pass this.
pub(super) const MAX_LINES: usize = 500;

/// Columns of a line.
pub(super) const MAX_COLUMNS: usize = 100;

/// Parts of the standard library and of crates that several use, which only their owners may name:
/// the first segments of a path, and the crates of `src` that may.
const OWNERS: &[(&str, &[&str])] = &[
    // Of `config` and `server` only tests do.
    ("rustix", &["config", "server", "system"]),
    ("std::env", &["config", "version"]),
    // It differs between systems. The other crates call `system`.
    ("std::os", &["system"]),
    ("signal_hook", &["system"]),
    ("ctrlc", &["system"]),
    ("win32job", &["system"]),
];

/// What a crate may not name although it has no owner.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("model", &["std::fs", "std::io", "std::thread", "std::process"]),
    ("grammar", &["std::fs", "std::thread", "std::process"]),
    ("extract", &["std::fs", "std::thread", "std::process"]),
    ("resolve", &["std::fs", "std::thread", "std::process", "std::time"]),
    ("query", &["std::fs", "std::process"]),
    ("watch", &["std::process"]),
    ("server", &["std::fs"]),
];

/// The crate of `src` that a file belongs to (`src/store/read.rs` -> `store`); none for the
/// package at the top.
pub(super) fn crate_of(path: &str) -> Option<&str> {
    path.strip_prefix("src/")?.split_once('/').map(|(folder, _)| folder)
}

/// What has an owner is named by its owner only. Which crates another may name is in its manifest,
/// and the compiler's to hold.
pub(super) fn owners(path: &str, text: &str) -> Vec<Violation> {
    let Some(own) = crate_of(path) else { return Vec::new() };
    let mut found = Vec::new();
    for named in paths(&tokens(text)) {
        let whole = named.segments.join("::");
        // A test may set a stage that its crate may not: threads, files, variables.
        if named.in_tests && starts_with(&whole, "std") {
            continue;
        }
        for (owned, owners) in OWNERS {
            if starts_with(&whole, owned) && !owners.contains(&own) {
                found.push(Violation {
                    line: named.line,
                    what: format!("`{owned}` belongs to {}, not to `{own}`", owners.join(" and ")),
                });
            }
        }
        for forbidden in FORBIDDEN.iter().filter(|(who, _)| *who == own).flat_map(|(_, what)| *what)
        {
            if starts_with(&whole, forbidden) {
                found.push(Violation {
                    line: named.line,
                    what: format!("`{own}` may not touch `{forbidden}`"),
                });
            }
        }
    }
    found
}

fn starts_with(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Words in lower case that only `grammars/` may say.
pub(super) struct Languages {
    /// Names of languages.
    pub(super) names: Vec<String>,
    /// Extensions, file names and interpreters.
    pub(super) marks: Vec<String>,
    /// Identifiers that say one of the names and mean something else: crates.
    pub(super) crates: Vec<String>,
}

/// No language is named in `src`. Short names are ordinary words, as are marks: of those only a
/// literal that is nothing else counts. A single letter says nothing.
pub(super) fn language_names(_path: &str, text: &str, languages: &Languages) -> Vec<Violation> {
    let mut found = Vec::new();
    for token in tokens(text) {
        let lower = token.text.to_lowercase();
        let bare = lower.strip_prefix('.').unwrap_or(&lower).to_owned();
        let is_known = languages.names.contains(&bare) || languages.marks.contains(&bare);
        let is_whole = token.kind == Kind::Literal && bare.len() > 1 && is_known;
        if token.kind == Kind::Identifier && languages.crates.contains(&lower) {
            continue;
        }
        let part = words(&token.text)
            .into_iter()
            .find(|word| word.len() > 2 && languages.names.contains(word));
        if let Some(name) = if is_whole { Some(bare) } else { part } {
            found.push(Violation {
                line: token.line,
                what: format!("names a language by `{name}`: languages are data in grammars/"),
            });
        }
    }
    found
}

/// The words of a text in lower case: `fromRustPath`, `from_rust_path` and `from Rust path` have
/// the same.
fn words(text: &str) -> Vec<String> {
    let (mut found, mut word, mut after_small) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && after_small) {
            found.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        after_small = c.is_lowercase();
    }
    found.push(word);
    found.retain(|word| !word.is_empty());
    found
}

/// The first line says what the file is, and the file is short enough to be read.
pub(super) fn shape(_path: &str, text: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    let lines = text.lines().count();
    let said = text.lines().next().and_then(|first| first.strip_prefix("//! ")).unwrap_or_default();
    if said.len() <= 20 {
        found.push(Violation {
            line: 1,
            what: "the first line does not say with `//!` what lives here".into(),
        });
    }
    if lines > MAX_LINES {
        found.push(Violation {
            line: lines,
            what: format!("{lines} lines: split it by meaning at {MAX_LINES}"),
        });
    }
    found
}

/// A line is short enough for two files side by side. One that is a single word (an address), or
/// has a part of a literal that is raw or has line ends of its own, cannot be broken without
/// changing its meaning.
pub(super) fn width(_path: &str, text: &str) -> Vec<Violation> {
    let has_line_ends = |token: &Token| token.text.replace("\\\n", "").contains('\n');
    let literals = tokens(text).into_iter().filter(|token| token.kind == Kind::Literal);
    let fixed: HashSet<usize> = literals
        .filter(|token| token.is_raw || has_line_ends(token))
        .flat_map(|token| token.line..=token.line + token.text.matches('\n').count())
        .collect();
    let is_fixed = |number: usize, line: &str| {
        fixed.contains(&number)
            || line.trim_start_matches(['/', '!', ' ']).split_whitespace().count() == 1
    };
    let columns = |line: &str| line.chars().count();
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    lines
        .filter(|&(number, line)| columns(line) > MAX_COLUMNS && !is_fixed(number, line))
        .map(|(line, text)| Violation {
            line,
            what: format!("{} columns: break it at {MAX_COLUMNS}", columns(text)),
        })
        .collect()
}

/// Nothing is left for later, nothing waits by sleeping, no test is switched off.
pub(super) fn leftovers(_path: &str, text: &str) -> Vec<Violation> {
    // In two halves, so that this file does not name what it forbids.
    let notes =
        [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
    let all = tokens(text);
    let code: Vec<&Token> =
        all.iter().filter(|token| !matches!(token.kind, Kind::Comment | Kind::Literal)).collect();
    let mut found = Vec::new();
    for token in all.iter().filter(|token| token.kind == Kind::Comment) {
        if let Some(note) = notes.iter().find(|note| {
            token.text.split(|c: char| !c.is_alphanumeric()).any(|word| word == **note)
        }) {
            found.push(Violation { line: token.line, what: format!("a note for later: {note}") });
        }
    }
    for (at, token) in code.iter().enumerate() {
        let next = |offset: usize| code.get(at + offset).map_or("", |token| token.text.as_str());
        let what = match (token.text.as_str(), next(1), next(2)) {
            ("todo" | "unimplemented", "!", "(") => "code left for later",
            ("thread", "::", "sleep") | ("time", "::", "sleep") | ("sleep", "(", _) => {
                "waits by sleeping instead of for the event itself"
            }
            ("#", "[", "ignore" | "should_panic") => {
                "a test that is switched off, or content with any panic"
            }
            _ => continue,
        };
        found.push(Violation { line: token.line, what: what.into() });
    }
    found
}

/// The names of the dependencies that a package declares.
pub(super) fn dependencies(manifest: &str) -> Vec<String> {
    let manifest: toml::Table = manifest.parse().expect("Cargo.toml is TOML");
    let sections = ["dependencies", "build-dependencies", "dev-dependencies"];
    // Those of all systems, and those of some.
    let systems = manifest.get("target").and_then(toml::Value::as_table);
    let systems =
        systems.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table);
    let all = std::iter::once(&manifest).chain(systems);
    let tables = all.flat_map(|manifest| {
        sections.iter().filter_map(|section| manifest.get(*section)?.as_table())
    });
    tables.flat_map(|section| section.keys().cloned()).collect()
}

/// The dependencies of a package that none of its sources names. Grammars are named by the
/// manifests of their languages; a crate that only lends its features is named by a feature.
pub(super) fn unused_dependencies(manifest: &str, files: &[(String, String)]) -> Vec<String> {
    let mut named: HashSet<String> = HashSet::new();
    for (path, text) in files {
        named.extend(tokens(text).into_iter().filter_map(|token| match token.kind {
            Kind::Identifier => Some(token.text),
            Kind::Literal if path.ends_with(".toml") => {
                token.text.split("::").next().map(str::to_owned)
            }
            _ => None,
        }));
    }
    let is_named = |dependency: &str| {
        named.contains(&dependency.replace('-', "_"))
            || manifest.contains(&format!("\"{dependency}/"))
            || manifest.contains(&format!("{dependency} = {{ workspace = true, features"))
    };
    let mut unused: Vec<String> =
        dependencies(manifest).into_iter().filter(|dependency| !is_named(dependency)).collect();
    unused.dedup();
    unused
}

/// The dependencies that the workspace has a version of and no package declares.
pub(super) fn unshared_dependencies(workspace: &str, packages: &[String]) -> Vec<String> {
    let parsed: toml::Table = workspace.parse().expect("Cargo.toml is TOML");
    let shared = parsed["workspace"].get("dependencies").and_then(toml::Value::as_table);
    let declared: HashSet<String> =
        packages.iter().flat_map(|manifest| dependencies(manifest)).collect();
    let shared = shared.into_iter().flat_map(|table| table.keys().cloned());
    shared.filter(|name| !declared.contains(name)).collect()
}
