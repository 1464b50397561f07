//! Child process with piped input and output: its standard error is always drained, its end is
//! staged (end of input, SIGTERM, SIGKILL), and it is reaped. Knows no protocol.
//!
//! What it has started ends with it. Where nothing asks a process to end (Windows) that stage is
//! left out.

use crate::TOKEN_VARIABLE;
use cograph_system::processes::ChildGroup;
use cograph_system::signals;
use cograph_system::streams::ChildInput;
use parking_lot::{Condvar, Mutex};
use std::io::{self, Read, Write};
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Maximum size of the kept end of standard error, in bytes.
pub const TAIL_BYTES: usize = 16 << 10;
/// Timeout after SIGKILL, before reaping is left to a background thread.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// Timeouts of the stages of ending a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndPatience {
    /// After end of input.
    pub after_end_of_input: Duration,
    /// After SIGTERM.
    pub after_signal: Duration,
}

impl Default for EndPatience {
    fn default() -> Self {
        Self { after_end_of_input: Duration::from_secs(2), after_signal: Duration::from_secs(1) }
    }
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// By itself, before or after end of input.
    Itself(ExitStatus),
    /// After SIGTERM.
    Asked,
    /// After SIGKILL.
    Killed,
}

/// Started process and its pipes.
#[derive(Debug)]
pub struct Started {
    /// Process.
    pub process: Arc<ChildProcess>,
    /// Its standard input; closed on drop or shutdown.
    pub input: ChildInput,
    /// Its standard output.
    pub output: ChildStdout,
}

/// Child process. Ended by `end`, or when the last owner drops it.
#[derive(Debug)]
pub struct ChildProcess {
    group: Arc<ChildGroup>,
    /// A thread ends the process, or has done so.
    is_ending: AtomicBool,
    exit: Arc<Flag>,
    errors: Arc<Mutex<Vec<u8>>>,
    /// Its standard error has reached the end.
    errors_end: Arc<Flag>,
}

/// One-time event.
#[derive(Debug, Default)]
struct Flag {
    raised: Mutex<bool>,
    changed: Condvar,
}

impl Flag {
    fn raise(&self) {
        *self.raised.lock() = true;
        self.changed.notify_all();
    }

    /// Waits for the event with a timeout. Returns true if it has happened.
    fn wait(&self, at_most: Duration) -> bool {
        let until = Instant::now() + at_most;
        let mut raised = self.raised.lock();
        while !*raised {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.changed.wait_for(&mut raised, left);
        }
        true
    }
}

impl ChildProcess {
    /// Starts a command with its standard streams connected to this process. It inherits the
    /// environment except for the bearer token, unless the command sets one.
    pub fn start(mut command: Command) -> io::Result<Started> {
        if command.get_envs().all(|(name, _)| name != TOKEN_VARIABLE) {
            command.env_remove(TOKEN_VARIABLE);
        }
        let (group, input, output, errors) = ChildGroup::start(command)?;
        // From here on an error drops the process, which ends it.
        let process = Self {
            group: Arc::new(group),
            is_ending: AtomicBool::new(false),
            exit: Arc::default(),
            errors: Arc::default(),
            errors_end: Arc::default(),
        };
        let (tail, end) = (Arc::clone(&process.errors), Arc::clone(&process.errors_end));
        std::thread::Builder::new().name("child-errors".to_owned()).spawn(move || {
            drain(errors, &tail);
            end.raise();
        })?;
        let (group, exit) = (Arc::clone(&process.group), Arc::clone(&process.exit));
        std::thread::Builder::new().name("child-exit".to_owned()).spawn(move || {
            group.wait();
            exit.raise();
        })?;
        Ok(Started { process: Arc::new(process), input, output })
    }

    /// Waits for the exit with a timeout. Returns true if the process has ended.
    pub fn wait(&self, at_most: Duration) -> bool {
        self.exit.wait(at_most)
    }

    /// Ends the process after its input was closed: waits, sends SIGTERM to the group, then
    /// SIGKILL, and reaps it. None if it was ended before.
    pub fn end(&self, patience: EndPatience) -> Option<Ended> {
        if self.is_ending.swap(true, Ordering::SeqCst) {
            return None;
        }
        let mut ended = None;
        if !self.wait(patience.after_end_of_input) {
            ended = Some(Ended::Asked);
            if !self.group.ask() || !self.wait(patience.after_signal) {
                ended = Some(Ended::Killed);
            }
        }
        // Also kills descendants left in the group, which is ours until the process is reaped.
        self.group.kill();
        if self.wait(KILL_TIMEOUT) {
            let status = self.group.reap();
            // A descendant that left the group may keep the pipe open forever.
            self.errors_end.wait(KILL_TIMEOUT);
            return ended.or(status.map(Ended::Itself));
        }
        // Uninterruptible sleep.
        self.reap_late();
        ended
    }

    /// Ends the process and its group within three steps of this length and reaps it, during
    /// shutdown; helps a concurrent `end`. Its input must be closed.
    pub fn end_quickly(&self, step: Duration) {
        if !self.wait(step) && (!self.group.ask() || !self.wait(step)) {
            self.group.kill();
        }
        // Also kills descendants left in the group.
        self.group.kill();
        if self.wait(step) {
            // The process has ended, so this does not block.
            self.group.reap();
        }
    }

    /// End of its standard error output.
    pub fn errors(&self) -> String {
        String::from_utf8_lossy(&self.errors.lock()).into_owned()
    }

    /// Has a background thread reap the process, which was killed.
    fn reap_late(&self) {
        let group = Arc::clone(&self.group);
        let reaped = std::thread::Builder::new()
            .name("child-reaper".to_owned())
            .spawn(move || group.reap_late());
        if let Err(error) = reaped {
            tracing::warn!(%error, "a process that was killed is not waited for");
        }
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        if !self.is_ending.swap(true, Ordering::SeqCst) {
            self.group.kill();
            self.reap_late();
        }
    }
}

/// Drains standard error, so that the process never blocks on it.
fn drain(mut errors: impl Read, tail: &Mutex<Vec<u8>>) {
    let mut buffer = [0u8; 4096];
    loop {
        match errors.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let mut tail = tail.lock();
                tail.extend_from_slice(&buffer[..count]);
                let excess = tail.len().saturating_sub(TAIL_BYTES);
                tail.drain(..excess);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Output of a command that ran to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandOutput {
    /// How it ended.
    pub ended: Option<Ended>,
    /// Its standard output, up to the limit.
    pub output: String,
    /// End of its standard error output.
    pub errors: String,
}

/// Runs a command without input; ends it after a timeout.
pub fn run_command(command: Command, at_most: Duration) -> io::Result<CommandOutput> {
    let Started { process, input, output } = ChildProcess::start(command)?;
    drop(input);
    let said = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&said);
    let (at_end, end) = std::sync::mpsc::sync_channel(1);
    std::thread::Builder::new().name("child-output".to_owned()).spawn(move || {
        drain(output, &kept);
        // The receiver is gone after a timeout.
        let _ = at_end.send(());
    })?;
    let patience = EndPatience { after_end_of_input: at_most, ..EndPatience::default() };
    let ended = process.end(patience);
    // The group is dead, and with it every process that could keep the pipe open; one that left the
    // group is not waited for.
    let _ = end.recv_timeout(KILL_TIMEOUT);
    let output = String::from_utf8_lossy(&said.lock()).into_owned();
    Ok(CommandOutput { ended, output, errors: process.errors() })
}

/// Shows a text through the program of a command line that has the terminal, and waits for its end.
/// It stays in this process's group, so that the terminal is its own; signals are left to it.
pub fn show_through(line: &str, text: &[u8]) -> io::Result<()> {
    let mut words = shlex::split(line).unwrap_or_default().into_iter();
    let program = words.next().ok_or_else(|| io::Error::other("no command line"))?;
    let mut command = Command::new(program);
    command.args(words);
    // Its end is the end of this process too: until then an interrupt is a key of the program.
    signals::leave_interrupts()?;
    let mut child = command.env_remove(TOKEN_VARIABLE).stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        match input.write_all(text) {
            // Who has seen enough ends the program before it has read all.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    child.wait().map(drop)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::process::Pid;
    use std::io::{BufRead, BufReader};

    const QUICK: EndPatience = EndPatience {
        after_end_of_input: Duration::from_millis(200),
        after_signal: Duration::from_millis(200),
    };

    fn shell(script: &str) -> Started {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        ChildProcess::start(command).expect("there is a shell")
    }

    /// True if a process exists that is not reaped.
    fn exists(number: u32) -> bool {
        Pid::from_raw(number.cast_signed())
            .is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
    }

    fn first_line(output: ChildStdout) -> String {
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("it can be read");
        line.trim().to_owned()
    }

    #[test]
    fn the_end_of_input_comes_first_and_is_enough_for_one_who_listens() {
        let Started { process, input, output } = shell("cat; exit 3");
        drop(input);
        let ended =
            process.end(EndPatience { after_end_of_input: Duration::from_secs(20), ..QUICK });
        assert!(
            matches!(ended, Some(Ended::Itself(status)) if status.code() == Some(3)),
            "{ended:?}"
        );
        assert_eq!(process.end(QUICK), None, "a second time there is nothing to do");
        assert!(!exists(process.group.number()), "it was reaped");
        drop(output);
    }

    #[test]
    fn one_that_ignores_the_end_of_input_gets_a_signal_and_one_that_ignores_that_is_killed() {
        let Started { process, input, output } = shell("echo ready; exec sleep 1000");
        assert_eq!(first_line(output), "ready");
        drop(input);
        assert_eq!(process.end(QUICK), Some(Ended::Asked));
        let Started { process, input, output } =
            shell("trap '' TERM; echo ready; while :; do sleep 1000; done");
        assert_eq!(first_line(output), "ready");
        drop(input);
        assert_eq!(process.end(QUICK), Some(Ended::Killed));
        assert!(!exists(process.group.number()));
    }

    #[test]
    fn what_it_has_started_ends_with_it() {
        let Started { process, input, output } = shell("sleep 1000 >/dev/null 2>&1 & echo $!");
        let grandchild: i32 = first_line(output).parse().expect("a number");
        drop(input);
        assert!(matches!(process.end(QUICK), Some(Ended::Itself(_))));
        let until = Instant::now() + Duration::from_secs(20);
        // Its new parent reaps it, or it remains as a zombie.
        let is_gone = |pid: i32| {
            #[expect(
                clippy::disallowed_methods,
                reason = "asks the system for a process, not for source"
            )]
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            state
                .rsplit(')')
                .next()
                .is_none_or(|rest| rest.is_empty() || rest.trim_start().starts_with('Z'))
        };
        while !is_gone(grandchild) {
            assert!(Instant::now() < until, "process {grandchild} is left behind");
            std::thread::yield_now();
        }
    }

    #[test]
    fn one_who_talks_much_on_standard_error_is_not_held_up() {
        let script =
            "i=0; while [ $i -lt 20000 ]; do echo line $i of many >&2; i=$((i+1)); done; echo done";
        let Started { process, mut input, output } = shell(script);
        input.write_all(b"x").expect("it is open");
        assert_eq!(first_line(output), "done");
        drop(input);
        assert!(matches!(
            process.end(EndPatience { after_end_of_input: Duration::from_secs(20), ..QUICK }),
            Some(Ended::Itself(_))
        ));
        let errors = process.errors();
        assert!(
            errors.len() <= TAIL_BYTES && errors.ends_with("line 19999 of many\n"),
            "{}",
            errors.len()
        );
    }

    #[test]
    fn dropping_it_ends_it_without_a_wait() {
        let Started { process, input, output } =
            shell("trap '' TERM; echo ready; while :; do sleep 1000; done");
        let pid = process.group.number();
        assert_eq!(first_line(output), "ready");
        let begun = Instant::now();
        drop((process, input));
        assert!(begun.elapsed() < Duration::from_secs(1));
        let until = Instant::now() + Duration::from_secs(20);
        while exists(pid) {
            assert!(Instant::now() < until, "process {pid} is left behind");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_command_that_takes_too_long_is_ended() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo said; echo wrong >&2; exec sleep 1000"]);
        let ran = run_command(command, Duration::from_millis(300)).expect("there is a shell");
        assert_eq!(
            (ran.ended, ran.output.as_str(), ran.errors.as_str()),
            (Some(Ended::Asked), "said\n", "wrong\n")
        );
        let mut command = Command::new("sh");
        command.args(["-c", "cat; echo said; exit 1"]);
        let ran = run_command(command, Duration::from_secs(20)).expect("there is a shell");
        assert!(
            matches!(ran.ended, Some(Ended::Itself(status)) if status.code() == Some(1)),
            "{ran:?}"
        );
    }
}
