//! The documents speak of what there is: tools, commands, modules, files, settings, versions and
//! the command that tests everything.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use cograph::server::TOOLS;
use regex::Regex;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(root().join(path)).expect("the file is part of the project")
}

/// Every document for people, with its path from the project's root.
fn documents() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in ["", "docs", "grammars", "scripts/accuracy.d"] {
        for entry in
            std::fs::read_dir(root().join(folder)).expect("the project's folders are readable")
        {
            let path = entry.expect("the project's folders are readable").path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let inner =
                    path.strip_prefix(root()).expect("it lies in the project").to_path_buf();
                found.push((inner.clone(), text(inner)));
            }
        }
    }
    assert!(found.len() > 12, "{found:?}");
    found
}

/// The words of a document that may be paths or names.
fn words(document: &str) -> impl Iterator<Item = &str> {
    let words = document.split(|c: char| c.is_whitespace() || "`()[],;|'\"".contains(c));
    words.map(|word| word.trim_end_matches(['.', ':'])).filter(|word| !word.is_empty())
}

#[test]
fn every_tool_and_module_has_its_line() {
    let (readme, architecture) = (text("README.md"), text("ARCHITECTURE.md"));
    for tool in TOOLS {
        assert!(
            readme.contains(&format!("| `{}` | ", tool.name)),
            "no line for the tool {}",
            tool.name
        );
        assert!(readme.contains(&format!("`cograph {}", tool.name)), "no example of {}", tool.name);
    }
    for line in text("src/lib.rs").lines().filter_map(|line| line.strip_prefix("pub use cograph_"))
    {
        let module = line.split(' ').next().unwrap_or_default();
        assert!(
            architecture.contains(&format!("| `{module}` | ")),
            "no line for the module {module}"
        );
    }
}

#[test]
fn the_readme_is_short() {
    let lines = text("README.md").lines().count();
    assert!(lines < 200, "{lines} lines: details belong into docs/");
}

#[test]
fn every_script_and_file_that_is_named_exists() {
    const FOLDERS: [&str; 8] =
        ["scripts/", ".ci/", ".github/", "src/", "tests/", "docs/", "grammars/", "benches/"];
    let mut named = BTreeSet::new();
    for (document, text) in documents() {
        // The changelog speaks of what there was; tables of measurements name files of other
        // projects.
        if document.ends_with("CHANGELOG.md") || document.starts_with("scripts") {
            continue;
        }
        // What a command printed about another project names files of that one.
        let is_ours =
            |line: &&str| !line.starts_with("    ") || line.trim_start().starts_with("scripts/");
        let ours = text.lines().filter(is_ours).flat_map(words);
        for path in ours.filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder))) {
            let is_pattern = path.contains(['*', '<']) || path.starts_with("grammars/x/");
            assert!(
                is_pattern || root().join(path).exists(),
                "{path} is named in {}",
                document.display()
            );
            named.insert(path.to_owned());
        }
    }
    assert!(named.len() > 60, "{named:?}");
}

/// The addresses of links in a document: `[text](address)`.
fn links(document: &str) -> impl Iterator<Item = &str> {
    document.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// The anchor of a heading, as hosts of code make it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut checked = 0;
    for (document, text) in documents() {
        let folder =
            root().join(&document).parent().expect("a file lies in a folder").to_path_buf();
        for link in links(&text).filter(|link| !link.contains("://")) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { root().join(&document) } else { folder.join(path) };
            assert!(target.exists(), "{link} in {}", document.display());
            if !heading.is_empty() {
                let text = std::fs::read_to_string(&target).expect("a document");
                let mut anchors = text
                    .lines()
                    .filter(|line| line.starts_with('#'))
                    .map(|line| line.trim_start_matches('#').trim());
                assert!(
                    anchors.any(|found| anchor(found) == heading),
                    "{link} in {}",
                    document.display()
                );
            }
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked} links");
}

#[test]
fn settings_that_are_named_are_read_and_all_are_named() {
    let config = text("src/config/lib.rs");
    // The second program has settings of its own.
    let org = text("org/src/arguments.rs") + &text("org/src/server/guard.rs");
    let name_of = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
    for (document, text) in documents() {
        for name in words(&text).filter(|word| word.starts_with("COGRAPH_")).map(name_of) {
            let is_of_tests = name == "COGRAPH_WRITE_FIXTURES";
            assert!(
                is_of_tests || (config.clone() + &org).contains(&format!("\"{name}\"")),
                "{name} is named in {}",
                document.display()
            );
        }
    }
    let names_in = |source: &str| -> Vec<String> {
        let names = source.split('"').filter(|text| text.starts_with("COGRAPH_"));
        names.filter(|text| !text.contains(['=', ' '])).map(str::to_owned).collect()
    };
    let described = text("docs/configuration.md");
    let read = names_in(&config);
    assert!(read.len() > 5, "{read:?}");
    for name in read {
        assert!(
            described.contains(&format!("| `{name}` | ")),
            "docs/configuration.md has no line for {name}"
        );
    }
    let (described, read) = (text("docs/organisation.md"), names_in(&org));
    assert_eq!(read.len(), 2, "{read:?}");
    for name in read {
        assert!(described.contains(&name), "docs/organisation.md does not name {name}");
    }
}

#[test]
fn commands_that_are_named_exist() {
    let help = Command::new(env!("CARGO_BIN_EXE_cograph"))
        .arg("--help")
        .output()
        .expect("the program starts");
    let help = String::from_utf8(help.stdout).expect("help is text");
    let commands: BTreeSet<&str> = help
        .lines()
        .take_while(|line| *line != "Examples:")
        .filter_map(|line| {
            line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?.split_whitespace().next()
        })
        .collect();
    assert!(TOOLS.iter().all(|tool| commands.contains(tool.name)), "{commands:?}");
    let mut named = BTreeSet::new();
    for (document, text) in documents() {
        for before in ["`", "\n    ", "$ ", "-- "] {
            for rest in text.split(&format!("{before}cograph ")).skip(1) {
                let command: String =
                    rest.chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
                assert!(
                    command.is_empty() || commands.contains(&*command),
                    "cograph {command} in {}",
                    document.display()
                );
                named.insert(command);
            }
        }
    }
    let is_command =
        |word: &&&str| word.chars().all(|c| c.is_ascii_lowercase()) && **word != "help";
    let missing: Vec<&&str> =
        commands.iter().filter(|word| is_command(word) && !named.contains(**word)).collect();
    assert!(missing.is_empty(), "no document names {missing:?}");
}

/// The lines of a picture of a terminal: its texts from top to bottom, each line from left to
/// right.
fn lines_of_picture(svg: &str) -> Vec<String> {
    let mut lines: Vec<(String, String)> = Vec::new();
    for element in svg.split("<text ").skip(1) {
        let (attributes, rest) = element.split_once('>').expect("an element has an end");
        let y = attributes.split("y=\"").nth(1).and_then(|rest| rest.split('"').next());
        let (Some(y), Some((text, _))) = (y, rest.split_once("</text>")) else { continue };
        let text = text.replace("&#160;", " ").replace("&#x27;", "'").replace("&gt;", ">");
        match lines.last_mut().filter(|(known, _)| known == y) {
            Some((_, line)) => *line += &text,
            None => lines.push((y.to_owned(), text)),
        }
    }
    lines.into_iter().map(|(_, line)| line.trim_end().to_owned()).collect()
}

#[test]
fn commands_in_the_picture_exist_and_it_loads_nothing() {
    let svg = text("docs/session.svg");
    assert!(text("README.md").contains("](docs/session.svg)"));
    for outside in ["@font-face", "@import", "<script", "href=\"http", "url(\"http"] {
        assert!(!svg.contains(outside), "{outside}");
    }
    let lines = lines_of_picture(&svg);
    let own =
        lines.iter().filter_map(|line| line.strip_prefix('$')?.trim().strip_prefix("cograph "));
    let mut seen = 0;
    for words in own {
        let mut words = words.split(' ');
        let command = words.next().unwrap_or_default();
        let help = Command::new(env!("CARGO_BIN_EXE_cograph")).args([command, "--help"]).output();
        let help = help.expect("the program starts");
        assert!(help.status.success(), "cograph {command}");
        let help = String::from_utf8_lossy(&help.stdout).into_owned();
        for option in words.filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "cograph {command} {option}");
        }
        seen += 1;
    }
    assert!(seen >= 2, "{lines:?}");
}

#[test]
fn the_changelog_has_this_version() {
    let changelog = text("CHANGELOG.md");
    let versions: Vec<&str> =
        changelog.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(versions.first(), Some(&"Unreleased"));
    let is_this = |version: &&&str| version.split(" - ").next() == Some(env!("CARGO_PKG_VERSION"));
    assert_eq!(
        versions.get(1).iter().filter(|version| is_this(version)).count(),
        1,
        "{versions:?}"
    );
}

#[test]
fn the_command_for_testing_is_what_a_clean_checkout_runs() {
    assert!(text("CONTRIBUTING.md").contains("    scripts/check  "));
    let run = text(".ci/run");
    assert_eq!(
        run.lines().filter(|line| line.starts_with("scripts/")).collect::<Vec<_>>(),
        ["scripts/check"]
    );
    let hosted = text(".github/workflows/check.yml");
    assert!(
        hosted.lines().any(|line| line.trim_start_matches(['-', ' ']) == "run: .ci/run"),
        "the hosted check runs it"
    );
}

#[test]
fn documents_name_the_format_of_the_store() {
    let format = cograph::store::FORMAT;
    let stores = Regex::new(r"\bv(\d+)-\d+\.db\b").expect("it is a pattern");
    let mut named = 0;
    for (path, document) in documents() {
        for store in stores.captures_iter(&document) {
            named += 1;
            assert_eq!(store[1], format.to_string(), "{}: {}", path.display(), &store[0]);
        }
    }
    assert!(named > 4, "{named} names of stores");
    assert!(text("ARCHITECTURE.md").contains(&format!("store: format {format},")));
}

/// A number with commas, as documents have it.
fn grouped(number: &str) -> String {
    let digits = number.len();
    let comma = |place: usize| place > 0 && (digits - place).is_multiple_of(3);
    let parts = number.char_indices().map(|(place, digit)| match comma(place) {
        true => format!(",{digit}"),
        false => digit.to_string(),
    });
    parts.collect()
}

#[test]
fn figures_of_costs_are_those_of_their_file() {
    let (readme, performance) = (text("README.md"), text("docs/performance.md"));
    let file = text("scripts/measure.d/costs.tsv");
    let mut rows = file.lines().filter(|line| !line.starts_with('#'));
    let head: Vec<&str> = rows.next().expect("a head").split('\t').collect();
    assert_eq!(head[..5], ["project", "indexed", "source_bytes", "symbols", "references"]);
    let mut projects = Vec::new();
    for row in rows {
        let cells: Vec<&str> = row.split('\t').collect();
        let [indexed, symbols, references] = [1, 3, 4].map(|at| grouped(cells[at]));
        let line = performance
            .lines()
            .find(|line| line.starts_with(&format!("| {} | {indexed} |", cells[0])))
            .unwrap_or_else(|| panic!("no row of {} with {indexed} files", cells[0]));
        assert!(line.contains(&format!("| {symbols} | {references} |")), "{line}");
        if cells[0] == "django" {
            let sum = readme.lines().find(|line| line.trim_start().starts_with("total "));
            let sum: Vec<&str> = sum.expect("a session").split_whitespace().collect();
            assert_eq!(sum[1..4], [indexed, symbols, references], "the session in README.md");
        }
        projects.push(cells[0]);
    }
    assert!(projects.len() >= 6 && projects.contains(&"django"), "{projects:?}");
}
