//! `cograph hook`: answers a hook of an agent. Whatever goes wrong, there is no output and the exit
//! code is 0: a hook must neither stop the agent nor make it wait.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::sync::mpsc;
use std::time::Duration;

use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use cograph_config::{Config, ConfigError};
use cograph_server::{HookClient, HookEvent, MAX_INPUT, run_hook};
use cograph_system::streams;

/// Time after which a hook ends without an answer.
const TIMEOUT: Duration = Duration::from_millis(400);

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(super) struct HookArguments {
    /// The event: session-start, subagent-start, or post-tool-use (a search or an edit). Any other
    /// has no answer
    event: Option<String>,
    /// The client, for the shape of the answer: claude-code, codex, gemini, cursor or copilot
    #[arg(long, default_value = "claude-code", num_args = 0..=1)]
    client: Vec<String>,
    /// What other versions may take. A command line that cannot be parsed would end with exit code
    /// 2, by which hooks stop an agent.
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    others: Vec<OsString>,
}

/// Answers, or does nothing.
pub(super) fn run(
    config: Result<Config, ConfigError>,
    arguments: &HookArguments,
) -> Result<(), Stop> {
    let event = arguments.event.as_deref().and_then(HookEvent::from_word);
    let (Some(event), Ok(config)) = (event, config) else { return Ok(()) };
    let client = HookClient::from_word(arguments.client.first().map_or("", String::as_str));
    let (answers, answer) = mpsc::sync_channel(1);
    // Neither the input nor the disk is waited for beyond the timeout: the process ends with its
    // first thread.
    let work = move || {
        let reply = input().and_then(|input| run_hook(event, client, &input, &config));
        // After the timeout there is no receiver.
        let _ = answers.send(reply);
    };
    let worker = std::thread::Builder::new().name("hook".to_owned()).spawn(work);
    if let Ok(Ok(Some(reply))) = worker.map(|_| answer.recv_timeout(TIMEOUT)) {
        // A client that is gone is no error either.
        drop(to_stdout(|out| writeln!(out, "{reply}")));
    }
    Ok(())
}

/// Standard input, unless it is too long or no text.
fn input() -> Option<String> {
    let input = streams::own_input().ok()?;
    let mut text = String::new();
    input.take(MAX_INPUT + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= MAX_INPUT).then_some(text)
}
