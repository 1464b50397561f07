//! The system's list of mounts, and whether a file system is another machine's. Only Linux has the
//! list; elsewhere opening it fails, and no file system is known to be remote.

pub use system::{MountList, is_remote};

#[cfg(target_os = "linux")]
mod system {
    use std::fs::File;
    use std::io::{self, Read, Seek, SeekFrom};
    use std::path::Path;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    /// Mounts of this process.
    #[derive(Debug)]
    pub struct MountList(File);

    impl MountList {
        /// Opens the list.
        pub fn open() -> io::Result<Self> {
            Ok(Self(File::open("/proc/self/mountinfo")?))
        }

        /// True if the list has changed since the last call. One system call.
        pub fn has_changed(&self) -> io::Result<bool> {
            let mut events = [PollFd::new(&self.0, PollFlags::PRI)];
            let none = Timespec { tv_sec: 0, tv_nsec: 0 };
            Ok(poll(&mut events, Some(&none))? != 0)
        }

        /// The list as it is now, in the format of `proc_pid_mountinfo(5)`.
        pub fn read(&mut self) -> io::Result<Vec<u8>> {
            let mut text = Vec::new();
            self.0.seek(SeekFrom::Start(0))?;
            self.0.read_to_end(&mut text)?;
            Ok(text)
        }
    }

    /// True if a path is on one of the most common remote file systems: for a process without
    /// access to the list.
    pub fn is_remote(path: &Path) -> bool {
        const NUMBERS: [u64; 7] =
            [0x6969, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997, 0x6573_5546, 0x517b, 0x0bd0_0bd0];
        rustix::fs::statfs(path).is_ok_and(|found| {
            NUMBERS.contains(&(u64::try_from(found.f_type).unwrap_or_default() & 0xffff_ffff))
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::path::Path;

    /// There is none.
    #[derive(Debug)]
    pub enum MountList {}

    impl MountList {
        /// Fails.
        pub fn open() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// There is no list.
        pub fn has_changed(&self) -> io::Result<bool> {
            match *self {}
        }

        /// There is no list.
        pub fn read(&mut self) -> io::Result<Vec<u8>> {
            match *self {}
        }
    }

    /// False: it is not known.
    pub fn is_remote(_: &Path) -> bool {
        false
    }
}
