//! Identity of a namespace as a hash that is the same in every file.

use cograph_grammar::Language;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// Namespace, the same in every file that opens it, or the global one of a language family: a hash
/// of its qualified name, the same in every process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Space(pub(crate) u64);

impl Space {
    /// Global namespace of a language's family.
    pub(crate) fn root(language: &Language) -> Self {
        Self(FxBuildHasher.hash_one((
            0_u64,
            FxBuildHasher.hash_one(crate::units::import_target::family(language)),
        )))
    }

    /// Nested namespace with this name.
    pub(crate) fn below(self, name: &str) -> Self {
        Self(FxBuildHasher.hash_one((self.0, FxBuildHasher.hash_one(name))))
    }
}
