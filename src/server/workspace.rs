//! Repositories of a client: roots, open stores, watches, index runs, metrics.

pub(super) mod host;
pub(super) mod metrics;
pub(super) mod repositories;
pub(super) mod roots;
