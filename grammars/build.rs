//! Collects `grammars/*/grammar.toml` into one table: per language its folder name, its manifest with those it extends, its
//! grammar. Also numbers for the code that makes facts and resolves them and for all code, and how a release is linked.
#![expect(
    clippy::disallowed_methods,
    reason = "the bans are for the program; this runs while it is built, and reads the manifests"
)]

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("grammars");
    println!("cargo:rerun-if-changed={}", root.display());
    let mut folders: Vec<PathBuf> = fs::read_dir(&root)
        .expect("grammars/ is part of the package")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.join("grammar.toml").is_file())
        .collect();
    folders.sort();
    let mut table = String::from("static FOLDERS: &[Folder] = &[\n");
    for folder in &folders {
        add_language(&mut table, folder);
    }
    table.push_str("];\n");
    writeln!(table, "const RULES: u64 = {};", rules(root.parent().expect("grammars/ is in the package")))
        .expect("writing to a string cannot fail");
    // Two programs of one version that were built from other sources tell each other apart by this.
    let sources = folders.iter().map(|folder| folder.join("grammar.toml")).chain([root.with_file_name("src")]);
    println!("cargo:rustc-env=COGRAPH_BUILD={:016x}", hashed(sources.collect()));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("languages.rs");
    fs::write(out, table).expect("the output folder is writable");
    compress_lines();
}

/// Has the lines of functions, which backtraces tell, take a third of their room in a release.
fn compress_lines() {
    let is = |variable: &str, value: &str| env::var(variable).is_ok_and(|set| set == value);
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo:rustc-link-arg-bins=-Wl,--compress-debug-sections=zlib");
    }
}

/// Stands for the code that makes facts and resolves them: a store that other code has made is not served.
fn rules(package: &Path) -> u64 {
    let modules = ["extract", "resolve", "grammar", "model"].iter();
    hashed(
        modules.flat_map(|module| [package.join("src").join(module), package.join("src").join(format!("{module}.rs"))]).collect(),
    )
}

/// Stands for these files, and all that lie in these folders.
fn hashed(mut waiting: Vec<PathBuf>) -> u64 {
    let mut files = Vec::new();
    while let Some(path) = waiting.pop() {
        println!("cargo:rerun-if-changed={}", path.display());
        match path.is_dir() {
            true => {
                waiting.extend(fs::read_dir(&path).expect("a folder of the package").map(|entry| entry.expect("an entry").path()))
            }
            false => files.push(path),
        }
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for path in files {
        fs::read(&path).expect("a file of the package").hash(&mut hasher);
    }
    hasher.finish()
}

fn add_language(table: &mut String, folder: &Path) {
    let (manifest, parsed) = read(folder);
    let grammar = text(&parsed, "grammar")
        .unwrap_or_else(|| panic!("{}: `grammar` must name the grammar, as in \"tree_sitter_x::LANGUAGE\"", manifest.display()));
    let name = folder.file_name().and_then(|name| name.to_str()).expect("folder names are plain ASCII");
    let mut manifests = vec![manifest];
    let mut extends = text(&parsed, "extends").map(str::to_owned);
    while let Some(base) = extends {
        let (manifest, parsed) = read(&folder.with_file_name(base));
        assert!(!manifests.contains(&manifest), "{}: extends itself", manifest.display());
        manifests.insert(0, manifest);
        extends = text(&parsed, "extends").map(str::to_owned);
    }
    let texts: Vec<String> = manifests.iter().map(|path| format!("include_str!({:?})", path.display().to_string())).collect();
    writeln!(
        table,
        "    Folder {{ name: {name:?}, manifests: &[{}], grammar: || tree_sitter::Language::new({grammar}) }},",
        texts.join(", ")
    )
    .expect("writing to a string cannot fail");
}

fn read(folder: &Path) -> (PathBuf, toml::Table) {
    let manifest = folder.join("grammar.toml");
    println!("cargo:rerun-if-changed={}", manifest.display());
    let text = fs::read_to_string(&manifest).unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
    let parsed = text.parse().unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
    (manifest, parsed)
}

fn text<'t>(table: &'t toml::Table, key: &str) -> Option<&'t str> {
    table.get(key).and_then(toml::Value::as_str)
}
