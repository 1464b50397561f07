//! Names of upstreams, and what callers see of those that are registered.

use crate::base::escape::SafeLine;
use crate::proxy::federation::tools::{BETWEEN, ForeignTool};
use crate::proxy::upstream::listing::Listing;
use crate::proxy::upstream::question::{Caller, UpstreamError, UpstreamQuestion};
use cograph_model::cancel::CancelToken;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Maximum number of upstreams.
pub(crate) const MAX_UPSTREAMS: usize = 16;

/// Maximum number of tools of all upstreams together.
pub(crate) const MAX_TOOLS: usize = 256;

/// Maximum length of an upstream's name.
pub(crate) const NAME: usize = 24;

/// Name of an upstream: letters, digits, `-` and single `_`; starts with a letter and ends with a
/// letter or digit.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(String);

/// Why an upstream was not admitted.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RegistryError {
    /// The name is syntactically invalid.
    #[error(
        "{given:?} cannot name an upstream: at most {NAME} letters, digits, `-` and single `_`, \
         starting with a letter, ending with a letter or digit"
    )]
    Name {
        /// The given name, truncated.
        given: String,
    },
    /// The name is already registered.
    #[error("two upstreams are named {0}")]
    Known(Name),
    /// The maximum number of upstreams is reached.
    #[error("there are {MAX_UPSTREAMS} upstreams already")]
    Full,
    /// The upstream was removed or replaced while it connected.
    #[error("{0} was removed or replaced while it connected")]
    Gone(Name),
    /// Its tools would exceed the maximum number of tools.
    #[error("{name} has {tools} tools: the total would exceed {MAX_TOOLS}")]
    TooManyTools {
        /// Name of the upstream.
        name: Name,
        /// Number of its tools.
        tools: usize,
    },
    /// A tool name is already in use.
    #[error("{0} has a tool whose name another upstream's tool has")]
    Collision(Name),
    /// Connecting or listing the tools failed.
    #[error("{0}")]
    Upstream(String),
    /// Thread creation failed.
    #[error("no thread for the upstream {0}")]
    NoThread(Name),
}

/// Connection to one upstream, independent of the transport.
pub(crate) trait Peer: Send + Sync {
    /// Connects if necessary, and lists the tools.
    fn list(&self, cancel: &CancelToken) -> Result<Listing, UpstreamError>;
    /// Sends a request and waits for its response.
    fn call(
        &self,
        question: &UpstreamQuestion,
        caller: &dyn Caller,
    ) -> Result<Value, UpstreamError>;
    /// Server name from the handshake.
    fn title(&self) -> Option<String>;
    /// Sends a notification, if connected.
    fn send_notification(&self, method: &str);
    /// Closes the connection; requests in flight fail. Idempotent.
    fn close(&self);
}

/// An admitted upstream.
pub(crate) struct Serving {
    /// Connection.
    pub(crate) peer: Arc<dyn Peer>,
    /// Its tools.
    pub(crate) tools: Vec<ForeignTool>,
    /// True if the upstream runs cograph.
    pub(crate) is_own_kind: bool,
}

/// Upstream as seen by callers and `status`.
#[derive(Clone)]
pub(crate) struct SeenUpstream {
    /// Name.
    pub(crate) name: Name,
    /// Admitted connection and tools; none while disconnected.
    pub(crate) serving: Option<Arc<Serving>>,
    /// Last error, or what is missing from the tools.
    pub(crate) trouble: Option<String>,
}

/// Immutable view of all admitted upstreams.
#[derive(Clone, Default)]
pub(crate) struct View {
    /// Changes with every change of the admitted tools.
    pub(crate) generation: u64,
    /// Every upstream, by name.
    pub(crate) upstreams: Vec<SeenUpstream>,
    /// Upstream of each tool and the tool's index there.
    pub(crate) tools: BTreeMap<String, (Arc<Serving>, usize)>,
}

impl Name {
    /// Parses a name.
    pub(crate) fn new(given: &str) -> Result<Self, RegistryError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let begins = given.bytes().next().is_some_and(|first| first.is_ascii_alphabetic());
        let ends = given.bytes().last().is_some_and(|last| last.is_ascii_alphanumeric());
        if begins
            && ends
            && given.len() <= NAME
            && given.bytes().all(fits)
            && !given.contains(BETWEEN)
        {
            return Ok(Self(given.to_owned()));
        }
        Err(RegistryError::Name { given: SafeLine::new(given, 80).to_string() })
    }

    /// The name as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
