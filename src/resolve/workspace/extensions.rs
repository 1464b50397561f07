//! Derived tables: facts about types outside of their bodies (extension members, implemented
//! interfaces, interfaces by method). Plain data.

use crate::units::footprint::FootprintBuilder;
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use cograph_model::graph::SymbolRef;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Derived tables of all language families.
#[derive(Debug, Default)]
pub(crate) struct Derived {
    /// Members defined outside of their type's body, by type.
    pub(crate) extensions: FxHashMap<SymbolRef, FxHashMap<Name, Symbols>>,
    /// Types of members defined outside of their type's body.
    pub(crate) containers: FxHashMap<SymbolRef, SymbolRef>,
    /// Interfaces implemented outside of the type's header.
    pub(crate) implemented: FxHashMap<SymbolRef, Symbols>,
    /// External interfaces implemented outside of the type's header, by name.
    pub(crate) implemented_outside: FxHashMap<SymbolRef, Vec<Box<str>>>,
    /// Extension members of external types, by the type's name.
    pub(crate) external_extensions: FxHashMap<Box<str>, FxHashMap<Name, Symbols>>,
    /// Structural interfaces by the name of one of their methods.
    pub(crate) interfaces: FxHashMap<Name, Vec<SymbolRef>>,
    /// Contributions of files, by language family.
    pub(crate) families: BTreeMap<&'static str, Family>,
}

/// Contributions of the files of a family.
#[derive(Debug, Default)]
pub(crate) struct Family {
    /// Nested types with their enclosing types.
    pub(crate) nested: Vec<(SymbolRef, SymbolRef)>,
    pub(crate) found: FoundExtensions,
    pub(crate) interfaces: Vec<(Name, SymbolRef)>,
    /// Footprint of the computation.
    pub(crate) asked: FootprintBuilder,
}

/// Extensions declared in files other than that of the type.
#[derive(Debug, Default)]
pub(crate) struct FoundExtensions {
    /// Members with their types.
    pub(crate) members: Vec<(SymbolRef, SymbolRef)>,
    /// Types with interfaces that they implement.
    pub(crate) implemented: Vec<(SymbolRef, SymbolRef)>,
    /// Types with external interfaces that they implement.
    pub(crate) outside: Vec<(SymbolRef, Box<str>)>,
    /// External types with their extension members.
    pub(crate) external_extensions: Vec<(Box<str>, SymbolRef)>,
}

impl Derived {
    /// True if the contribution of a family depends on an altered answer.
    pub(crate) fn depends_on_altered(
        &self,
        is_altered: impl Fn(&FootprintBuilder) -> bool,
    ) -> bool {
        self.families.values().any(|family| is_altered(&family.asked))
    }
}
