//! Command lines that run tests: the templates are data of the languages.

use std::collections::BTreeMap;

use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::impact::rank::AffectedTest;
use cograph_grammar::{self as grammar, TestRunner};

/// Maximum number of tests that command lines name one by one.
pub(super) const MAX_NAMED: usize = 200;

/// Command line of a test runner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestCommand {
    /// Name of the runner.
    pub runner: String,
    /// Program and arguments.
    pub arguments: Vec<String>,
    /// Number of tests that it names.
    pub tests: usize,
}

/// Command lines for tests, best first; tests beyond a limit are left out.
pub(super) fn commands(
    lookup: &Lookup<'_>,
    tests: &[AffectedTest],
) -> Result<Vec<TestCommand>, QueryError> {
    let mut groups: BTreeMap<(usize, &str, String), Vec<&AffectedTest>> = BTreeMap::new();
    let mut chosen: BTreeMap<(&str, bool), Option<&'static TestRunner>> = BTreeMap::new();
    let mut order: Vec<&'static TestRunner> = Vec::new();
    for test in tests.iter().take(MAX_NAMED) {
        let language = test.symbol.language.as_str();
        let is_in_class = !test.symbol.container.is_empty();
        let runner = match chosen.get(&(language, is_in_class)) {
            Some(known) => *known,
            None => {
                let found = runner_of(lookup, language, is_in_class)?;
                chosen.insert((language, is_in_class), found);
                found
            }
        };
        let Some(runner) = runner else { continue };
        let place = order.iter().position(|one| one.name == runner.name).unwrap_or_else(|| {
            order.push(runner);
            order.len() - 1
        });
        let group = substitute(&runner.per, test);
        groups.entry((place, &runner.name, group)).or_default().push(test);
    }
    let commands = groups.into_iter().map(|((place, name, _), tests)| TestCommand {
        runner: name.to_owned(),
        arguments: arguments(order[place], &tests),
        tests: tests.len(),
    });
    Ok(commands.collect())
}

/// The runner of a language: the first whose files the repository has, otherwise the last.
fn runner_of(
    lookup: &Lookup<'_>,
    language: &str,
    is_in_class: bool,
) -> Result<Option<&'static TestRunner>, QueryError> {
    let Some(language) = grammar::by_name(language) else { return Ok(None) };
    let runners = &language.manifest.tests.runners;
    for runner in runners {
        for file in &runner.files {
            if lookup.snapshot.file_at(file)?.is_some() {
                return Ok(Some(runner));
            }
        }
    }
    let mut fitting = runners.iter().filter(|runner| is_in_class || !runner.in_classes);
    let any = fitting.clone().find(|runner| runner.files.is_empty());
    Ok(any.or(fitting.next_back()))
}

/// Replaces the marks of a command: `{tests}` alone by all words of all tests, within a word by the
/// tests joined by the character behind the name.
fn arguments(runner: &TestRunner, tests: &[&AffectedTest]) -> Vec<String> {
    let mut words = Vec::new();
    for word in &runner.command {
        if word == "{tests}" {
            let mut seen: Vec<String> = Vec::new();
            for test in tests {
                let all = runner.test.split(' ').map(|part| substitute(part, test));
                let all: Vec<String> = all.collect();
                if !seen.contains(&all.join(" ")) {
                    seen.push(all.join(" "));
                    words.extend(all);
                }
            }
            continue;
        }
        let joined = ["|", "+", ","].into_iter().find_map(|mark| {
            let (before, after) = word.split_once(&format!("{{tests{mark}}}"))?;
            let mut names: Vec<String> = Vec::new();
            for test in tests {
                let name = substitute(&runner.test, test);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            Some(format!("{before}{}{after}", names.join(mark)))
        });
        words.push(joined.unwrap_or_else(|| substitute(word, tests[0])));
    }
    words
}

/// Replaces the marks about one test.
fn substitute(template: &str, test: &AffectedTest) -> String {
    let symbol = &test.symbol;
    let path = symbol.path.as_str();
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let directory = match symbol.path.directory() {
        "" => ".",
        directory => directory,
    };
    let class = symbol.container.rsplit('.').next().unwrap_or_default();
    let with = |separator: &str| {
        let container = symbol.container.replace('.', separator);
        if container.is_empty() {
            symbol.name.clone()
        } else {
            format!("{container}{separator}{}", symbol.name)
        }
    };
    template
        .replace("{path}", path)
        .replace("{directory}", directory)
        .replace("{module}", &stem.replace('/', "."))
        .replace("{class}", class)
        .replace("{line}", &symbol.name_at.line.to_string())
        .replace("{full}", &with("."))
        .replace("{full::}", &with("::"))
        .replace("{name}", &symbol.name)
}
