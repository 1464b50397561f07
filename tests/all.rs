//! The integration tests: one binary, so that they link once. Each module verifies one guarantee
//! or one layer.
#![allow(
    clippy::disallowed_methods,
    reason = "the bans protect the program; tests stand outside of it and look at its files"
)]

mod answers;
mod architecture;
mod bad_input;
mod cases;
mod commands;
mod coverage;
mod doctor;
mod editor;
mod exchange;
mod exploring;

mod completeness;
mod eviction;
mod fixtures;
mod fleet;
mod freshness;
mod function_values;
mod guide;
mod hooks;
mod impact;
mod incremental;
mod index;
mod install;
#[cfg(feature = "faults")]
mod isolation;
mod layering;
mod lists;
mod page;
mod plugin;
#[cfg(feature = "publish")]
mod publish;
mod query;
mod readme;
mod release;
mod revisions;
mod sample;
mod server;
mod store;
mod system_limits;
mod terminal;
mod tiers;
mod transcripts;
mod unused;
mod user_files;
mod uses;
mod watch;
mod worker;
mod workspace;
