//! Indexing: plan, parallel ingestion, resolution, writing. The only module that uses several
//! cores, and the only one that changes a store. Knows no protocol and prints nothing.
//!
//! ```text
//! ChangeSet ──> job ──> worker process ──┬── build:  plan ──> extract ──> resolve ──> write
//!                         quarantine     └── state:  compare ──> apply ──> update
//!                                               └── facts_cache: facts between runs
//! ```
//!
//! - `build` is the full build; `state` has the in-memory state between runs and applies changes.
//! - `facts_cache` is the on-disk form of facts for later changes.
//! - `apply` brings a store up to date by these, in this process or by `worker`, which runs them in
//!   a process of their own; `quarantine` excludes files that must not be parsed.
//! - `job` runs them in the background; `slow_files` are tried after others.

mod apply;
mod build;
mod facts_cache;
mod fingerprint;
mod idle_cache;
mod job;
mod outcome;
mod progress;
mod quarantine;
mod report;
mod root_check;
mod slow_files;
mod state;
mod worker;

pub use apply::process::serve_worker;
pub use apply::{Run, apply, enforce_quota, refresh};
pub use cograph_extract::{Allowance, Limits as FileLimits};
pub use fingerprint::fingerprint;
pub use idle_cache::IdleCache;
pub use job::{FIRST_PAUSE, Failure, GREATEST_PAUSE, Job, JobState, Jobs};
pub use outcome::{IndexError, Outcome};
pub use progress::{Phase, Progress, Timing, profile};
pub use quarantine::Isolation;
pub use report::{LanguageReport, Report};
pub use root_check::{check_implicit_root, repositories_in};
pub use slow_files::FILES_PER_RUN;
pub use slow_files::retry_slow;
pub use state::change::{Comparison, Verified, compare, compare_some, freshness};
pub use state::change_set::ChangeSet;
pub use state::residents::{MAX_LOADED_FILES, Residents};
pub use worker::{
    FILE_MEMORY, FILE_MEMORY_PER_BYTE, MEMORY_INTERVAL, UNWATCHED_MEMORY, WorkerPool,
};
