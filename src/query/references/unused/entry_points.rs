//! Files and definitions that the manifests of packages name: something outside of the repository
//! starts or imports them. Which keys name them is data of the languages.

use rustc_hash::FxHashMap;

use crate::graph::content::ReadFile;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_grammar as grammar;
use cograph_model::RepoPath;
use cograph_store::{FileKey, FileRow, SymbolRow};

/// Mark between a module and a definition in it.
const DEFINITION: char = ':';

/// What manifests name.
#[derive(Default)]
pub(super) struct EntryPoints {
    /// By file: the manifest that names it as a whole.
    files: FxHashMap<FileKey, RepoPath>,
    /// By file and name: the manifest that names a definition of it.
    definitions: FxHashMap<(FileKey, String), RepoPath>,
}

impl EntryPoints {
    pub(super) fn of(lookup: &Lookup<'_>, files: &dyn ReadFile) -> Result<Self, QueryError> {
        let mut found = Self::default();
        for file in lookup.snapshot.files()? {
            let name = file.path.file_name();
            for language in grammar::all() {
                let modules = &language.manifest.modules;
                let Some(keys) = modules.entries.get(name) else { continue };
                lookup.check()?;
                // A manifest that is gone names nothing.
                let Ok(text) = files.read(&file.path) else { continue };
                for value in values(lookup, &file, keys, &text)? {
                    found.add(lookup, &file, &value, modules)?;
                }
            }
        }
        Ok(found)
    }

    /// True for a file that a manifest names as a whole.
    pub(super) fn have(&self, file: FileKey) -> bool {
        self.files.contains_key(&file)
    }

    /// The manifest that names a definition, or its file if it is visible outside of that.
    pub(super) fn naming(&self, row: &SymbolRow, is_visible: bool) -> Option<&RepoPath> {
        let whole = self.files.get(&row.file).filter(|_| is_visible);
        whole.or_else(|| {
            let is_named = !self.definitions.is_empty() && row.container.is_none();
            is_named.then(|| self.definitions.get(&(row.file, row.name_text.to_string())))?
        })
    }

    fn add(
        &mut self,
        lookup: &Lookup<'_>,
        manifest: &FileRow,
        value: &str,
        modules: &grammar::Modules,
    ) -> Result<(), QueryError> {
        let (module, definition) = match value.split_once(DEFINITION) {
            Some((module, definition)) => (module, Some(definition)),
            None => (value, None),
        };
        let path = match modules.has_source_roots() {
            true => module.replace(&*modules.separator, "/"),
            false => module.to_owned(),
        };
        let Some(file) = file_at(lookup, &manifest.path, &path, modules)? else { return Ok(()) };
        let path = manifest.path.clone();
        match definition.and_then(|one| one.split([' ', '[', '.']).next()) {
            Some(name) => self.definitions.insert((file.key, name.to_owned()), path),
            None => self.files.insert(file.key, path),
        };
        Ok(())
    }
}

/// The texts in quotation marks below keys of a manifest.
fn values(
    lookup: &Lookup<'_>,
    manifest: &FileRow,
    keys: &[String],
    text: &[u8],
) -> Result<Vec<String>, QueryError> {
    let mut found = Vec::new();
    for row in lookup.snapshot.symbols_of(manifest)? {
        let around = lookup.qualifier(row.container)?;
        let path = match around.is_empty() {
            true => row.name_text.to_string(),
            false => format!("{around}.{}", row.name_text),
        };
        let is_below = |key: &String| {
            path.strip_prefix(key.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let (start, end) = (row.extent.start_byte as usize, row.extent.end_byte as usize);
        if keys.iter().any(is_below)
            && let Some(text) = text.get(start..end).and_then(|text| std::str::from_utf8(text).ok())
        {
            found.extend(quoted(text).map(str::to_owned));
        }
    }
    Ok(found)
}

/// Texts in single or double quotation marks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let mut left = text;
    std::iter::from_fn(move || {
        let start = left.find(['"', '\''])?;
        let mark = left[start..].chars().next()?;
        let inside = &left[start + 1..];
        let end = inside.find(mark)?;
        left = &inside[end + 1..];
        Some(&inside[..end])
    })
}

/// The file that a manifest names: relative to its directory or to a directory of sources in it,
/// with an extension or without, or the index of a directory. What a build writes has the path of
/// its source behind the first or second directory.
fn file_at(
    lookup: &Lookup<'_>,
    manifest: &RepoPath,
    named: &str,
    modules: &grammar::Modules,
) -> Result<Option<FileRow>, QueryError> {
    let named = named.trim_start_matches("./").trim_end_matches('/');
    if named.is_empty() || named.contains("..") || named.starts_with('/') {
        return Ok(None);
    }
    let directory = manifest.directory();
    let root = if directory.is_empty() { String::new() } else { format!("{directory}/") };
    let mut paths = vec![named.to_owned(), format!("{SOURCES}{named}")];
    let is_extension = |path: &&str| modules.extensions.iter().any(|one| one == path);
    let ends = named.match_indices('.').map(|(dot, _)| (&named[..dot], &named[dot + 1..]));
    let mut ends = ends.filter(|(_, extension)| is_extension(extension));
    if let Some((stem, _)) = ends.next() {
        let behind = stem.match_indices('/').map(|(slash, _)| &stem[slash + 1..]);
        paths.extend(behind.take(2).map(|path| format!("{SOURCES}{path}")));
    }
    for path in paths {
        let with = |start: &str| -> Vec<String> {
            modules.extensions.iter().map(|one| format!("{root}{start}.{one}")).collect()
        };
        let mut all = vec![format!("{root}{path}")];
        all.extend(with(&path));
        all.extend(modules.index.iter().flat_map(|index| with(&format!("{path}/{index}"))));
        for path in all {
            if let Some(file) = lookup.snapshot.file_at(&path)? {
                return Ok(Some(file));
            }
        }
    }
    Ok(None)
}

/// Usual directory of sources.
const SOURCES: &str = "src/";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_in_quotation_marks_are_found() {
        let found: Vec<&str> = quoted("\"bin\": { 'a': \"./b.js\", c: 'it\"s' } \"open").collect();
        assert_eq!(found, ["bin", "a", "./b.js", "it\"s"]);
    }
}
