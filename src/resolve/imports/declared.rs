//! Declared packages: files declare their package; imports name a package and types in it.

use super::{Modules, item};
use crate::grammar::Language;
use crate::model::facts::{Import, ImportKind};
use crate::model::graph::FileId;
use crate::resolve::units::import_target::{ImportTarget, Module, family};
use crate::resolve::workspace::program::Program;

pub(super) fn target(program: &Program<'_>, file: FileId, import: &Import) -> Option<ImportTarget> {
    let language = program.known(file).language;
    let separator = language.manifest.modules.separator.as_str();
    let mut path = Vec::new();
    let mut package_name = import.module.to_string();
    // The longest prefix that is a package; the rest are nested types.
    let package = loop {
        if let Some(package) =
            program.whole().modules.package_named(family(language), &package_name)
            && !program.whole().modules.package(package).files.is_empty()
        {
            break package;
        }
        let (before, last) = package_name.rsplit_once(separator)?;
        path.push(program.named(last));
        package_name = before.to_owned();
    };
    path.reverse();
    if import.kind == ImportKind::Item {
        path.push(item(program, file, import)?);
    }
    Some(ImportTarget::Path { module: Module::Package(package), path: path.into() })
}

pub(super) fn child(
    modules: &Modules,
    language: &Language,
    module: Module,
    name: &str,
) -> Option<Module> {
    let Module::Package(package) = module else { return None };
    let name = match modules.package(package).name.as_str() {
        "" => name.to_owned(),
        above => format!("{above}{}{name}", language.manifest.modules.separator),
    };
    modules.package_named(family(language), &name).map(Module::Package)
}
