//! Declared packages: files declare their package; imports name a package and types in it.

use super::layout::Layout;
use super::system::{Importer, ModuleSystem, Surroundings};
use crate::units::import_target::{ImportTarget, Module, family};
use crate::units::interner::Name;
use cograph_grammar::Language;
use cograph_model::facts::{Import, ImportKind, ScopeId};

/// The system.
#[derive(Debug, Default)]
pub(super) struct DeclaredPackages;

impl ModuleSystem for DeclaredPackages {
    fn targets(&self, of: Importer<'_>) -> Vec<Option<ImportTarget>> {
        of.each(|import| target(of, import))
    }

    fn child(&self, around: Surroundings<'_>, module: Module, name: &str) -> Option<Module> {
        let Module::Package(package) = module else { return None };
        let name = match around.layout.package(package).name.as_str() {
            "" => name.to_owned(),
            above => format!("{above}{}{name}", around.language.manifest.modules.separator),
        };
        around.layout.package_named(family(around.language), &name).map(Module::Package)
    }

    fn has_children(&self, _: Surroundings<'_>, module: Module) -> bool {
        matches!(module, Module::Package(_))
    }
}

fn target(of: Importer<'_>, import: &Import) -> Option<ImportTarget> {
    let absolute = place(of.layout, of.language(), &import.module, &|text| of.named(text));
    let (package, mut path) = match absolute {
        Some((package, path)) if path.is_empty() => (package, path),
        _ => relative(of, &import.module, import.scope).or(absolute)?,
    };
    if import.kind == ImportKind::Item {
        path.push(of.item(import)?);
    }
    Some(ImportTarget::in_module(Module::Package(package), path.into()))
}

/// Returns the same for a name relative to the package of the file or one around it, innermost
/// first, in languages in which an import inside of a package starts there.
fn relative(of: Importer<'_>, name: &str, scope: ScopeId) -> Option<(u32, Vec<Name>)> {
    let rules = of.rules();
    let separator = rules.separator.as_str();
    let own = of.unit.spaces.package_around(of.unit.facts, scope);
    let mut around = own.filter(|_| rules.enclosing_packages)?;
    let (first, _) = name.split_once(separator).unwrap_or((name, ""));
    if rules.prelude.iter().any(|library| library == first) {
        return None;
    }
    loop {
        let below = |name: &str| format!("{around}{separator}{name}");
        if of.layout.package_named(family(of.language()), &below(first)).is_some() {
            return place(of.layout, of.language(), &below(name), &|text| of.named(text));
        }
        around = around.rsplit_once(separator)?.0;
    }
}

/// Returns the package that is the longest prefix of a name, and the nested types behind it.
pub(super) fn place(
    layout: &Layout,
    language: &Language,
    name: &str,
    named: &impl Fn(&str) -> Name,
) -> Option<(u32, Vec<Name>)> {
    let separator = language.manifest.modules.separator.as_str();
    let (mut path, mut package_name) = (Vec::new(), name);
    loop {
        if let Some(package) = layout.package_named(family(language), package_name)
            && !layout.package(package).files.is_empty()
        {
            path.reverse();
            return Some((package, path));
        }
        let (before, last) = package_name.rsplit_once(separator)?;
        path.push(named(last));
        package_name = before;
    }
}
