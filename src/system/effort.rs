//! What threads and this process use, for a watchdog: CPU time, whether they wait, and memory.
//!
//! Only Linux reports the use of another thread and kinds of memory. Elsewhere a thread counts as
//! blocked all the time, so that its effort is the time on the clock. On Windows all private memory
//! is one kind; on macOS it is not known.

use std::time::Duration;

use crate::clock::process_cpu;

pub use system::{ThreadId, memory_use, this_thread, use_of_thread};

/// CPU time, and whether more is to be expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CpuReading {
    /// CPU time of the thread or process.
    pub cpu: Duration,
    /// True if it waits for something: neither on a processor nor for one, nor stopped.
    pub is_blocked: bool,
}

/// Memory of this process in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryUse {
    /// Anonymous resident memory: without the pages of the program, of which each grammar brings
    /// some at its first use.
    pub anonymous: u64,
    /// Private writable mappings, resident or not: what `RLIMIT_DATA` bounds.
    pub data: u64,
}

/// CPU time of this process. It counts as blocked while that stands still.
pub fn use_of_process() -> CpuReading {
    CpuReading { cpu: process_cpu(), is_blocked: true }
}

#[cfg(target_os = "linux")]
mod system {
    use super::{CpuReading, Duration, MemoryUse};

    /// Thread, as the system names it.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct ThreadId(u32);

    /// The current thread.
    pub fn this_thread() -> ThreadId {
        ThreadId(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs())
    }

    /// State and CPU time of a thread of this process; nothing if it has ended.
    #[expect(clippy::disallowed_methods, reason = "a file of the kernel, not of a repository")]
    pub fn use_of_thread(thread: ThreadId) -> CpuReading {
        let text = std::fs::read_to_string(format!("/proc/self/task/{}/stat", thread.0));
        text.ok().and_then(|text| reading(&text)).unwrap_or_default()
    }

    /// Memory of this process; `None` without the file system of processes.
    #[expect(clippy::disallowed_methods, reason = "a file of the kernel, not of a repository")]
    pub fn memory_use() -> Option<MemoryUse> {
        memory_of(&std::fs::read_to_string("/proc/self/statm").ok()?)
    }

    /// Reads `/proc/PID/statm`: pages of the size, resident, shared, text, of libraries, and data
    /// with the stack, see `proc_pid_statm(5)`.
    fn memory_of(statm: &str) -> Option<MemoryUse> {
        let pages: Vec<u64> =
            statm.split_whitespace().map_while(|field| field.parse().ok()).collect();
        let [_, resident, shared, _, _, data, ..] = *pages else { return None };
        let page = rustix::param::page_size() as u64;
        Some(MemoryUse { anonymous: resident.saturating_sub(shared) * page, data: data * page })
    }

    /// Reads a line of `/proc/PID/task/TID/stat`: the name in brackets, the state, and further on
    /// user and system time in hundredths of a second, see `proc_pid_stat(5)`.
    fn reading(stat: &str) -> Option<CpuReading> {
        const USER_TIME: usize = 11;
        const HUNDREDTH: Duration = Duration::from_millis(10);
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let ticks = |at: usize| fields.get(at)?.parse::<u32>().ok();
        let cpu = HUNDREDTH * (ticks(USER_TIME)? + ticks(USER_TIME + 1)?);
        Some(CpuReading { cpu, is_blocked: matches!(*fields.first()?, "S" | "D") })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_state_of_a_thread_is_read() {
            let line = "9 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0";
            let blocked = CpuReading { cpu: Duration::from_secs(3), is_blocked: true };
            let is_blocked = |line: &str| reading(line).map(|seen| seen.is_blocked);
            assert_eq!(reading(line), Some(blocked));
            assert_eq!(is_blocked(&line.replace(" S ", " R ")), Some(false));
            assert_eq!(reading("9 (a"), None);
            assert!(!use_of_thread(this_thread()).is_blocked, "this one runs");
            let page = rustix::param::page_size() as u64;
            let memory = MemoryUse { anonymous: 4 * page, data: 9 * page };
            assert_eq!(memory_of("20 7 3 5 0 9 0\n"), Some(memory));
            assert_eq!(memory_of("20 7 3"), None);
            let used = memory_use();
            assert!(used.is_some_and(|used| used.anonymous > 100_000 && used.data > 100_000));
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{CpuReading, Duration, MemoryUse};

    /// Thread; all are alike here.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct ThreadId;

    /// The current thread.
    pub fn this_thread() -> ThreadId {
        ThreadId
    }

    /// Blocked, so that the time on the clock counts.
    pub fn use_of_thread(_: ThreadId) -> CpuReading {
        CpuReading { cpu: Duration::ZERO, is_blocked: true }
    }

    /// On Windows what the system has promised to keep for this process, in memory or in its swap
    /// file; elsewhere it is not known.
    pub fn memory_use() -> Option<MemoryUse> {
        #[cfg(windows)]
        {
            let bytes = memory_stats::memory_stats()?.virtual_mem as u64;
            Some(MemoryUse { anonymous: bytes, data: bytes })
        }
        #[cfg(not(windows))]
        None
    }
}
