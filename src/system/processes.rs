//! Child processes with all that they start, the end of a process, and the parent of this one.
//!
//! On Unix a child leads a process group and is ended by signals. On Windows it is in a job, and
//! ends with the job: nothing asks it to end before. A job ends with this process too.

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

#[cfg(unix)]
pub use unix::{
    ChildGroup, ParentProcess, ProcessId, RUNNING, described, detach, end_from_outside, fault,
    open_file, was_ended_from_outside,
};
#[cfg(not(unix))]
pub use windows::{
    ChildGroup, ParentProcess, ProcessId, RUNNING, described, detach, end_from_outside, fault,
    open_file, was_ended_from_outside,
};
