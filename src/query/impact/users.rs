//! Files that may name the symbols of changed ones, and imports of a file that is gone.

use rustc_hash::FxHashSet;

use crate::graph::answer::Certainty;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::impact::breaks::kind::{Break, BreakKind};
use cograph_grammar as grammar;
use cograph_model::RepoPath;
use cograph_model::change::ChangedFile;
use cograph_store::{FileKey, ImportRow};

/// Maximum number of steps from a file to a changed one.
const MAX_STEPS: usize = 4;
/// Maximum number of dependencies of files that are read.
const MAX_EDGES: usize = 2_000_000;
/// Maximum number of files whose imports are compared with a path that is gone.
const MAX_IMPORTERS: usize = 20_000;

/// Files that may name the symbols of changed files: those that depend on them, also through
/// others, those of one package with them, and those that import a package by its directory.
pub(super) fn of(
    lookup: &Lookup<'_>,
    files: &[ChangedFile],
) -> Result<FxHashSet<FileKey>, QueryError> {
    let (mut users, mut directories) = (FxHashSet::default(), Vec::new());
    for path in files.iter().flat_map(|file| [&file.old, &file.new]).flatten() {
        if let Some(row) = lookup.snapshot.file_at(path.as_str())? {
            users.insert(row.key);
        }
        directories.push(path.directory().to_owned());
    }
    directories.sort_unstable();
    directories.dedup();
    let by_name = of_directories();
    for (key, path) in lookup.snapshot.paths()?.into_iter().take(MAX_IMPORTERS) {
        lookup.check()?;
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let language = lookup.language(lookup.place(key)?.language);
        if !by_name.contains(&language) {
            continue;
        }
        if directories.iter().any(|own| own == directory) {
            users.insert(key);
            continue;
        }
        for import in lookup.snapshot.imports_of(key)? {
            let last = import.module.rsplit(['.', '/', ':', '\\']).next().unwrap_or_default();
            let is_one = |own: &String| own.rsplit('/').next() == Some(last) && !last.is_empty();
            if import.target.is_none() && directories.iter().any(is_one) {
                users.insert(key);
            }
        }
    }
    let mut edges = Vec::new();
    lookup.snapshot.visit_file_edges(|edge| {
        edges.push((edge.from, edge.to));
        edges.len() < MAX_EDGES
    })?;
    for _ in 0..MAX_STEPS {
        let more = edges.iter().filter(|(from, to)| users.contains(to) && !users.contains(from));
        let more: Vec<FileKey> = more.map(|(from, _)| *from).collect();
        if more.is_empty() {
            break;
        }
        users.extend(more);
    }
    Ok(users)
}

/// Languages in which files of a directory name each other without an import.
fn of_directories() -> FxHashSet<&'static str> {
    let all = grammar::all().into_iter();
    all.filter(|one| one.manifest.modules.shared_folder).map(|one| one.name).collect()
}

/// Imports that lead nowhere because a file is gone.
pub(super) fn gone(lookup: &Lookup<'_>, file: &ChangedFile) -> Result<Vec<Break>, QueryError> {
    let mut gone = Vec::new();
    let Some(old) = file.old.as_ref().filter(|old| file.new.as_ref() != Some(*old)) else {
        return Ok(gone);
    };
    let reason = match &file.new {
        Some(new) => format!("the file is {new} now"),
        None => "the file is removed".to_owned(),
    };
    for (key, _) in lookup.snapshot.paths()?.into_iter().take(MAX_IMPORTERS) {
        lookup.check()?;
        for import in lookup.snapshot.imports_of(key)? {
            let Some(certainty) = named(&import, old) else { continue };
            // An import of a member that a package has not may lead to the package.
            if let Some(target) = import.target {
                let package = lookup.place(target)?.path.directory() == old.directory();
                let is_module = named(&ImportRow { item: None, ..import.clone() }, old);
                if !package || is_module != Some(Certainty::Certain) {
                    continue;
                }
            }
            gone.push(Break {
                kind: BreakKind::Import,
                path: lookup.place(key)?.path.clone(),
                line: import.at.line,
                symbol: old.as_str().to_owned(),
                reason: reason.clone(),
                certainty,
            });
        }
    }
    Ok(gone)
}

/// How certainly an import names a file, if it may: it ends with the last segments of the path, or
/// with them and the name of an item.
fn named(import: &ImportRow, file: &RepoPath) -> Option<Certainty> {
    let stem = file.as_str().rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem);
    let segments: Vec<&str> = stem.split('/').collect();
    let module = import.module.split(['.', '/', ':', '\\']).chain(import.item.as_deref());
    let written: Vec<&str> = module.filter(|part| !part.is_empty()).collect();
    let most = written.len().min(segments.len());
    let shared = (1..=most)
        .rev()
        .find(|&count| written.windows(count).rev().take(2).any(|part| segments.ends_with(part)))?;
    Some(if shared > 1 { Certainty::Certain } else { Certainty::Possible })
}
