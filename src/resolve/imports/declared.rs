//! Declared packages: files declare their package; imports name a package and types in it.

use super::{Modules, item};
use crate::grammar::Language;
use crate::model::facts::{Import, ImportKind};
use crate::model::graph::FileId;
use crate::resolve::Name;
use crate::resolve::units::import_target::{ImportTarget, Module, family};
use crate::resolve::workspace::program::Program;

pub(super) fn target(program: &Program<'_>, file: FileId, import: &Import) -> Option<ImportTarget> {
    let language = program.known(file).language;
    let named = |text: &str| program.named(text);
    let (package, mut path) = place(&program.whole().modules, language, &import.module, &named)?;
    if import.kind == ImportKind::Item {
        path.push(item(program, file, import)?);
    }
    Some(ImportTarget::in_module(Module::Package(package), path.into()))
}

/// Returns the package that is the longest prefix of a name, and the nested types behind it.
pub(super) fn place(
    modules: &Modules,
    language: &Language,
    name: &str,
    named: &impl Fn(&str) -> Name,
) -> Option<(u32, Vec<Name>)> {
    let separator = language.manifest.modules.separator.as_str();
    let (mut path, mut package_name) = (Vec::new(), name);
    loop {
        if let Some(package) = modules.package_named(family(language), package_name)
            && !modules.package(package).files.is_empty()
        {
            path.reverse();
            return Some((package, path));
        }
        let (before, last) = package_name.rsplit_once(separator)?;
        path.push(named(last));
        package_name = before;
    }
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
