//! Questions about small repositories, each with what the answer must have and must not have:
//! `tests/cases/*.toml`. A case is an example of a kind of fault that users met; kinds have
//! several cases, in several languages.
//!
//! A case has `about`, what must hold; `language`; `[files]`, path and text; `[links]`, path and
//! target of symbolic links; and checks: the arguments of a `command`, with `$ROOT` for the
//! repository, the directory `cwd` that it runs in, and regular expressions that its output `has`
//! or has not (`hasnot`), in which `^` and `$` mean lines.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::RegexBuilder;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    about: String,
    language: String,
    files: BTreeMap<String, String>,
    #[serde(default)]
    links: BTreeMap<String, String>,
    check: Vec<Check>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    command: Vec<String>,
    #[serde(default)]
    cwd: String,
    #[serde(default)]
    has: Vec<String>,
    #[serde(default)]
    hasnot: Vec<String>,
}

impl Case {
    fn write(&self, root: &Path) {
        let place = |path: &str| {
            let place = root.join(path);
            fs::create_dir_all(place.parent().expect("it is in the repository")).expect("created");
            place
        };
        fs::create_dir_all(root.join(".git")).expect("created");
        for (path, text) in &self.files {
            fs::write(place(path), text).expect("written");
        }
        for (path, target) in &self.links {
            std::os::unix::fs::symlink(target, place(path)).expect("linked");
        }
    }
}

impl Check {
    /// What the output lacks and has too much of.
    fn faults(&self, place: &Path) -> Option<String> {
        let root = place.join("repository");
        let root_text = root.to_str().expect("it is UTF-8");
        let arguments: Vec<String> =
            self.command.iter().map(|argument| argument.replace("$ROOT", root_text)).collect();
        let output = Command::new(env!("CARGO_BIN_EXE_cograph"))
            .args(&arguments)
            .current_dir(root.join(&self.cwd))
            .env_remove("CLAUDE_PROJECT_DIR")
            .env("COGRAPH_CACHE_DIR", place.join("cache"))
            .output()
            .expect("the program was built with the tests");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        let is_in = |pattern: &str| {
            let built = RegexBuilder::new(pattern).multi_line(true).build();
            built.unwrap_or_else(|error| panic!("{pattern}: {error}")).is_match(&text)
        };
        let lacks = self.has.iter().filter(|pattern| !is_in(pattern)).map(|has| ("lacks", has));
        let extra = self.hasnot.iter().filter(|pattern| is_in(pattern)).map(|has| ("has", has));
        let faults: Vec<String> =
            lacks.chain(extra).map(|(what, pattern)| format!("  {what} `{pattern}`")).collect();
        (!faults.is_empty())
            .then(|| format!("{}\n{}\n{text}", self.command.join(" "), faults.join("\n")))
    }
}

fn all() -> Vec<(PathBuf, Case)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)
        .expect("it exists")
        .map(|entry| entry.expect("it can be listed").path())
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("it can be read");
        let case = toml::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        (path, case)
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn every_case_is_answered_as_it_must_be() {
    let cases = all();
    assert!(cases.len() >= 41, "the cases are there: {}", cases.len());
    let mut failed = Vec::new();
    for (path, case) in &cases {
        assert!(!case.about.is_empty() && !case.language.is_empty(), "{path:?}");
        let is_checked = |check: &Check| !check.has.is_empty() || !check.hasnot.is_empty();
        assert!(!case.check.is_empty() && case.check.iter().all(is_checked), "{path:?}");
        let place = tempfile::tempdir().expect("a temporary directory");
        case.write(&place.path().join("repository"));
        let faults: Vec<String> =
            case.check.iter().filter_map(|check| check.faults(place.path())).collect();
        if !faults.is_empty() {
            failed.push(format!("{}: {}\n{}", path.display(), case.about, faults.join("\n")));
        }
    }
    assert!(failed.is_empty(), "{} of {} cases:\n{}", failed.len(), cases.len(), failed.join("\n"));
}
