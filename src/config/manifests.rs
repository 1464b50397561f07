//! Manifests that a user gives: a directory with a directory for each language, as in `grammars/`.

use super::ConfigError;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

/// Name of a manifest.
pub const MANIFEST: &str = "grammar.toml";

/// Largest manifest, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Reads the manifest of every directory in this one that has one, each with the name of its
/// directory.
#[expect(clippy::disallowed_methods, reason = "files of the user's settings, not of a repository")]
pub fn manifests(directory: &Path) -> Result<Vec<(String, String)>, ConfigError> {
    let failed =
        |path: &Path, source| ConfigError::UnreadableManifest { path: path.to_path_buf(), source };
    let mut manifests = Vec::new();
    for entry in fs::read_dir(directory).map_err(|error| failed(directory, error))? {
        let folder = entry.map_err(|error| failed(directory, error))?.path();
        let path = folder.join(MANIFEST);
        let file = match fs::File::open(&path) {
            Ok(file) => file,
            Err(error) if is_absent(&error) => continue,
            Err(error) => return Err(failed(&path, error)),
        };
        let mut text = String::new();
        file.take(MOST_BYTES + 1)
            .read_to_string(&mut text)
            .map_err(|error| failed(&path, error))?;
        if text.len() as u64 > MOST_BYTES {
            let error = io::Error::other(format!("it is larger than {MOST_BYTES} bytes"));
            return Err(failed(&path, error));
        }
        let name = folder.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| {
            failed(&path, io::Error::other("the name of its directory is not UTF-8"))
        })?;
        manifests.push((name.to_owned(), text));
    }
    Ok(manifests)
}

/// True if the entry is a file, or a directory without a manifest.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
