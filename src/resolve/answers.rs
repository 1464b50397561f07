//! Numbers that stand for answers to what resolutions ask: equal numbers before and after a change mean the same answer. They
//! name files by their paths, so that files may get other positions in between.

use super::asked::Question;
use super::linkage::Space;
use super::tables::Tables;
use super::unit::Names;
use super::{Name, Symbols};
use crate::model::graph::{FileId, SymbolRef};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::{BuildHasher, Hash};

/// The tables with what is needed to number their answers.
pub(super) struct Answers<'t> {
    tables: &'t Tables,
    /// Of all time: also names that these tables do not know.
    names: &'t Names,
    /// A number for the path of each file.
    paths: Vec<u64>,
    spaces: FxHashMap<u64, Space>,
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
        Self { tables, names, spaces: tables.linkage.by_identity(), packages: packages.collect(), nesting, paths }
    }

    fn path(&self, file: FileId) -> u64 {
        self.paths[file.0 as usize]
    }

    fn symbol(&self, symbol: SymbolRef) -> (u64, u32) {
        (self.path(symbol.file), symbol.symbol.0)
    }

    fn symbols(&self, symbols: &[SymbolRef]) -> u64 {
        number(symbols.iter().map(|symbol| self.symbol(*symbol)).collect::<Vec<_>>())
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

    /// The answer to a question; `moved` says where the file is that the question names.
    pub(super) fn answer(&self, question: &Question, moved: impl Fn(FileId) -> Option<FileId>) -> u64 {
        let tables = self.tables;
        let symbols = |symbols: Option<&[SymbolRef]>| symbols.map_or(0, |symbols| self.symbols(symbols));
        match question {
            Question::Name(name) => u64::from(self.names.exists(*name)),
            Question::NoName(text) => u64::from(self.names.get(text).is_some()),
            Question::Gained(ty) => tables.gained.get(ty).map_or(0, |members| self.by_name(members)),
            Question::Interfaces(name) => symbols(tables.interfaces.get(name).map(Vec::as_slice)),
            Question::Members(name) => symbols(tables.members.get(name).map(|found| &found[..])),
            Question::Macros(name) => symbols(tables.macros.get(name).map(|found| &found[..])),
            Question::Package(identity) => self.packages.get(identity).map_or(0, |package| {
                let files = &tables.modules.package(*package).files;
                number(files.iter().map(|file| self.path(*file)).collect::<Vec<_>>())
            }),
            Question::Declared(file, word) => {
                let language = moved(*file).and_then(|file| tables.unit(file)).map(|unit| unit.language);
                let module = language.and_then(|language| tables.modules.declared_package(language, word));
                module.map_or(0, |module| tables.modules.module_number(module, &|file| self.path(file)))
            }
            Question::ChildOfFile(file, name) => {
                moved(*file).map_or(0, |file| self.child(super::modules::Module::File(file), *name))
            }
            Question::ChildOfPackage(identity, name) => {
                let package = self.packages.get(identity);
                package.map_or(0, |package| self.child(super::modules::Module::Package(*package), *name))
            }
            Question::Space(identity, name) => {
                let space = self.spaces.get(identity);
                symbols(space.and_then(|space| tables.linkage.names.get(&(*space, *name))).map(|found| &found[..]))
            }
            Question::Spaces => self.nesting,
        }
    }

    fn child(&self, module: super::modules::Module, name: Name) -> u64 {
        let child = self.tables.modules.child(self.tables, module, self.names.text(name));
        child.map_or(0, |child| self.tables.modules.module_number(child, &|file| self.path(file)))
    }
}
