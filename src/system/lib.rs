//! What differs between operating systems: one module per concept, each with one interface and an
//! implementation per family of systems. Code above names no system. Knows nothing of cograph.
//!
//! ```text
//! module       Linux                  macOS                    Windows
//! ---------    --------------------   ----------------------   ------------------------------
//! allocator    jemalloc               the system's: no effect  the system's: no effect
//! clock        clocks of POSIX        clocks of POSIX          times of threads and processes
//! effort       /proc                  time on the clock        time on the clock, memory
//! files        openat2, stat          openat, stat             paths, times; no number of a file
//! limits       setrlimit              setrlimit                none
//! machine      sysinfo, statvfs       statvfs; memory unknown  not known
//! mounts       mountinfo              not known                not known
//! names        bytes                  bytes                    text; an escape becomes text
//! owner        user and permissions   user and permissions     the profile's access list
//! positioned   pread, pwrite          pread, pwrite            a read or write with an offset
//! processes    process groups         process groups           jobs
//! signals      signals                signals                  events of the console
//! sockets      Unix sockets           Unix sockets             pairs over the loopback device
//! streams      descriptors, poll      descriptors, poll        handles, a thread for a timeout
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
pub mod processes;
pub mod signals;
pub mod sockets;
pub mod streams;
