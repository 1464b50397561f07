//! What the current thread has used: bytes of the heap and CPU time. Differences of two readings
//! measure a piece of work on its thread, whatever other threads and processes do.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tikv_jemalloc_ctl::thread::{ThreadLocal, allocatedp, deallocatedp};

thread_local! {
    /// Allocator counters of the thread, looked up once: bytes allocated and deallocated in total.
    static COUNTERS: Option<(ThreadLocal<u64>, ThreadLocal<u64>)> =
        allocatedp::read().ok().zip(deallocatedp::read().ok());
}

/// Net bytes allocated by this thread. Only differences are meaningful. With another allocator
/// memory is not measured: always 0.
pub fn heap_bytes() -> i64 {
    COUNTERS.with(|counters| {
        let Some((taken, given)) = counters else { return 0 };
        taken.get().wrapping_sub(given.get()).cast_signed()
    })
}

/// CPU time of this thread.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_counts_its_own_work_alone() {
        let (heap, cpu) = (heap_bytes(), cpu_time());
        let work = || {
            let kept = vec![1_u8; 8 << 20];
            while cpu_time() < Duration::from_millis(50) {
                std::hint::black_box(&kept);
            }
            (heap_bytes(), kept)
        };
        let other = std::thread::scope(|scope| scope.spawn(work).join());
        let (others, kept) = other.expect("nothing panics");
        assert!(others >= 8 << 20, "{others}");
        assert!(heap_bytes() - heap < 4 << 20, "what another thread allocates does not count");
        assert!(cpu_time() - cpu < Duration::from_millis(50), "nor does its time");
        let before = heap_bytes();
        drop(kept);
        assert!(heap_bytes() < before - (4 << 20), "what it frees counts");
    }
}
