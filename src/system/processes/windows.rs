//! Jobs: a process that is assigned to one, and all that it starts, end when the job is closed.

use std::io;
use std::os::windows::io::AsRawHandle;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use win32job::{ExtendedLimitInfo, Job};

use crate::streams::{ChildInput, input_of};

/// Exit code after Ctrl-C: `STATUS_CONTROL_C_EXIT`.
const INTERRUPTED: u32 = 0xC000_013A;
/// Exit codes from here up are exceptions.
const EXCEPTION: u32 = 0xC000_0000;

/// Job of a process; closed, it ends its processes. Closed by the system where this process ends.
/// None of a process that has ended.
#[derive(Debug)]
struct OwnJob(Mutex<Option<Job>>);

impl OwnJob {
    /// Job of a process that was just started. What it has started before is not in it.
    fn of(child: &mut Child) -> io::Result<Self> {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = Job::create_with_limit_info(&limits).map_err(io::Error::from)?;
        // A handle as a number, as this interface has it.
        match job.assign_process(child.as_raw_handle() as isize) {
            Ok(()) => Ok(Self(Mutex::new(Some(job)))),
            // A process that has ended meanwhile is in no job, and fails by its own status.
            Err(_) if matches!(child.try_wait(), Ok(Some(_))) => Ok(Self(Mutex::new(None))),
            Err(error) => Err(error.into()),
        }
    }

    fn close(&self) {
        drop(locked(&self.0).take());
    }
}

/// A child process, which any thread can end.
#[derive(Clone, Debug)]
pub struct ProcessId {
    job: Arc<OwnJob>,
    number: u32,
}

impl ProcessId {
    /// Takes charge of a child process that was just started: it ends with the last owner of this.
    pub fn of(child: &mut Child) -> io::Result<Self> {
        Ok(Self { job: Arc::new(OwnJob::of(child)?), number: child.id() })
    }

    /// Ends the process at once. Without effect if it has ended.
    pub fn kill(&self) {
        self.job.close();
    }

    /// The number.
    pub fn number(&self) -> u32 {
        self.number
    }
}

/// Child process and its job.
#[derive(Debug)]
pub struct ChildGroup {
    job: OwnJob,
    number: u32,
    /// Taken by the thread that waits.
    child: Mutex<Option<Child>>,
    status: Mutex<Option<ExitStatus>>,
}

impl ChildGroup {
    /// Starts a command with its standard streams connected to this process.
    pub fn start(mut command: Command) -> io::Result<(Self, ChildInput, ChildStdout, ChildStderr)> {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let (mut child, input) = input_of(&mut command)?;
        let job = OwnJob::of(&mut child).inspect_err(|_| {
            // It may have ended already.
            let _ = child.kill();
        })?;
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let (number, child) = (child.id(), Mutex::new(Some(child)));
        let group = Self { job, number, child, status: Mutex::default() };
        match (output, errors) {
            (Some(output), Some(errors)) => Ok((group, input, output, errors)),
            _ => Err(io::Error::other("the process has no pipes")),
        }
    }

    /// Waits for the exit of the process. One thread calls it.
    pub fn wait(&self) {
        let Some(mut child) = locked(&self.child).take() else { return };
        let status = child.wait().ok();
        *locked(&self.status) = status;
    }

    /// Returns false: nothing asks a process to end.
    pub fn ask(&self) -> bool {
        false
    }

    /// Ends the process and all that it has started.
    pub fn kill(&self) {
        self.job.close();
    }

    /// Exit status of an ended process. None after the first call.
    pub fn reap(&self) -> Option<ExitStatus> {
        locked(&self.status).take()
    }

    /// Without effect: the thread that waits for the process is enough.
    pub fn reap_late(&self) {}

    /// Number of the process.
    pub fn number(&self) -> u32 {
        self.number
    }
}

/// No code under these locks panics.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Parent process, which this system does not tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParentProcess;

impl ParentProcess {
    /// Not known.
    pub fn now() -> Self {
        Self
    }

    /// False: the end of its pipes says that it has ended.
    pub fn is_gone(self) -> bool {
        false
    }
}

/// Link to the running executable: there is none.
pub const RUNNING: Option<&str> = None;

/// Opens a file with the program that the user has chosen for it.
pub fn open_file(path: &Path) -> io::Result<Child> {
    let mut command = Command::new("explorer");
    command.arg(path);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// Without effect: no process is started that outlives its parent.
pub fn detach() {}

/// Ends this process by an exception, as a memory fault does; for tests.
pub fn fault() {
    std::process::abort();
}

/// Ends this process at once, as Ctrl-C does; for tests.
#[expect(clippy::disallowed_methods, reason = "no destructor runs where this is requested")]
pub fn end_from_outside() {
    std::process::exit(INTERRUPTED.cast_signed());
}

/// True if a process was ended by Ctrl-C. One that another program has ended looks as if it had
/// failed by itself.
pub fn was_ended_from_outside(status: ExitStatus) -> bool {
    status.code().map(i32::cast_unsigned) == Some(INTERRUPTED)
}

/// How a process has ended, in words.
pub fn described(status: ExitStatus) -> String {
    match status.code().unwrap_or(-1) {
        code if code.cast_unsigned() >= EXCEPTION && code != -1 => {
            format!("exception {:#010x}", code.cast_unsigned())
        }
        code => format!("exit code {code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::windows::process::ExitStatusExt;

    #[test]
    fn what_ends_a_process_is_distinguished() {
        let of = |code: u32| {
            let status = ExitStatus::from_raw(code);
            (was_ended_from_outside(status), described(status))
        };
        assert_eq!(of(1), (false, "exit code 1".to_owned()));
        assert_eq!(of(INTERRUPTED), (true, "exception 0xc000013a".to_owned()));
        assert_eq!(of(0xC000_0005), (false, "exception 0xc0000005".to_owned()));
    }

    #[test]
    fn a_group_ends_when_it_is_killed() {
        let mut command = Command::new("findstr");
        command.arg("x");
        let (group, _input, _output, _errors) = ChildGroup::start(command).expect("it exists");
        group.kill();
        group.wait();
        assert!(group.reap().is_some() && group.reap().is_none());
    }
}
