//! Language detection: by name, by extension, by the `#!` line, and by content for shared
//! extensions. A template has the language of the file that a build makes of it.

use super::table::folders;
use cograph_grammars::Folder;
use cograph_model::{LanguageId, RepoPath};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

struct Table {
    by_file_name: FxHashMap<&'static str, LanguageId>,
    by_extension: FxHashMap<&'static str, LanguageId>,
    by_interpreter: FxHashMap<&'static str, LanguageId>,
    /// Extension -> languages that detect it by content.
    shared: FxHashMap<&'static str, Vec<LanguageId>>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table {
            by_file_name: FxHashMap::default(),
            by_extension: FxHashMap::default(),
            by_interpreter: FxHashMap::default(),
            shared: FxHashMap::default(),
        };
        for (folder, id) in folders().iter().zip((0..).map(LanguageId)) {
            table.by_file_name.extend(folder.file_names.iter().map(|&name| (name, id)));
            table.by_extension.extend(folder.extensions.iter().map(|&name| (name, id)));
            table.by_interpreter.extend(folder.interpreters.iter().map(|&name| (name, id)));
            for &extension in folder.shared_extensions {
                table.shared.entry(extension).or_default().push(id);
            }
        }
        table
    })
}

/// Detects the language of a file from its path and its first bytes (at least 256 if the file has
/// that many; more improves the detection of shared extensions). `neighbours` counts, per language,
/// the files of the same directory whose language is certain; it decides if the content does not.
pub fn detect(path: &RepoPath, head: &[u8], neighbours: &[u32]) -> Option<LanguageId> {
    match filled(path) {
        Some(made) => {
            let suffix = path.extension().unwrap_or_default();
            by_name(&made, head, neighbours)
                .filter(|language| is_template(&folders()[usize::from(language.0)], suffix))
        }
        None => by_name(path, head, neighbours),
    }
}

/// Returns the path without the extension of a template, if it has one behind another extension.
pub fn filled(path: &RepoPath) -> Option<RepoPath> {
    let suffix = path.extension()?;
    if !folders().iter().any(|folder| is_template(folder, suffix)) {
        return None;
    }
    let text = path.as_str();
    RepoPath::new(&text[..text.len() - suffix.len() - 1]).filter(|made| made.extension().is_some())
}

fn is_template(folder: &Folder, suffix: &str) -> bool {
    folder.templates.contains(&suffix)
}

fn by_name(path: &RepoPath, head: &[u8], neighbours: &[u32]) -> Option<LanguageId> {
    let table = table();
    if let Some(&language) = table.by_file_name.get(path.file_name()) {
        return Some(language);
    }
    let Some(extension) = path.extension() else {
        return interpreter(head).and_then(|name| table.by_interpreter.get(name).copied());
    };
    let exact = table.by_extension.get(extension).copied();
    let Some(claimants) = table.shared.get(extension) else {
        return exact
            .or_else(|| table.by_extension.get(extension.to_ascii_lowercase().as_str()).copied());
    };
    let count =
        |language: LanguageId| neighbours.get(usize::from(language.0)).copied().unwrap_or(0);
    claimants
        .iter()
        .copied()
        .find(|&language| has_marker(&folders()[usize::from(language.0)], head))
        .or_else(|| {
            claimants.iter().copied().find(|&language| count(language) > exact.map_or(0, count))
        })
        .or(exact)
}

fn has_marker(folder: &Folder, head: &[u8]) -> bool {
    head.split(|&byte| byte == b'\n').any(|line| {
        let line = line.trim_ascii_start();
        folder.markers.iter().any(|marker| line.starts_with(marker.as_bytes()))
    })
}

/// Returns the interpreter of a `#!` line: its last path component without version digits; for
/// `env`, its argument.
fn interpreter(head: &[u8]) -> Option<&str> {
    let line = head.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace();
    let base =
        |word: &'_ str| word.rsplit('/').next().map(str::len).map(|length| word.len() - length);
    let mut word = words.next()?;
    word = &word[base(word)?..];
    if word == "env" {
        word = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
        word = &word[base(word)?..];
    }
    Some(word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}
