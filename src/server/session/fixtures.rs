//! Test hook (feature `faults`): a session over the fixtures of a conformance suite.

use crate::base::limits::Limits;
use crate::protocol::fixtures::{FixtureError, Fixtures, SERVED};
use crate::session::stdio::run;
use crate::tools::Tools;
use crate::tools::arguments::Arguments;
use crate::tools::tool::Tool;
use crate::tools::tool::reply::{Marks, Outcome, Reply};
use crate::workspace::host::Host;
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Serves fixtures over stdio, otherwise like `run_stdio`.
pub fn run_fixtures(fixtures: Arc<dyn Fixtures>, limits: Limits) -> io::Result<()> {
    let served = Served(Arc::clone(&fixtures));
    // A second call in one process would keep the first fixtures.
    if SERVED.set(fixtures).is_err() {
        return Err(io::Error::other("fixtures are served already"));
    }
    run(limits, |_| Arc::new(served))
}

pub(crate) struct Served(Arc<dyn Fixtures>);

impl Tools for Served {
    fn asks_client(&self) -> bool {
        false
    }

    fn set_client(&self, _: Vec<PathBuf>) -> bool {
        false
    }

    fn call(&self, _: &'static Tool, arguments: &Arguments, host: &dyn Host) -> Reply {
        let request: Value =
            serde_json::from_str(arguments.text("request").unwrap_or_default()).unwrap_or_default();
        let params = request["params"].as_object().cloned().unwrap_or_default();
        match self.0.answer(request["method"].as_str().unwrap_or_default(), &params, host) {
            Ok(result) => Reply {
                text: result.to_string(),
                outcome: Outcome::Found,
                structured: None,
                marks: Marks::default(),
            },
            Err(FixtureError { code, message, data }) => {
                let mut error = json!({"code": code, "message": message});
                if let Some(data) = data {
                    error["data"] = data;
                }
                Reply::error(error.to_string())
            }
        }
    }
}
