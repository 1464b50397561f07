//! Limits of an index run, and their defaults. Reads nothing but the size of the machine's memory.

use cograph_system::machine;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Limits of an index run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum size of a file, in bytes.
    pub file_bytes: u64,
    /// Maximum length of a line in a parsed file, in bytes: of most of the file.
    pub line_bytes: usize,
    /// Number of threads for reading, parsing and resolving.
    pub threads: usize,
    /// Stack size of these threads in bytes: deeply nested source needs it.
    pub stack_bytes: usize,
    /// Time limit of a file in a worker process, after which it is left out.
    pub file_time: Duration,
    /// Memory limit of a worker process, in bytes.
    pub memory_bytes: u64,
    /// Disk quota of all stores, in bytes.
    pub cache_bytes: u64,
}

/// Default memory limit of a worker process: a laptop survives it, and the Linux tree fits.
pub const MEMORY_BYTES: u64 = 2 << 30;

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 4 << 20,
            line_bytes: 32 << 10,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            stack_bytes: 32 << 20,
            file_time: Duration::from_secs(30),
            memory_bytes: (machine::memory_bytes().unwrap_or(u64::MAX) / 4 * 3).min(MEMORY_BYTES),
            cache_bytes: 10 << 30,
        }
    }
}
