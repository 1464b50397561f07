//! A namespace as one number, the same in whatever files it is opened.

use crate::grammar::Language;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// A namespace, the same one in whatever files it is opened, or the outermost one of a family of
/// languages: a hash of what it is called from the outermost on, the same in every process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(in crate::resolve) struct Space(pub(in crate::resolve) u64);

impl Space {
    /// The outermost one of a language's family.
    pub(in crate::resolve) fn root(language: &Language) -> Self {
        Self(FxBuildHasher.hash_one((
            0_u64,
            FxBuildHasher.hash_one(crate::resolve::units::import_target::family(language)),
        )))
    }

    /// The one of this name inside of it.
    pub(in crate::resolve) fn below(self, name: &str) -> Self {
        Self(FxBuildHasher.hash_one((self.0, FxBuildHasher.hash_one(name))))
    }
}
