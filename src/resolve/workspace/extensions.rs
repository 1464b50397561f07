//! What is said about types outside of their bodies, as plain data: members, interfaces, and which
//! interfaces have a method.

use crate::model::graph::SymbolRef;
use crate::resolve::units::footprint::Asking;
use crate::resolve::{Name, Symbols};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The tables of all families.
#[derive(Debug, Default)]
pub(in crate::resolve) struct Derived {
    /// Members that are defined outside of their type's body.
    pub(in crate::resolve) extensions: FxHashMap<SymbolRef, FxHashMap<Name, Symbols>>,
    /// The type of each member that is defined outside of its type's body.
    pub(in crate::resolve) containers: FxHashMap<SymbolRef, SymbolRef>,
    /// Interfaces that types implement outside of their header.
    pub(in crate::resolve) implemented: FxHashMap<SymbolRef, Symbols>,
    /// Interfaces from outside that types implement outside of their header, by name.
    pub(in crate::resolve) implemented_outside: FxHashMap<SymbolRef, Vec<Box<str>>>,
    /// Members that types from outside gain here, by the type's name.
    pub(in crate::resolve) gained: FxHashMap<Box<str>, FxHashMap<Name, Symbols>>,
    /// Interfaces that are satisfied by having their methods, by the name of one of these.
    pub(in crate::resolve) interfaces: FxHashMap<Name, Vec<SymbolRef>>,
    /// What the families' files say, by family.
    pub(in crate::resolve) families: BTreeMap<&'static str, Family>,
}

/// What the files of a family say.
#[derive(Debug, Default)]
pub(in crate::resolve) struct Family {
    /// Nested types with the types around them.
    pub(in crate::resolve) nested: Vec<(SymbolRef, SymbolRef)>,
    pub(in crate::resolve) found: FoundExtensions,
    pub(in crate::resolve) interfaces: Vec<(Name, SymbolRef)>,
    /// What was looked at to find that out.
    pub(in crate::resolve) asked: Asking,
}

/// What files say about types that are not theirs.
#[derive(Debug, Default)]
pub(in crate::resolve) struct FoundExtensions {
    /// Members with their types.
    pub(in crate::resolve) members: Vec<(SymbolRef, SymbolRef)>,
    /// Types with interfaces that they implement.
    pub(in crate::resolve) implemented: Vec<(SymbolRef, SymbolRef)>,
    /// The same for interfaces from outside.
    pub(in crate::resolve) outside: Vec<(SymbolRef, Box<str>)>,
    /// Types from outside with members that they gain.
    pub(in crate::resolve) gained: Vec<(Box<str>, SymbolRef)>,
}

impl Derived {
    /// Whether what a family's files say was found out with the help of something that is
    /// `altered`.
    pub(in crate::resolve) fn rests_on(&self, is_altered: impl Fn(&Asking) -> bool) -> bool {
        self.families.values().any(|family| is_altered(&family.asked))
    }
}
