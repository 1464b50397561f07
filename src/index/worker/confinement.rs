//! Address space of a worker: the bound that it sets itself, and whether another process has
//! lowered that while it ran (`prlimit`). What it dies of then is the fault of no file.

use cograph_config::Limits;
use cograph_system::limits::{Bounded, address_space_of, bound_of};

/// Address space besides the memory limit: the program itself, and what libraries reserve.
const RESERVED_BYTES: u64 = 1 << 30;
const THREAD_BYTES: u64 = 128 << 20;

/// Bound of the address space of this process, which those that it starts inherit.
pub(crate) fn inherited() -> u64 {
    bound_of(Bounded::AddressSpace).least()
}

/// Bound that a worker sets itself. The allocator keeps the address space of memory that it has
/// given back: up to as much again.
pub(crate) fn bound(limits: &Limits, inherited: u64) -> u64 {
    let thread = limits.stack_bytes as u64 + THREAD_BYTES;
    let bytes = limits
        .memory_bytes
        .saturating_mul(2)
        .saturating_add(RESERVED_BYTES)
        .saturating_add(limits.threads as u64 * thread);
    bytes.min(inherited)
}

/// True if the bound of a process, which may have ended and is not reaped, is lower than this one.
/// False where the system does not say.
pub(crate) fn is_below(process: u32, bound: u64) -> bool {
    address_space_of(process).is_some_and(|current| current < bound)
}
