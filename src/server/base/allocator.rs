//! Allocator tuning (jemalloc) for a server with many clients and for phased work.

use tikv_jemalloc_ctl::{Access, AsName, arenas, background_thread, max_background_threads};

/// Starts the background thread that returns freed memory to the system. Otherwise purging happens
/// on later allocations of the freeing threads, which may have ended. The thread wakes up
/// periodically, so a server of one client, which should be idle without requests, does not use it.
pub fn give_back_in_time() {
    // No effect with another allocator or on a system without background threads.
    if let Err(error) =
        max_background_threads::write(1).and_then(|()| background_thread::write(true))
    {
        tracing::debug!(%error, "unused memory is given back when more is asked for");
    }
}

/// Purges unused pages of all arenas now. By default the allocator purges only when its threads
/// allocate, and an idle server allocates nothing.
pub(crate) fn return_unused_pages() {
    let purged = || -> tikv_jemalloc_ctl::Result<()> {
        // <https://jemalloc.net/jemalloc.3.html#arena.i.dirty_decay_ms>: 0 purges at once.
        let mut decay = "arena.0.dirty_decay_ms\0".name().mib::<[usize; 3]>()?;
        for arena in 0..arenas::narenas::read()? as usize {
            decay[1] = arena;
            // An unused arena has neither the setting nor pages.
            let before: tikv_jemalloc_ctl::Result<isize> = decay.read();
            if let Ok(before) = before {
                decay.write(0_isize)?;
                decay.write(before)?;
            }
        }
        Ok(())
    };
    if let Err(error) = purged() {
        tracing::debug!(%error, "unused pages are purged on later allocations");
    }
}

/// Binds the calling thread to one arena shared by all callers. By default threads are spread over
/// several arenas, and memory freed in one is not reused in another, which multiplies it by the
/// number of clients. Cheap: small allocations come from the thread's cache.
pub(crate) fn share_arena() {
    // <https://jemalloc.net/jemalloc.3.html#thread.arena>; no effect with another allocator.
    if let Err(error) = "thread.arena\0".name().write(0_u32) {
        tracing::debug!(%error, "a thread has an arena of its own");
    }
}

#[cfg(test)]
mod tests {
    use super::return_unused_pages;

    /// Resident anonymous memory of this process in MB.
    #[expect(clippy::disallowed_methods, reason = "a file of the kernel, not of a repository")]
    fn resident() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("a field");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") / 1024
    }

    #[test]
    fn unused_pages_return_to_the_system() {
        let blocks: Vec<Vec<u8>> = (0..4096).map(|_| vec![1; 16 << 10]).collect();
        let full = resident();
        drop(blocks);
        return_unused_pages();
        let empty = resident();
        assert!(empty + 48 < full, "{full} MB, then {empty} MB");
    }
}
