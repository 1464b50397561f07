//! Packages of files, and of names outside of the repository, as far as manifests and locks of
//! package managers say. Which manager a language has is data.

mod content;
mod kept;
mod manifest;
mod markup;
mod scripts;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;

use cograph_model::RepoPath;
pub(crate) use content::{Manifest, folded, is_version};
pub use kept::{KeptManifests, MAX_KEPT_MANIFESTS, ManifestFiles};

/// Reads a file of the repository; none if there is none that can be read.
pub type ReadText<'r> = &'r dyn Fn(&RepoPath) -> Option<Vec<u8>>;

/// Package manager, as the data describes it.
#[derive(serde::Deserialize, Default, Debug)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct Manager {
    pub(crate) languages: Vec<String>,
    pub(crate) manifests: Vec<String>,
    pub(crate) locks: Vec<String>,
    /// How manifests and locks are written, where their names do not say that.
    format: String,
    name: Vec<String>,
    version: Vec<String>,
    needs: Vec<String>,
    /// What separates the name of a package from the rest of a qualified name.
    separators: Vec<String>,
    /// Start of names that have two parts.
    scope: Option<String>,
    /// Number of parts of a name whose first part is a host; others are of the standard library.
    host_parts: Option<usize>,
    /// Where a manifest has the name that qualified names begin with, if that is another one.
    written: Vec<String>,
    /// How qualified names lead to files; none if that is not known.
    pub(crate) modules: Option<ModuleKeys>,
}

/// How qualified names lead to the files of a package.
#[derive(serde::Deserialize, Default, Debug)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub(crate) struct ModuleKeys {
    pub(crate) files: String,
    pub(crate) prefixed: bool,
    pub(crate) underscored: bool,
    pub(crate) sources: Vec<String>,
    pub(crate) index: Vec<String>,
}

pub(crate) static MANAGERS: LazyLock<BTreeMap<String, Manager>> = LazyLock::new(|| {
    toml::from_str(include_str!("packages/managers.toml")).expect("a test reads it")
});

/// Package: any part may be empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct PackageId {
    pub(crate) manager: String,
    pub(crate) name: String,
    pub(crate) version: String,
}

/// Packages of a repository. Manifests are read when they are needed.
pub(crate) struct Packages<'r> {
    source: ManifestSource<'r>,
    /// By the path of a manifest or lock; none for one that is not read.
    read_before: FxHashMap<String, Option<Arc<Manifest>>>,
    /// Manifests without a fixed name, by their directories.
    by_directory: FxHashMap<String, Vec<String>>,
}

/// Where manifests come from.
#[derive(Clone, Copy)]
enum ManifestSource<'r> {
    Read(ReadText<'r>),
    Kept(&'r ManifestFiles<'r>),
}

impl<'r> Packages<'r> {
    pub(crate) fn new(read: ReadText<'r>) -> Self {
        Self::of(ManifestSource::Read(read))
    }

    /// The same with manifests that are kept.
    pub(crate) fn kept(files: &'r ManifestFiles<'r>) -> Self {
        Self::of(ManifestSource::Kept(files))
    }

    fn of(source: ManifestSource<'r>) -> Self {
        Self { source, read_before: FxHashMap::default(), by_directory: FxHashMap::default() }
    }

    /// Adds manifests without a fixed name.
    pub(crate) fn add_paths(&mut self, paths: Vec<String>) {
        for path in paths {
            let directory = path.rsplit_once('/').map_or("", |(above, _)| above).to_owned();
            self.by_directory.entry(directory).or_default().push(path);
        }
    }

    /// Package that a file of a language belongs to: that of the nearest manifest above it.
    pub(crate) fn of_file(&mut self, path: &RepoPath, language: &str) -> PackageId {
        let Some((manager_name, manager)) = manager_of(language) else {
            return PackageId::default();
        };
        let found = self.above(path.directory(), manager, &manager.manifests, |one| {
            (!one.name.is_empty()).then(|| (one.name.clone(), one.version.clone()))
        });
        let (name, version) = found.unwrap_or_default();
        PackageId { manager: manager_name.to_owned(), name, version }
    }

    /// Package that a qualified name outside of the repository belongs to, as a file of a language
    /// below a directory uses it; and what follows the name of the package.
    pub(crate) fn of_outside<'n>(
        &mut self,
        directory: &str,
        language: &str,
        name: &'n str,
    ) -> (PackageId, &'n str) {
        let Some((manager_name, manager)) = manager_of(language) else {
            return (PackageId::default(), name);
        };
        let package = PackageId { manager: manager_name.to_owned(), ..PackageId::default() };
        if manager.separators.is_empty() {
            return (package, name);
        }
        let needed = self.above(directory, manager, &manager.manifests, |one| {
            let fits = |needed: &&String| manager.starts_with(name, needed);
            let best = one.needs.keys().filter(fits).max_by_key(|needed| needed.len())?;
            Some((best.clone(), one.needs[best].clone()))
        });
        let (own, wanted) = match needed {
            Some((own, wanted)) => (own, wanted),
            None => (manager.first_of(name).to_owned(), String::new()),
        };
        let rest = name.get(own.len()..).unwrap_or_default();
        let locked = self.above(directory, manager, &manager.locks, |one| {
            one.versions.get(&folded(&own)).cloned()
        });
        let version = match locked {
            Some(version) => version,
            None if is_version(&wanted) => wanted,
            None => String::new(),
        };
        (PackageId { name: own, version, ..package }, rest)
    }

    /// What `part` finds in the nearest of the named files in a directory or above.
    pub(crate) fn above<T>(
        &mut self,
        directory: &str,
        manager: &Manager,
        names: &[String],
        part: impl Fn(&Manifest) -> Option<T>,
    ) -> Option<T> {
        let mut directory = Some(directory);
        while let Some(here) = directory {
            for name in names {
                for path in self.paths_in(here, name) {
                    if let Some(found) = self.manifest(manager, path).as_deref().and_then(&part) {
                        return Some(found);
                    }
                }
            }
            let above = here.rfind('/').map_or("", |end| &here[..end]);
            directory = (!here.is_empty()).then_some(above);
        }
        None
    }

    /// Paths in a directory that may be those of a manifest.
    fn paths_in(&self, directory: &str, name: &str) -> Vec<String> {
        match name.strip_prefix('*') {
            Some(ending) => {
                let own = self.by_directory.get(directory).into_iter().flatten();
                own.filter(|path| path.ends_with(ending)).cloned().collect()
            }
            None if directory.is_empty() => vec![name.to_owned()],
            None => vec![format!("{directory}/{name}")],
        }
    }

    pub(crate) fn manifest(&mut self, manager: &Manager, path: String) -> Option<Arc<Manifest>> {
        let Self { source, read_before, .. } = self;
        let known = read_before.entry(path).or_insert_with_key(|path| {
            let keys = manifest::Keys {
                format: &manager.format,
                name: &manager.name,
                written: &manager.written,
                version: &manager.version,
                needs: &manager.needs,
            };
            let parse = |bytes: &[u8]| keys.read(path, &String::from_utf8_lossy(bytes));
            match source {
                ManifestSource::Read(read) => Some(Arc::new(parse(&read(&RepoPath::new(path)?)?))),
                ManifestSource::Kept(files) => files.manifest(path, parse),
            }
        });
        known.clone()
    }
}

impl Manager {
    /// True if a qualified name is that of a package, or of something in it.
    fn starts_with(&self, name: &str, package: &str) -> bool {
        let own = name.get(..package.len()).unwrap_or_default();
        !package.is_empty()
            && folded(own) == folded(package)
            && (name.len() == package.len() || self.separates(&name[package.len()..]))
    }

    fn separates(&self, rest: &str) -> bool {
        self.separators.iter().any(|one| rest.starts_with(one.as_str()))
    }

    /// The part of a qualified name that has the form of a package's name.
    fn first_of<'n>(&self, name: &'n str) -> &'n str {
        let part_end = |start: usize, separators: &[String]| {
            let ends = separators.iter().filter_map(|one| name[start..].find(one.as_str()));
            ends.min().map_or(name.len(), |end| start + end)
        };
        let first = part_end(0, &self.separators);
        if self.scope.as_ref().is_some_and(|scope| name.starts_with(scope.as_str())) {
            let end = part_end(0, &self.separators[..1]);
            return &name
                [..if end < name.len() { part_end(end + 1, &self.separators) } else { end }];
        }
        let Some(parts) = self.host_parts else { return &name[..first] };
        // A host has a dot before the first slash; other paths are of the standard library.
        let mut end = part_end(0, &self.separators[..1]);
        if end == name.len() || !name[..end].contains('.') {
            return "";
        }
        for part in 1..parts {
            let is_last = part + 1 == parts;
            let separators = if is_last { &self.separators[..] } else { &self.separators[..1] };
            if end < name.len() {
                end = part_end(end + 1, separators);
            }
        }
        &name[..end]
    }
}

pub(crate) fn manager_of(language: &str) -> Option<(&'static str, &'static Manager)> {
    let has = |manager: &Manager| manager.languages.iter().any(|one| one == language);
    MANAGERS.iter().find(|(_, manager)| has(manager)).map(|(name, one)| (name.as_str(), one))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], language: &str, name: &str) -> (String, String, String) {
        let read = |path: &RepoPath| {
            let found = files.iter().find(|(known, _)| *known == path.as_str());
            found.map(|(_, text)| text.as_bytes().to_vec())
        };
        let mut packages = Packages::new(&read);
        let (package, rest) = packages.of_outside("src/deep", language, name);
        (package.name, package.version, rest.to_owned())
    }

    fn parts(name: &str, version: &str, rest: &str) -> (String, String, String) {
        (name.to_owned(), version.to_owned(), rest.to_owned())
    }

    #[test]
    fn a_file_belongs_to_the_nearest_manifest_with_a_name() {
        let files = [
            ("package.json", "{\"name\": \"outer\", \"version\": \"1.0.0\"}"),
            ("src/package.json", "{\"private\": true}"),
            ("web/package.json", "no JSON"),
        ];
        let read = |path: &RepoPath| {
            let found = files.iter().find(|(known, _)| *known == path.as_str());
            found.map(|(_, text)| text.as_bytes().to_vec())
        };
        let language = &MANAGERS["npm"].languages[0];
        let mut packages = Packages::new(&read);
        for path in ["src/a/b.x", "web/c.x", "d.x"] {
            let path = RepoPath::new(path).expect("a path");
            let package = packages.of_file(&path, language);
            assert_eq!((package.name.as_str(), package.version.as_str()), ("outer", "1.0.0"));
        }
        let path = RepoPath::new("a.x").expect("a path");
        assert_eq!(packages.of_file(&path, "no language"), PackageId::default());
    }

    #[test]
    fn names_outside_have_the_package_that_the_manifest_needs_and_the_version_of_the_lock() {
        let manifest = ("package.json", "{\"dependencies\": {\"a.js\": \"^1\", \"b\": \"2.0.1\"}}");
        let lock = (
            "package-lock.json",
            "{\"packages\": {\"node_modules/a.js\": {\"version\": \"1.4.0\"}}}",
        );
        let language = MANAGERS["npm"].languages[0].clone();
        let own = [manifest, lock];
        assert_eq!(check(&own, &language, "a.js/f()"), parts("a.js", "1.4.0", "/f()"));
        assert_eq!(check(&own, &language, "b.g"), parts("b", "2.0.1", ".g"));
        assert_eq!(check(&own, &language, "@s/c/D"), parts("@s/c", "", "/D"));
        assert_eq!(check(&own, &language, "@s/c.D"), parts("@s/c", "", ".D"));
        assert_eq!(check(&[], &language, "os"), parts("os", "", ""));
    }

    #[test]
    fn a_host_begins_the_name_of_a_module() {
        let language = MANAGERS["gomod"].languages[0].clone();
        let own = [(
            "go.mod",
            "module example.org/own\n\nrequire (\n\tgit.host/x/y v1.2.0 // indirect\n)\n\
             require a.b/c v0.1.0\n",
        )];
        assert_eq!(
            check(&own, &language, "git.host/x/y.New().Do"),
            parts("git.host/x/y", "v1.2.0", ".New().Do")
        );
        assert_eq!(check(&own, &language, "a.b/c/d.F"), parts("a.b/c", "v0.1.0", "/d.F"));
        assert_eq!(check(&own, &language, "q.z/x/y.F"), parts("q.z/x/y", "", ".F"));
        assert_eq!(check(&own, &language, "net/http.Get"), parts("", "", "net/http.Get"));
    }

    #[test]
    fn distributions_and_crates_are_folded() {
        let language = MANAGERS["pip"].languages[0].clone();
        let own = [
            (
                "pyproject.toml",
                "[project]\nname='own'\ndependencies=['Typing_Extensions>=4', 'b==1.5']\n",
            ),
            ("requirements.txt", "typing-extensions==4.2  # pinned\n-r other.txt\n"),
        ];
        let expected = parts("typing_extensions", "4.2", ".Self");
        assert_eq!(check(&own, &language, "typing_extensions.Self").1, expected.1);
        assert_eq!(check(&own, &language, "b.f"), parts("b", "1.5", ".f"));
        let language = MANAGERS["cargo"].languages[0].clone();
        let own = [
            (
                "Cargo.toml",
                "[package]\nname='own'\nversion.workspace=true\n[dependencies]\nserde-json='1'\n\
                 x={version='2.0'}\n",
            ),
            (
                "Cargo.lock",
                "[[package]]\nname='serde-json'\nversion='1.0.9'\n[[package]]\nname='y'\n\
                 version='1.0.0'\n[[package]]\nname='y'\nversion='2.0.0'\n",
            ),
        ];
        assert_eq!(check(&own, &language, "serde_json::f").1, "1.0.9");
        assert_eq!(check(&own, &language, "y::f").1, "", "two versions are no version");
    }
}
