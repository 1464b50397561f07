//! Module systems: map an import to a file, directory or package. The set of systems is closed: a
//! language's manifest names one, and `modules` picks its implementation.
//!
//! ```text
//! modules: all of a repository, and the target of each import
//!   │ one implementation of `system::ModuleSystem` for each system, with its own tables
//!   ├── dotted, relative, crates, folders, declared, includes
//!   └── shared: imports that all files of a project see
//! layout: files by path, packages by name, project files
//! ```
//!
//! What a system says of names and scopes is no concern of this folder: those are properties in the
//! manifest (`cograph_grammar::Modules`).

mod crates;
mod declared;
mod dotted;
mod folders;
mod includes;
mod json;
mod layout;
mod links;
mod modules;
mod paths;
mod relative;
mod shared;
mod system;

pub(super) use layout::{Package, package_identity, package_with_names};
pub(super) use modules::Modules;
pub(super) use paths::{SEARCHED, normal, search_directory};
pub(super) use system::ModuleChange;
