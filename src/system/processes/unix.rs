//! Process groups and signals.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, getppid, kill_process, kill_process_group, waitid,
};

use crate::streams::{ChildInput, input_of};

/// Number of a process that is not reaped, by which any thread can end it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessId(Pid);

impl ProcessId {
    /// Number of a child process.
    pub fn of(child: &mut Child) -> io::Result<Self> {
        Ok(Self(Pid::from_child(child)))
    }

    /// Ends the process at once. Without effect if it has ended.
    pub fn kill(&self) {
        let _ = kill_process(self.0, Signal::KILL);
    }

    /// The number.
    pub fn number(&self) -> u32 {
        self.0.as_raw_nonzero().get().unsigned_abs()
    }
}

/// Child process and its process group. Its exit is observed with `WNOWAIT`: until it is reaped its
/// number cannot be reused, so a signal cannot hit another process.
#[derive(Debug)]
pub struct ChildGroup {
    group: Pid,
    child: Mutex<Child>,
    /// True once the number may be reused. Locked while a signal is sent.
    reaped: Mutex<bool>,
}

impl ChildGroup {
    /// Starts a command with its standard streams connected to this process.
    pub fn start(mut command: Command) -> io::Result<(Self, ChildInput, ChildStdout, ChildStderr)> {
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (mut child, input) = input_of(&mut command)?;
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let group = Pid::from_child(&child);
        let group = Self { group, child: Mutex::new(child), reaped: Mutex::default() };
        match (output, errors) {
            (Some(output), Some(errors)) => Ok((group, input, output, errors)),
            _ => {
                group.kill();
                Err(io::Error::other("the process has no pipes"))
            }
        }
    }

    /// Waits for the exit of the process, and leaves it to be reaped.
    pub fn wait(&self) {
        // Its status stays, even after an interruption.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(self.group), options), Err(rustix::io::Errno::INTR)) {}
    }

    /// Asks the group to end: SIGTERM. Returns true, because it can be asked.
    pub fn ask(&self) -> bool {
        self.signal(Signal::TERM);
        true
    }

    /// Ends the group: SIGKILL.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Reaps an ended process, without blocking. None if it was reaped before.
    pub fn reap(&self) -> Option<ExitStatus> {
        let mut reaped = locked(&self.reaped);
        let was_reaped = std::mem::replace(&mut *reaped, true);
        (!was_reaped).then(|| locked(&self.child).wait().ok()).flatten()
    }

    /// Waits for the exit of a process that was killed, and reaps it, unless that is done.
    pub fn reap_late(&self) {
        let was_reaped = *locked(&self.reaped);
        if !was_reaped {
            self.wait();
            self.reap();
        }
    }

    /// Number of the process.
    pub fn number(&self) -> u32 {
        self.group.as_raw_nonzero().get().unsigned_abs()
    }

    fn signal(&self, signal: Signal) {
        let reaped = locked(&self.reaped);
        if !*reaped {
            // An error means that the group is empty.
            let _ = kill_process_group(self.group, signal);
        }
    }
}

/// No code under these locks panics.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Parent process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParentProcess(Option<Pid>);

impl ParentProcess {
    /// The current one.
    pub fn now() -> Self {
        Self(getppid())
    }

    /// True if it has ended, seen as a changed number.
    pub fn is_gone(self) -> bool {
        self.0.is_some() && getppid() != self.0
    }
}

/// Link to the running executable, where the system has one: usable even after the file was
/// replaced by another version.
pub const RUNNING: Option<&str> = Some("/proc/self/exe");

/// Opens a file with the program that the user has chosen for it. Signals of the terminal do not
/// reach that program.
pub fn open_file(path: &Path) -> io::Result<Child> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(opener);
    command.arg(path).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// Leaves the session and the working directory of the parent process, so that neither ends with
/// the other.
pub fn detach() {
    // Each call fails only if it is unnecessary.
    let _ = rustix::process::setsid();
    let _ = rustix::process::chdir("/");
}

/// Ends this process as a memory fault does; for tests. Returns if the signal is ignored.
pub fn fault() {
    let _ = kill_process(getpid(), Signal::SEGV);
}

/// Ends this process at once, as from outside; for tests.
pub fn end_from_outside() {
    let _ = kill_process(getpid(), Signal::KILL);
}

/// True if a process was ended by a signal that comes from outside: of an operator, or of a system
/// without memory.
pub fn was_ended_from_outside(status: ExitStatus) -> bool {
    let outside = [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT];
    status.signal().is_some_and(|number| outside.iter().any(|signal| signal.as_raw() == number))
}

/// How a process has ended, in words.
pub fn described(status: ExitStatus) -> String {
    let Some(number) = status.signal() else {
        return format!("exit code {}", status.code().unwrap_or(-1));
    };
    let name = Signal::from_named_raw(number).map(|signal| format!("{signal:?}"));
    let name = name.unwrap_or_default();
    format!("signal {number} {}", name.trim_matches('"').trim_start_matches("Signal::"))
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_process_is_distinguished() {
        for (signal, is_outside) in
            [(Signal::KILL, true), (Signal::TERM, true), (Signal::SEGV, false)]
        {
            let status = ExitStatus::from_raw(signal.as_raw());
            assert_eq!(was_ended_from_outside(status), is_outside, "{signal:?}");
            assert!(described(status).starts_with(&format!("signal {}", signal.as_raw())));
        }
        let code = ExitStatus::from_raw(1 << 8);
        assert!(!was_ended_from_outside(code));
        assert_eq!(described(code), "exit code 1");
    }
}
