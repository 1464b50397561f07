//! Relative paths: a quoted path next to the importing file, a path mapped by a compiler
//! configuration, or the name of a package with a manifest.

mod choices;
mod config;
mod package;
mod patterns;

use super::layout::Layout;
use super::paths::{joined, normal};
use super::system::{Importer, ModuleSystem};
use crate::files::table::FileTable;
use crate::units::import_target::{ImportTarget, Module};
use choices::Found;
use cograph_model::facts::{Import, ImportKind, Synthetic};
use cograph_model::graph::FileId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The system, with data from its project files.
#[derive(Debug, Default)]
pub(super) struct RelativePaths {
    configs: config::Configs,
    packages: package::Packages,
    /// Path without variant and ending -> the files of the variants, in the order of preference.
    variants: FxHashMap<String, Found<FileId>>,
}

impl RelativePaths {
    pub(super) fn new(layout: &Layout, files: &FileTable) -> Self {
        let packages = package::Packages::new(&layout.project_files);
        let configs = config::Configs::new(&layout.project_files, &packages);
        Self { configs, packages, variants: variants(files) }
    }
}

/// Returns the files whose stem ends in a variant.
fn variants(files: &FileTable) -> FxHashMap<String, Found<FileId>> {
    let mut found: FxHashMap<String, Vec<(usize, usize, FileId)>> = FxHashMap::default();
    for (id, file) in files.each() {
        let Some(rules) = files.language(id).map(|language| &language.manifest.modules) else {
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

/// Returns the file next to a module that declares what the module has: each of the endings of the
/// two may mean the other (`x.js`, `x.d.ts`).
fn stated(of: Importer<'_>, module: FileId) -> Option<FileId> {
    let path = of.files.path(module).as_str();
    let (stem, ending) = path.rsplit_once('.')?;
    let aliases = &of.files.language(module)?.manifest.modules.extension_aliases;
    let mut mutual = aliases.get(ending)?.iter().filter(|other| {
        aliases.get(*other).is_some_and(|back| back.iter().any(|own| own == ending))
    });
    mutual.find_map(|other| of.layout.file_at(&format!("{stem}.{other}")))
}

impl ModuleSystem for RelativePaths {
    fn targets(&self, of: Importer<'_>) -> Vec<Option<ImportTarget>> {
        of.each(|import| self.target(of, import))
    }
}

impl RelativePaths {
    fn target(&self, of: Importer<'_>, import: &Import) -> Option<ImportTarget> {
        let folder = of.path().directory();
        let module = &*import.module;
        // A query suffix (`?raw`) is for loaders and not part of the path.
        let module = module.split_once('?').map_or(module, |(path, _)| path);
        let rules = of.rules();
        let is_path = module.starts_with('.')
            || (rules.plain_paths
                && rules.extensions.iter().any(|ending| module.ends_with(ending)));
        let exists = |path: &str| self.at_path(of, path);
        let found = match is_path {
            true => {
                let path = normal(folder, module)?;
                exists(&path).or_else(|| self.configs.merged(folder, &path, &exists))?
            }
            false => self
                .configs
                .find(folder, module, &exists)
                .or_else(|| self.packages.find(folder, module, &exists))?,
        };
        let mut path = Vec::new();
        match import.kind {
            ImportKind::Item => path.push(of.item(import)?),
            ImportKind::Default => path.push(of.named(Synthetic::DefaultExport.text())),
            _ => {}
        }
        let (&first, others) = found.split_first()?;
        Some(ImportTarget::Path {
            module: Module::File(first),
            path: path.into(),
            others: others.into(),
            stated: others.is_empty().then(|| stated(of, first)).flatten(),
        })
    }

    /// Returns the file of a path with an omitted or replaced extension, or of a directory.
    fn at_path(&self, of: Importer<'_>, path: &str) -> Option<Found<FileId>> {
        self.plain(of, path)
            .or_else(|| self.packages.entry(path, &|path: &str| self.plain(of, path)))
    }

    /// Returns the same without reading the directory's manifest.
    fn plain(&self, of: Importer<'_>, path: &str) -> Option<Found<FileId>> {
        let (rules, layout) = (of.rules(), of.layout);
        let exact = layout.file_at(path).filter(|&file| of.files.has_facts(file));
        let aliased = || {
            rules.extension_aliases.iter().find_map(|(ending, others)| {
                let stem = path.strip_suffix(ending.as_str())?.strip_suffix('.')?;
                others.iter().find_map(|other| layout.file_at(&format!("{stem}.{other}")))
            })
        };
        let ended = |stem: &str| -> Option<Found<FileId>> {
            let mut extensions = rules.extensions.iter();
            let own = extensions.find_map(|ending| layout.file_at(&format!("{stem}.{ending}")));
            let variants = self.variants.get(stem).map(SmallVec::as_slice).unwrap_or_default();
            let all: Found<FileId> = own.into_iter().chain(variants.iter().copied()).collect();
            (!all.is_empty()).then_some(all)
        };
        let only = exact.or_else(aliased).map(|file| SmallVec::from_slice(&[file]));
        let index = || rules.index.iter().find_map(|index| ended(&joined(path, index)));
        only.or_else(|| ended(path)).or_else(index)
    }
}
