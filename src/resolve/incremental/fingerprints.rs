//! Fingerprints of answers: equal fingerprints before and after a change mean the same answer. They
//! identify files by keys, so file ids may change in between.

use crate::imports::Modules;
use crate::units::footprint::{ChangedAnswers, Question};
use crate::units::interner::Name;
use crate::units::symbols::Symbols;
use crate::workspace::tables::Tables;
use cograph_faults::{Fault, planted};
use cograph_model::graph::{FileId, FileKey, SymbolRef};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::{BuildHasher, Hash, Hasher};

/// Fingerprints of the answers that depend on many files.
pub(super) struct Answers {
    /// By file: extensions of its symbols by other files, and by it of symbols in others.
    given: FxHashMap<FileKey, u64>,
    external_extensions: FxHashMap<Box<str>, u64>,
    interfaces: FxHashMap<Name, u64>,
    /// Files of each package by its identity, with its name.
    packages: FxHashMap<u64, (u64, String)>,
    nesting: u64,
    alternatives: u64,
    builds: u64,
}

fn number(value: impl Hash) -> u64 {
    FxBuildHasher.hash_one(value)
}

impl Answers {
    pub(crate) fn of(tables: &Tables) -> Self {
        let derived = &tables.derived;
        let by_name = |members: &FxHashMap<Name, Symbols>| {
            members.iter().fold(0_u64, |sum, (name, found)| {
                sum.wrapping_add(number((name, symbols(tables, found))))
            })
        };
        let package = |package: &crate::imports::Package| {
            let files: Vec<FileKey> =
                package.files.iter().map(|file| tables.files.key(*file)).collect();
            (package.identity, (number(files), package.name.clone()))
        };
        Self {
            given: given(tables, &by_name),
            external_extensions: derived
                .external_extensions
                .iter()
                .map(|(ty, members)| (ty.clone(), by_name(members)))
                .collect(),
            interfaces: derived
                .interfaces
                .iter()
                .map(|(name, found)| (*name, symbols(tables, found)))
                .collect(),
            packages: tables.modules.packages().iter().map(package).collect(),
            nesting: tables.linkage.nesting(&|file| tables.files.key(file)),
            alternatives: tables.modules.alternatives().number(),
            builds: tables.modules.builds().number(),
        }
    }

    /// Records the answers that differ in `now`. Names are those of `tables`.
    pub(super) fn compare(&self, now: &Self, tables: &Tables, altered: &mut ChangedAnswers) {
        if !planted(Fault::StaleMembers) {
            differ(&self.given, &now.given, |key| altered.given.insert(*key));
        }
        differ(&self.external_extensions, &now.external_extensions, |ty| {
            altered.question(Question::external_extensions(ty))
        });
        differ(&self.interfaces, &now.interfaces, |name| {
            altered.question(Question::interfaces(tables.files.names.text(*name)))
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
            // Separators of names differ between systems.
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
        if self.builds != now.builds {
            altered.question(Question::BUILDS);
        }
    }
}

fn symbol(tables: &Tables, symbol: SymbolRef) -> (FileKey, u32) {
    (tables.files.key(symbol.file), symbol.symbol.0)
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
) -> FxHashMap<FileKey, u64> {
    let mut given: FxHashMap<FileKey, u64> = FxHashMap::default();
    let mut add = |of: &SymbolRef, part: u64| {
        let sum = given.entry(tables.files.key(of.file)).or_default();
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

/// Fingerprints of the import targets of a file and related data.
pub(super) struct Links {
    libraries: u64,
}

impl Links {
    pub(crate) fn of(tables: &Tables) -> Self {
        Self { libraries: tables.modules.libraries(&|file| u64::from(tables.files.key(file).0)) }
    }

    pub(crate) fn number(&self, tables: &Tables, modules: &Modules, file: FileId) -> u64 {
        modules.links(file, tables.import_targets(file), self.libraries, &|file| {
            u64::from(tables.files.key(file).0)
        })
    }
}

/// Reports each key whose values differ, or that only one of the tables has.
fn differ<K: Hash + Eq, V: PartialEq>(
    old: &FxHashMap<K, V>,
    new: &FxHashMap<K, V>,
    mut tell: impl FnMut(&K),
) {
    old.iter().filter(|(key, value)| new.get(*key) != Some(*value)).for_each(|(key, _)| tell(key));
    new.keys().filter(|key| !old.contains_key(*key)).for_each(tell);
}
