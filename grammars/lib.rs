//! Languages as data: the manifests of this folder, each with the grammar that it names, linked as
//! the cargo features say. `cograph-grammar` defines what a manifest means.
//!
//! ```text
//! NAME/grammar.toml ──┐
//! NAME/grammar.toml ──┼─ build.rs ──> FOLDERS: name, manifests, grammar, tier, files
//! tree-sitter-NAME ───┘
//! ```

mod inherit;
mod tier;

pub use inherit::merge;
pub use tier::Tier;

/// Row of a language: its manifest and grammar, and the properties needed without reading the
/// manifest.
#[derive(Clone, Copy, Debug)]
pub struct Folder {
    /// Name of its folder.
    pub name: &'static str,
    /// Name of the language for people.
    pub title: &'static str,
    /// Manifest, after those that it extends.
    pub manifests: &'static [&'static str],
    /// Grammar.
    pub grammar: fn() -> tree_sitter::Language,
    /// Tier of analysis.
    pub tier: Tier,
    /// Extensions of its files, without a dot.
    pub extensions: &'static [&'static str],
    /// Names of its files.
    pub file_names: &'static [&'static str],
    /// Interpreters of its scripts.
    pub interpreters: &'static [&'static str],
    /// Extensions that it shares with other languages.
    pub shared_extensions: &'static [&'static str],
    /// Texts by which files with shared extensions are recognized.
    pub markers: &'static [&'static str],
    /// Extensions behind its own that say that a build fills in the file.
    pub templates: &'static [&'static str],
    /// Names of the project files that it reads; some are patterns.
    pub project_files: &'static [&'static str],
    /// Maximum size of a file that counts as code, in bytes.
    pub most_bytes: Option<u64>,
}

include!(concat!(env!("OUT_DIR"), "/languages.rs"));
