//! The tier of a language is reported where it matters: in what is known of a repository, and in
//! empty answers.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cograph::config::Limits;
use cograph::grammar::{self, Tier};
use cograph::index::{Run, refresh};
use cograph::model::cancel::CancelToken;
use cograph::model::{RepoPath, SkipReason};
use cograph::query::{
    ElsewhereSearch, GrepParams, OverviewParams, StatusParams, grep, overview, status, unread,
};
use cograph::store::{Location, Snapshot, Store, SymbolKey};
use tempfile::TempDir;

use crate::sample::Files;

struct Project {
    _directory: TempDir,
    snapshot: Snapshot,
    files: Files,
}

fn project(files: &[(&str, &str)]) -> Project {
    let directory = TempDir::new().expect("a temporary directory");
    let top = fs::canonicalize(directory.path()).expect("it exists");
    let mut known = Files::default();
    for (path, text) in files {
        let place = top.join("root").join(path);
        fs::create_dir_all(place.parent().expect("the root is above it")).expect("created");
        fs::write(place, text).expect("written");
        known.0.insert((*path).to_owned(), text.as_bytes().to_vec());
    }
    let location = Location::new(&top.join("cache"), &top.join("root"));
    let cancel = CancelToken::new();
    refresh(
        &location,
        Duration::ZERO,
        &Run::quiet(Limits { threads: 2, ..Limits::default() }, &cancel),
    )
    .expect("indexed");
    let store = Arc::new(Store::open_newest(&location).expect("there is a store"));
    Project {
        snapshot: store.snapshot(&cancel).expect("it can be read"),
        _directory: directory,
        files: known,
    }
}

/// The only symbol of a name.
fn symbol(project: &Project, name: &str) -> SymbolKey {
    let files = project.snapshot.files().expect("read");
    let symbols = files.iter().flat_map(|file| project.snapshot.symbols_of(file).expect("read"));
    let mut named =
        symbols.filter(|symbol| project.snapshot.name(symbol.name).expect("read") == name);
    let only = named.next().expect("it exists");
    assert!(named.next().is_none(), "there is one symbol of that name");
    only.key
}

#[test]
fn the_tier_of_each_language_is_reported() {
    let project = project(&[
        ("a.py", "def f():\n    pass\n"),
        ("b.rb", "def g\n  h(1)\nend\n"),
        ("c.toml", "[one]\ntwo = 3\n"),
    ]);
    let cancel = CancelToken::new();
    let found = status(&project.snapshot, &StatusParams::default(), &cancel).expect("answered");
    let mut tiers: Vec<_> =
        found.languages.iter().map(|language| (language.name.as_str(), language.tier)).collect();
    tiers.sort();
    assert_eq!(tiers, [("python", Tier::Full), ("ruby", Tier::Full), ("toml", Tier::Structure)]);
    let sites = |name: &str| {
        found
            .languages
            .iter()
            .find(|language| language.name == name)
            .map(|language| language.sites.total())
    };
    assert_eq!((sites("ruby"), sites("toml")), (Some(1), Some(0)));
    let found = overview(&project.snapshot, &OverviewParams::default(), &cancel).expect("answered");
    let mut tiers: Vec<_> =
        found.languages.iter().map(|share| (share.name.as_str(), share.tier)).collect();
    tiers.sort();
    assert_eq!(tiers, [("python", Tier::Full), ("ruby", Tier::Full), ("toml", Tier::Structure)]);
}

#[test]
fn that_a_symbol_is_unused_is_no_claim_where_references_are_not_read() {
    let project =
        project(&[("a.py", "def lonely():\n    pass\n"), ("c.toml", "[single]\ntwo = 3\n")]);
    let cancel = CancelToken::new();
    let mut search = ElsewhereSearch::new(&project.snapshot, &project.files, &cancel);
    for (name, expected) in [("lonely", None), ("single", Some("toml"))] {
        let found = search.of(&[symbol(&project, name)]).expect("answered");
        assert_eq!(
            (found.not_read.as_deref(), found.is_nowhere()),
            (expected, expected.is_none()),
            "{name}"
        );
    }
}

#[test]
fn a_repository_of_which_nothing_is_read_is_reported() {
    let unknown = project(&[("a.qqq", "x"), ("b/notes", "y")]);
    let found = unread(&unknown.snapshot).expect("answered").expect("nothing is read");
    assert_eq!(found.files, 2);
    assert!(found.languages.contains(&"python"), "{found:?}");
    let known = project(&[("a.qqq", "x"), ("empty.py", "")]);
    assert_eq!(unread(&known.snapshot).expect("answered"), None);
}

#[test]
fn large_files_of_data_are_left_out_and_listed() {
    let small = "{\"one\": {\"two\": 3}}";
    let large = format!("{{\"big\": [\n{}0]}}", "1,\n".repeat(40_000));
    let project = project(&[
        ("small.json", small),
        ("large.json", &large),
        ("big.py", "def big():\n    pass\n"),
    ]);
    let files = project.snapshot.files().expect("read");
    let skipped = |path: &str| {
        files.iter().find(|file| file.path.as_str() == path).and_then(|file| file.skipped)
    };
    assert_eq!((skipped("small.json"), skipped("large.json")), (None, Some(SkipReason::TooLarge)));
    let json =
        grammar::detect(&RepoPath::new("x.json").expect("a path"), &[], &[]).expect("a language");
    assert!(
        grammar::most_bytes(json)
            .is_some_and(|most| (small.len() as u64) < most && most < large.len() as u64)
    );
    // They are text all the same.
    let cancel = CancelToken::new();
    let params = GrepParams { pattern: "big".to_owned(), ..GrepParams::default() };
    let found = grep(&project.snapshot, &project.files, &params, &cancel).expect("searched");
    assert_eq!((found.searched, found.not_text), (3, 0));
    assert_eq!(
        found.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(),
        ["big.py", "large.json"]
    );
    let symbol = symbol(&project, "big");
    let said = ElsewhereSearch::new(&project.snapshot, &project.files, &cancel)
        .of(&[symbol])
        .expect("answered");
    let lines: Vec<(&str, u32)> =
        said.lines.iter().map(|line| (line.path.as_str(), line.line)).collect();
    assert_eq!((lines, said.unsearched), (vec![("large.json", 1)], 0));
}

#[test]
fn fixtures_of_shared_languages_claim_no_more_than_they_may() {
    let mut verdicts = 0;
    for language in grammar::all().into_iter().filter(|language| language.tier() == Tier::Shared) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("grammars")
            .join(language.name)
            .join("fixtures");
        for entry in fs::read_dir(folder).expect("every language has fixtures") {
            let text = fs::read_to_string(entry.expect("a readable folder").path())
                .expect("a readable fixture");
            for line in text.lines().skip_while(|line| *line != "//= sites") {
                let Some((verdict, step)) = line
                    .rsplit_once(" (")
                    .and_then(|(_, end)| end.strip_suffix(')')?.split_once(", "))
                else {
                    continue;
                };
                verdicts += 1;
                let is_allowed = match verdict {
                    "external" => step == "external-import",
                    "resolved" => step != "unique-name",
                    _ => true,
                };
                assert!(is_allowed, "{}: {line}", language.name);
            }
        }
    }
    assert!(verdicts > 200, "{verdicts}");
}
