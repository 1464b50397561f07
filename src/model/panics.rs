//! Panics as values: a defect costs the piece of work in which it shows.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work`; a panic becomes its message. The work must not leave shared state inconsistent.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        text.or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without a message".to_owned())
    })
}
