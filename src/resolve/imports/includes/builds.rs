//! Builds of code that is compiled from pasted text: a compilation database
//! (`compile_commands.json`) names the compiled files, their include directories and macros,
//! `.config` the symbols of Kconfig.
//!
//! A build is about the directory of its file, or about the one above a directory for the products
//! of builds. A macro is known only if all compiled files agree on it.

mod condition;
mod database;
mod macros;

use crate::imports::json::Json;
use crate::imports::paths::normal;
use database::{CompileCommand, Flags, absolute, root_of};
use macros::{Macro, Macros};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

/// Name of a compilation database.
const DATABASE: &str = "compile_commands.json";
/// Name of the file with the symbols of Kconfig.
const KCONFIG: &str = ".config";
/// Directories for the products of builds.
const PRODUCTS: [&str; 4] = ["build", "builddir", "out", "_build"];

/// All builds, those of inner directories first.
#[derive(Debug, Default)]
pub(crate) struct Builds {
    builds: Vec<Build>,
    number: u64,
}

/// One build.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Build {
    /// Directory that it is about.
    folder: String,
    macros: Macros,
    /// Compiled files, with their list of include directories.
    compiled: BTreeMap<String, usize>,
    /// Lists of include directories; the first one has those of all files, for headers.
    directories: Vec<Vec<String>>,
    /// Extensions of compiled files.
    extensions: Vec<String>,
    /// Names of the files of all commands.
    names: BTreeSet<String>,
}

impl Builds {
    /// Reads the builds of a repository whose files are known.
    pub(super) fn new(
        project_files: &BTreeMap<String, String>,
        is_file: &impl Fn(&str) -> bool,
    ) -> Self {
        let mut by_folder: BTreeMap<String, Build> = BTreeMap::new();
        for (path, text) in project_files {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            if name != DATABASE && name != KCONFIG {
                continue;
            }
            let folder = subject_of(folder);
            let build = by_folder.entry(folder.to_owned()).or_default();
            if name == KCONFIG {
                build.macros.add_symbols(text);
            } else if build.names.is_empty() {
                build.add_commands(folder, text, is_file);
            }
        }
        let is_of_use = |build: &Build| build.macros.is_configured || !build.names.is_empty();
        let mut builds: Vec<Build> = by_folder
            .into_iter()
            .map(|(folder, build)| Build { folder, ..build })
            .filter(is_of_use)
            .collect();
        builds.sort_by_key(|build| std::cmp::Reverse(build.folder.len()));
        let number = builds.iter().fold(0u64, |sum, build| {
            let known = (&build.folder, &build.macros);
            let files = (&build.compiled, &build.directories);
            sum.rotate_left(1).wrapping_add(FxBuildHasher.hash_one((known, files)))
        });
        Self { builds, number }
    }

    /// Fingerprint: equal for the same builds.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the file that an include path of a file means by its include directories.
    pub(super) fn included<F>(
        &self,
        from: &str,
        path: &str,
        file_at: impl Fn(&str) -> Option<F>,
    ) -> Option<F> {
        self.around(from)?
            .directories_of(from)
            .iter()
            .find_map(|directory| normal(directory, path).and_then(|path| file_at(&path)))
    }

    /// True if include directories are known for a file.
    pub(crate) fn has_directories(&self, file: &str) -> bool {
        self.around(file).is_some_and(|build| {
            !build.directories_of(file).is_empty() && !build.is_uncompiled(file)
        })
    }

    /// True if what a file is compiled into cannot have another file in it: that one could be
    /// compiled by itself, and is not.
    pub(crate) fn leaves_out(&self, from: &str, definition: &str) -> bool {
        let Some(build) = self.around(definition) else { return false };
        build.is_uncompiled(definition) && !build.is_uncompiled(from)
    }

    /// Returns whether a condition in a file holds, if the build decides it. The condition has no
    /// white space.
    pub(crate) fn holds(&self, file: &str, condition: &str) -> Option<bool> {
        condition::holds(&self.around(file)?.macros, condition)
    }

    /// True if a compiled file has this name: the place of the build may depend on where it is.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.builds.iter().any(|build| build.names.contains(name))
    }

    fn around(&self, path: &str) -> Option<&Build> {
        self.builds.iter().find(|build| is_below(path, &build.folder))
    }
}

/// Returns the directory that a build is about whose files are in this one.
fn subject_of(folder: &str) -> &str {
    let (above, name) = folder.rsplit_once('/').unwrap_or(("", folder));
    if PRODUCTS.contains(&name) { above } else { folder }
}

fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/') || rest.is_empty())
}

fn extension(path: &str) -> Option<&str> {
    path.rsplit('/').next()?.rsplit_once('.').map(|(_, extension)| extension)
}

impl Build {
    fn add_commands(&mut self, folder: &str, text: &str, is_file: &impl Fn(&str) -> bool) {
        let Json::List(commands) = Json::read(text) else { return };
        let commands: Vec<CompileCommand> =
            commands.iter().filter_map(CompileCommand::read).collect();
        let name =
            |command: &CompileCommand| command.file.rsplit(['/', '\\']).next().map(str::to_owned);
        self.names = commands.iter().filter_map(name).collect();
        let Some(root) = root_of(&commands, is_file) else { return };
        let (mut all, mut known) = (Vec::new(), FxHashSet::default());
        let mut numbers: FxHashMap<Vec<String>, usize> = FxHashMap::default();
        self.directories.push(Vec::new());
        let mut macros: Vec<BTreeMap<String, Macro>> = Vec::new();
        for command in &commands {
            let inside = |path: &str| {
                let path = absolute(&command.directory, path)?;
                let path = path.strip_prefix(&root)?.trim_start_matches('/');
                is_below(path, folder).then(|| path.to_owned())
            };
            let Some(file) = inside(&command.file) else { continue };
            let flags = Flags::of(command);
            let mut own: Vec<String> =
                flags.directories.iter().filter_map(|directory| inside(directory)).collect();
            let mut seen = FxHashSet::default();
            own.retain(|directory| seen.insert(directory.clone()));
            let unheard = own.iter().filter(|directory| known.insert((*directory).clone()));
            all.extend(unheard.cloned());
            let next = self.directories.len();
            let number = *numbers.entry(own.clone()).or_insert(next);
            if number == next {
                self.directories.push(own);
            }
            if let Some(extension) =
                extension(&file).filter(|own| !self.extensions.iter().any(|known| known == own))
            {
                self.extensions.push(extension.to_owned());
            }
            self.compiled.insert(file, number);
            macros.push(flags.macros);
        }
        self.directories[0] = all;
        let names: BTreeSet<&String> = macros.iter().flat_map(BTreeMap::keys).collect();
        for name in names {
            let mut values = macros.iter().map(|own| own.get(name).copied().unwrap_or(Macro::Any));
            let first = values.next().unwrap_or(Macro::Any);
            let value = if values.all(|value| value == first) { first } else { Macro::Any };
            self.macros.by_name.insert(name.clone(), value);
        }
    }

    fn directories_of(&self, file: &str) -> &[String] {
        let number = self.compiled.get(file).copied().unwrap_or_default();
        self.directories.get(number).map_or(&[], Vec::as_slice)
    }

    /// True for a file that is compiled by itself wherever it is, and is not here.
    fn is_uncompiled(&self, file: &str) -> bool {
        is_below(file, &self.folder)
            && !self.compiled.contains_key(file)
            && extension(file).is_some_and(|own| self.extensions.iter().any(|known| known == own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [&str; 5] =
        ["src/a.c", "src/b.c", "src/off.c", "include/x/a.h", "other/include/x/a.h"];

    fn builds(files: &[(&str, &str)]) -> Builds {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Builds::new(&files.collect(), &|path| FILES.contains(&path))
    }

    fn command(file: &str, options: &str) -> String {
        format!(
            r#"{{"directory": "/w/r/build", "file": "{file}", "command": "cc {options} -c {file}"}}"#
        )
    }

    #[test]
    fn a_database_names_directories_macros_and_compiled_files() {
        let text = [
            command("../src/a.c", "-I../other/include -DA -DB=0 -DC -I /usr/include"),
            command("/w/r/src/b.c", "-isystem ../include -DA=1 -DB=0 -UD"),
        ];
        let text = format!("[{}]", text.join(","));
        let builds = builds(&[("build/compile_commands.json", &text)]);
        let file_at = |path: &str| FILES.iter().position(|file| *file == path);
        let included = |from: &str, path: &str| builds.included(from, path, file_at);
        assert_eq!(included("src/a.c", "x/a.h"), Some(4));
        assert_eq!(included("src/b.c", "x/a.h"), Some(3));
        // A header is compiled with any of them.
        assert_eq!(included("include/x/a.h", "x/a.h"), Some(4));
        assert_eq!(included("src/a.c", "y.h"), None);
        assert!(builds.leaves_out("src/a.c", "src/off.c"));
        assert!(!builds.leaves_out("src/off.c", "src/off.c"));
        assert!(!builds.leaves_out("src/a.c", "include/x/a.h"));
        let holds = |condition: &str| builds.holds("src/a.c", condition);
        assert_eq!(
            ["A", "!A", "B", "C", "D", "E"].map(holds),
            [Some(true), Some(false), None, None, None, None]
        );
    }

    #[test]
    fn symbols_that_are_not_listed_are_off() {
        let builds =
            builds(&[(".config", "CONFIG_A=y\nCONFIG_M=m\n# CONFIG_N is not set\nCONFIG_Z=0\n")]);
        let holds = |condition: &str| builds.holds("src/a.c", condition);
        for (condition, expected) in [
            ("CONFIG_A", Some(true)),
            ("CONFIG_N", Some(false)),
            ("CONFIG_M", Some(false)),
            ("CONFIG_M_MODULE", Some(true)),
            ("CONFIG_UNHEARD_OF", Some(false)),
            ("CONFIG_Z", None),
            ("IS_ENABLED(CONFIG_M)", Some(true)),
            ("IS_BUILTIN(CONFIG_M)", Some(false)),
            ("IS_MODULE(CONFIG_M)", Some(true)),
            ("OTHER", None),
            ("defined(CONFIG_Z)&&!definedCONFIG_N", Some(true)),
            ("defined(OTHER)", None),
            ("OTHER&&CONFIG_N", Some(false)),
            ("(OTHER)||!(CONFIG_N)", Some(true)),
            ("CONFIG_A!=0", None),
            ("CONFIG_A>1", None),
            ("(CONFIG_A", None),
            ("", None),
        ] {
            assert_eq!(holds(condition), expected, "{condition}");
        }
    }

    #[test]
    fn what_is_no_build_says_nothing() {
        for text in [
            "",
            "{",
            "[]",
            "[1]",
            r#"[{"file": "a.c"}]"#,
            &format!("[{}]", command("/w/none.c", "-DA")),
        ] {
            let builds = builds(&[("compile_commands.json", text), (".config", "[section]\nA=y")]);
            assert_eq!(builds.holds("src/a.c", "A"), None, "{text}");
            assert_eq!(builds.included("src/a.c", "a.c", |_| Some(())), None, "{text}");
            assert!(!builds.leaves_out("src/a.c", "src/b.c"), "{text}");
        }
    }
}
