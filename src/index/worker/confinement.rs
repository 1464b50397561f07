//! Address space of a worker: the bound that it sets itself, and whether another process has
//! lowered that while it ran (`prlimit`). What it dies of then is the fault of no file.

use cograph_config::Limits;
use rustix::process::{Pid, Resource, getrlimit};

/// Address space besides the memory limit: the program itself, and what libraries reserve.
const RESERVED_BYTES: u64 = 1 << 30;
const THREAD_BYTES: u64 = 128 << 20;

/// Row of the limits of a process in the file system of processes.
const ROW: &str = "Max address space";

/// Bound of the address space of this process, which those that it starts inherit.
pub(super) fn inherited() -> u64 {
    let current = getrlimit(Resource::As);
    current.maximum.into_iter().chain(current.current).fold(u64::MAX, u64::min)
}

/// Bound that a worker sets itself. The allocator keeps the address space of memory that it has
/// given back: up to as much again.
pub(super) fn bound(limits: &Limits, inherited: u64) -> u64 {
    let thread = limits.stack_bytes as u64 + THREAD_BYTES;
    let bytes = limits
        .memory_bytes
        .saturating_mul(2)
        .saturating_add(RESERVED_BYTES)
        .saturating_add(limits.threads as u64 * thread);
    bytes.min(inherited)
}

/// True if the bound of a process, which may have ended and is not reaped, is lower than this one.
/// False where the system does not tell.
#[expect(clippy::disallowed_methods, reason = "a file of the kernel, not of a repository")]
pub(super) fn is_below(pid: Pid, bound: u64) -> bool {
    let text = std::fs::read_to_string(format!("/proc/{}/limits", pid.as_raw_nonzero()));
    text.ok().and_then(|text| soft(&text)).is_some_and(|current| current < bound)
}

/// Soft limit in the row of the address space.
fn soft(limits: &str) -> Option<u64> {
    let row = limits.lines().find_map(|line| line.strip_prefix(ROW))?;
    row.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_is_read_from_its_row() {
        let row = |value: &str| {
            format!(
                "Max file locks   7   unlimited   locks\nMax address space   {value}   9   bytes\n"
            )
        };
        assert_eq!(soft(&row("4096")), Some(4096));
        assert_eq!(soft(&row("unlimited")), None);
        assert_eq!(soft("Max file locks   7   unlimited   locks\n"), None);
    }
}
