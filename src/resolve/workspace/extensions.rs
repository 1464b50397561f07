//! Derived tables: facts about types outside of their bodies (extension members, implemented
//! interfaces, interfaces by method). Plain data.

use crate::model::graph::SymbolRef;
use crate::resolve::units::footprint::FootprintBuilder;
use crate::resolve::{Name, Symbols};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Derived tables of all language families.
#[derive(Debug, Default)]
pub(in crate::resolve) struct Derived {
    /// Members defined outside of their type's body, by type.
    pub(in crate::resolve) extensions: FxHashMap<SymbolRef, FxHashMap<Name, Symbols>>,
    /// Types of members defined outside of their type's body.
    pub(in crate::resolve) containers: FxHashMap<SymbolRef, SymbolRef>,
    /// Interfaces implemented outside of the type's header.
    pub(in crate::resolve) implemented: FxHashMap<SymbolRef, Symbols>,
    /// External interfaces implemented outside of the type's header, by name.
    pub(in crate::resolve) implemented_outside: FxHashMap<SymbolRef, Vec<Box<str>>>,
    /// Extension members of external types, by the type's name.
    pub(in crate::resolve) external_extensions: FxHashMap<Box<str>, FxHashMap<Name, Symbols>>,
    /// Structural interfaces by the name of one of their methods.
    pub(in crate::resolve) interfaces: FxHashMap<Name, Vec<SymbolRef>>,
    /// Contributions of files, by language family.
    pub(in crate::resolve) families: BTreeMap<&'static str, Family>,
}

/// Contributions of the files of a family.
#[derive(Debug, Default)]
pub(in crate::resolve) struct Family {
    /// Nested types with their enclosing types.
    pub(in crate::resolve) nested: Vec<(SymbolRef, SymbolRef)>,
    pub(in crate::resolve) found: FoundExtensions,
    pub(in crate::resolve) interfaces: Vec<(Name, SymbolRef)>,
    /// Footprint of the computation.
    pub(in crate::resolve) asked: FootprintBuilder,
}

/// Extensions declared in files other than that of the type.
#[derive(Debug, Default)]
pub(in crate::resolve) struct FoundExtensions {
    /// Members with their types.
    pub(in crate::resolve) members: Vec<(SymbolRef, SymbolRef)>,
    /// Types with interfaces that they implement.
    pub(in crate::resolve) implemented: Vec<(SymbolRef, SymbolRef)>,
    /// Types with external interfaces that they implement.
    pub(in crate::resolve) outside: Vec<(SymbolRef, Box<str>)>,
    /// External types with their extension members.
    pub(in crate::resolve) external_extensions: Vec<(Box<str>, SymbolRef)>,
}

impl Derived {
    /// True if the contribution of a family depends on an altered answer.
    pub(in crate::resolve) fn depends_on_altered(
        &self,
        is_altered: impl Fn(&FootprintBuilder) -> bool,
    ) -> bool {
        self.families.values().any(|family| is_altered(&family.asked))
    }
}
