//! Starts a runtime (daemon) on demand: a detached process that ends itself when idle.

use cograph_config::WorkerCommand;
use cograph_system::streams;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Startup timeout of a runtime.
const START: Duration = Duration::from_secs(5);

/// Ensures that a runtime listens on the socket, or returns why none does. Concurrent clients may
/// start several: one acquires the lock, the others exit.
pub(crate) fn ensure(socket: &Path, command: &WorkerCommand) -> Result<(), String> {
    if UnixStream::connect(socket).is_ok() {
        return Ok(());
    }
    let failed = |error: std::io::Error| format!("a runtime cannot be started: {error}");
    let mut child = Command::new(&command.program)
        .args(&command.arguments)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let output = child.stdout.take();
    // Reaps the process; this thread need not end before this process does.
    let waiting =
        std::thread::Builder::new().name("runtime".to_owned()).spawn(move || child.wait());
    let (waiting, output) =
        (waiting.map_err(failed)?, output.ok_or("a runtime cannot be started: it has no output")?);
    // An error of the wait shows up in the following read.
    if matches!(streams::wait_readable(&output, Some(START)), Ok(false)) {
        let seconds = START.as_secs();
        return Err(format!("the runtime that was started does not listen after {seconds} s"));
    }
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).map_err(failed)?;
    if !line.is_empty() {
        return Ok(());
    }
    match waiting.join() {
        Ok(Ok(status)) if status.code() == Some(i32::from(crate::ALREADY_SERVED)) => Ok(()),
        Ok(Ok(status)) => Err(format!(
            "the runtime that was started has ended ({status}): `cograph serve` says why"
        )),
        _ => Err("the runtime that was started is gone".to_owned()),
    }
}
