//! Identity of a namespace as a hash that is the same in every file.

use crate::grammar::Language;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// Namespace, the same in every file that opens it, or the global one of a language family: a hash
/// of its qualified name, the same in every process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(in crate::resolve) struct Space(pub(in crate::resolve) u64);

impl Space {
    /// Global namespace of a language's family.
    pub(in crate::resolve) fn root(language: &Language) -> Self {
        Self(FxBuildHasher.hash_one((
            0_u64,
            FxBuildHasher.hash_one(crate::resolve::units::import_target::family(language)),
        )))
    }

    /// Nested namespace with this name.
    pub(in crate::resolve) fn below(self, name: &str) -> Self {
        Self(FxBuildHasher.hash_one((self.0, FxBuildHasher.hash_one(name))))
    }
}
