//! Starts a runtime (daemon) on demand: a detached process that ends itself when idle.

use cograph_config::WorkerCommand;
use cograph_system::sockets;
use cograph_system::streams::TimedReader;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Startup timeout of a runtime.
const START: Duration = Duration::from_secs(5);

/// Ensures that a runtime listens on the socket, or returns why none does. Concurrent clients may
/// start several: one acquires the lock, the others exit.
pub(crate) fn ensure(socket: &Path, command: &WorkerCommand) -> Result<(), String> {
    if sockets::is_listened_on(socket) {
        return Ok(());
    }
    if !sockets::ARE_THERE {
        return Err(sockets::unsupported().to_string());
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
    let until = Instant::now() + START;
    let mut output = TimedReader::new(output).map_err(failed)?;
    // The first output, whatever it is, follows the start of listening.
    let said = loop {
        let left = until.saturating_duration_since(Instant::now());
        match output.read(&mut [0; 256], left).map_err(failed)? {
            Some(count) => break count,
            None if left.is_zero() => {
                let seconds = START.as_secs();
                return Err(format!(
                    "the runtime that was started does not listen after {seconds} s"
                ));
            }
            None => {}
        }
    };
    if said > 0 {
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

/// Exit code of a runtime that finds another one running.
pub const ALREADY_SERVED: u8 = 4;
