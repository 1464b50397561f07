//! Declared packages: files declare their package; imports name a package and types in it.

use super::{Modules, item};
use crate::Name;
use crate::units::import_target::{ImportTarget, Module, family};
use crate::workspace::program::Program;
use cograph_grammar::Language;
use cograph_model::facts::{Import, ImportKind};
use cograph_model::graph::FileId;

pub(super) fn target(program: &Program<'_>, file: FileId, import: &Import) -> Option<ImportTarget> {
    let named = |text: &str| program.named(text);
    let modules = &program.whole().modules;
    let language = program.known(file).language;
    let absolute = place(modules, language, &import.module, &named);
    let (package, mut path) = match absolute {
        Some((package, path)) if path.is_empty() => (package, path),
        _ => relative(program, file, &import.module).or(absolute)?,
    };
    if import.kind == ImportKind::Item {
        path.push(item(program, file, import)?);
    }
    Some(ImportTarget::in_module(Module::Package(package), path.into()))
}

/// Returns the same for a name relative to the package of the file or one around it, innermost
/// first, in languages in which an import inside of a package starts there.
fn relative(program: &Program<'_>, file: FileId, name: &str) -> Option<(u32, Vec<Name>)> {
    let unit = program.known(file);
    let rules = &unit.language.manifest.modules;
    let separator = rules.separator.as_str();
    let mut around = unit.facts.package.as_deref().filter(|_| rules.enclosing_packages)?;
    let (first, _) = name.split_once(separator).unwrap_or((name, ""));
    if rules.prelude.iter().any(|library| library == first) {
        return None;
    }
    loop {
        let below = |name: &str| format!("{around}{separator}{name}");
        let modules = &program.whole().modules;
        if modules.package_named(family(unit.language), &below(first)).is_some() {
            return place(modules, unit.language, &below(name), &|text| program.named(text));
        }
        around = around.rsplit_once(separator)?.0;
    }
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
