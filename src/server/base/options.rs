//! Options with which a server is started.

use crate::base::limits::Limits;
use cograph_config::{Config, ConfigError};
use std::path::PathBuf;
use std::time::Duration;

/// Options of a server.
pub struct Options {
    /// Configuration from the environment, or the error that every tool then reports.
    pub config: Result<Config, ConfigError>,
    /// Default repository; otherwise found from the working directory.
    pub root: Option<PathBuf>,
    /// Limits of the server.
    pub limits: Limits,
    /// Delays every tool call, for tests of clients.
    pub delay: Option<Duration>,
}
