//! How long a piece of work has taken by its own effort: CPU time, and time that it was blocked
//! while the watchdog itself was on time. A process that is stopped, a machine that sleeps and a
//! machine that is busy with something else add nothing.

use std::time::Duration;

use cograph_system::effort::CpuReading;

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
        // To wake up for a moment is no progress.
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
    fn blocked_time_counts_unless_the_watchdog_was_stopped_too() {
        assert_eq!(after(&[(0, true, 500), (0, true, 510)]), TICK * 2);
        assert_eq!(after(&[(0, true, 500), (0, true, 60_000), (0, true, 500)]), TICK * 2);
        assert_eq!(after(&[(100, true, 500), (200, true, 500)]), Duration::from_millis(200));
    }
}
