//! Errors of publishing and pulling: what was attempted, on which object, and what the user can do.
//! Text of an object store enters them as it is: the caller escapes it.

use cograph_store::StoreError;

/// Why nothing was published or pulled.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The address is none that can be used.
    #[error("`{url}` cannot be used: {reason}")]
    Address {
        /// Address without user and password.
        url: String,
        /// Reason.
        reason: String,
    },
    /// The object store gave an error.
    #[error("{attempt} {object}: {detail}")]
    Remote {
        /// Attempted operation.
        attempt: &'static str,
        /// Name of the object.
        object: String,
        /// Message of the object store.
        detail: String,
    },
    /// Nothing fits the repository.
    #[error("{0}")]
    Nothing(String),
    /// An object is not what was announced.
    #[error("{object} is damaged: {reason}")]
    Damaged {
        /// Name of the object.
        object: String,
        /// Reason.
        reason: String,
    },
    /// Other publishers changed a reference at every attempt.
    #[error("{0} was changed by other publishers at every attempt")]
    Contended(String),
    /// A local file cannot be read or written.
    #[error("{attempt}: {error}")]
    Local {
        /// Attempted operation.
        attempt: &'static str,
        /// Error of the system.
        error: std::io::Error,
    },
    /// The store of the repository.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl PublishError {
    /// Suggested fix.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Address { .. } => {
                "use a directory, `s3://bucket/prefix`, or `https://…` to pull; `cograph publish \
                 --help` has examples"
            }
            Self::Remote { .. } => {
                "check the address, the network and the credentials in the environment \
                 (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT)"
            }
            Self::Nothing(_) => "`cograph index` builds the index here",
            Self::Damaged { .. } => {
                "the present index is unchanged; publish again, or build it with `cograph index`"
            }
            Self::Contended(_) => "try again",
            Self::Local { .. } => "check the space and the permissions of the cache",
            Self::Store(_) => "`cograph doctor` checks the index; `cograph index` builds it",
        }
    }
}
