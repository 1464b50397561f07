//! Crate trees: modules start at the root file of a crate; a child module is a file or folder beside its parent.

use super::{ImportTarget, Module, Modules, item};
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
    let rules = &program.known(file).language.manifest.modules;
    if import.kind == ImportKind::Module {
        return child(program, file, program.text(item(program, file, import)?))
            .map(|file| ImportTarget::module(Module::File(file)));
    }
    let mut segments = import.module.split(rules.separator.as_str()).filter(|segment| !segment.is_empty()).peekable();
    let mut module = file;
    match segments.peek().copied() {
        Some(first) if rules.root_word.as_deref() == Some(first) => {
            module = root(program, file);
            segments.next();
        }
        Some(first) if rules.self_word.as_deref() == Some(first) => {
            segments.next();
        }
        _ => {}
    }
    while segments.peek().copied() == rules.super_word.as_deref() && segments.peek().is_some() {
        module = parent(program, module)?;
        segments.next();
    }
    let mut path = Vec::new();
    for segment in segments {
        path.push(program.names.get(segment)?);
    }
    if import.kind == ImportKind::Item {
        path.push(item(program, file, import)?);
    }
    Some(ImportTarget::Path { module: Module::File(module), path: path.into() })
}

/// The folder in which the children of a module are, and the module's own name.
fn places(program: &Program<'_>, file: FileId) -> (String, String) {
    let path = &program.files[file.0 as usize].path;
    let stem = path.file_name().rsplit_once('.').map_or(path.file_name(), |(stem, _)| stem);
    let folder = path.directory();
    let is_index = program.known(file).language.manifest.modules.index.iter().any(|index| index == stem);
    let inner = match (is_index, folder.is_empty()) {
        (true, _) => folder.to_owned(),
        (false, true) => stem.to_owned(),
        (false, false) => format!("{folder}/{stem}"),
    };
    (inner, folder.to_owned())
}

fn child(program: &Program<'_>, file: FileId, name: &str) -> Option<FileId> {
    let rules = &program.known(file).language.manifest.modules;
    let (folder, _) = places(program, file);
    let base = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let files = rules.extensions.iter().flat_map(|ending| {
        std::iter::once(format!("{base}.{ending}"))
            .chain(rules.index.iter().map(move |_| String::new()))
            .filter(|path| !path.is_empty())
    });
    let indexes = rules.extensions.iter().flat_map(|ending| rules.index.iter().map(move |index| (ending, index)));
    files
        .into_iter()
        .find_map(|path| program.modules.file_at(&path))
        .or_else(|| indexes.into_iter().find_map(|(ending, index)| program.modules.file_at(&format!("{base}/{index}.{ending}"))))
}

fn parent(program: &Program<'_>, file: FileId) -> Option<FileId> {
    let connected = |candidate: FileId| {
        let unit = program.unit(candidate)?;
        let imports = unit.facts.imports.iter().enumerate();
        let mut children = imports.filter(|(_, import)| import.kind == ImportKind::Module);
        children.find_map(|(_, import)| {
            (child(program, candidate, program.text(item(program, candidate, import)?)) == Some(file)).then_some(candidate)
        })
    };
    let (_, folder) = places(program, file);
    let package = program.modules.package_of(file)?;
    let above = folder.rsplit_once('/').map_or(String::new(), |(above, _)| above.to_owned());
    let family = super::family(program.known(file).language);
    let beside = program.modules.package(package).files.iter().copied();
    let outside = program.modules.package_named(family, &above).map(|package| program.modules.package(package).files.as_slice());
    beside.chain(outside.unwrap_or_default().iter().copied()).filter(|&other| other != file).find_map(connected)
}

/// The root of the crate: the last file on the way up.
fn root(program: &Program<'_>, file: FileId) -> FileId {
    let mut current = file;
    for _ in 0..64 {
        match parent(program, current) {
            Some(parent) => current = parent,
            None => break,
        }
    }
    current
}
