//! Checks servers by starting them as a client does.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crate::doctor::finding::Finding;
use crate::mcp;
use cograph_config::process::Ended;
use cograph_config::{User, running_program, upstreams};
use cograph_server::{Examined, Probe, ProbeError, Target, examine, probe};

/// Maximum startup time without a warning.
const STARTUP_WARNING: Duration = Duration::from_secs(1);
/// Startup timeout of clients.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(5);

/// Checks this program as a server of the repository.
pub(super) fn own(root: &Path, patience: Duration) -> Finding {
    let area = "server";
    let program = match running_program() {
        Ok(program) => program,
        Err(error) => {
            return Finding::problem(
                area,
                format!("this program cannot be found: {error}"),
                "install it anew",
            );
        }
    };
    let mut command = Command::new(program);
    command.arg("mcp").current_dir(root);
    finding_of(area, probe(command, patience))
}

/// Checks every upstream in the user's file.
pub(super) fn upstream(user: &User, patience: Duration) -> Vec<Finding> {
    let area = "upstreams";
    let Some(path) = user.upstreams_file() else { return Vec::new() };
    let shown = path.display();
    let fix = "correct the file";
    match upstreams(&path) {
        Ok(None) => Vec::new(),
        Ok(Some(named)) => match mcp::checked(named) {
            Ok(upstreams) => {
                let all = mcp::all(&upstreams);
                all.map(|(name, target)| one(&name.to_string(), target, patience)).collect()
            }
            Err(why) => vec![Finding::problem(area, format!("{shown}: {why}"), fix)],
        },
        Err(error) => vec![Finding::problem(area, error.to_string(), fix)],
    }
}

fn one(name: &str, target: &Target, patience: Duration) -> Finding {
    let area = format!("upstream {name}");
    if let Target::Command(words) = target
        && let Some((program, arguments)) = words.split_first()
    {
        let mut command = Command::new(program);
        command.args(arguments);
        return finding_of(&area, probe(command, patience));
    }
    let (sender, examined) = sync_channel(1);
    let (given, ended) =
        (target.clone(), format!("{target} gave no answer within {} s", patience.as_secs()));
    // A thread that blocks forever is detached and ends with the process.
    let examiner = std::thread::Builder::new().name("examiner".to_owned()).spawn(move || {
        let _ = sender.send(examine(given));
    });
    if let Err(error) = examiner {
        return Finding::problem(
            &area,
            format!("no thread to look with: {error}"),
            "look at the load of the machine",
        );
    }
    let hint = "start it with `cograph serve`, or correct its entry in upstreams.toml";
    match examined.recv_timeout(patience) {
        Ok(Ok(Examined { attached, listed, listing })) => {
            let text = format!(
                "{target}: initialize {} ms, tools/list {} ms, {} tools",
                attached.as_millis(),
                listed.as_millis(),
                listing.tools.len()
            );
            let finding = match listing.incomplete {
                None => Finding::good(&area, text),
                Some(why) => {
                    Finding::problem(&area, format!("{text}; the list is incomplete: {why}"), hint)
                }
            };
            finding
                .with("initialize_ms", attached.as_millis() as u64)
                .with("tools_list_ms", listed.as_millis() as u64)
                .with("tools", listing.tools.len() as u64)
        }
        Ok(Err(why)) => Finding::problem(&area, why, hint),
        Err(_) => Finding::problem(&area, ended, hint),
    }
}

/// Finding from the result of a probe.
fn finding_of(area: &str, seen: Result<Probe, ProbeError>) -> Finding {
    let probe = match seen {
        Ok(probe) => probe,
        Err(error @ ProbeError::Start(_)) => {
            return Finding::problem(area, error.to_string(), "check the path and its permissions");
        }
        Err(error @ ProbeError::Silent { .. }) => {
            return Finding::problem(
                area,
                error.to_string(),
                "start it by hand with `--log stderr --log-level debug`",
            );
        }
        Err(error) => {
            return Finding::problem(area, error.to_string(), "start it by hand to see its output");
        }
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
    } else if probe.tools_list > STARTUP_TIMEOUT {
        Finding::problem(
            area,
            text,
            "clients give up waiting for the list after 5 s: look at the load of the machine",
        )
    } else if !matches!(probe.ended, Some(Ended::Itself(_))) {
        Finding::problem(
            area,
            format!("{text}; it does not end with its input"),
            "processes will be left behind: report it",
        )
    } else if probe.tools_list > STARTUP_WARNING {
        Finding::note(area, text, "more than a second: the machine is busy or the disk is slow")
    } else {
        Finding::good(area, text)
    };
    finding
        .with("initialize_ms", milliseconds(probe.initialize))
        .with("tools_list_ms", milliseconds(probe.tools_list))
        .with("tools", probe.tools as u64)
}
