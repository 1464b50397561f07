//! Work on several members at a time. Independent of the work.

use crate::base::escape;
use cograph_system::allocator;
use parking_lot::Mutex;
use std::{panic, thread};

/// Maximum number of members that are worked on at a time: one call must not occupy a large
/// machine.
pub(crate) const MAX_AT_A_TIME: usize = 4;

/// Applies a function to all, and returns the results in their order.
pub(super) fn each<I: Send, T: Send>(items: Vec<I>, work: impl Fn(I) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(MAX_AT_A_TIME).min(items.len());
    if threads <= 1 {
        return items.into_iter().map(work).collect();
    }
    let queue = Mutex::new(items.into_iter().enumerate());
    let run = || {
        let mut done = Vec::new();
        loop {
            let next = queue.lock().next();
            let Some((place, item)) = next else { return done };
            done.push((place, work(item)));
        }
    };
    let mut done = thread::scope(|scope| {
        let spawned = |number: usize| {
            let counted = || {
                allocator::share_arena();
                escape::counting(run)
            };
            // Without a thread it takes longer.
            thread::Builder::new()
                .name(format!("member-{number}"))
                .spawn_scoped(scope, counted)
                .ok()
        };
        let others: Vec<_> = (1..threads).filter_map(spawned).collect();
        let mut done = run();
        for other in others {
            match other.join() {
                Ok((part, escaped)) => {
                    escape::count(escaped);
                    done.extend(part);
                }
                Err(reason) => panic::resume_unwind(reason),
            }
        }
        done
    });
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_the_items() {
        for count in [0, 1, 2, 50] {
            let items: Vec<usize> = (0..count).collect();
            let expected: Vec<usize> = (0..count).map(|item| item * 2).collect();
            assert_eq!(each(items, |item| item * 2), expected);
        }
    }
}
