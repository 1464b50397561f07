//! Hashes of the sources of the program: of the code that makes facts and resolves them, and of all
//! code that serves.
#![expect(
    clippy::disallowed_methods,
    reason = "the bans are for the program; this runs while it is built, and reads its sources"
)]

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Crates whose code decides what a store says of given sources.
const RULES: [&str; 4] = ["extract", "grammar", "model", "resolve"];
/// The code of the table of languages.
const TABLE: [&str; 4] = ["build.rs", "inherit.rs", "lib.rs", "tier.rs"];
/// The crate that only starts what the others do.
const STARTS: &str = "cli";

fn main() {
    let own = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let crates = own.parent().expect("the crate is in src");
    let grammars = crates.with_file_name("grammars");
    let table = TABLE.map(|name| grammars.join(name));
    let rules = RULES.iter().map(|name| crates.join(name)).chain(table.iter().cloned());
    println!("cargo:rustc-env=COGRAPH_RULES={}", hashed(rules.collect()));
    let serving =
        entries(crates).into_iter().filter(|path| path.is_dir() && !path.ends_with(STARTS));
    let manifests = entries(&grammars).into_iter().map(|folder| folder.join("grammar.toml"));
    let manifests = manifests.filter(|path| path.is_file());
    let build = hashed(serving.chain(manifests).chain(table).collect());
    println!("cargo:rustc-env=COGRAPH_BUILD={build:016x}");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of the project");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// Hash of the contents of these files, and of all that lie in these folders.
fn hashed(mut waiting: Vec<PathBuf>) -> u64 {
    let mut files = Vec::new();
    while let Some(path) = waiting.pop() {
        println!("cargo:rerun-if-changed={}", path.display());
        match path.is_dir() {
            true => waiting.extend(entries(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for path in files {
        fs::read(&path).expect("a file of the project").hash(&mut hasher);
    }
    hasher.finish()
}
