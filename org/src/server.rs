//! The questions as tools of the Model Context Protocol: over HTTP for all agents of an
//! organisation, or on standard input and output for one.

mod guard;
mod http;
mod tools;

use std::sync::Arc;

use rmcp::ServiceExt as _;

use crate::error::{OrgError, Result};
use crate::session::Session;
pub(crate) use guard::TOKEN_VARIABLE;
pub(crate) use http::over_http;
use tools::Tools;

/// Serves one client until it ends.
pub(crate) async fn on_stdio(session: Arc<Session>) -> Result<()> {
    let failed = |error: &dyn std::fmt::Display| OrgError::Server(error.to_string());
    let running = Tools::new(session).serve(rmcp::transport::stdio()).await;
    let ended = running.map_err(|error| failed(&error))?.waiting().await;
    ended.map(drop).map_err(|error| failed(&error))
}
