//! Relative paths: a quoted path next to the importing file, a path mapped by a compiler
//! configuration, or the name of a package with a manifest.

mod config;
mod package;
mod patterns;

use super::{Modules, item, normal};
use crate::units::import_target::{ImportTarget, Module};
use crate::workspace::program::Program;
use crate::workspace::tables::Tables;
use cograph_model::facts::{Import, ImportKind};
use cograph_model::graph::FileId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What a path means: the first, and those of which a build may take one in its place.
type Found<T> = SmallVec<[T; 1]>;

/// Data from the system's project files.
#[derive(Debug, Default)]
pub(super) struct ProjectIndex {
    configs: config::Configs,
    packages: package::Packages,
    /// Path without variant and ending -> the files of the variants, in the order of preference.
    variants: FxHashMap<String, Found<FileId>>,
}

impl ProjectIndex {
    pub(super) fn new(modules: &Modules, tables: &Tables) -> Self {
        let packages = package::Packages::new(&modules.project_files);
        let configs = config::Configs::new(&modules.project_files, &packages);
        Self { configs, packages, variants: variants(tables) }
    }
}

/// Returns the files whose stem ends in a variant.
fn variants(tables: &Tables) -> FxHashMap<String, Found<FileId>> {
    let mut found: FxHashMap<String, Vec<(usize, usize, FileId)>> = FxHashMap::default();
    for (id, file) in tables.ids().zip(&tables.files) {
        let Some(rules) = tables.language(id).map(|language| &language.manifest.modules) else {
            continue;
        };
        let path = file.path.as_str();
        let name = path.rfind('/').map_or(0, |slash| slash + 1);
        for (dot, _) in path.match_indices('.').filter(|(dot, _)| *dot > name) {
            let (stem, ending) = (&path[..dot], &path[dot + 1..]);
            let variant = rules.variants.iter().enumerate().find_map(|(rank, variant)| {
                Some((rank, stem.strip_suffix(variant.as_str())?.strip_suffix('.')?))
            });
            let ending = rules.extensions.iter().position(|other| other == ending);
            if let (Some((rank, stem)), Some(ending)) = (variant, ending) {
                found.entry(stem.to_owned()).or_default().push((rank, ending, id));
            }
        }
    }
    let in_order = |mut files: Vec<(usize, usize, FileId)>| {
        files.sort_unstable();
        files.dedup_by_key(|(rank, ..)| *rank);
        files.into_iter().map(|(.., file)| file).collect()
    };
    found.into_iter().map(|(stem, files)| (stem, in_order(files))).collect()
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
    let (&first, others) = found.split_first()?;
    Some(ImportTarget::Path {
        module: Module::File(first),
        path: path.into(),
        others: others.into(),
    })
}

/// Returns the file of a path with an omitted or replaced extension, or of a directory.
fn at_path(program: &Program<'_>, from: FileId, path: &str) -> Option<Found<FileId>> {
    let index = &program.whole().modules.relative;
    plain(program, from, path)
        .or_else(|| index.packages.entry(path, &|path: &str| plain(program, from, path)))
}

/// Returns the same without reading the directory's manifest.
fn plain(program: &Program<'_>, from: FileId, path: &str) -> Option<Found<FileId>> {
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
    let variants = &modules.relative.variants;
    let ended = |stem: &str| -> Option<Found<FileId>> {
        let mut extensions = rules.extensions.iter();
        let own = extensions.find_map(|ending| modules.file_at(&format!("{stem}.{ending}")));
        let variants = variants.get(stem).map(SmallVec::as_slice).unwrap_or_default();
        let all: Found<FileId> = own.into_iter().chain(variants.iter().copied()).collect();
        (!all.is_empty()).then_some(all)
    };
    let only = exact.or_else(aliased).map(|file| SmallVec::from_slice(&[file]));
    let index = || rules.index.iter().find_map(|index| ended(&below(index)));
    only.or_else(|| ended(path)).or_else(index)
}

/// Returns the directory and its parents, innermost first; the last one is the root of the
/// repository.
fn folders_around(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| match folder.rsplit_once('/') {
        Some((outer, _)) => Some(outer),
        None => (!folder.is_empty()).then_some(""),
    })
}
