//! Reading: connections, snapshots, the pool of open stores, and the sandbox for user SQL.

pub(super) mod connection;
pub(super) mod control;
pub(super) mod foreign;
pub(super) mod kept;
pub(super) mod meta;
pub(super) mod name_cache;
pub(super) mod order;
pub(super) mod path_table;
pub(super) mod pool;
mod row_decoder;
pub(super) mod sandbox;
pub(super) mod site_cache;
pub(super) mod snapshot;
pub(super) mod word_filters;
