//! A process that this one starts and talks to: always drained, ended step by step, and reaped.
//! Knows no protocol.
//!
//! The process gets a group of its own, so that what it starts ends with it. Its end is noticed
//! without being taken (`WNOWAIT`): until it is reaped nobody else can get its number, so a signal
//! cannot hit a stranger.

use crate::config::TOKEN_VARIABLE;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How much of what a process writes to standard error is kept: the last of it.
pub(in crate::server) const TAIL_BYTES: usize = 16 << 10;
/// How long a process that was killed may take to be gone before somebody else waits for it.
const AFTER_KILL: Duration = Duration::from_secs(2);

/// How long a process is waited for before it is told more firmly to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndPatience {
    /// After its input has ended.
    pub after_end_of_input: Duration,
    /// After it was asked to end by a signal.
    pub after_signal: Duration,
}

impl Default for EndPatience {
    fn default() -> Self {
        Self { after_end_of_input: Duration::from_secs(2), after_signal: Duration::from_secs(1) }
    }
}

/// How a process came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// By itself, once it had no more input, or before.
    Itself(ExitStatus),
    /// It was asked to by a signal.
    Asked,
    /// It was killed.
    Killed,
}

/// A process that was started, and the ends of its input and output.
#[derive(Debug)]
pub struct Started {
    /// The process.
    pub process: Arc<ChildProcess>,
    /// Its input: it ends when this is dropped or shut down.
    pub input: UnixStream,
    /// Its output.
    pub output: ChildStdout,
}

/// A process of ours. It is ended by `end`, or when the last owner drops it.
#[derive(Debug)]
pub struct ChildProcess {
    group: Pid,
    /// Taken by whoever ends it.
    child: Mutex<Option<Child>>,
    exit: Arc<Flag>,
    errors: Arc<Mutex<Vec<u8>>>,
    /// Nothing more will come on its standard error.
    errors_end: Arc<Flag>,
    /// Its number may belong to somebody else from here on. Held while a signal is sent.
    reaped: Mutex<bool>,
}

/// Something that happens once.
#[derive(Debug, Default)]
struct Flag {
    raised: Mutex<bool>,
    changed: Condvar,
}

impl Flag {
    fn raise(&self) {
        *locked(&self.raised) = true;
        self.changed.notify_all();
    }

    /// Waits for it, no longer than this. Whether it has happened.
    fn wait(&self, at_most: Duration) -> bool {
        let until = Instant::now() + at_most;
        let mut raised = locked(&self.raised);
        while !*raised {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            raised =
                self.changed.wait_timeout(raised, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code that can panic runs under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ChildProcess {
    /// Starts a command with its input, output and errors connected to this process. It gets our
    /// environment but for our token, unless the command was given one of its own.
    pub fn start(mut command: Command) -> io::Result<Started> {
        if command.get_envs().all(|(name, _)| name != TOKEN_VARIABLE) {
            command.env_remove(TOKEN_VARIABLE);
        }
        // A socket, as hosts give their servers: it can be ended while somebody is stuck in writing
        // to it, which a pipe cannot.
        let (input, theirs) = UnixStream::pair()?;
        command
            .process_group(0)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        // With the command goes our copy of the process's end of the socket.
        drop(command);
        let group = Pid::from_child(&child);
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let child = Mutex::new(Some(child));
        let process = Self {
            group,
            child,
            exit: Arc::default(),
            errors: Arc::default(),
            errors_end: Arc::default(),
            reaped: Mutex::default(),
        };
        // From here on an error drops the process, which ends it.
        let (Some(output), Some(errors)) = (output, errors) else {
            return Err(io::Error::other("the process has no pipes"));
        };
        let (tail, end) = (Arc::clone(&process.errors), Arc::clone(&process.errors_end));
        std::thread::Builder::new().name("child-errors".to_owned()).spawn(move || {
            drain(errors, &tail);
            end.raise();
        })?;
        let exit = Arc::clone(&process.exit);
        std::thread::Builder::new().name("child-exit".to_owned()).spawn(move || {
            // Interrupted or not, there is nobody else who takes the end before it is noted here.
            let look = || waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            while matches!(look(), Err(rustix::io::Errno::INTR)) {}
            exit.raise();
        })?;
        Ok(Started { process: Arc::new(process), input, output })
    }

    /// Waits for its end, no longer than this. Whether it has ended.
    pub fn wait(&self, at_most: Duration) -> bool {
        self.exit.wait(at_most)
    }

    /// Ends it, after its input was dropped: waits, asks it and its group by a signal, kills them,
    /// and reaps it. None if that was done before.
    pub fn end(&self, patience: EndPatience) -> Option<Ended> {
        let mut child = locked(&self.child).take()?;
        let mut ended = None;
        if !self.wait(patience.after_end_of_input) {
            self.signal(Signal::TERM);
            ended = Some(Ended::Asked);
            if !self.wait(patience.after_signal) {
                ended = Some(Ended::Killed);
            }
        }
        // Also what it has left behind in its group: its own number is still taken, so this can be
        // nobody else.
        self.signal(Signal::KILL);
        if self.wait(AFTER_KILL) {
            let status = self.reap(&mut child);
            // Whoever has left the group may hold the pipe open for ever.
            self.errors_end.wait(AFTER_KILL);
            return ended.or(status.map(Ended::Itself));
        }
        // Stuck in the system. Somebody has to wait for it, but not whoever wants to go on.
        let reaped =
            std::thread::Builder::new().name("child-reaper".to_owned()).spawn(move || child.wait());
        if let Err(error) = reaped {
            tracing::warn!(%error, "a process that was killed is not waited for");
        }
        ended
    }

    /// Ends it and its group within three such steps and reaps it, for those who have no time;
    /// whoever else is ending it is only helped. Its input must have been shut down.
    pub fn hasten(&self, step: Duration) {
        for signal in [Signal::TERM, Signal::KILL] {
            if self.wait(step) {
                break;
            }
            self.signal(signal);
        }
        // Also what it has left behind in its group.
        self.signal(Signal::KILL);
        if !self.wait(step) {
            return;
        }
        let mut reaped = locked(&self.reaped);
        if !std::mem::replace(&mut *reaped, true) {
            // It has ended and nobody else has taken its end, so this waits for nothing.
            let _ = waitid(WaitId::Pid(self.group), WaitIdOptions::EXITED);
        }
    }

    /// What it has written to standard error last.
    pub fn errors(&self) -> String {
        String::from_utf8_lossy(&locked(&self.errors)).into_owned()
    }

    fn signal(&self, signal: Signal) {
        let reaped = locked(&self.reaped);
        if !*reaped {
            // An error says that nobody is left in the group.
            let _ = kill_process_group(self.group, signal);
        }
    }

    /// Takes the end of a process that has ended, which waits for nothing.
    fn reap(&self, child: &mut Child) -> Option<ExitStatus> {
        let mut reaped = locked(&self.reaped);
        let was_reaped = std::mem::replace(&mut *reaped, true);
        (!was_reaped).then(|| child.wait().ok()).flatten()
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        let Some(mut child) = locked(&self.child).take() else { return };
        if *locked(&self.reaped) {
            return;
        }
        self.signal(Signal::KILL);
        let reaped =
            std::thread::Builder::new().name("child-reaper".to_owned()).spawn(move || child.wait());
        if let Err(error) = reaped {
            tracing::warn!(%error, "a process that was killed is not waited for");
        }
    }
}

/// Reads errors to their end, so that the process is never held up by them.
fn drain(mut errors: impl Read, tail: &Mutex<Vec<u8>>) {
    let mut buffer = [0u8; 4096];
    loop {
        match errors.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let mut tail = locked(tail);
                tail.extend_from_slice(&buffer[..count]);
                let excess = tail.len().saturating_sub(TAIL_BYTES);
                tail.drain(..excess);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// What a command said that ran to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ran {
    /// How it ended.
    pub ended: Option<Ended>,
    /// What it wrote to standard output, as far as that was kept.
    pub output: String,
    /// The last that it wrote to standard error.
    pub errors: String,
}

/// Runs a command without input; ends it when it takes longer than this.
pub fn run_command(command: Command, at_most: Duration) -> io::Result<Ran> {
    let Started { process, input, output } = ChildProcess::start(command)?;
    drop(input);
    let said = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&said);
    let (at_end, end) = std::sync::mpsc::sync_channel(1);
    std::thread::Builder::new().name("child-output".to_owned()).spawn(move || {
        drain(output, &kept);
        // Nobody waits any more if it took too long.
        let _ = at_end.send(());
    })?;
    let patience = EndPatience { after_end_of_input: at_most, ..EndPatience::default() };
    let ended = process.end(patience);
    // The group is gone, and with it whoever could hold the other end of the pipe open; one who
    // left the group is not waited for.
    let _ = end.recv_timeout(AFTER_KILL);
    let output = String::from_utf8_lossy(&locked(&said)).into_owned();
    Ok(Ran { ended, output, errors: process.errors() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};

    const QUICK: EndPatience = EndPatience {
        after_end_of_input: Duration::from_millis(200),
        after_signal: Duration::from_millis(200),
    };

    fn shell(script: &str) -> Started {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        ChildProcess::start(command).expect("there is a shell")
    }

    /// Whether a process exists that has not been reaped.
    fn exists(pid: i32) -> bool {
        Pid::from_raw(pid).is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
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
        assert!(!exists(process.group.as_raw_nonzero().get()), "it was reaped");
        drop(output);
    }

    #[test]
    fn one_who_ignores_the_end_of_input_is_asked_and_one_who_ignores_that_is_killed() {
        let Started { process, input, output } = shell("echo ready; exec sleep 1000");
        assert_eq!(first_line(output), "ready");
        drop(input);
        assert_eq!(process.end(QUICK), Some(Ended::Asked));
        let Started { process, input, output } =
            shell("trap '' TERM; echo ready; while :; do sleep 1000; done");
        assert_eq!(first_line(output), "ready");
        drop(input);
        assert_eq!(process.end(QUICK), Some(Ended::Killed));
        assert!(!exists(process.group.as_raw_nonzero().get()));
    }

    #[test]
    fn what_it_has_started_ends_with_it() {
        let Started { process, input, output } = shell("sleep 1000 >/dev/null 2>&1 & echo $!");
        let grandchild: i32 = first_line(output).parse().expect("a number");
        drop(input);
        assert!(matches!(process.end(QUICK), Some(Ended::Itself(_))));
        let until = Instant::now() + Duration::from_secs(20);
        // Its new parent reaps it; where nobody does, it stays as a name without a process.
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
        let pid = process.group.as_raw_nonzero().get();
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
