//! Contents of files, which the caller reads.

use cograph_model::RepoPath;
use std::io;

/// Reads files of the repository. Implemented by the caller, which knows the access rules.
pub trait ReadFile: Sync {
    /// Current contents.
    fn read(&self, path: &RepoPath) -> io::Result<Vec<u8>>;

    /// Current contents, with the identity of the bytes on disk.
    fn content(&self, path: &RepoPath) -> io::Result<Content> {
        Ok(Content { text: self.read(path)?, original: None, lossy: false })
    }
}

/// Contents of a file as text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Content {
    /// Text; the bytes of binary data.
    pub text: Vec<u8>,
    /// The bytes on disk, if the text is not those.
    pub original: Option<Original>,
    /// True if bytes that are not UTF-8 were replaced.
    pub lossy: bool,
}

/// Identity of bytes on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Original {
    /// Hash, as in the index.
    pub hash: u128,
    /// Number of bytes.
    pub size: u64,
}

impl Content {
    /// The bytes on disk. Hashes the text, unless it is of another encoding.
    pub(crate) fn original(&self) -> Original {
        self.original.unwrap_or_else(|| Original {
            hash: xxhash_rust::xxh3::xxh3_128(&self.text),
            size: self.text.len() as u64,
        })
    }
}
