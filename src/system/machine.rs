//! Size of the machine that this process runs on: its main memory, and room on its disks.

use std::path::Path;

/// Main memory in bytes; `None` where the system does not say.
pub fn memory_bytes() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let known = rustix::system::sysinfo();
        Some(known.totalram * u64::from(known.mem_unit))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Bytes that this user may still write where a directory is; `None` where the system does not say.
pub fn free_bytes(directory: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let found = rustix::fs::statvfs(directory).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = directory;
        None
    }
}
