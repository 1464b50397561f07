//! Planted changes of small programs in eight languages (`tests/impact/planted`): which sites
//! `impact` calls broken, against those that the compiler of the language rejects.
//! `scripts/audit breaks` takes that truth from the compilers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use super::repository::GitRepository;

const LANGUAGES: [(&str, &str); 8] = [
    ("c", include_str!("planted/c.txt")),
    ("cpp", include_str!("planted/cpp.txt")),
    ("go", include_str!("planted/go.txt")),
    ("java", include_str!("planted/java.txt")),
    ("javascript", include_str!("planted/javascript.txt")),
    ("python", include_str!("planted/python.txt")),
    ("rust", include_str!("planted/rust.txt")),
    ("typescript", include_str!("planted/typescript.txt")),
];

type Files = BTreeMap<String, String>;
type Sites = BTreeSet<(String, u64)>;

#[derive(Default)]
struct Planted<'t> {
    name: &'t str,
    hunks: Vec<Hunk<'t>>,
    /// Sites that the compiler rejects.
    rejected: Sites,
    /// Sites that it passes over because of an import that it rejects.
    passed_over: Sites,
}

#[derive(Default)]
struct Hunk<'t> {
    path: &'t str,
    before: Vec<&'t str>,
    after: Vec<&'t str>,
    removes_file: bool,
}

fn read(text: &str) -> (Files, Vec<Planted<'_>>) {
    let (mut files, mut changes): (Files, Vec<Planted<'_>>) = Default::default();
    let (mut file, mut path) = (None, "");
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("=== ") {
            file = Some(name);
            files.insert(name.to_owned(), String::new());
        } else if let Some(name) = line.strip_prefix("--- ") {
            file = None;
            changes.push(Planted { name, ..Planted::default() });
        } else if let Some(name) = file {
            let text = files.get_mut(name).expect("it was begun");
            let _ = writeln!(text, "{line}");
        } else if let Some(change) = changes.last_mut() {
            if let Some(named) = line.strip_prefix("@ ") {
                path = named.strip_suffix(" removed").unwrap_or(named);
                let removes_file = path != named;
                change.hunks.push(Hunk { path, removes_file, ..Hunk::default() });
            } else if let Some(old) = line.strip_prefix('<') {
                if change.hunks.last().is_some_and(|hunk| !hunk.after.is_empty()) {
                    change.hunks.push(Hunk { path, ..Hunk::default() });
                }
                let hunk = change.hunks.last_mut().expect("`@` begins a hunk");
                hunk.before.push(old.strip_prefix(' ').unwrap_or(old));
            } else if let Some(new) = line.strip_prefix('>') {
                let hunk = change.hunks.last_mut().expect("`@` begins a hunk");
                hunk.after.push(new.strip_prefix(' ').unwrap_or(new));
            } else if let Some(site) = line.strip_prefix("! ") {
                change.rejected.insert(site_of(site));
            } else if let Some(site) = line.strip_prefix("~ ") {
                change.passed_over.insert(site_of(site));
            }
        }
    }
    for text in files.values_mut() {
        let end = text.trim_end_matches('\n').len();
        text.truncate((end + 1).min(text.len()));
    }
    (files, changes)
}

fn site_of(text: &str) -> (String, u64) {
    let (path, line) = text.rsplit_once(':').expect("path:line");
    (path.to_owned(), line.parse().expect("a line"))
}

impl Planted<'_> {
    fn apply(&self, files: &Files) -> Files {
        let mut files = files.clone();
        let whole = |lines: &[&str]| lines.iter().flat_map(|line| [line, "\n"]).collect::<String>();
        for hunk in &self.hunks {
            let (old, new) = (whole(&hunk.before), whole(&hunk.after));
            if hunk.removes_file {
                assert!(files.remove(hunk.path).is_some(), "{}", hunk.path);
                continue;
            }
            let text = files.entry(hunk.path.to_owned()).or_default();
            if hunk.before.is_empty() {
                text.push_str(&new);
            } else {
                assert_eq!(text.matches(&old).count(), 1, "{}: {}\n{old}", self.name, hunk.path);
                *text = text.replace(&old, &new);
            }
        }
        files
    }
}

/// Numbers of sites of a language: rejected, of these called broken, called broken in all.
#[derive(Default)]
struct Score {
    changes: usize,
    rejected: usize,
    found: usize,
    called: usize,
    differences: String,
}

fn score(language: &str, text: &str) -> Score {
    let (files, changes) = read(text);
    let repository = GitRepository::new();
    for (path, text) in &files {
        repository.write(path, text);
    }
    repository.commit("before");
    let mut score = Score::default();
    for change in &changes {
        let after = change.apply(&files);
        for path in files.keys().filter(|path| !after.contains_key(*path)) {
            fs::remove_file(repository.root().join(path)).expect("it exists");
        }
        for (path, text) in after.iter().filter(|(path, text)| files.get(*path) != Some(text)) {
            repository.write(path, text);
        }
        let answer = repository.json(&["impact"]);
        let mut called = Sites::new();
        for found in answer["breaks"].as_array().expect("a list") {
            let site = (found["path"].as_str().expect("a path"), found["line"].as_u64());
            let site = (site.0.to_owned(), site.1.expect("a line"));
            let is_sure = found["certainty"] == "certain" || found["certainty"] == "likely";
            if is_sure && !change.passed_over.contains(&site) {
                called.insert(site);
            }
        }
        score.changes += 1;
        score.rejected += change.rejected.len();
        score.found += called.intersection(&change.rejected).count();
        score.called += called.len();
        for (sites, what) in [
            (change.rejected.difference(&called), "rejected, but not called broken"),
            (called.difference(&change.rejected), "called broken, but accepted"),
        ] {
            for (path, line) in sites {
                let (name, list) = (change.name, &mut score.differences);
                let _ = writeln!(list, "{language}, {name}: {path}:{line} {what}");
            }
        }
        repository.git(&["reset", "-q", "--hard"]);
        repository.git(&["clean", "-fdq"]);
    }
    score
}

#[test]
fn what_is_called_broken_is_what_compilers_reject() {
    let scores: Vec<Score> = std::thread::scope(|scope| {
        let threads: Vec<_> = LANGUAGES
            .map(|(language, text)| scope.spawn(move || score(language, text)))
            .into_iter()
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
    });
    let sum = |part: fn(&Score) -> usize| scores.iter().map(part).sum::<usize>() as f64;
    let recall = sum(|score| score.found) / sum(|score| score.rejected);
    let precision = sum(|score| score.found) / sum(|score| score.called);
    let differences: String = scores.iter().map(|score| score.differences.as_str()).collect();
    let (changes, sites) = (sum(|score| score.changes), sum(|score| score.rejected));
    let figures = format!(
        "{changes} changes, {sites} rejected sites, recall {recall:.3}, precision {precision:.3}"
    );
    assert!(changes >= 60.0 && recall >= 0.95 && precision >= 0.95, "{figures}\n{differences}");
    println!("{figures}\n{differences}");
}
