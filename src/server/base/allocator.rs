//! What a process that serves many, or works in phases, wants of the program's allocator. Knows
//! nothing of what is allocated.

use tikv_jemalloc_ctl::{Access, AsName, arenas, background_thread, max_background_threads};

/// From here on memory that work has used and let go is given back to the system by a thread of the
/// allocator. Without it that is left to the next allocations of the threads that used it, and
/// those have ended. The thread wakes up now and then, so a server of one client, which is to rest
/// when it has nothing to do, goes without it.
pub fn give_back_in_time() {
    // A process that has another allocator, or a system without such threads, does as it can.
    if let Err(error) =
        max_background_threads::write(1).and_then(|()| background_thread::write(true))
    {
        tracing::debug!(%error, "unused memory is given back when more is asked for");
    }
}

/// Returns unused pages of all arenas to the system now. Of itself the allocator does so only while
/// its threads allocate, and an idle server allocates nothing.
pub(in crate::server) fn return_unused_pages() {
    let purged = || -> tikv_jemalloc_ctl::Result<()> {
        // <https://jemalloc.net/jemalloc.3.html#arena.i.dirty_decay_ms>: 0 purges at once.
        let mut decay = "arena.0.dirty_decay_ms\0".name().mib::<[usize; 3]>()?;
        for arena in 0..arenas::narenas::read()? as usize {
            decay[1] = arena;
            // An arena that no thread has used has no setting, and no pages.
            let before: tikv_jemalloc_ctl::Result<isize> = decay.read();
            if let Ok(before) = before {
                decay.write(0_isize)?;
                decay.write(before)?;
            }
        }
        Ok(())
    };
    if let Err(error) = purged() {
        tracing::debug!(%error, "unused memory is given back when more is asked for");
    }
}

/// The calling thread takes memory where all threads do that call this. Without it the allocator
/// spreads threads over several arenas, and what a call has let go in one is not there for the next
/// call in another: many clients would hold it many times. Costs little: what is small comes from
/// the thread's own cache.
pub(in crate::server) fn share_arena() {
    // <https://jemalloc.net/jemalloc.3.html#thread.arena>; one that has another allocator does as
    // it can.
    if let Err(error) = "thread.arena\0".name().write(0_u32) {
        tracing::debug!(%error, "a thread has an arena of its own");
    }
}

#[cfg(test)]
mod tests {
    use super::return_unused_pages;

    /// Anonymous memory of this process that is resident, in MB.
    fn resident() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("a field");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
    }

    #[test]
    fn pages_that_are_not_used_go_back_to_the_system() {
        let blocks: Vec<Vec<u8>> = (0..4096).map(|_| vec![1; 16 << 10]).collect();
        let full = resident();
        drop(blocks);
        return_unused_pages();
        let empty = resident();
        assert!(empty + 48 < full, "{full} MB, then {empty} MB");
    }
}
