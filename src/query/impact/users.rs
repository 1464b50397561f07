//! Files that import a changed one, and imports of a file that is gone.

use rustc_hash::FxHashSet;

use super::Break;
use crate::graph::lookup::Lookup;
use crate::{Certainty, QueryError};
use cograph_model::RepoPath;
use cograph_model::change::ChangedFile;
use cograph_store::{FileKey, ImportRow};

/// Maximum number of files whose imports are compared with a path that is gone.
const MAX_IMPORTERS: usize = 20_000;

/// Files that import a changed file, by its old or new path, and the imports that lead nowhere
/// because it is gone.
pub(super) fn of(
    lookup: &Lookup<'_>,
    file: &ChangedFile,
) -> Result<(FxHashSet<FileKey>, Vec<Break>), QueryError> {
    let (mut users, mut gone) = (FxHashSet::default(), Vec::new());
    for path in [&file.old, &file.new].into_iter().flatten() {
        let Some(row) = lookup.snapshot.file_at(path.as_str())? else { continue };
        users.extend(lookup.snapshot.imports_to(row.key)?.iter().map(|import| import.file));
    }
    let Some(old) = file.old.as_ref().filter(|old| file.new.as_ref() != Some(*old)) else {
        return Ok((users, gone));
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
            users.insert(key);
            gone.push(Break {
                path: lookup.place(key)?.path.clone(),
                line: import.at.line,
                symbol: old.as_str().to_owned(),
                reason: reason.clone(),
                certainty,
            });
        }
    }
    Ok((users, gone))
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
