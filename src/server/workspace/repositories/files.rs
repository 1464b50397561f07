//! Files of an open repository, for reading source text.

use cograph_config as config;
use cograph_exchange::KeptManifests;
use cograph_source::Root;
use std::sync::Arc;

/// Files of a repository, for reading source text.
pub(crate) struct Files {
    pub(crate) root: Root,
    pub(crate) limits: config::Limits,
    /// Manifests that were read before.
    pub(crate) manifests: Arc<KeptManifests>,
}
