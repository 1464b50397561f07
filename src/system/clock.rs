//! CPU time. Differences of two readings measure a piece of work, whatever other threads and
//! processes do.

use std::time::Duration;

pub use system::{process_cpu, thread_cpu};

#[cfg(unix)]
mod system {
    use super::Duration;
    use rustix::time::{ClockId, clock_gettime};

    /// CPU time of this thread.
    pub fn thread_cpu() -> Duration {
        read(ClockId::ThreadCPUTime)
    }

    /// CPU time of this process: of all its threads, those that have ended too.
    pub fn process_cpu() -> Duration {
        read(ClockId::ProcessCPUTime)
    }

    fn read(clock: ClockId) -> Duration {
        let time = clock_gettime(clock);
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
    }
}

#[cfg(windows)]
mod system {
    use super::Duration;
    use cpu_time::{ProcessTime, ThreadTime};

    /// CPU time of this thread; zero if the system does not say.
    pub fn thread_cpu() -> Duration {
        ThreadTime::try_now().map_or(Duration::ZERO, |time| time.as_duration())
    }

    /// CPU time of this process; zero if the system does not say.
    pub fn process_cpu() -> Duration {
        ProcessTime::try_now().map_or(Duration::ZERO, |time| time.as_duration())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_counts_its_own_time_alone() {
        const WORK: Duration = Duration::from_millis(50);
        let (own, all) = (thread_cpu(), process_cpu());
        let work = || while thread_cpu() < WORK {};
        std::thread::scope(|scope| scope.spawn(work).join()).expect("nothing panics");
        assert!(thread_cpu() - own < WORK, "what another thread does is not its own");
        assert!(process_cpu() - all >= WORK / 2, "the process has it all");
    }
}
