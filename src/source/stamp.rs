//! File metadata compared instead of contents, and the conditions under which it is evidence. Reads
//! no file.

use std::fs::Metadata;
use std::time::{SystemTime, UNIX_EPOCH};

use cograph_model::graph::{FileStamp, UNTRUSTED_TIME};
use cograph_system::files::FileStat;

/// Returns the stamp, without a hash, of a file with the metadata that `look` returns. A later
/// write yields another stamp: if the clock is too coarse for that, the stamp equals none.
pub(super) fn taken<E>(
    look: impl FnOnce() -> Result<Metadata, E>,
) -> Result<(Metadata, FileStamp), E> {
    // Before the `stat`: a later change has a later time than this, up to the granularity of the
    // file system's clock.
    let now = now_ns();
    let metadata = look()?;
    let stamp = of(&FileStat::from(&metadata), now);
    Ok((metadata, stamp))
}

/// Returns the stamp of a file from a look not before `now`.
pub(super) fn of(found: &FileStat, now: i64) -> FileStamp {
    FileStamp {
        size: found.size,
        modified_ns: found.modified_ns,
        changed_ns: trusted_time(found.changed_ns, now),
        inode: found.inode,
        hash: 0,
    }
}

/// Current time, as in stamps.
pub(super) fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Returns the time to record for an inode with the last change at `changed_ns` and a `stat` at
/// `now`. A file system's clock has a granularity, and a file that is written again within it keeps
/// its time; so does one whose write has begun, for as long as the write takes on a busy machine.
/// Such a time is recorded as [`UNTRUSTED_TIME`], which equals none: the next comparison reads the
/// file again, and its hash decides.
pub(super) fn trusted_time(changed_ns: i64, now: i64) -> i64 {
    const FINE_STEP: i64 = 500_000_000;
    const COARSE_STEP: i64 = 2_000_000_000;
    let step = if changed_ns % 1_000_000_000 == 0 { COARSE_STEP } else { FINE_STEP };
    if changed_ns > now.saturating_sub(step) { UNTRUSTED_TIME } else { changed_ns }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_close_to_the_look_are_not_trusted() {
        let second = 1_000_000_000;
        assert_eq!(trusted_time(5 * second + 1, 9 * second), 5 * second + 1);
        assert_eq!(trusted_time(9 * second - 1, 9 * second), UNTRUSTED_TIME);
        assert_eq!(
            trusted_time(8 * second, 9 * second),
            UNTRUSTED_TIME,
            "a clock with whole seconds"
        );
        assert_eq!(trusted_time(10 * second + 1, 9 * second), UNTRUSTED_TIME, "from the future");
    }
}
