//! Notification queue of the system (inotify), without interpretation.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Notification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Event {
    /// Number of the watch.
    pub(super) watch: i32,
    /// Entry of the watched directory; `None` for the directory itself.
    pub(super) name: Option<OsString>,
    /// True if the entry is a directory.
    pub(super) is_directory: bool,
    /// Kind.
    pub(super) what: What,
}

/// Kind of a notification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// Exists, and is new or modified.
    Changed,
    /// Removed or moved away.
    Gone,
    /// The watch has ended.
    Unwatched,
    /// Notifications were lost.
    Overflow,
}

/// Receiver that interrupts a wait for the queue.
#[derive(Debug)]
pub(super) struct WakeReceiver {
    listens: OwnedFd,
    rings: OwnedFd,
}

/// Sender of the interruption.
pub(super) struct WakeSender(OwnedFd);

impl WakeReceiver {
    pub(super) fn new() -> io::Result<Self> {
        let (listens, rings) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        Ok(Self { listens, rings })
    }

    pub(super) fn sender(&self) -> io::Result<WakeSender> {
        Ok(WakeSender(self.rings.try_clone()?))
    }
}

impl WakeSender {
    pub(super) fn wake(&self) {
        // The pipe is empty, so the write cannot block.
        let _ = rustix::io::write(&self.0, &[1]);
    }
}

#[cfg(target_os = "linux")]
pub(super) use linux::Queue;

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsStr;
    use std::mem::MaybeUninit;
    use std::os::unix::ffi::OsStrExt;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fs::inotify::{
        CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch,
    };
    use rustix::io::Errno;

    use super::{Event, OwnedFd, Path, WakeReceiver, What, io};

    /// Queue.
    #[derive(Debug)]
    pub(crate) struct Queue(OwnedFd);

    impl Queue {
        /// Creates a queue without watches.
        pub(crate) fn open() -> io::Result<Self> {
            Ok(Self(init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?))
        }

        /// Watches a directory and returns the number of the watch. A directory that is watched
        /// keeps its number.
        pub(crate) fn watch(&self, directory: &Path) -> io::Result<i32> {
            let what = WatchFlags::ATTRIB
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MODIFY
                | WatchFlags::MOVE
                | WatchFlags::DELETE_SELF
                | WatchFlags::MOVE_SELF;
            let how = WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW | WatchFlags::EXCL_UNLINK;
            Ok(add_watch(&self.0, directory, what | how)?)
        }

        /// Ends a watch.
        pub(crate) fn unwatch(&self, number: i32) {
            // The watch of a removed directory has ended already.
            let _ = remove_watch(&self.0, number);
        }

        /// Reads all notifications.
        pub(crate) fn read(&self, events: &mut Vec<Event>) -> io::Result<()> {
            let mut buffer = vec![MaybeUninit::uninit(); 64 << 10];
            let mut reader = Reader::new(&self.0, &mut buffer);
            loop {
                match reader.next() {
                    Ok(event) => {
                        let name = event
                            .file_name()
                            .map(|name| OsStr::from_bytes(name.to_bytes()).to_owned());
                        let flags = event.events();
                        let event = Event {
                            watch: event.wd(),
                            is_directory: flags.contains(ReadFlags::ISDIR),
                            what: what(flags),
                            name,
                        };
                        // A file that is written in pieces yields repeated events.
                        if events.last() != Some(&event) {
                            events.push(event);
                        }
                    }
                    Err(Errno::AGAIN) => return Ok(()),
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }

        /// Waits for a notification. False if it was interrupted first.
        pub(crate) fn wait(&self, bell: &WakeReceiver) -> io::Result<bool> {
            loop {
                let mut ends = [
                    PollFd::new(&self.0, PollFlags::IN),
                    PollFd::new(&bell.listens, PollFlags::IN),
                ];
                match poll(&mut ends, None) {
                    Ok(_) => {
                        return Ok(ends[1].revents().is_empty() && !ends[0].revents().is_empty());
                    }
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }

        /// Number of bytes in the queue.
        pub(crate) fn size(&self) -> io::Result<u64> {
            Ok(rustix::io::ioctl_fionread(&self.0)?)
        }
    }

    fn what(flags: ReadFlags) -> What {
        if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            What::Overflow
        } else if flags.intersects(ReadFlags::IGNORED | ReadFlags::UNMOUNT) {
            What::Unwatched
        } else if flags.intersects(
            ReadFlags::DELETE
                | ReadFlags::MOVED_FROM
                | ReadFlags::DELETE_SELF
                | ReadFlags::MOVE_SELF,
        ) {
            What::Gone
        } else {
            What::Changed
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::Queue;

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    //! Systems without a queue that can be read at the time of a request: repositories are not
    //! watched there, and every request compares sizes and times.

    use super::{Event, Path, WakeReceiver, io};

    #[derive(Debug)]
    pub(crate) enum Queue {}

    impl Queue {
        pub(crate) fn open() -> io::Result<Self> {
            Err(io::Error::from(io::ErrorKind::Unsupported))
        }

        pub(crate) fn watch(&self, _: &Path) -> io::Result<i32> {
            match *self {}
        }

        pub(crate) fn unwatch(&self, _: i32) {
            match *self {}
        }

        pub(crate) fn read(&self, _: &mut Vec<Event>) -> io::Result<()> {
            match *self {}
        }

        pub(crate) fn wait(&self, _: &WakeReceiver) -> io::Result<bool> {
            match *self {}
        }

        pub(crate) fn size(&self) -> io::Result<u64> {
            match *self {}
        }
    }
}
