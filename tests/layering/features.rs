//! The tests and the program are built from the same dependencies: a feature that only a test asks
//! for would have every crate compiled twice, once for each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The features of each package, as cargo decides them for these kinds of dependencies.
fn features(kinds: &str) -> BTreeMap<String, BTreeSet<String>> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--no-dedupe", "--prefix", "none"])
        .args(["--format", "{p}|{f}", "--edges", kinds])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout).expect("cargo writes UTF-8");
    let mut features: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (package, listed) in text.lines().filter_map(|line| line.split_once('|')) {
        let listed = listed.trim_end_matches(" (*)").split(',');
        let listed = listed.filter(|feature| !feature.is_empty()).map(str::to_owned);
        features.entry(package.to_owned()).or_default().extend(listed);
    }
    features
}

#[test]
fn tests_ask_dependencies_for_no_other_features_than_the_program() {
    let program = features("normal,build");
    let tests = features("normal,build,dev");
    assert!(program.len() > 100, "{} packages", program.len());
    let others: Vec<String> = program
        .iter()
        // Members are built with all of their features in both.
        .filter(|(package, _)| !package.starts_with("cograph"))
        .filter(|(package, wanted)| tests.get(*package).is_some_and(|asked| asked != *wanted))
        .map(|(package, wanted)| format!("{package}: {wanted:?} and {:?}", tests[package]))
        .collect();
    assert!(others.is_empty(), "name these features in Cargo.toml:\n{}", others.join("\n"));
}
