//! The allocator's own interface: jemalloc on Linux, which is the allocator of the program there.
//! Elsewhere, and in a program with another allocator, every call is without effect.

pub use system::{give_back_in_time, give_back_soon, heap_bytes, return_unused_pages, share_arena};

#[cfg(target_os = "linux")]
mod system {
    use tikv_jemalloc_ctl::thread::{ThreadLocal, allocatedp, deallocatedp};
    use tikv_jemalloc_ctl::{Access, AsName, arenas, background_thread, max_background_threads};

    thread_local! {
        /// Counters of the thread, looked up once: bytes allocated and deallocated in total.
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

    /// Has the allocator return freed pages after a second instead of ten: what is freed and still
    /// resident counts towards a memory limit.
    pub fn give_back_soon() {
        const AFTER_MS: isize = 1_000;
        // <https://jemalloc.net/jemalloc.3.html#arenas.dirty_decay_ms>: of arenas yet to come, and
        // of the one of this thread.
        for name in ["arenas.dirty_decay_ms\0", "arena.0.dirty_decay_ms\0"] {
            if let Err(error) = name.name().write(AFTER_MS) {
                tracing::debug!(%error, name, "freed pages stay for ten seconds");
            }
        }
    }

    /// Starts the background thread that returns freed memory to the system. Otherwise purging
    /// happens on later allocations of the freeing threads, which may have ended. The thread wakes
    /// up periodically, so a server of one client, which should be idle without requests, does not
    /// use it.
    pub fn give_back_in_time() {
        if let Err(error) =
            max_background_threads::write(1).and_then(|()| background_thread::write(true))
        {
            tracing::debug!(%error, "unused memory is given back when more is requested");
        }
    }

    /// Purges unused pages of all arenas now. By default the allocator purges only when its threads
    /// allocate, and an idle server allocates nothing.
    pub fn return_unused_pages() {
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

    /// Binds the calling thread to one arena shared by all callers. By default threads are spread
    /// over several arenas, and memory freed in one is not reused in another, which multiplies it
    /// by the number of clients. Cheap: small allocations come from the thread's cache.
    pub fn share_arena() {
        // <https://jemalloc.net/jemalloc.3.html#thread.arena>.
        if let Err(error) = "thread.arena\0".name().write(0_u32) {
            tracing::debug!(%error, "a thread has an arena of its own");
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    /// Memory is not measured: always 0.
    pub fn heap_bytes() -> i64 {
        0
    }

    /// Without effect.
    pub fn give_back_soon() {}

    /// Without effect.
    pub fn give_back_in_time() {}

    /// Without effect.
    pub fn return_unused_pages() {}

    /// Without effect.
    pub fn share_arena() {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{heap_bytes, return_unused_pages};

    /// As in the program.
    #[global_allocator]
    static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

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

    #[test]
    fn a_thread_counts_its_own_heap_alone() {
        let before = heap_bytes();
        let work = || {
            let kept = vec![1_u8; 8 << 20];
            (heap_bytes(), kept)
        };
        let other = std::thread::scope(|scope| scope.spawn(work).join());
        let (others, kept) = other.expect("nothing panics");
        assert!(others >= 8 << 20, "{others}");
        assert!(heap_bytes() - before < 4 << 20, "what another thread allocates does not count");
        let before = heap_bytes();
        drop(kept);
        assert!(heap_bytes() < before - (4 << 20), "what it frees counts");
    }
}
