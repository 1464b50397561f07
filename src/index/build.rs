//! Full builds: plan, extract in parallel, resolve in parallel, write.

pub(crate) mod context;
pub(super) mod full_build;
pub(super) mod ingest;
pub(super) mod plan;
pub(super) mod read_back;
pub(super) mod resolve;
pub(super) mod workers;
