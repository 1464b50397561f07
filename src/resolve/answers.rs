//! Numbers that stand for answers to what resolutions ask: equal numbers before and after a change mean the same answer. They
//! name files by their paths, so that files may get other positions in between.

use super::asked::Question;
use super::linkage::{Linkage, Space};
use super::modules::Module;
use super::tables::Tables;
use super::unit::Names;
use super::{Name, Symbols};
use crate::model::graph::{FileId, SymbolRef};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::{BuildHasher, Hash, Hasher};

/// The tables with what is needed to number their answers.
pub(super) struct Answers<'t> {
    tables: &'t Tables,
    /// Of all time: also names that these tables do not know.
    names: &'t Names,
    /// A number for the path of each file.
    paths: Vec<u64>,
    packages: FxHashMap<u64, u32>,
    nesting: u64,
}

fn number(value: impl Hash) -> u64 {
    FxBuildHasher.hash_one(value)
}

impl<'t> Answers<'t> {
    pub(super) fn new(tables: &'t Tables, names: &'t Names) -> Self {
        let paths: Vec<u64> = tables.files.iter().map(|file| number(file.path.as_str())).collect();
        let nesting = tables.linkage.nesting(&|file: FileId| paths[file.0 as usize]);
        let packages = tables.modules.packages.iter().zip(0_u32..).map(|(package, position)| (package.identity, position));
        Self { tables, names, packages: packages.collect(), nesting, paths }
    }

    fn path(&self, file: FileId) -> u64 {
        self.paths[file.0 as usize]
    }

    fn symbol(&self, symbol: SymbolRef) -> (u64, u32) {
        (self.path(symbol.file), symbol.symbol.0)
    }

    fn symbols(&self, symbols: &[SymbolRef]) -> u64 {
        let mut hasher = FxBuildHasher.build_hasher();
        symbols.iter().for_each(|symbol| self.symbol(*symbol).hash(&mut hasher));
        (symbols.len(), hasher.finish()).hash(&mut hasher);
        hasher.finish()
    }

    fn by_name(&self, members: &FxHashMap<Name, Symbols>) -> u64 {
        members.iter().fold(0, |sum, (name, symbols)| sum.wrapping_add(number((name, self.symbols(symbols)))))
    }

    /// For each file: where its imports lead, and what goes with that.
    pub(super) fn links(&self) -> Vec<u64> {
        let path = |file: FileId| self.path(file);
        let libraries = self.tables.modules.libraries(&path);
        self.tables.ids().map(|file| self.tables.modules.links(file, libraries, &path)).collect()
    }

    /// For each file: what is added to its symbols elsewhere, or by them to symbols elsewhere.
    pub(super) fn given(&self) -> Vec<u64> {
        let tables = self.tables;
        let mut given = vec![0_u64; tables.files.len()];
        let mut add = |symbol: &SymbolRef, part: u64| {
            let sum = &mut given[symbol.file.0 as usize];
            *sum = sum.wrapping_add(number((symbol.symbol, part)));
        };
        tables.extensions.iter().for_each(|(ty, members)| add(ty, number((1, self.by_name(members)))));
        tables.implemented_outside.iter().for_each(|(ty, interfaces)| add(ty, number((2, interfaces))));
        tables.implemented.iter().for_each(|(ty, interfaces)| add(ty, number((3, self.symbols(interfaces)))));
        tables.containers.iter().for_each(|(member, ty)| add(member, number((4, self.symbol(*ty)))));
        given
    }

    /// The questions that have another answer in `new`, but for those about names and about places: what the tables tell is
    /// compared once, however often it was asked for.
    pub(super) fn differing(&self, new: &Self) -> FxHashSet<Question> {
        let (old, now) = (self.tables, new.tables);
        let mut found = FxHashSet::default();
        let (was, is) = (|symbols: &[SymbolRef]| self.symbols(symbols), |symbols: &[SymbolRef]| new.symbols(symbols));
        differ(&old.members, &now.members, |found| was(found), |found| is(found), |name| found.insert(Question::Members(*name)));
        differ(&old.macros, &now.macros, |found| was(found), |found| is(found), |name| found.insert(Question::Macros(*name)));
        let interfaces = |name: &Name| found.insert(Question::Interfaces(*name));
        differ(&old.interfaces, &now.interfaces, |found| was(found), |found| is(found), interfaces);
        let (had, has) = (|members: &_| self.by_name(members), |members: &_| new.by_name(members));
        differ(&old.gained, &now.gained, had, has, |ty| found.insert(Question::Gained(ty.clone())));
        let (had, has) = (|package: &u32| self.package(*package), |package: &u32| new.package(*package));
        differ(&self.packages, &new.packages, had, has, |package| found.insert(Question::Package(*package)));
        found.extend(self.differing_in_spaces(new));
        if self.nesting != new.nesting {
            found.insert(Question::Spaces);
        }
        found
    }

    /// The questions about namespaces that have another answer: these are the same by what they are called, not by their numbers.
    fn differing_in_spaces(&self, new: &Self) -> Vec<Question> {
        let (old, now) = (&self.tables.linkage, &new.tables.linkage);
        let (were, are) = (old.by_identity(), now.by_identity());
        let question = |linkage: &Linkage, (space, name): &(Space, Name)| Question::Space(linkage.identity(*space), *name);
        let in_other = |from: &Linkage, to: &FxHashMap<u64, Space>, (space, name): &(Space, Name)| {
            Some((*to.get(&from.identity(*space))?, *name))
        };
        let is_other = |(key, symbols): &(&(Space, Name), &Symbols)| {
            let is = in_other(old, &are, key).and_then(|key| Some((key, now.names.get(&key)?)));
            is.is_none_or(|(is, now_symbols)| {
                self.symbols(symbols) != new.symbols(now_symbols) || old.has_declaration(**key) != now.has_declaration(is)
            })
        };
        let is_new = |key: &&(Space, Name)| in_other(now, &were, key).is_none_or(|key| !old.names.contains_key(&key));
        let others = old.names.iter().filter(is_other).map(|(key, _)| question(old, key));
        others.chain(now.names.keys().filter(is_new).map(|key| question(now, key))).collect()
    }

    fn package(&self, package: u32) -> u64 {
        number(self.tables.modules.package(package).files.iter().map(|file| self.path(*file)).collect::<Vec<_>>())
    }

    /// The answer to a question about a place; `moved` says where the file is that the question names.
    pub(super) fn place(&self, question: &Question, moved: impl Fn(FileId) -> Option<FileId>) -> u64 {
        let tables = self.tables;
        match question {
            Question::Declared(file, word) => {
                let language = moved(*file).and_then(|file| tables.unit(file)).map(|unit| unit.language);
                let module = language.and_then(|language| tables.modules.declared_package(language, word));
                module.map_or(0, |module| tables.modules.module_number(module, &|file| self.path(file)))
            }
            Question::ChildOfFile(file, name) => moved(*file).map_or(0, |file| self.child(Module::File(file), *name)),
            Question::ChildOfPackage(identity, name) => {
                self.packages.get(identity).map_or(0, |package| self.child(Module::Package(*package), *name))
            }
            _ => unreachable!("every other question is answered by `differing`, or is about names"),
        }
    }

    fn child(&self, module: Module, name: Name) -> u64 {
        let child = self.tables.modules.child(self.tables, module, self.names.text(name));
        child.map_or(0, |child| self.tables.modules.module_number(child, &|file| self.path(file)))
    }
}

/// Tells of each key whose values differ, or which only one of the tables has.
fn differ<K: Hash + Eq, V>(
    old: &FxHashMap<K, V>,
    new: &FxHashMap<K, V>,
    was: impl Fn(&V) -> u64,
    is: impl Fn(&V) -> u64,
    mut tell: impl FnMut(&K) -> bool,
) {
    let differs = |(key, value): &(&K, &V)| new.get(*key).is_none_or(|now| was(value) != is(now));
    let gone_or_other = old.iter().filter(differs).map(|(key, _)| key);
    gone_or_other.chain(new.keys().filter(|key| !old.contains_key(*key))).for_each(|key| {
        tell(key);
    });
}
