//! Package folders: a folder is a package; an import names it by a path whose end is the folder's.

use super::{ImportTarget, Module, Modules, family};
use crate::model::facts::Import;
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
    let modules = &program.modules;
    let family = family(program.known(file).language);
    let path = import.module.trim_matches('/');
    // A path of the module itself ends in the folder; what stands before is the module's own name.
    let mut rest = path;
    while rest.contains('.') || rest == path {
        if let Some(package) = modules.package_named(family, rest).filter(|&package| !modules.package(package).files.is_empty()) {
            return Some(ImportTarget::module(Module::Package(package)));
        }
        let Some((_, after)) = rest.split_once('/') else { break };
        rest = after;
    }
    None
}
