//! Numbers that stand for answers to what resolutions ask: equal numbers before and after a change
//! mean the same answer. They name files by their keys, so that files may get other places in
//! between.

use crate::model::graph::{FileId, SymbolRef};
use crate::resolve::imports::Modules;
use crate::resolve::units::footprint::{Altered, Question};
use crate::resolve::workspace::tables::Tables;
use crate::resolve::{Name, Symbols};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::{BuildHasher, Hash, Hasher};

/// What tables answer that is made from many files.
pub(super) struct Answers {
    /// By file: what is added to its symbols elsewhere, or by them to symbols elsewhere.
    given: FxHashMap<u32, u64>,
    gained: FxHashMap<Box<str>, u64>,
    interfaces: FxHashMap<Name, u64>,
    /// The files of each package, by its identity, with its name.
    packages: FxHashMap<u64, (u64, String)>,
    nesting: u64,
    alternatives: u64,
}

fn number(value: impl Hash) -> u64 {
    FxBuildHasher.hash_one(value)
}

impl Answers {
    pub(in crate::resolve) fn of(tables: &Tables) -> Self {
        let derived = &tables.derived;
        let by_name = |members: &FxHashMap<Name, Symbols>| {
            members.iter().fold(0_u64, |sum, (name, found)| {
                sum.wrapping_add(number((name, symbols(tables, found))))
            })
        };
        let package = |package: &crate::resolve::imports::Package| {
            let files: Vec<u32> = package.files.iter().map(|file| tables.key(*file)).collect();
            (package.identity, (number(files), package.name.clone()))
        };
        Self {
            given: given(tables, &by_name),
            gained: derived
                .gained
                .iter()
                .map(|(ty, members)| (ty.clone(), by_name(members)))
                .collect(),
            interfaces: derived
                .interfaces
                .iter()
                .map(|(name, found)| (*name, symbols(tables, found)))
                .collect(),
            packages: tables.modules.packages.iter().map(package).collect(),
            nesting: tables.linkage.nesting(&|file| tables.key(file)),
            alternatives: tables.modules.alternatives.number(),
        }
    }

    /// Tells what other answers there are in `now`. Names are those of `tables`.
    pub(super) fn compare(&self, now: &Self, tables: &Tables, altered: &mut Altered) {
        differ(&self.given, &now.given, |key| altered.given.insert(FileId(*key)));
        differ(&self.gained, &now.gained, |ty| altered.question(Question::gained(ty)));
        differ(&self.interfaces, &now.interfaces, |name| {
            altered.question(Question::interfaces(tables.names.text(*name)))
        });
        differ(&self.packages, &now.packages, |identity| {
            altered.question(Question::package(*identity))
        });
        let names = |packages: &FxHashMap<u64, (u64, String)>,
                     others: &FxHashMap<u64, (u64, String)>| {
            let only = packages.iter().filter(|(identity, _)| !others.contains_key(*identity));
            only.map(|(_, (_, name))| name.clone()).collect::<Vec<_>>()
        };
        for name in names(&self.packages, &now.packages)
            .into_iter()
            .chain(names(&now.packages, &self.packages))
        {
            altered.question(Question::declared(&name));
            // Systems separate the parts of a name in different ways.
            for separator in ["/", ".", "::"] {
                altered.question(Question::child(name.rsplit(separator).next().unwrap_or(&name)));
            }
        }
        if self.nesting != now.nesting {
            altered.question(Question::SPACES);
        }
        if self.alternatives != now.alternatives {
            altered.question(Question::ALTERNATIVES);
        }
    }
}

fn symbol(tables: &Tables, symbol: SymbolRef) -> (u32, u32) {
    (tables.key(symbol.file), symbol.symbol.0)
}

fn symbols(tables: &Tables, symbols: &[SymbolRef]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    symbols.iter().for_each(|found| symbol(tables, *found).hash(&mut hasher));
    (symbols.len(), hasher.finish()).hash(&mut hasher);
    hasher.finish()
}

fn given(
    tables: &Tables,
    by_name: &impl Fn(&FxHashMap<Name, Symbols>) -> u64,
) -> FxHashMap<u32, u64> {
    let mut given: FxHashMap<u32, u64> = FxHashMap::default();
    let mut add = |of: &SymbolRef, part: u64| {
        let sum = given.entry(tables.key(of.file)).or_default();
        *sum = sum.wrapping_add(number((of.symbol, part)));
    };
    let derived = &tables.derived;
    derived.extensions.iter().for_each(|(ty, members)| add(ty, number((1, by_name(members)))));
    derived
        .implemented_outside
        .iter()
        .for_each(|(ty, interfaces)| add(ty, number((2, interfaces))));
    derived
        .implemented
        .iter()
        .for_each(|(ty, interfaces)| add(ty, number((3, symbols(tables, interfaces)))));
    derived
        .containers
        .iter()
        .for_each(|(member, ty)| add(member, number((4, symbol(tables, *ty)))));
    given
}

/// Stands for where the imports of a file lead, and what goes with that.
pub(super) struct Links {
    libraries: u64,
}

impl Links {
    pub(in crate::resolve) fn of(tables: &Tables) -> Self {
        Self { libraries: tables.modules.libraries(&|file| u64::from(tables.key(file))) }
    }

    pub(in crate::resolve) fn number(
        &self,
        tables: &Tables,
        modules: &Modules,
        file: FileId,
    ) -> u64 {
        modules.links(file, tables.import_targets(file), self.libraries, &|file| {
            u64::from(tables.key(file))
        })
    }
}

/// Tells of each key whose values differ, or which only one of the tables has.
fn differ<K: Hash + Eq, V: PartialEq>(
    old: &FxHashMap<K, V>,
    new: &FxHashMap<K, V>,
    mut tell: impl FnMut(&K),
) {
    old.iter().filter(|(key, value)| new.get(*key) != Some(*value)).for_each(|(key, _)| tell(key));
    new.keys().filter(|key| !old.contains_key(*key)).for_each(tell);
}
