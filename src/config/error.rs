//! Errors of settings, and a hint for each.

use crate::user_file::FileError;
use cograph_system::owner;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// Configuration error.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The root does not exist.
    #[error("no such directory: {}", path.display())]
    Missing {
        /// The given path.
        path: PathBuf,
    },
    /// The root is not a directory.
    #[error("not a directory: {}", path.display())]
    NotADirectory {
        /// The given path.
        path: PathBuf,
    },
    /// The root could not be read.
    #[error("cannot open the directory {}: {source}", path.display())]
    Unreadable {
        /// The given path.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// A file with a secret could not be read.
    #[error("cannot use the token in {}: {source}", path.display())]
    UnreadableSecret {
        /// The given path.
        path: PathBuf,
        /// Cause.
        source: FileError,
    },
    /// A language manifest of the user could not be read.
    #[error("cannot read {}, of COGRAPH_GRAMMARS: {source}", path.display())]
    UnreadableManifest {
        /// Manifest, or the directory.
        path: PathBuf,
        /// Cause.
        source: FileError,
    },
    /// No location for the cache is known.
    #[error(
        "no directory for the index: none of COGRAPH_CACHE_DIR, XDG_CACHE_HOME and {} is an \
         absolute path",
        owner::CACHE.unwrap_or(owner::HOME[0])
    )]
    NoCacheDirectory,
    /// A relative path would be a different directory in each working directory.
    #[error("{variable}={path:?} is not an absolute path")]
    RelativeDirectory {
        /// Variable.
        variable: &'static str,
        /// The given path.
        path: PathBuf,
    },
    /// The directory is unlikely to be a repository, and was not chosen explicitly.
    #[error("{} {why}, and nothing in it marks it as a project", path.display())]
    NotMeant {
        /// Directory.
        path: PathBuf,
        /// Reason.
        why: String,
    },
    /// An environment variable is not a number.
    #[error("{name}={value:?} is not a whole number greater than 0")]
    NotANumber {
        /// Variable.
        name: &'static str,
        /// Value.
        value: OsString,
    },
    /// The working directory was deleted or is unreadable.
    #[error("cannot tell the working directory that the process was started in")]
    NoWorkingDirectory,
}

impl ConfigError {
    /// Suggested fix.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Missing { .. } => {
                "check the spelling, or name the repository's directory with --root"
            }
            Self::NotADirectory { .. } => "name the directory that contains the file",
            Self::Unreadable { .. } => {
                "check the permissions of the directory and of those above it"
            }
            Self::UnreadableSecret { source: FileError::Exposed { .. }, .. } => {
                "`chmod 600 FILE`: only its owner may read the token; if others have read it, make \
                 a new one"
            }
            Self::UnreadableSecret { .. } => {
                "name a file that holds the token and nothing else; COGRAPH_TOKEN takes one that \
                 a program prints"
            }
            Self::UnreadableManifest { .. } => {
                "name a directory with a DIR/grammar.toml for each language, or unset the variable"
            }
            Self::NoCacheDirectory => "set COGRAPH_CACHE_DIR to a directory that may be written",
            Self::RelativeDirectory { .. } => "give it as an absolute path, or unset it",
            Self::NotMeant { .. } => {
                "start in the directory of the project, or name this one with --root if it is to \
                 be indexed"
            }
            Self::NotANumber { .. } => "correct or unset the variable",
            Self::NoWorkingDirectory => {
                "change to a directory that exists, or name one with --root"
            }
        }
    }
}
