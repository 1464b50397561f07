//! Servers as a client would start them.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::Finding;
use crate::config::running_program;
use crate::server::{Ended, Probe, ProbeError, probe};

/// Longer than this a client is not connected at once.
const PROMPT: Duration = Duration::from_secs(1);
/// Longer than this a client shows the server as broken: its look at the tools ends.
const TOO_LONG: Duration = Duration::from_secs(5);

/// This program as a server of the repository.
pub(super) fn own(root: &Path, patience: Duration) -> Finding {
    let area = "server";
    let program = match running_program() {
        Ok(program) => program,
        Err(error) => return Finding::problem(area, format!("this program cannot be found: {error}"), "install it anew"),
    };
    let mut command = Command::new(program);
    command.arg("mcp").current_dir(root);
    told(area, probe(command, patience))
}

/// What a client would see.
fn told(area: &str, seen: Result<Probe, ProbeError>) -> Finding {
    let probe = match seen {
        Ok(probe) => probe,
        Err(error @ ProbeError::Start(_)) => {
            return Finding::problem(area, error.to_string(), "check the path and its permissions");
        }
        Err(error @ ProbeError::Silent { .. }) => {
            return Finding::problem(area, error.to_string(), "start it by hand with `--log stderr --log-level debug`");
        }
        Err(error) => return Finding::problem(area, error.to_string(), "start it by hand to see what it says"),
    };
    let milliseconds = |time: Duration| time.as_millis() as u64;
    let more = if probe.has_more { " on the first page" } else { "" };
    let text = format!(
        "{}: initialize {} ms, tools/list {} ms after the start, {} tools{more}; versions {}",
        probe.server,
        milliseconds(probe.initialize),
        milliseconds(probe.tools_list),
        probe.tools,
        probe.versions.join(", "),
    );
    let finding = if probe.tools == 0 {
        Finding::problem(area, text, "without tools it is of no use to a client")
    } else if probe.tools_list > TOO_LONG {
        Finding::problem(area, text, "clients give up waiting for the list after 5 s: look at the load of the machine")
    } else if !matches!(probe.ended, Some(Ended::Itself(_))) {
        Finding::problem(area, format!("{text}; it does not end with its input"), "processes will be left behind: report it")
    } else if probe.tools_list > PROMPT {
        Finding::note(area, text, "more than a second: the machine is busy or the disk is slow")
    } else {
        Finding::good(area, text)
    };
    finding
        .with("initialize_ms", milliseconds(probe.initialize))
        .with("tools_list_ms", milliseconds(probe.tools_list))
        .with("tools", probe.tools as u64)
}
