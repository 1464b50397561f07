//! Handshake: identity, version and protocol rules of a peer. Sends `initialize` first, and the
//! stateless discovery if the peer rejects it.

use super::connection::{Connection, NoResult, quoted};
use crate::protocol::version::{PEER_KEY, SERVER_KEY, STATELESS};
use crate::proxy::upstream::question::{Expected, UpstreamQuestion, VERSION};
use cograph_faults as faults;
use serde_json::{Value, json};
use std::time::Instant;

/// Why a peer is rejected, and whether retrying can help.
type Refusal = (String, bool);

/// Runs the handshake and checks the peer's identity.
pub(super) fn shake_hands(connection: &Connection, expected: Expected) -> Result<(), Refusal> {
    let until = Instant::now() + expected.patience();
    let capabilities =
        json!({"roots": {"listChanged": true}, "experimental": connection.owner.experimental()});
    let us = json!({"name": cograph_version::NAME, "version": faults::version()});
    let params =
        json!({"protocolVersion": VERSION, "capabilities": capabilities, "clientInfo": us});
    let question = UpstreamQuestion { method: "initialize", params, only_reads: true };
    let result = match connection.request(&question, None, until) {
        Ok(result) => result,
        Err(NoResult::Answered { code, message }) => {
            // A peer that must be cograph supports the handshake.
            if expected == Expected::Anyone && discover(connection, until)? {
                return Ok(());
            }
            return Err((
                format!("it answers `initialize` with error {code}: {}", quoted(&message)),
                true,
            ));
        }
        Err(other) => return Err(unanswered(other, "initialize", expected)),
    };
    if !result["protocolVersion"].is_string() {
        let why = "it answers `initialize` with a result of no known shape: it has no \
                   `protocolVersion` that is a text";
        return Err((why.to_owned(), true));
    }
    connection.introduce(
        result["serverInfo"]["name"].as_str().map(|name| quoted(name).to_string()),
        false,
    );
    let of = |name: &str| result["serverInfo"][name].as_str().unwrap_or_default();
    if expected != Expected::Anyone && of("name") != cograph_version::NAME {
        return Err((
            format!("it is `{}`, not {}", quoted(of("name")), cograph_version::NAME),
            true,
        ));
    }
    if expected == Expected::SameBuild && of("version") != faults::version() {
        let why = format!(
            "it is version {}, this is {}: end it and start it again",
            quoted(of("version")),
            faults::version()
        );
        return Err((why, true));
    }
    if expected == Expected::SameBuild
        && result["_meta"][PEER_KEY]["build"] != faults::build(cograph_version::BUILD)
    {
        return Err((
            format!(
                "it is another build of version {}: end it and start it again",
                faults::version()
            ),
            true,
        ));
    }
    connection.notify("notifications/initialized", json!({}));
    Ok(())
}

/// Sends the stateless discovery request. Returns false if the peer does not support it either.
fn discover(connection: &Connection, until: Instant) -> Result<bool, Refusal> {
    connection.introduce(None, true);
    let question =
        UpstreamQuestion { method: "server/discover", params: json!({}), only_reads: true };
    let found = match connection.request(&question, None, until) {
        Ok(found) => found,
        Err(NoResult::Answered { .. }) => return Ok(false),
        Err(other) => return Err(unanswered(other, "server/discover", Expected::Anyone)),
    };
    let versions: Vec<&str> = found["supportedVersions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if !versions.contains(&STATELESS) {
        return Err((
            format!(
                "it speaks {}, this speaks {VERSION} and {STATELESS}",
                quoted(&versions.join(", "))
            ),
            true,
        ));
    }
    let name = found["_meta"][SERVER_KEY]["name"].as_str();
    // A peer with this name would have accepted `initialize`: an impostor must not be queried as
    // cograph.
    let name =
        name.filter(|name| *name != cograph_version::NAME).map(|name| quoted(name).to_string());
    connection.introduce(name, true);
    if found["capabilities"]["tools"]["listChanged"] == Value::Bool(true) {
        connection.listen_for_changes();
    }
    Ok(true)
}

fn unanswered(end: NoResult, method: &str, expected: Expected) -> Refusal {
    match end {
        NoResult::Lost { why, .. } => (why, false),
        _ => (
            format!("it does not answer `{method}` within {} s", expected.patience().as_secs()),
            false,
        ),
    }
}
