//! Size of the machine that this process runs on: its main memory.

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
