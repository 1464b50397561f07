//! Bound of the stack. Every recursion has a bound of its own; one that lacks it ends here with a
//! panic, which costs the references of one file, where an overflow would end the process at every
//! attempt.

use std::cell::Cell;

thread_local! {
    /// Lowest address that a call of this thread may reach; 0 without a bound.
    static LOWEST: Cell<usize> = const { Cell::new(0) };
}

/// Part of a stack that is kept for what asks for nothing, and for the panic.
const RESERVE: usize = 8;

/// Sets the bound of this thread, whose stack has this size. To be called where it begins.
pub fn limit_stack(bytes: usize) {
    LOWEST.set(address().saturating_sub(bytes - bytes / RESERVE));
}

/// Panics if the stack is nearly exhausted.
#[inline]
pub(crate) fn check() {
    assert!(address() >= LOWEST.get(), "a recursion of name resolution has no end");
}

/// Returns the address of the top of the stack: stacks grow downwards on all supported processors.
#[inline]
fn address() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(&here).addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endless(depth: u64) -> u64 {
        check();
        let kept = std::hint::black_box([depth; 16]);
        if kept[1] == u64::MAX { 0 } else { endless(kept[0] + 1) + kept[2] }
    }

    #[test]
    fn a_recursion_without_an_end_panics_before_the_stack_overflows() {
        let bytes = 4 << 20;
        let thread = std::thread::Builder::new().stack_size(bytes).spawn(move || {
            limit_stack(bytes);
            endless(0)
        });
        let payload = thread.expect("a thread").join().expect_err("no end");
        assert_eq!(
            payload.downcast_ref::<&str>(),
            Some(&"a recursion of name resolution has no end")
        );
    }
}
