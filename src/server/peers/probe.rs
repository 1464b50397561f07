//! Probe: starts an MCP server as a client does and measures its response times. Sends the same
//! messages as real clients, in one write, and always ends the server.

use crate::base::escape::SafeLine;
use crate::jsonrpc::framing::{Piece, Splitter};
use cograph_config::process::{ChildProcess, EndPatience, Ended, Started};
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::process::{ChildStdout, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// Maximum length of a line, in bytes, as in clients.
const LINE: usize = 8 << 20;
/// How long a client waits for the response to `server/discover` before it falls back to
/// `initialize`.
const DISCOVERY: Duration = Duration::from_secs(3);
/// Maximum length of quoted server text, in bytes.
const QUOTED: usize = 300;

/// Result of a probe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Probe {
    /// Server name and version.
    pub server: String,
    /// Time from the start to the response to `initialize`.
    pub initialize: Duration,
    /// Time from the start to the response to `tools/list`, which is sent together with
    /// `initialize`.
    pub tools_list: Duration,
    /// Number of tools on the first page.
    pub tools: usize,
    /// True if there are more pages.
    pub has_more: bool,
    /// Protocol versions of the server, the negotiated one first.
    pub versions: Vec<String>,
    /// How the process ended after end of input.
    pub ended: Option<Ended>,
}

/// Why a probe failed.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// Starting the process failed.
    #[error("it cannot be started: {0}")]
    Start(#[from] io::Error),
    /// Timeout.
    #[error("no answer to `{question}` within {waited:?}; {}", ending(*ended))]
    Silent {
        /// Unanswered method.
        question: &'static str,
        /// Elapsed time.
        waited: Duration,
        /// How the process ended.
        ended: Option<Ended>,
    },
    /// The process exited.
    #[error("it ended before it answered `{question}`: {}{errors}", ending(*ended))]
    Gone {
        /// Unanswered method.
        question: &'static str,
        /// How it ended.
        ended: Option<Ended>,
        /// End of its standard error output.
        errors: String,
    },
    /// Error response, or a malformed result.
    #[error("`{question}` was answered with {what}")]
    Wrong {
        /// Method.
        question: &'static str,
        /// Error.
        what: String,
    },
}

fn ending(ended: Option<Ended>) -> String {
    match ended {
        Some(Ended::Itself(status)) => status.to_string(),
        Some(Ended::Asked) => {
            "it ignored the end of its input and was ended by a signal".to_owned()
        }
        Some(Ended::Killed) => {
            "it ignored the end of its input and a signal, and was killed".to_owned()
        }
        None => "it cannot be ended".to_owned(),
    }
}

/// Messages of the server, read on a thread of their own.
struct Answers {
    pieces: Receiver<Piece>,
    seen: Vec<Value>,
}

/// Why there is no response.
enum Missing {
    Silent,
    Gone,
}

/// Starts a server and sends the first requests of a client.
pub fn probe(command: Command, patience: Duration) -> Result<Probe, ProbeError> {
    let begun = Instant::now();
    let Started { process, input, output } = ChildProcess::start(command)?;
    let mut answers = Answers::of(output)?;
    let asked = ask(&input, &mut answers, begun, patience);
    // `shutdown` fails if the socket is already shut down.
    let _ = input.shutdown(std::net::Shutdown::Both);
    let ended = process.end(EndPatience::default());
    let errors = process.errors();
    let last = errors
        .trim()
        .lines()
        .next_back()
        .map(|line| format!("; it said {}", quoted(line)))
        .unwrap_or_default();
    match asked {
        Ok(probe) => Ok(Probe { ended, ..probe }),
        Err((question, Trouble::Missing(Missing::Silent))) => {
            Err(ProbeError::Silent { question, waited: patience, ended })
        }
        Err((question, Trouble::Missing(Missing::Gone))) => {
            Err(ProbeError::Gone { question, ended, errors: last })
        }
        Err((question, Trouble::Wrong(what))) => Err(ProbeError::Wrong { question, what }),
    }
}

enum Trouble {
    Missing(Missing),
    Wrong(String),
}

fn ask(
    mut input: impl Write,
    answers: &mut Answers,
    begun: Instant,
    patience: Duration,
) -> Result<Probe, (&'static str, Trouble)> {
    let us = json!({"name": cograph_version::NAME, "version": env!("CARGO_PKG_VERSION")});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": us});
    let burst = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
    ];
    let burst: String = burst.iter().map(|message| format!("{message}\n")).collect();
    // A failed write shows up as a missing response, which is the error to report.
    let _ = input.write_all(burst.as_bytes());
    let until = begun + patience;
    let agreed = answers.result(&json!(0), until).map_err(|trouble| ("initialize", trouble))?;
    let initialize = begun.elapsed();
    let listed = answers.result(&json!(1), until).map_err(|trouble| ("tools/list", trouble))?;
    let tools_list = begun.elapsed();
    let Some(tools) = listed["tools"].as_array() else {
        return Err(("tools/list", Trouble::Wrong("a result without `tools`".to_owned())));
    };
    let version = agreed["protocolVersion"].as_str().unwrap_or_default();
    let of = |member: &str| agreed["serverInfo"][member].as_str().unwrap_or("?").to_owned();
    let mut versions = vec![quoted(version)];
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let discover = json!({
        "jsonrpc": "2.0", "id": "discover", "method": "server/discover", "params": {"_meta": meta}
    });
    let _ = input.write_all(format!("{discover}\n").as_bytes());
    if let Ok(found) = answers.result(&json!("discover"), Instant::now() + DISCOVERY.min(patience))
    {
        let more = found["supportedVersions"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(quoted);
        versions.extend(more.filter(|known| *known != version).take(16));
    }
    Ok(Probe {
        server: quoted(&format!("{} {}", of("name"), of("version"))),
        initialize,
        tools_list,
        tools: tools.len(),
        has_more: listed.get("nextCursor").is_some_and(|cursor| !cursor.is_null()),
        versions,
        ended: None,
    })
}

impl Answers {
    fn of(mut output: ChildStdout) -> io::Result<Self> {
        let (sender, pieces) = sync_channel(64);
        std::thread::Builder::new().name("probe-output".to_owned()).spawn(move || {
            let (mut splitter, mut buffer) = (Splitter::new(LINE), vec![0u8; 64 << 10]);
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                let mut found = Vec::new();
                splitter.push(&buffer[..count], &mut found);
                if found.into_iter().any(|piece| sender.send(piece).is_err()) {
                    return;
                }
            }
        })?;
        Ok(Self { pieces, seen: Vec::new() })
    }

    /// Waits for the result of the request with this id.
    fn result(&mut self, id: &Value, until: Instant) -> Result<Value, Trouble> {
        loop {
            let is_answer =
                |message: &Value| message.get("id") == Some(id) && message.get("method").is_none();
            if let Some(place) = self.seen.iter().position(is_answer) {
                let mut answer = self.seen.swap_remove(place);
                return match answer.get_mut("result").map(Value::take) {
                    Some(result) => Ok(result),
                    None => Err(Trouble::Wrong(format!(
                        "the error {}",
                        quoted(&answer["error"].to_string())
                    ))),
                };
            }
            match self.pieces.recv_timeout(until.saturating_duration_since(Instant::now())) {
                // Lines that are no messages are ignored, as clients do.
                Ok(Piece::Line(line)) if self.seen.len() < 1000 => {
                    self.seen.extend(serde_json::from_str(&String::from_utf8_lossy(&line)).ok())
                }
                Ok(Piece::Line(_)) => {}
                Ok(Piece::Oversize(_)) => {
                    return Err(Trouble::Wrong(format!("a message of more than {LINE} bytes")));
                }
                Err(RecvTimeoutError::Timeout) => return Err(Trouble::Missing(Missing::Silent)),
                Err(RecvTimeoutError::Disconnected) => return Err(Trouble::Missing(Missing::Gone)),
            }
        }
    }
}

fn quoted(text: &str) -> String {
    SafeLine::new(text, QUOTED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe_script(script: &str) -> Result<Probe, ProbeError> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        probe(command, Duration::from_millis(500))
    }

    #[test]
    fn a_server_that_is_silent_or_gone_or_wrong_is_distinguished() {
        let silent = probe_script("trap '' TERM; while :; do sleep 1000; done")
            .expect_err("it answers nothing");
        assert!(
            matches!(
                silent,
                ProbeError::Silent { question: "initialize", ended: Some(Ended::Killed), .. }
            ),
            "{silent}"
        );
        let gone = probe_script("echo broken >&2; exit 7").expect_err("it ends").to_string();
        assert!(gone.contains("exit status: 7") && gone.contains("broken"), "{gone}");
        let wrong = probe_script(
            "echo \
             '{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-1,\"message\":\"a\\u001bb\"}}'; \
             cat >/dev/null",
        );
        let wrong = wrong.expect_err("it refuses").to_string();
        assert!(wrong.contains("`initialize`") && wrong.contains("\\u001b"), "{wrong}");
    }

    #[test]
    fn noise_is_passed_over_and_one_era_is_enough() {
        let script = "echo banner; echo \
                      '{\"id\":0,\"jsonrpc\":\"2.0\",\
                      \"result\":{\"protocolVersion\":\"2025-06-18\",\
                      \"serverInfo\":{\"name\":\"x\",\"version\":\"1\"}}}'; \
                      echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}'; echo \
                      '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{}],\
                      \"nextCursor\":\"c\"}}'; cat >/dev/null";
        let probe = probe_script(script).expect("it answers");
        assert_eq!(
            (probe.server.as_str(), probe.tools, probe.has_more, probe.versions),
            ("x 1", 1, true, vec!["2025-06-18".to_owned()])
        );
        assert!(matches!(probe.ended, Some(Ended::Itself(_))));
    }
}
