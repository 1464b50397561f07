//! When the allocator returns freed pages to the system.

use tikv_jemalloc_ctl::{Access, AsName};

/// Has the allocator return freed pages after a second instead of ten: what is freed and still
/// resident counts towards a memory limit.
pub fn give_back_soon() {
    const AFTER_MS: isize = 1_000;
    // <https://jemalloc.net/jemalloc.3.html#arenas.dirty_decay_ms>: of arenas yet to come, and of
    // the one of this thread. No effect with another allocator.
    for name in ["arenas.dirty_decay_ms\0", "arena.0.dirty_decay_ms\0"] {
        if let Err(error) = name.name().write(AFTER_MS) {
            tracing::debug!(%error, name, "freed pages stay for ten seconds");
        }
    }
}
