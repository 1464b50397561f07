//! Relative paths: a quoted path next to the importing file, or the name of a package with a manifest.

use super::{ImportTarget, Module, Modules, item, normal};
use crate::model::facts::{Import, ImportKind};
use crate::model::graph::FileId;
use crate::resolve::Program;

/// What the system's project files say.
#[derive(Debug, Default)]
pub(super) struct Index {}

impl Index {
    pub(super) fn new(_modules: &Modules) -> Self {
        Self {}
    }
}

pub(super) fn target(program: &Program<'_>, file: FileId, import: &Import) -> Option<ImportTarget> {
    if !import.module.starts_with('.') {
        return None;
    }
    let folder = program.files[file.0 as usize].path.directory();
    let found = at_path(program, file, &normal(folder, &import.module)?)?;
    let path: Vec<_> = if import.kind == ImportKind::Item { vec![item(program, file, import)?] } else { Vec::new() };
    let mut path = path;
    if import.kind == ImportKind::Default {
        path.push(program.names.get("default")?);
    }
    Some(ImportTarget::Path { module: Module::File(found), path: path.into() })
}

/// The file that a path without its ending, with another ending, or of a folder stands for.
fn at_path(program: &Program<'_>, from: FileId, path: &str) -> Option<FileId> {
    let rules = &program.known(from).language.manifest.modules;
    let modules = &program.modules;
    let exact = modules.file_at(path).filter(|&file| program.unit(file).is_some());
    let aliased = || {
        let (stem, ending) = path.rsplit_once('.')?;
        rules.extension_aliases.get(ending)?.iter().find_map(|ending| modules.file_at(&format!("{stem}.{ending}")))
    };
    let ended = || rules.extensions.iter().find_map(|ending| modules.file_at(&format!("{path}.{ending}")));
    let index = || {
        rules
            .index
            .iter()
            .find_map(|index| rules.extensions.iter().find_map(|ending| modules.file_at(&format!("{path}/{index}.{ending}"))))
    };
    exact.or_else(aliased).or_else(ended).or_else(index)
}
