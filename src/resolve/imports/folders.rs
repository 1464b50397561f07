//! Directory packages: a directory is a package. Its path is the module path declared by the module
//! file, and the directory below.

use super::layout::Layout;
use super::paths::{folders_around, joined, normal};
use super::system::{Importer, ModuleSystem};
use crate::units::import_target::{ImportTarget, Module, family};
use cograph_model::facts::Import;
use rustc_hash::FxHashSet;

/// The system, with data from its project files.
#[derive(Debug, Default)]
pub(super) struct PackageFolders {
    /// Module paths with their directories, longest path first.
    modules: Vec<(String, String)>,
}

impl PackageFolders {
    pub(super) fn new(layout: &Layout) -> Self {
        let files = || layout.project_files_of(|rules| rules.has_module_paths());
        let mut found: Vec<(String, String)> = files()
            .filter_map(|(folder, text)| Some((module_path(text)?.to_owned(), folder.to_owned())))
            .collect();
        let declared: FxHashSet<String> = found.iter().map(|(module, _)| module.clone()).collect();
        for (folder, text) in files() {
            for (module, place) in replaced(text) {
                let Some(place) = normal(folder, place) else { continue };
                // The name of a module of the repository means that module.
                if !declared.contains(module) {
                    found.push((module.to_owned(), place));
                }
            }
        }
        found.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
        found.dedup_by(|later, first| later.0 == first.0);
        Self { modules: found }
    }
}

/// Returns the path of the `module` line.
fn module_path(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("module"))?;
    let path =
        line.split("//").next().unwrap_or(line).trim().trim_matches(['"', '`', '(', ')']).trim();
    (!path.is_empty()).then_some(path)
}

/// Returns the modules that a module file replaces by directories, with these.
fn replaced(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut in_block = false;
    text.lines().filter_map(move |line| {
        let line = line.split("//").next().unwrap_or(line).trim();
        let rest = match line.strip_prefix("replace") {
            Some(rest) if rest.trim_start().starts_with('(') => {
                in_block = true;
                return None;
            }
            Some(rest) if rest.starts_with(char::is_whitespace) => rest,
            _ if in_block => line,
            _ => return None,
        };
        in_block &= !line.starts_with(')');
        let (module, place) = rest.split_once("=>")?;
        let module = module.split_whitespace().next()?.trim_matches(['"', '`']);
        let place = place.split_whitespace().next()?.trim_matches(['"', '`']);
        place.starts_with('.').then_some((module, place))
    })
}

impl ModuleSystem for PackageFolders {
    fn targets(&self, of: Importer<'_>) -> Vec<Option<ImportTarget>> {
        of.each(|import| self.target(of, import))
    }
}

impl PackageFolders {
    fn target(&self, of: Importer<'_>, import: &Import) -> Option<ImportTarget> {
        let (layout, family) = (of.layout, family(of.language()));
        let path = import.module.trim_matches('/');
        let package = |folder: &str| {
            let package = layout.package_named(family, folder)?;
            (!layout.package(package).files.is_empty())
                .then(|| ImportTarget::module(Module::Package(package)))
        };
        let below =
            |(module, folder): &(String, String)| match path.strip_prefix(module.as_str())? {
                "" => package(folder),
                rest => package(&joined(folder, rest.strip_prefix('/')?)),
            };
        if let Some(found) = self.modules.iter().find_map(below) {
            return Some(found);
        }
        // Vendored modules apply to their directory and those below.
        let vendored = |folder: &str| package(&joined(folder, &format!("vendor/{path}")));
        if let Some(found) = folders_around(of.path().directory()).find_map(vendored) {
            return Some(found);
        }
        if !self.modules.is_empty() {
            return None;
        }
        // Without a module file: the path ends with a directory, after the host and the module's
        // name.
        let mut rest = path;
        while rest.contains('.') || rest == path {
            if let Some(found) = package(rest) {
                return Some(found);
            }
            rest = rest.split_once('/')?.1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_line_gives_the_path() {
        assert_eq!(
            module_path("// c\nmodule example.org/a // note\n\ngo 1.21\n"),
            Some("example.org/a")
        );
        assert_eq!(module_path("module \"example.org/a\"\n"), Some("example.org/a"));
        assert_eq!(module_path("go 1.21\n"), None);
    }

    #[test]
    fn replaced_modules_have_directories() {
        let text = "replace a.org/x v1.2.0 => ../x // why\nreplace (\n\tb.org/y => ./y\n\tc.org/z \
            => d.org/z v1.0.0\n)\ne.org/w => ./w\n";
        let all: Vec<_> = replaced(text).collect();
        assert_eq!(all, [("a.org/x", "../x"), ("b.org/y", "./y")]);
    }
}
