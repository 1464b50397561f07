//! What a process that serves many, or works in phases, wants of the program's allocator. Knows
//! nothing of what is allocated.

use tikv_jemalloc_ctl::{Access, AsName, background_thread, max_background_threads};

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
