//! Child processes of one owner, none of which outlives it: each is registered from before its
//! start until its exit, independently of any connection to it. Knows no protocol.

use cograph_config::process::{ChildProcess, Started};
use cograph_system::streams::ChildInput;
use parking_lot::{Mutex, MutexGuard};
use std::io;
use std::net::Shutdown;
use std::process::Command;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Programs(Mutex<Running>);

#[derive(Debug, Default)]
struct Running {
    /// Shutdown: no further process is started.
    is_over: bool,
    /// Processes, each with its input.
    programs: Vec<(Weak<ChildProcess>, ChildInput)>,
}

impl Programs {
    /// Starts a process, unless the shutdown has begun.
    pub(crate) fn start(&self, command: Command) -> io::Result<Started> {
        // Held during the start, so that `end_all` sees every started process.
        let mut running = self.lock();
        if running.is_over {
            return Err(io::Error::other("no program is started any more"));
        }
        let started = ChildProcess::start(command)?;
        let input = started.input.try_clone()?;
        running.programs.retain(|(process, _)| process.strong_count() > 0);
        running.programs.push((Arc::downgrade(&started.process), input));
        Ok(started)
    }

    /// Ends all processes within three steps of this length: end of input, SIGTERM, SIGKILL.
    pub(crate) fn end_all(&self, step: Duration) {
        let programs = {
            let mut running = self.lock();
            running.is_over = true;
            std::mem::take(&mut running.programs)
        };
        for (_, input) in &programs {
            // `shutdown` fails if the socket is already shut down.
            let _ = input.shutdown(Shutdown::Both);
        }
        let processes: Vec<Arc<ChildProcess>> =
            programs.iter().filter_map(|(process, _)| process.upgrade()).collect();
        std::thread::scope(|scope| {
            for process in &processes {
                let last_steps = || process.end_quickly(step);
                if std::thread::Builder::new()
                    .name("last-steps".to_owned())
                    .spawn_scoped(scope, last_steps)
                    .is_err()
                {
                    process.end_quickly(step);
                }
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        // A panic under this lock leaves it consistent.
        self.0.lock()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::process::{Pid, test_kill_process};
    use std::io::{BufRead, BufReader};

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn all_are_ended_and_reaped_and_none_is_started_after_that() {
        let programs = Programs::default();
        let scripts = [
            "echo $$; cat; exit 3",
            "echo $$; exec sleep 1000",
            "trap '' TERM; echo $$; while :; do sleep 1000; done",
        ];
        let mut started: Vec<Started> = scripts
            .iter()
            .map(|script| programs.start(shell(script)).expect("there is a shell"))
            .collect();
        let number = |started: &mut Started| {
            let mut line = String::new();
            BufReader::new(&mut started.output).read_line(&mut line).expect("it can be read");
            line.trim().parse().expect("a number")
        };
        let numbers: Vec<i32> = started.iter_mut().map(number).collect();
        programs.end_all(Duration::from_millis(300));
        for number in numbers {
            let process = Pid::from_raw(number).expect("a process has a number");
            assert!(test_kill_process(process).is_err(), "process {number} is left behind");
        }
        assert!(programs.start(shell("exit")).is_err());
    }
}
