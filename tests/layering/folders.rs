//! The layers inside of a crate: which of its folders and files may import from which, how many
//! files a folder may have, and which names of types are taken. Every exception is listed, and
//! one that is none any more fails.

use std::collections::{BTreeMap, BTreeSet};

use super::graph::Graph;
use super::lexer::{Kind, tokens};

/// Files directly in a folder of `src`.
pub(super) const MAX_FILES: usize = 14;

/// Types of `src` that may share a name.
pub(super) const MAX_NAMESAKES: usize = 3;

/// Files of one crate in which a type may have methods of its own.
pub(super) const MAX_IMPL_FILES: usize = 3;

/// Types with methods in more files: crate, name.
pub(super) const SPREAD: &[(&str, &str)] = &[
    // One search in a text, with a file for each kind of what it looks for.
    ("extract", "Finder"),
    // What the outside asks of the tables stands where the answer is made.
    ("resolve", "Tables"),
    // One read transaction: each file has the statements of one part of the store.
    ("store", "Snapshot"),
];

/// The layers inside of each crate, from the bottom up: folders, and files without one.
/// What is in one layer knows nothing of its neighbours and of what is above.
pub(super) const SECOND: &[(&str, &[&[&str]])] = &[
    (
        "cli",
        &[
            &["output"],
            &["base"],
            &["serve"],
            &["ask", "clients", "completions", "grammar", "hook", "index", "lsp", "mcp"],
            &["coverage", "doctor", "exchange", "install"],
        ],
    ),
    (
        "coverage",
        &[&["bodies", "error", "names", "places", "records"], &["input"], &["import", "present"]],
    ),
    (
        "config",
        &[
            &["limits", "process", "user_file"],
            &["error", "list_error"],
            &["manifests", "user"],
            &["upstreams", "workspace"],
        ],
    ),
    (
        "exchange",
        &[
            &["packages", "text", "wire"],
            &["input", "names", "requirements"],
            &["document"],
            &["export", "import"],
            &["dataset"],
        ],
    ),
    (
        "extract",
        &[
            &["budget", "preprocess"],
            &["parser"],
            &["repair"],
            &["facts"],
            &["walk"],
            &["types"],
            &["imports", "macros"],
            &["bindings"],
            &["definitions"],
            &["expressions"],
            &["apply"],
            &["recursion"],
            &["entry"],
        ],
    ),
    ("faults", &[&["fault"], &["gates"]]),
    (
        "history",
        &[
            &["blobs", "git", "patch", "types"],
            &["checkout", "log", "symbols", "tree"],
            &["edited"],
        ],
    ),
    (
        "grammar",
        &[
            &["preprocessor", "selector"],
            &["import_form", "manifest", "pattern", "type_rule"],
            &["rule"],
            &["parse"],
            &["sort"],
            &["language"],
            &["table"],
            &["check", "detect"],
        ],
    ),
    (
        "index",
        &[
            &["fingerprint", "idle_cache", "progress", "quarantine", "report", "root_check"],
            &["outcome"],
            &["facts_cache"],
            &["build"],
            &["state"],
            &["worker"],
            &["apply"],
            &["slow_files"],
            &["job"],
        ],
    ),
    (
        "model",
        &[
            &["cancel", "facts", "package"],
            &["children", "graph"],
            &["packed"],
            &["stated", "words"],
            &["change"],
        ],
    ),
    (
        "publish",
        &[
            &["digest", "error"],
            &["layout", "reference"],
            &["manifest"],
            &["compression", "http", "plan"],
            &["address"],
            &["remote"],
            &["publish"],
            &["pull", "retention"],
        ],
    ),
    (
        "query",
        &[
            &["graph"],
            &["names", "sql", "status"],
            &["impact", "locate", "outline", "overview", "show", "trace"],
            &["explore", "grep", "search"],
            &["references"],
        ],
    ),
    (
        "resolve",
        &[
            &["units"],
            &["files"],
            &["imports"],
            &["workspace"],
            &["db"],
            &["inference"],
            &["references"],
            &["incremental"],
        ],
    ),
    (
        "server",
        &[
            &["base"],
            &["jsonrpc"],
            &["peers", "transport", "workspace"],
            &["answers"],
            &["hooks", "language_server", "tools"],
            &["page"],
            &["protocol"],
            &["session"],
            &["runtime"],
            &["proxy"],
        ],
    ),
    (
        "source",
        &[
            &["error", "filter", "mounts", "names", "stamp", "text"],
            &["root", "rules", "sweep", "traversal"],
            &["walk"],
        ],
    ),
    ("store", &[&["format"], &["read"], &["build", "name_index"], &["lifecycle", "update"]]),
    (
        "system",
        &[
            &[
                "allocator",
                "clock",
                "files",
                "limits",
                "machine",
                "mounts",
                "names",
                "owner",
                "positioned",
                "signals",
                "streams",
            ],
            &["effort", "processes", "sockets"],
        ],
    ),
    ("watch", &[&["queue"]]),
];

/// Arrows against the layers: crate, from, to.
pub(super) const UPWARDS: &[(&str, &str, &str)] = &[
    // The sites of a file are kept packed until they are read.
    ("model", "facts", "packed"),
];

/// Files that import from each other in a circle, module files and the files below them included,
/// and why they need each other.
pub(super) const CIRCLES: &[(&[&str], &str)] = &[
    (
        &["src/extract/types.rs", "src/extract/types/compound.rs", "src/extract/types/generics.rs"],
        "a type is made of types: each kind of node in type position visits those inside of it",
    ),
    (
        &["src/grammar/rule.rs", "src/grammar/rule/case.rs"],
        "a rule may be a list of cases, each with a condition and a rule",
    ),
    (
        &[
            "src/index/state/resident.rs",
            "src/index/state/resident/facts.rs",
            "src/index/state/resident/results.rs",
        ],
        "one type: what it loads, and what it writes, are methods of the state in their own files",
    ),
    (
        &[
            "src/model/facts.rs",
            "src/model/facts/sites.rs",
            "src/model/packed/facts.rs",
            "src/model/packed/facts/expressions.rs",
        ],
        "the sites of a file are kept in their packed form until somebody looks at them",
    ),
    (
        &["src/server/session/dispatch.rs", "src/server/session/dispatch/calls.rs"],
        "one state machine: the table of requests has the calls, whose events change the table",
    ),
];

/// Inside of a crate imports go downwards too.
pub(super) fn second_level(
    graph: &Graph,
    layers: &[(&str, &[&[&str]])],
    upwards: &[(&str, &str, &str)],
) -> Vec<String> {
    let place = |owner: &str, name: &str| {
        let (_, layers) = layers.iter().find(|(known, _)| *known == owner)?;
        layers.iter().position(|layer| layer.contains(&name))
    };
    let (mut found, mut used) = (Vec::new(), BTreeSet::new());
    for arrow in graph.arrows() {
        let (owner, from, to) = (arrow.owner.as_str(), arrow.from.as_str(), arrow.to.as_str());
        if let Some(known) = upwards.iter().find(|known| **known == (owner, from, to)) {
            used.insert(*known);
            continue;
        }
        match (place(owner, from), place(owner, to)) {
            (Some(above), Some(below)) if above > below => {}
            (Some(_), Some(_)) => found.push(format!(
                "{}: `{owner}::{from}` may not import from `{owner}::{to}`",
                arrow.file
            )),
            _ => found.push(format!(
                "{}: `{from}` or `{to}` has no place in the layers of `{owner}`",
                arrow.file
            )),
        }
    }
    let stale = upwards.iter().filter(|known| !used.contains(*known));
    found.extend(stale.map(|known| {
        format!("no arrow goes upwards like {known:?} any more: take the exception out")
    }));
    found
}

/// No files import from each other in a circle, but for those that are known to.
pub(super) fn circles(graph: &Graph, known: &[(&[&str], &str)]) -> Vec<String> {
    let circles: Vec<Vec<String>> =
        graph.crates().into_iter().flat_map(|owner| graph.circles(owner)).collect();
    let is_known =
        |circle: &Vec<String>| known.iter().any(|(known, _)| circle.iter().eq(known.iter()));
    let new = circles.iter().filter(|circle| !is_known(circle));
    let mut found: Vec<String> =
        new.map(|circle| format!("files import from each other: {}", circle.join(", "))).collect();
    let exists = |known: &[&str]| circles.iter().any(|circle| circle.iter().eq(known.iter()));
    let stale = known.iter().filter(|(known, _)| !exists(known));
    found.extend(stale.map(|(known, _)| {
        format!("this is no circle any more: take the exception out: {known:?}")
    }));
    found
}

/// A folder has no more files than fit on one screen, not counting the root of a crate.
pub(super) fn crowded(files: &[(String, String)]) -> Vec<String> {
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    let inner = files.iter().map(|(file, _)| file).filter(|file| !file.ends_with("/lib.rs"));
    for (folder, _) in inner.filter_map(|file| file.rsplit_once('/')) {
        *folders.entry(folder).or_default() += 1;
    }
    let crowded = folders.into_iter().filter(|(_, count)| *count > MAX_FILES);
    crowded
        .map(|(folder, count)| {
            format!("{folder} has {count} files: at most {MAX_FILES}, each folder one concept")
        })
        .collect()
}

/// A name of a type says which one it is: no more than a few share one. Those of tests do not
/// count.
pub(super) fn namesakes(files: &[(String, String)]) -> Vec<String> {
    let mut named: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (file, text) in files {
        for pair in outside_of_tests(text).windows(2) {
            if matches!(pair[0].as_str(), "struct" | "enum" | "trait" | "union")
                && starts_upper(&pair[1])
            {
                named.entry(pair[1].clone()).or_default().push(file);
            }
        }
    }
    let too_many = named.into_iter().filter(|(_, files)| files.len() > MAX_NAMESAKES);
    too_many
        .map(|(name, files)| {
            format!("{} types are named `{name}`: {}", files.len(), files.join(", "))
        })
        .collect()
}

/// A type has its methods in few files, but for those that are known to be spread out: a method
/// is called without an import, so that nothing says which file depends on which.
pub(super) fn spread_out(files: &[(String, String)], known: &[(&str, &str)]) -> Vec<String> {
    let mut places: BTreeMap<(String, String), BTreeSet<&str>> = BTreeMap::new();
    for (file, text) in files {
        let Some(owner) = super::rules::crate_of(file) else { continue };
        for name in types_with_methods(&outside_of_tests(text)) {
            places.entry((owner.to_owned(), name)).or_default().insert(file);
        }
    }
    places.retain(|_, files| files.len() > MAX_IMPL_FILES);
    let is_known =
        |owner: &str, name: &str| known.iter().any(|&(of, known)| of == owner && known == name);
    let exists = |(owner, name): &(&str, &str)| {
        places.contains_key(&((*owner).to_owned(), (*name).to_owned()))
    };
    let new = places.iter().filter(|((owner, name), _)| !is_known(owner, name));
    let mut found: Vec<String> = new
        .map(|((owner, name), files)| {
            format!("`{owner}::{name}` has methods in {} files: use functions", files.len())
        })
        .collect();
    let stale = known.iter().filter(|known| !exists(known));
    found.extend(
        stale.map(|known| format!("no type is spread out like {known:?}: take the exception out")),
    );
    found
}

/// The names of the types that have methods of their own, by their `impl` blocks.
fn types_with_methods(code: &[String]) -> Vec<String> {
    let is_start = |at: usize| at == 0 || matches!(code[at - 1].as_str(), "}" | ";" | "]");
    let blocks =
        (0..code.len()).filter(|&at| code[at] == "impl" && is_start(at)).filter_map(|at| {
            let after = skip_generics(code, at + 1);
            let head: Vec<&str> = code[after..]
                .iter()
                .map(String::as_str)
                .take_while(|token| *token != "{")
                .collect();
            let path = head.iter().take_while(|token| !matches!(**token, "<" | "where"));
            let name = path.filter(|token| starts_upper(token)).last()?;
            (!head.contains(&"for")).then(|| (*name).to_owned())
        });
    blocks.collect()
}

/// The position behind the generic parameters that start at a position, if any do.
fn skip_generics(code: &[String], start: usize) -> usize {
    let mut depth = 0_usize;
    for at in start..code.len() {
        match code[at].as_str() {
            "<" => depth += 1,
            ">" if !matches!(code[at - 1].as_str(), "-" | "=") => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return if at == start { start } else { at + 1 };
        }
    }
    start
}

/// The code of a file without comments, literals, and what is in its module for tests.
fn outside_of_tests(text: &str) -> Vec<String> {
    let all = tokens(text).into_iter();
    let code: Vec<String> = all
        .filter(|token| !matches!(token.kind, Kind::Comment | Kind::Literal))
        .map(|token| token.text)
        .collect();
    let (mut depth, mut tests, mut left) = (0_usize, None, Vec::new());
    for (at, token) in code.iter().enumerate() {
        let next = |offset: usize| code.get(at + offset).map_or("", String::as_str);
        match token.as_str() {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                tests = tests.filter(|opened| *opened < depth);
            }
            "mod" if next(1) == "tests" && next(2) == "{" => tests = tests.or(Some(depth)),
            _ => {}
        }
        if tests.is_none() {
            left.push(token.clone());
        }
    }
    left
}

fn starts_upper(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}
