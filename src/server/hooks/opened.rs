//! The store of a repository, if it has one.

use cograph_config::Repository;
use cograph_model::cancel::CancelToken;
use cograph_store::{Location, Snapshot, Store};
use std::sync::Arc;

pub(crate) fn opened(repository: &Repository, cancel: &CancelToken) -> Option<Snapshot> {
    let location = Location::new(&repository.cache, &repository.root).under(repository.rules);
    Arc::new(Store::open_newest(&location).ok()?).snapshot(cancel).ok()
}
