//! Collects `grammars/*/grammar.toml` into one table: per language its folder name, its manifest
//! with those it extends, its grammar, and what is asked of every language without reading its
//! manifest: its tier, and which files are in it. Also numbers for the code that makes facts and
//! resolves them and for all code, and how a release is linked.
#![expect(
    clippy::disallowed_methods,
    reason = "the bans are for the program; this runs while it is built, and reads the manifests"
)]

#[path = "../src/grammar/inherit.rs"]
mod inherit;

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root =
        PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("grammars");
    println!("cargo:rerun-if-changed={}", root.display());
    let mut folders: Vec<PathBuf> = fs::read_dir(&root)
        .expect("grammars/ is part of the package")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.join("grammar.toml").is_file())
        .collect();
    folders.sort();
    let groups = Groups::of_package(root.parent().expect("grammars/ is in the package"));
    let mut table = String::from("static FOLDERS: &[Folder] = &[\n");
    for folder in &folders {
        add_language(&mut table, folder, &groups);
    }
    table.push_str("];\n");
    writeln!(
        table,
        "pub(super) const RULES: u64 = {};",
        rules(root.parent().expect("grammars/ is in the package"))
    )
    .expect("writing to a string cannot fail");
    // Two programs of one version that were built from other sources tell each other apart by this.
    let sources = folders
        .iter()
        .map(|folder| folder.join("grammar.toml"))
        .chain([root.with_file_name("src")]);
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

/// Stands for the code that makes facts and resolves them: a store that other code has made is not
/// served.
fn rules(package: &Path) -> u64 {
    let modules = ["extract", "resolve", "grammar", "model"].iter();
    hashed(
        modules
            .flat_map(|module| {
                [package.join("src").join(module), package.join("src").join(format!("{module}.rs"))]
            })
            .collect(),
    )
}

/// Stands for these files, and all that lie in these folders.
fn hashed(mut waiting: Vec<PathBuf>) -> u64 {
    let mut files = Vec::new();
    while let Some(path) = waiting.pop() {
        println!("cargo:rerun-if-changed={}", path.display());
        match path.is_dir() {
            true => waiting.extend(
                fs::read_dir(&path)
                    .expect("a folder of the package")
                    .map(|entry| entry.expect("an entry").path()),
            ),
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

/// Cargo features that link grammars: name and crates of each.
struct Groups(Vec<(String, Vec<String>)>);

impl Groups {
    /// The features of the package that name optional crates (`dep:tree-sitter-x`).
    fn of_package(package: &Path) -> Self {
        let manifest = package.join("Cargo.toml");
        println!("cargo:rerun-if-changed={}", manifest.display());
        let text = fs::read_to_string(&manifest).expect("the package has a manifest");
        let parsed: toml::Table = text.parse().expect("cargo has read it");
        let features = parsed["features"].as_table().expect("the package has features");
        let crates = |members: &toml::Value| {
            let members = members.as_array().into_iter().flatten();
            members
                .filter_map(|member| Some(member.as_str()?.strip_prefix("dep:")?.to_owned()))
                .collect()
        };
        Self(features.iter().map(|(name, members)| (name.clone(), crates(members))).collect())
    }

    /// Whether the crate of this grammar (`tree_sitter_x::LANGUAGE`) is linked: it is in no group,
    /// or one of its groups is turned on.
    fn link(&self, grammar: &str) -> bool {
        let name = grammar.split("::").next().unwrap_or_default().replace('_', "-");
        let mut groups = self.0.iter().filter(|(_, crates)| crates.contains(&name)).peekable();
        groups.peek().is_none()
            || groups.any(|(group, _)| {
                let variable = group.to_uppercase().replace('-', "_");
                env::var_os(format!("CARGO_FEATURE_{variable}")).is_some()
            })
    }
}

fn add_language(table: &mut String, folder: &Path, groups: &Groups) {
    let (manifest, parsed) = read(folder);
    let grammar = text(&parsed, "grammar").unwrap_or_else(|| {
        panic!(
            "{}: `grammar` must name the grammar, as in \"tree_sitter_x::LANGUAGE\"",
            manifest.display()
        )
    });
    if !groups.link(grammar) {
        return;
    }
    let name =
        folder.file_name().and_then(|name| name.to_str()).expect("folder names are plain ASCII");
    let mut manifests = vec![manifest];
    let mut extends = text(&parsed, "extends").map(str::to_owned);
    while let Some(base) = extends {
        let (manifest, parsed) = read(&folder.with_file_name(base));
        assert!(!manifests.contains(&manifest), "{}: extends itself", manifest.display());
        manifests.insert(0, manifest);
        extends = text(&parsed, "extends").map(str::to_owned);
    }
    let contents: Vec<String> = manifests
        .iter()
        .map(|path| fs::read_to_string(path).expect("it was read before"))
        .collect();
    let merged = inherit::merge(&contents.iter().map(String::as_str).collect::<Vec<_>>())
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let texts: Vec<String> = manifests
        .iter()
        .map(|path| format!("include_str!({:?})", path.display().to_string()))
        .collect();
    // Older crates give a function that makes the language, newer ones what it is made of.
    let made = if grammar.ends_with("()") {
        grammar.to_owned()
    } else {
        format!("tree_sitter::Language::new({grammar})")
    };
    writeln!(
        table,
        "    Folder {{ name: {name:?}, manifests: &[{}], grammar: || {made}, tier: Tier::{}, {} \
         }},",
        texts.join(", "),
        tier(folder, &merged),
        known(&merged)
    )
    .expect("writing to a string cannot fail");
}

/// The name of the variant for the tier that a manifest says.
fn tier(folder: &Path, merged: &toml::Table) -> String {
    let word =
        text(merged, "tier").unwrap_or_else(|| panic!("{}: `tier` must be said", folder.display()));
    let (first, rest) = word.split_at_checked(1).unwrap_or_default();
    format!("{}{rest}", first.to_uppercase())
}

/// Which files a language claims, as fields of the table. What they are is checked where the
/// manifest is read as a whole.
fn known(merged: &toml::Table) -> String {
    let section = |name: &str| merged.get(name).and_then(toml::Value::as_table);
    let list = |name: &str, key: &str| {
        let list =
            section(name).and_then(|section| section.get(key)).and_then(toml::Value::as_array);
        list.into_iter()
            .flatten()
            .filter_map(|text| text.as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let most = section("detect")
        .and_then(|detect| detect.get("most-bytes"))
        .and_then(toml::Value::as_integer);
    format!(
        "extensions: &{:?}, file_names: &{:?}, interpreters: &{:?}, shared_extensions: &{:?}, \
         markers: &{:?}, project_files: &{:?}, \
         most_bytes: {most:?}",
        list("detect", "extensions"),
        list("detect", "file-names"),
        list("detect", "interpreters"),
        list("detect", "shared-extensions"),
        list("detect", "markers"),
        list("modules", "project-files"),
    )
}

fn read(folder: &Path) -> (PathBuf, toml::Table) {
    let manifest = folder.join("grammar.toml");
    println!("cargo:rerun-if-changed={}", manifest.display());
    let text = fs::read_to_string(&manifest)
        .unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
    let parsed = text.parse().unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
    (manifest, parsed)
}

fn text<'t>(table: &'t toml::Table, key: &str) -> Option<&'t str> {
    table.get(key).and_then(toml::Value::as_str)
}
