//! Allocator tuning (jemalloc) for a server with many clients and for phased work.

use tikv_jemalloc_ctl::{Access, AsName, background_thread, max_background_threads};

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

/// Binds the calling thread to one arena shared by all callers. By default threads are spread over
/// several arenas, and memory freed in one is not reused in another, which multiplies it by the
/// number of clients. Cheap: small allocations come from the thread's cache.
pub(in crate::server) fn share_arena() {
    // <https://jemalloc.net/jemalloc.3.html#thread.arena>; no effect with another allocator.
    if let Err(error) = "thread.arena\0".name().write(0_u32) {
        tracing::debug!(%error, "a thread has an arena of its own");
    }
}
