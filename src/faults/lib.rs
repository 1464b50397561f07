//! Fault injection: defects that a test must detect, and gates at which a test can stop the
//! program. Constant and compiled away without the cargo feature `faults`, which no release has.
//!
//! ```text
//!     environment ── config ──> read
//!                                │
//! server, index, store, … ──> planted(Fault::X) ──> false, or the defect of this run
//!                         ──> gates ──────────────> nothing, or the point where a test stops it
//! ```
//!
//! `config` reads faults and gates from the environment; the code asks `planted` at the place of
//! the defect.

mod fault;

pub use fault::Fault;

/// True if the fault is active.
#[cfg(not(feature = "faults"))]
pub const fn planted(_: Fault) -> bool {
    false
}

#[cfg(feature = "faults")]
mod gates;
#[cfg(feature = "faults")]
pub use gates::*;

#[cfg(not(feature = "faults"))]
mod none {
    //! The gates of a program that has none.
    #![expect(missing_docs, reason = "the gates themselves have the words")]

    use std::ffi::OsString;
    use std::path::Path;
    use std::time::Duration;

    pub fn read(_: impl Fn(&str) -> Option<OsString>) {}
    pub fn call_starts(_: &str) {}
    pub fn call_works(_: &str) {}
    pub fn store_opens(_: &Path) {}
    pub fn store_closes(_: &Path) {}
    pub fn index_runs(_: &Path) {}
    pub fn answer(_: &str, text: String) -> String {
        text
    }
    pub fn deadline(_: &str, set: Duration) -> Duration {
        set
    }
    pub fn wall_clock() -> Duration {
        Duration::ZERO
    }
    pub fn peer_uid(uid: u32) -> u32 {
        uid
    }
    pub fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
    pub fn build(own: &'static str) -> &'static str {
        own
    }
    pub fn only_reads(_: &str) -> bool {
        true
    }
}
#[cfg(not(feature = "faults"))]
pub use none::*;
