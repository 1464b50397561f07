//! Relative paths: a quoted path next to the importing file, a path mapped by a compiler
//! configuration, or the name of a package with a manifest.

mod config;
mod package;
mod patterns;

use super::{Modules, item, normal};
use crate::model::facts::{Import, ImportKind};
use crate::model::graph::FileId;
use crate::resolve::units::import_target::{ImportTarget, Module};
use crate::resolve::workspace::program::Program;

/// Data from the system's project files.
#[derive(Debug, Default)]
pub(super) struct ProjectIndex {
    configs: config::Configs,
    packages: package::Packages,
}

impl ProjectIndex {
    pub(super) fn new(modules: &Modules) -> Self {
        Self {
            configs: config::Configs::new(&modules.project_files),
            packages: package::Packages::new(&modules.project_files),
        }
    }
}

pub(super) fn target(program: &Program<'_>, file: FileId, import: &Import) -> Option<ImportTarget> {
    let folder = program.path(file).directory();
    let module = &*import.module;
    // A query suffix (`?raw`) is for loaders and not part of the path.
    let module = module.split_once('?').map_or(module, |(path, _)| path);
    let rules = &program.known(file).language.manifest.modules;
    let is_path = module.starts_with('.')
        || (rules.plain_paths && rules.extensions.iter().any(|ending| module.ends_with(ending)));
    let found = match is_path {
        true => {
            let path = normal(folder, module)?;
            let exists = |path: &str| at_path(program, file, path);
            let configs = &program.whole().modules.relative.configs;
            exists(&path).or_else(|| configs.merged(folder, &path, &exists))?
        }
        false => {
            let index = &program.whole().modules.relative;
            let exists = |path: &str| at_path(program, file, path);
            index
                .configs
                .find(folder, module, &exists)
                .or_else(|| index.packages.find(folder, module, &exists))?
        }
    };
    let mut path = Vec::new();
    match import.kind {
        ImportKind::Item => path.push(item(program, file, import)?),
        ImportKind::Default => path.push(program.named("default")),
        _ => {}
    }
    Some(ImportTarget::Path { module: Module::File(found), path: path.into() })
}

/// Returns the file of a path with an omitted or replaced extension, or of a directory.
fn at_path(program: &Program<'_>, from: FileId, path: &str) -> Option<FileId> {
    let index = &program.whole().modules.relative;
    plain(program, from, path)
        .or_else(|| index.packages.entry(path, &|path: &str| plain(program, from, path)))
}

/// Returns the same without reading the directory's manifest.
fn plain(program: &Program<'_>, from: FileId, path: &str) -> Option<FileId> {
    let rules = &program.known(from).language.manifest.modules;
    let modules = &program.whole().modules;
    let exact = modules.file_at(path).filter(|&file| program.whole().has_facts(file));
    let below =
        |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
    let aliased = || {
        rules.extension_aliases.iter().find_map(|(ending, others)| {
            let stem = path.strip_suffix(ending.as_str())?.strip_suffix('.')?;
            others.iter().find_map(|other| modules.file_at(&format!("{stem}.{other}")))
        })
    };
    let ended =
        || rules.extensions.iter().find_map(|ending| modules.file_at(&format!("{path}.{ending}")));
    let index = || {
        rules.index.iter().find_map(|index| {
            rules
                .extensions
                .iter()
                .find_map(|ending| modules.file_at(&below(&format!("{index}.{ending}"))))
        })
    };
    exact.or_else(aliased).or_else(ended).or_else(index)
}

/// Returns the directory and its parents, innermost first; the last one is the root of the
/// repository.
fn folders_around(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| match folder.rsplit_once('/') {
        Some((outer, _)) => Some(outer),
        None => (!folder.is_empty()).then_some(""),
    })
}
