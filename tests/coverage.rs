//! Nothing is lost in silence: every call in the fixtures of a language whose references are read
//! has a reference, or lies in a region that is listed as incomplete.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cograph::extract::{Coverage, Limits, coverage};
use cograph::grammar::{self, Tier};
use cograph::model::RepoPath;

/// The sources of every fixture of a language.
fn sources(language: &str) -> Vec<(RepoPath, String)> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("grammars").join(language).join("fixtures");
    let mut found: Vec<(RepoPath, String)> = Vec::new();
    for entry in fs::read_dir(folder).expect("every language has fixtures") {
        let path = entry.expect("a readable folder").path();
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let mut in_source = false;
        for line in fs::read_to_string(path).expect("a readable fixture").split_inclusive('\n') {
            if let Some(path) = line.strip_prefix("//- ") {
                let path = RepoPath::new(path.trim().trim_start_matches('/'))
                    .expect("a fixture's paths are relative");
                found.push((path, String::new()));
                in_source = true;
            } else if line.starts_with("//= ") {
                in_source = false;
            } else if let (true, Some((_, text))) = (in_source, found.last_mut()) {
                text.push_str(line);
            }
        }
    }
    found
}

fn of(path: &RepoPath, text: &str) -> Option<(&'static str, Coverage)> {
    let id = grammar::detect(path, text.as_bytes(), &vec![0; grammar::count()])?;
    Some((
        grammar::language(id).name,
        coverage(id, path.as_str(), text.as_bytes(), Limits::default()),
    ))
}

#[test]
fn the_calls_of_fixtures_are_there() {
    let mut sums: BTreeMap<&str, (u64, u64, Vec<String>)> = BTreeMap::new();
    for language in grammar::all() {
        for (path, text) in sources(language.name) {
            let Some((name, coverage)) = of(&path, &text) else { continue };
            let (calls, kept, lost) = sums.entry(name).or_default();
            *calls += coverage.calls;
            *kept += coverage.stored + coverage.in_problems;
            lost.extend(coverage.lost.iter().map(|(line, kind)| format!("{path}:{line} {kind}")));
        }
    }
    for language in grammar::all() {
        let (calls, kept, lost) =
            sums.get(language.name).unwrap_or_else(|| panic!("{} has no sources", language.name));
        match language.tier() {
            Tier::Structure => assert_eq!(*calls, 0, "{}: references are not read", language.name),
            Tier::Shared => assert!(
                *calls > 2 && kept * 100 >= calls * 98,
                "{}: {kept} of {calls}: {lost:#?}",
                language.name
            ),
            // The rest are values of types that have no name, and conversions to them: they are
            // written like calls.
            Tier::Full => assert!(
                *calls > 2 && kept * 100 >= calls * 85,
                "{}: {kept} of {calls}: {lost:#?}",
                language.name
            ),
        }
    }
}
