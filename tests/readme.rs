//! The README speaks of what there is: tools, modules, scripts, settings and the command that tests everything.

use std::path::{Path, PathBuf};

use cograph::server::TOOLS;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(root().join(path)).expect("the file is part of the project")
}

#[test]
fn every_tool_and_module_has_its_line() {
    let readme = text("README.md");
    for tool in TOOLS {
        assert!(readme.contains(&format!("| `{}` | ", tool.name)), "no line for the tool {}", tool.name);
        assert!(readme.contains(&format!("`cograph {}", tool.name)), "no example of {}", tool.name);
    }
    for line in text("src/lib.rs").lines().filter_map(|line| line.strip_prefix("pub mod ")) {
        let module = line.trim_end_matches(';');
        assert!(readme.contains(&format!("| `{module}` | ")), "no line for the module {module}");
    }
}

#[test]
fn every_script_and_file_that_is_named_exists() {
    let readme = text("README.md");
    let words = readme.split(|c: char| c.is_whitespace() || "`()[],;".contains(c)).map(|word| word.trim_end_matches(['.', ':']));
    let named: Vec<&str> = words.filter(|word| word.starts_with("scripts/") || word.starts_with(".ci/")).collect();
    assert!(named.len() > 5, "{named:?}");
    for path in named {
        assert!(root().join(path).exists(), "{path} is named in README.md");
    }
}

#[test]
fn settings_that_are_named_are_read() {
    let (readme, config) = (text("README.md"), text("src/config.rs"));
    let named: Vec<&str> =
        readme.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.starts_with("COGRAPH_")).collect();
    assert!(!named.is_empty());
    for name in named {
        assert!(config.contains(&format!("\"{name}\"")), "{name} is named in README.md");
    }
}

#[test]
fn the_command_for_testing_is_what_a_clean_checkout_runs() {
    assert!(text("README.md").contains("    scripts/check  "));
    let run = text(".ci/run");
    assert_eq!(run.lines().filter(|line| line.starts_with("scripts/")).collect::<Vec<_>>(), ["scripts/check"]);
}
