//! Modules of a package: their files, and the symbols of their top level, own ones and those that
//! they hand on.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::public::{Exports, Part};
use crate::graph::error::QueryError;
use crate::names::segments;
use cograph_grammar as grammar;
use cograph_model::facts::flags;
use cograph_model::package::{ModuleFiles, OfferedPackage};
use cograph_model::{SiteKind, SymbolKind};
use cograph_store::{FileKey, FileRow, SiteRow, SymbolKey};

/// Maximum number of modules through which a name is handed on.
const MAX_STEPS: usize = 64;

/// Module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Module {
    /// Files, of which the first that has a name counts.
    Files(Vec<FileKey>),
    /// Files directly in a directory.
    Directory(String),
    /// Files that declare it.
    Declared(Vec<String>),
    /// Headers, each with what it includes.
    Included(Rc<FxHashSet<FileKey>>),
}

/// Module of a package by its path; none if there is no such file.
pub(super) fn module_at(
    exports: &Exports<'_>,
    package: &OfferedPackage,
    path: &[Part<'_>],
) -> Result<Option<Module>, QueryError> {
    let names: Vec<&str> = path.iter().map(|part| part.name).collect();
    Ok(match package.form.files {
        ModuleFiles::Directory => {
            let above = Some(package.directory.as_str()).filter(|above| !above.is_empty());
            let parts: Vec<&str> = above.into_iter().chain(names).collect();
            Some(Module::Directory(parts.join("/")))
        }
        ModuleFiles::Declared => {
            Some(Module::Declared(names.iter().map(|&name| name.to_owned()).collect()))
        }
        // A name has no header in it.
        ModuleFiles::Included => None,
        ModuleFiles::Path => {
            let files = files_of(exports, package, &names)?;
            (!files.is_empty()).then_some(Module::Files(files))
        }
    })
}

fn files_of(
    exports: &Exports<'_>,
    package: &OfferedPackage,
    path: &[&str],
) -> Result<Vec<FileKey>, QueryError> {
    let form = &package.form;
    let languages = form.languages.iter().filter_map(|name| grammar::by_name(name));
    let endings: Vec<&str> = languages
        .flat_map(|language| &language.manifest.detect.extensions)
        .map(String::as_str)
        .collect();
    let mut found = Vec::new();
    for source in &form.sources {
        let parts = [package.directory.as_str(), source.as_str()].into_iter();
        let parts: Vec<&str> =
            parts.filter(|part| !part.is_empty()).chain(path.iter().copied()).collect();
        let base = parts.join("/");
        let own = (!path.is_empty()).then(|| base.clone());
        let inner = form.index.iter().map(|index| match base.as_str() {
            "" => index.clone(),
            base => format!("{base}/{index}"),
        });
        for stem in own.into_iter().chain(inner) {
            for ending in &endings {
                let file = exports.lookup.snapshot.file_at(&format!("{stem}.{ending}"))?;
                found.extend(file.map(|file| file.key).filter(|key| !found.contains(key)));
            }
        }
    }
    Ok(found)
}

/// Symbols of the top level of a module by a name.
pub(super) fn top_level(
    exports: &Exports<'_>,
    module: &Module,
    name: &str,
) -> Result<Vec<SymbolKey>, QueryError> {
    let mut found = Vec::new();
    match module {
        Module::Files(files) => {
            let mut seen = FxHashSet::default();
            for &file in files {
                found = handed_on(exports, file, name, &mut seen)?;
                if !found.is_empty() {
                    break;
                }
            }
        }
        Module::Directory(directory) => {
            for head in exports.heads(name)?.iter().filter(|head| head.container.is_none()) {
                let place = exports.lookup.place(head.file)?;
                let is_here = place.path.directory() == directory && !place.test;
                if is_here && exports.is_public(head.key)? {
                    found.push(head.key);
                }
            }
        }
        Module::Included(files) => {
            for head in exports.heads(name)?.iter().filter(|head| head.container.is_none()) {
                if files.contains(&head.file) && exports.is_public(head.key)? {
                    found.push(head.key);
                }
            }
        }
        Module::Declared(wanted) => {
            for head in exports.heads(name)?.iter().filter(|head| head.container.is_none()) {
                let file = exports.lookup.file(head.file)?;
                let own = file.package.as_deref().map(segments).unwrap_or_default();
                let is_here = own.iter().eq(wanted.iter()) && !file.test;
                if is_here && exports.is_public(head.key)? {
                    found.push(head.key);
                }
            }
        }
    }
    Ok(found)
}

/// Symbols that a file has at its top level by a name, or imports by it, or takes from a
/// module with everything else in it.
fn handed_on(
    exports: &Exports<'_>,
    file: FileKey,
    name: &str,
    seen: &mut FxHashSet<FileKey>,
) -> Result<Vec<SymbolKey>, QueryError> {
    exports.lookup.check()?;
    if seen.len() >= MAX_STEPS || !seen.insert(file) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let own = |container: &Option<SymbolKey>| container.is_none();
    for head in exports.heads(name)?.iter().filter(|head| head.file == file) {
        if own(&head.container) && exports.is_public(head.key)? {
            found.push(head.key);
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    let row = exports.lookup.file(file)?;
    for key in crate::names::keys_of(&exports.lookup, name)? {
        let sites = exports.lookup.snapshot.sites_named(&row, key)?;
        for site in &sites {
            if !is_import_in(exports, &row, site, None)? {
                continue;
            }
            for target in exports.lookup.targets(site)? {
                if !found.contains(&target) {
                    found.push(target);
                }
            }
        }
    }
    by_other_name(exports, &row, name, None, &mut found)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let imports = exports.lookup.snapshot.imports_of(file)?;
    for target in imports.iter().filter(|one| one.item.is_none()).filter_map(|one| one.target) {
        for key in handed_on(exports, target, name, seen)? {
            if !found.contains(&key) {
                found.push(key);
            }
        }
    }
    Ok(found)
}

/// Adds what a file, or a module inside of it, imports by another name; true if there is something.
pub(super) fn by_other_name(
    exports: &Exports<'_>,
    file: &FileRow,
    name: &str,
    module: Option<SymbolKey>,
    found: &mut Vec<SymbolKey>,
) -> Result<bool, QueryError> {
    let mut is_found = false;
    for one in exports.renamed.iter().filter(|one| one.site.file == file.key && one.name == name) {
        if is_import_in(exports, file, &one.site, module)? {
            is_found = true;
            if !found.contains(&one.symbol) {
                found.push(one.symbol);
            }
        }
    }
    Ok(is_found)
}

/// True for an import directly in a module inside of a file, or at the top level of the file.
pub(super) fn is_import_in(
    exports: &Exports<'_>,
    file: &FileRow,
    site: &SiteRow,
    module: Option<SymbolKey>,
) -> Result<bool, QueryError> {
    if site.kind != SiteKind::Import {
        return Ok(false);
    }
    let line = site.at.line;
    let around = exports.lookup.snapshot.symbols_at(file, line, line)?;
    let modules = around.iter().filter(|row| is_module(row.kind) && row.extent.end.line >= line);
    // What is inside of another begins after it.
    let innermost = modules.max_by_key(|row| row.extent.start_byte).map(|row| row.key);
    Ok(innermost == module)
}

/// True for a module inside of a file.
pub(super) fn is_module(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Module | SymbolKind::Namespace)
}

/// Module that the files of a module import by a name.
pub(super) fn inner_module(
    exports: &Exports<'_>,
    module: &Module,
    part: &Part<'_>,
) -> Result<Option<Module>, QueryError> {
    let Module::Files(files) = module else { return Ok(None) };
    let mut found = Vec::new();
    for &file in files.iter().filter(|_| !part.is_called) {
        let imports = exports.lookup.snapshot.imports_of(file)?;
        let named = imports.iter().filter(|one| one.item.as_deref() == Some(part.name));
        found.extend(named.filter_map(|one| one.target).filter(|target| *target != file));
    }
    Ok((!found.is_empty()).then_some(Module::Files(found)))
}

/// What the files of a module export by default.
pub(super) fn defaults(
    exports: &Exports<'_>,
    module: &Module,
) -> Result<Vec<SymbolKey>, QueryError> {
    let Module::Files(files) = module else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for &file in files {
        let heads = exports.lookup.snapshot.symbol_heads_of(&*exports.lookup.file(file)?)?;
        let is_default = |flags: u32| flags & flags::DEFAULT_EXPORT != 0;
        found.extend(heads.iter().filter(|head| is_default(head.flags)).map(|head| head.key));
    }
    Ok(found)
}
