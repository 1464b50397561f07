//! How long a piece of work has taken by its own effort: CPU time, and time that it was blocked
//! while the watchdog itself was on time. A process that is stopped, a machine that sleeps and a
//! machine that is busy with something else add nothing.

use std::time::Duration;

/// CpuReading of a worker's clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct CpuReading {
    /// CPU time of the thread or process.
    pub(super) cpu: Duration,
    /// True if it waits for something: neither on a processor nor for one, nor stopped.
    pub(super) is_blocked: bool,
}

/// Thread, as the system names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ThreadId(u32);

/// The current thread.
pub(super) fn this_thread() -> ThreadId {
    ThreadId(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs())
}

/// State and CPU time of a thread of this process; nothing if it has ended.
#[expect(clippy::disallowed_methods, reason = "a file of the kernel, not of a repository")]
pub(super) fn use_of_thread(thread: ThreadId) -> CpuReading {
    let text = std::fs::read_to_string(format!("/proc/self/task/{}/stat", thread.0));
    text.ok().and_then(|text| reading(&text)).unwrap_or_default()
}

/// CPU time of this process. It counts as blocked while that stands still.
pub(super) fn use_of_process() -> CpuReading {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let cpu =
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default());
    CpuReading { cpu, is_blocked: true }
}

/// Memory of this process in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct MemoryUse {
    /// Anonymous resident memory: without the pages of the program, of which each grammar brings
    /// some at its first use.
    pub(super) anonymous: u64,
    /// Private writable mappings, resident or not: what `RLIMIT_DATA` bounds.
    pub(super) data: u64,
}

/// Memory of this process; none on a system that does not say.
#[expect(clippy::disallowed_methods, reason = "a file of the kernel, not of a repository")]
pub(super) fn memory_use() -> Option<MemoryUse> {
    memory_of(&std::fs::read_to_string("/proc/self/statm").ok()?)
}

/// Reads `/proc/PID/statm`: pages of the size, resident, shared, text, of libraries, and data with
/// the stack, see `proc_pid_statm(5)`.
fn memory_of(statm: &str) -> Option<MemoryUse> {
    let pages: Vec<u64> = statm.split_whitespace().map_while(|field| field.parse().ok()).collect();
    let [_, resident, shared, _, _, data, ..] = *pages else { return None };
    let page = rustix::param::page_size() as u64;
    Some(MemoryUse { anonymous: resident.saturating_sub(shared) * page, data: data * page })
}

/// Reads a line of `/proc/PID/task/TID/stat`: the name in brackets, the state, and further on user
/// and system time in hundredths of a second, see `proc_pid_stat(5)`.
fn reading(stat: &str) -> Option<CpuReading> {
    const USER_TIME: usize = 11;
    const HUNDREDTH: Duration = Duration::from_millis(10);
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<u32>().ok();
    let cpu = HUNDREDTH * (ticks(USER_TIME)? + ticks(USER_TIME + 1)?);
    Some(CpuReading { cpu, is_blocked: matches!(*fields.first()?, "S" | "D") })
}

/// Effort of one piece of work so far.
#[derive(Clone, Debug)]
pub(super) struct Effort {
    /// CPU time at its start, and at the last tick.
    first: Duration,
    last: Duration,
    /// Time that it was blocked.
    blocked: Duration,
}

impl Effort {
    /// Work that starts at this CPU time.
    pub(super) fn start(cpu: Duration) -> Self {
        Self { first: cpu, last: cpu, blocked: Duration::ZERO }
    }

    /// Adds what a tick of the watchdog sees, `interval` after the one before; none if that tick
    /// was late, which says nothing about the work. Returns the effort so far.
    pub(super) fn tick(&mut self, now: CpuReading, interval: Option<Duration>) -> Duration {
        let interval = interval.unwrap_or_default();
        // A process has at least the watchdog's own CPU time.
        if now.is_blocked && now.cpu.saturating_sub(self.last) < interval / 100 {
            self.blocked += interval;
        }
        self.last = self.last.max(now.cpu);
        self.last.saturating_sub(self.first).max(self.blocked)
    }
}

/// Ticks of the watchdog: a late one means that the process did not run.
pub(super) struct Ticks {
    interval: Duration,
}

impl Ticks {
    pub(super) fn every(interval: Duration) -> Self {
        Self { interval }
    }

    /// The interval if the tick came in time, `elapsed` after the one before.
    pub(super) fn counted(&self, elapsed: Duration) -> Option<Duration> {
        (elapsed < self.interval * 2).then_some(self.interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Duration = Duration::from_millis(500);

    fn after(readings: &[(u64, bool, u64)]) -> Duration {
        let (ticks, mut effort) = (Ticks::every(TICK), Effort::start(Duration::from_secs(7)));
        let mut took = Duration::ZERO;
        for &(cpu, is_blocked, elapsed) in readings {
            let cpu = Duration::from_secs(7) + Duration::from_millis(cpu);
            let interval = ticks.counted(Duration::from_millis(elapsed));
            took = effort.tick(CpuReading { cpu, is_blocked }, interval);
        }
        took
    }

    #[test]
    fn cpu_time_counts_and_time_on_the_clock_does_not() {
        assert_eq!(after(&[(400, false, 500), (900, false, 500)]), Duration::from_millis(900));
        assert_eq!(after(&[(10, false, 500), (20, false, 90_000)]), Duration::from_millis(20));
        assert_eq!(after(&[(0, false, 500), (0, false, 500)]), Duration::ZERO, "no processor");
    }

    #[test]
    fn the_state_of_a_thread_is_read() {
        let line = "9 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0";
        let blocked = CpuReading { cpu: Duration::from_secs(3), is_blocked: true };
        assert_eq!(reading(line), Some(blocked));
        assert_eq!(reading(&line.replace(" S ", " R ")).map(|seen| seen.is_blocked), Some(false));
        assert_eq!(reading("9 (a"), None);
        assert!(!use_of_thread(this_thread()).is_blocked, "this one runs");
        let page = rustix::param::page_size() as u64;
        let memory = MemoryUse { anonymous: 4 * page, data: 9 * page };
        assert_eq!(memory_of("20 7 3 5 0 9 0\n"), Some(memory));
        assert_eq!(memory_of("20 7 3"), None);
        assert!(memory_use().is_some_and(|used| used.anonymous > 100_000 && used.data > 100_000));
    }

    #[test]
    fn blocked_time_counts_unless_the_watchdog_was_stopped_too() {
        assert_eq!(after(&[(0, true, 500), (0, true, 510)]), TICK * 2);
        assert_eq!(after(&[(0, true, 500), (0, true, 60_000), (0, true, 500)]), TICK * 2);
        assert_eq!(after(&[(100, true, 500), (200, true, 500)]), Duration::from_millis(200));
    }
}
