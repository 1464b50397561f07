//! What differs between operating systems: one module per concept, each with one interface and an
//! implementation per family of systems. Code above names no system. Knows nothing of cograph.
//!
//! ```text
//! module       Linux                  macOS                    Windows
//! ---------    --------------------   ----------------------   ------------------------------
//! allocator    jemalloc               the system's: no effect  the system's: no effect
//! clock        clocks of POSIX        clocks of POSIX          times of threads and processes
//! effort       /proc                  time on the clock        time on the clock
//! files        openat2, stat            openat, stat             paths, times; no number of a file
//! limits       setrlimit              setrlimit                none
//! machine      sysinfo                not known                not known
//! mounts       mountinfo              not known                not known
//! names        bytes                  bytes                    text; an escape becomes text
//! owner        user and permissions   user and permissions     the profile's access list
//! positioned   pread, pwrite          pread, pwrite            a read or write with an offset
//! ```

pub mod allocator;
pub mod clock;
pub mod effort;
pub mod files;
pub mod limits;
pub mod machine;
pub mod mounts;
pub mod names;
pub mod owner;
pub mod positioned;
#[cfg(unix)]
pub mod processes;
#[cfg(unix)]
pub mod streams;
