//! Ends of processes by signals. Only Unix has them.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};

use rustix::process::{Pid, Signal, getpid, kill_process};

/// Number of a process that is not reaped, by which any thread can end it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProcessId(Pid);

impl ProcessId {
    /// Number of a child process.
    pub fn of(child: &Child) -> Self {
        Self(Pid::from_child(child))
    }

    /// Ends the process at once. Without effect if it has ended.
    pub fn kill(self) {
        let _ = kill_process(self.0, Signal::KILL);
    }

    /// The number.
    pub fn number(self) -> u32 {
        self.0.as_raw_nonzero().get().unsigned_abs()
    }
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
    fn what_ends_a_process_is_told_apart() {
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
