//! Manifests that a user gives: a directory with a directory for each language, as in `grammars/`.

use crate::error::ConfigError;
use crate::user_file::{FileError, FileRules};
use std::path::Path;
use std::{fs, io};

/// Name of a manifest.
pub const MANIFEST: &str = "grammar.toml";

/// A manifest.
const RULES: FileRules = FileRules::settings(1 << 20);

/// Reads the manifest of every directory in this one that has one, each with the name of its
/// directory.
#[expect(clippy::disallowed_methods, reason = "lists the user's settings, not a repository")]
pub fn manifests(directory: &Path) -> Result<Vec<(String, String)>, ConfigError> {
    let failed = |path: &Path, source: FileError| ConfigError::UnreadableManifest {
        path: path.to_path_buf(),
        source,
    };
    let mut manifests = Vec::new();
    for entry in fs::read_dir(directory).map_err(|error| failed(directory, error.into()))? {
        let folder = entry.map_err(|error| failed(directory, error.into()))?.path();
        let path = folder.join(MANIFEST);
        // The entry is a file, or a directory without a manifest.
        let Some(text) = RULES.read(&path).map_err(|error| failed(&path, error))? else { continue };
        let name = folder.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| {
            failed(&path, io::Error::other("the name of its directory is not UTF-8").into())
        })?;
        manifests.push((name.to_owned(), text));
    }
    Ok(manifests)
}
