//! Type hierarchy: the types that a type inherits from, in lookup order.

use crate::grammar::MemberLookup;
use crate::model::SymbolKind;
use crate::model::facts::Expr;
use crate::model::graph::SymbolRef;
use crate::resolve::Resolver;
use crate::resolve::members::mro::{breadth_first, depth_first, merge};
use crate::resolve::types::ty::{Ty, TyList, no_types};
use crate::resolve::units::bounds::MAX_BASES;
use std::rc::Rc;

/// Type and all its ancestors in lookup order, each with the type arguments of the inheritance.
#[derive(Debug, Default)]
pub(in crate::resolve) struct Hierarchy {
    pub(in crate::resolve) types: Vec<(SymbolRef, TyList)>,
    /// Names of external bases.
    pub(in crate::resolve) outside: Vec<Rc<str>>,
    /// True if a base is unknown.
    pub(in crate::resolve) open: bool,
    /// True for single inheritance: the hierarchy is then the type and the hierarchy of its base.
    pub(super) is_linear: bool,
}

/// Type whose hierarchy is being computed.
struct PendingHierarchy {
    pub(super) symbol: SymbolRef,
    /// Its bases, and the number of bases visited.
    pub(super) bases: Vec<Ty>,
    visited: usize,
}

impl Hierarchy {
    /// Adds external bases without duplicates.
    fn add_outside(&mut self, names: &[Rc<str>]) {
        for name in names {
            if !self.outside.contains(name) {
                self.outside.push(name.clone());
            }
        }
    }
}

impl Resolver<'_, '_> {
    /// Returns the bases of a type in source order, including external ones.
    fn direct_bases(&mut self, symbol: SymbolRef) -> Vec<Ty> {
        let facts = self.program.known(symbol.file).facts;
        let mut bases = Vec::new();
        for part in self.parts_of_type(symbol) {
            for base in &facts.lists[self.program.symbol(part).bases.range()] {
                if let Some(Expr::Base(base, _)) = base.get().map(|position| facts.exprs[position])
                {
                    bases.push(self.base_type(symbol.file, base));
                }
            }
        }
        let entry = self.program.symbol(symbol);
        if entry.kind == SymbolKind::Variant && entry.inner.is_some() && entry.container.is_some() {
            // Enum value with members of its own.
            bases.push(Ty::instance(SymbolRef { file: symbol.file, symbol: entry.container }));
        }
        bases
    }

    /// Returns the first base that a type extends rather than implements.
    pub(in crate::resolve) fn extended(&mut self, symbol: SymbolRef) -> Option<Ty> {
        let facts = self.program.known(symbol.file).facts;
        let bases = &facts.lists[self.program.symbol(symbol).bases.range()];
        let base = bases.iter().find_map(|base| {
            match base.get().map(|position| facts.exprs[position]) {
                Some(Expr::Base(base, false)) => Some(base),
                _ => None,
            }
        })?;
        Some(self.ty(symbol.file, base))
    }

    /// Returns the hierarchy of a type in the language's order: the nearest `MAX_BASES`, and open
    /// if there are more.
    pub(in crate::resolve) fn hierarchy(&mut self, symbol: SymbolRef) -> Rc<Hierarchy> {
        if let Some(known) = self.linear.get(&symbol) {
            return known.clone();
        }
        // Bases first, iteratively: a chain of types can be as long as a file.
        let mut waiting = vec![self.begin_hierarchy(symbol)];
        while let Some(PendingHierarchy { bases, visited, .. }) = waiting.last_mut() {
            let next = bases[*visited..]
                .iter()
                .inspect(|_| *visited += 1)
                .filter_map(declared)
                .find(|base| !self.linear.contains_key(base));
            match next {
                Some(base) => {
                    let next = self.begin_hierarchy(base);
                    waiting.push(next);
                }
                None => {
                    let Some(PendingHierarchy { symbol, bases, .. }) = waiting.pop() else { break };
                    let hierarchy = self.join_hierarchy(symbol, &bases);
                    self.linear.insert(symbol, Rc::new(hierarchy));
                }
            }
        }
        self.linear[&symbol].clone()
    }

    /// Collects the bases of a type, with aliases resolved.
    fn begin_hierarchy(&mut self, symbol: SymbolRef) -> PendingHierarchy {
        // Ends circular bases: a type has no bases while they are being computed.
        self.linear.insert(
            symbol,
            Rc::new(Hierarchy { types: vec![(symbol, no_types())], ..Hierarchy::default() }),
        );
        let mut bases = Vec::new();
        for base in self.direct_bases(symbol) {
            for base in base.alternatives() {
                bases.push(match base {
                    Ty::Type(base, args) | Ty::Instance(base, args) => {
                        Ty::Type(self.alias_target(*base).unwrap_or(*base), args.clone())
                    }
                    other => other.clone(),
                });
            }
        }
        PendingHierarchy { symbol, bases, visited: 0 }
    }

    /// Joins a type with the known hierarchies of its bases.
    fn join_hierarchy(&mut self, symbol: SymbolRef, bases: &[Ty]) -> Hierarchy {
        let mut hierarchy = Hierarchy { types: vec![(symbol, no_types())], ..Hierarchy::default() };
        let mut parents: Vec<Vec<(SymbolRef, TyList)>> = Vec::new();
        hierarchy.is_linear = bases.len() <= 1;
        for base in bases {
            match base {
                Ty::Type(base, args) => {
                    let above = self.linear[base].clone();
                    let map = self.arguments_of(*base, args);
                    let own = (*base, args.clone());
                    let mapped = |args: &TyList| match args.is_empty() {
                        true => args.clone(),
                        false => args.iter().map(|arg| arg.map(&map)).collect(),
                    };
                    let inherited =
                        above.types.iter().skip(1).map(|(ty, args)| (*ty, mapped(args)));
                    parents.push(std::iter::once(own).chain(inherited).collect());
                    hierarchy.add_outside(&above.outside);
                    hierarchy.open |= above.open;
                    hierarchy.is_linear &= above.is_linear;
                }
                Ty::External(name) | Ty::Builtin(name, _) | Ty::BuiltinType(name, _) => {
                    hierarchy.add_outside(std::slice::from_ref(name));
                }
                _ => hierarchy.open = true,
            }
        }
        if let Some(interfaces) = self.program.implemented(symbol) {
            hierarchy.is_linear = false;
            parents.extend(interfaces.iter().map(|interface| vec![(*interface, no_types())]));
        }
        let order = self.program.known(symbol.file).language.manifest.resolution.members;
        match order {
            MemberLookup::C3 => merge(&mut hierarchy.types, parents),
            MemberLookup::Embedding => breadth_first(&mut hierarchy.types, parents),
            MemberLookup::Chain | MemberLookup::InherentFirst => {
                depth_first(&mut hierarchy.types, parents)
            }
        }
        hierarchy.open |=
            hierarchy.types.len() > MAX_BASES || !self.budget.take(hierarchy.types.len());
        hierarchy.types.truncate(MAX_BASES);
        hierarchy
    }
}

/// Returns the type of the repository that a base is.
fn declared(base: &Ty) -> Option<SymbolRef> {
    match base {
        Ty::Type(symbol, _) => Some(*symbol),
        _ => None,
    }
}
