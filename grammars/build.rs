//! Collects `grammars/*/grammar.toml` into one table: per language its folder name, its manifest
//! with those it extends, its grammar, and what is needed of every language without reading its
//! manifest: its tier, and which files are in it.
#![expect(
    clippy::disallowed_methods,
    reason = "the bans are for the program; this runs while it is built, and reads the manifests"
)]

#[expect(unreachable_pub, reason = "the library offers it")]
mod inherit;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    println!("cargo:rerun-if-changed={}", root.display());
    let mut folders: Vec<PathBuf> = fs::read_dir(&root)
        .expect("grammars/ is part of the package")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.join("grammar.toml").is_file())
        .collect();
    folders.sort();
    let groups = Groups::of_package(&root);
    let mut table = String::from(
        "/// Languages whose grammars are linked, by name.\npub static FOLDERS: &[Folder] = &[\n",
    );
    for folder in &folders {
        add_language(&mut table, folder, &groups);
    }
    table.push_str("];\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("languages.rs");
    fs::write(out, table).expect("the output folder is writable");
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
        "    Folder {{ name: {name:?}, title: {:?}, manifests: &[{}], grammar: || {made}, tier: \
         Tier::{}, {} }},",
        text(&merged, "title")
            .unwrap_or_else(|| panic!("{}: `title` must be said", folder.display())),
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
         markers: &{:?}, templates: &{:?}, \
         project_files: &{:?}, most_bytes: {most:?}",
        list("detect", "extensions"),
        list("detect", "file-names"),
        list("detect", "interpreters"),
        list("detect", "shared-extensions"),
        list("detect", "markers"),
        list("detect", "templates"),
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
