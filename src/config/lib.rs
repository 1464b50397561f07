//! Configuration: the only reader of the environment and of the home directory; limits, detection
//! of the repository root, location of the cache. Opens no store and reads no source.
//!
//! ```text
//! environment ──┐
//! HOME ─────────┼──> Config ──┬── Limits          what a run may take
//! arguments ────┘             ├── Repository      root, project files
//! user's files ──> FileRules  └── cache directory, runtime socket, worker command
//! ```

mod error;
mod limits;
mod list_error;
mod manifests;
pub mod process;
mod upstreams;
mod user;
mod user_file;
mod workspace;

pub use error::ConfigError;
pub use limits::{Limits, MEMORY_BYTES};
pub use list_error::ListError;
pub use manifests::{MANIFEST, manifests};
pub use upstreams::{NamedTarget, NamedTargets, upstreams};
pub use user::{User, git_settings, is_executable, program_path};
pub use user_file::{FileError, FileRules, is_bounded};
pub use workspace::{MAX_MEMBERS, WORKSPACE, directory_list, listed_directories, workspace_at};

use cograph_faults as faults;
use cograph_system::owner::{self, SUPERUSER};
use cograph_system::{files, processes};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

/// Variable of the bearer token. Removed from the environment of child processes.
pub const TOKEN_VARIABLE: &str = "COGRAPH_TOKEN";

/// How variables of object stores begin.
const STORE_VARIABLES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];

/// A file with a secret: a token with an end of line.
pub const SECRET: FileRules =
    FileRules { most_bytes: 4 << 10, follows_links: true, is_secret: true };

/// Configuration from outside the command line and the repository. Has no `Debug`, because it
/// contains a secret.
#[derive(Clone)]
pub struct Config {
    /// Cache directory, if known: one subdirectory per repository.
    pub cache_directory: Option<PathBuf>,
    /// Directory with manifests to use instead of the built-in ones.
    pub manifest_directory: Option<PathBuf>,
    /// Home directory, if known.
    pub home: Option<PathBuf>,
    /// Project directory from a client's variable.
    pub project_directory: Option<PathBuf>,
    /// Path of the working directory at startup. Used by path, so that a recreated directory is
    /// found although the process is still in the deleted one.
    pub working_directory: Option<PathBuf>,
    /// Bearer token of HTTP, for the server and for the client.
    pub token: Option<String>,
    /// True if the user disabled colours.
    pub no_color: bool,
    /// Command line of the pager; empty for none, absent for the default one.
    pub pager: Option<String>,
    /// Variables of the object stores that indexes are published to: addresses and credentials.
    pub store_variables: Vec<(String, String)>,
    /// Limits.
    pub limits: Limits,
    /// Command of a worker process; without one index runs work in this process.
    pub worker: Option<WorkerCommand>,
}

/// Command of a worker process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerCommand {
    /// Executable.
    pub program: PathBuf,
    /// Arguments.
    pub arguments: Vec<OsString>,
}

/// Repository: a directory that is indexed as one unit, and the cache with its store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repository {
    /// Canonical root.
    pub root: PathBuf,
    /// Cache directory, with the stores of all repositories.
    pub cache: PathBuf,
    /// Hash of the settings that an index depends on; 0 for the default ones.
    pub rules: u64,
}

impl Config {
    /// Reads the environment of this process.
    #[expect(clippy::disallowed_methods, reason = "config is the one reader of the environment")]
    pub fn from_environment() -> Result<Self, ConfigError> {
        faults::read(|name| std::env::var_os(name));
        let config = Self::from_variables(|name| std::env::var_os(name))?;
        let is_of_store =
            |name: &str| STORE_VARIABLES.iter().any(|prefix| name.starts_with(prefix));
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| is_of_store(name));
        Ok(Self { store_variables: variables.collect(), ..config })
    }

    /// Reads variables through `lookup`. An empty variable counts as unset.
    pub fn from_variables(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        let get = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let directory = |name: &str| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || owner::HOME.iter().find_map(|name| directory(name));
        let absolute = |variable: &'static str| match get(variable).map(PathBuf::from) {
            Some(path) if !path.is_absolute() => {
                Err(ConfigError::RelativeDirectory { variable, path })
            }
            path => Ok(path),
        };
        let cache_directory = absolute("COGRAPH_CACHE_DIR")?
            .or_else(|| directory("XDG_CACHE_HOME").map(|path| path.join("cograph")))
            .or_else(|| owner::CACHE.and_then(directory).map(|path| path.join("cograph")))
            .or_else(|| home().map(|path| path.join(".cache").join("cograph")));
        let mut limits = Limits::default();
        if let Some(bytes) = number("COGRAPH_FILE_LIMIT", &get)? {
            limits.file_bytes = bytes as u64;
        }
        if let Some(bytes) = number("COGRAPH_LINE_LIMIT", &get)? {
            limits.line_bytes = bytes;
        }
        if let Some(threads) = number("COGRAPH_THREADS", &get)? {
            limits.threads = threads;
        }
        if let Some(seconds) = number("COGRAPH_FILE_SECONDS", &get)? {
            limits.file_time = Duration::from_secs(seconds as u64);
        }
        if let Some(bytes) = number("COGRAPH_MEMORY_LIMIT", &get)? {
            limits.memory_bytes = bytes as u64;
        }
        if let Some(bytes) = number("COGRAPH_CACHE_LIMIT", &get)? {
            limits.cache_bytes = bytes as u64;
        }
        Ok(Self {
            worker: None,
            cache_directory,
            manifest_directory: absolute("COGRAPH_GRAMMARS")?,
            home: home(),
            project_directory: directory("CLAUDE_PROJECT_DIR"),
            working_directory: working_directory(directory("PWD")),
            token: get(TOKEN_VARIABLE).and_then(|token| token.into_string().ok()),
            no_color: get("NO_COLOR").is_some(),
            // An empty one is a choice: no pager.
            pager: ["COGRAPH_PAGER", "PAGER"]
                .into_iter()
                .find_map(&lookup)
                .map(|pager| pager.to_string_lossy().into_owned()),
            store_variables: Vec::new(),
            limits,
        })
    }

    /// Socket of the runtime for this cache.
    pub fn socket(&self) -> Result<PathBuf, ConfigError> {
        let cache = self.cache_directory.as_ref().ok_or(ConfigError::NoCacheDirectory)?;
        Ok(cache.join("run").join("socket"))
    }

    /// The client's project directory, or the working directory, if known.
    pub fn started_in(&self) -> Option<PathBuf> {
        self.project_directory.clone().or_else(|| self.working_directory.clone())
    }

    /// Reads a file that holds a secret, and trims whitespace. Only its owner may have access.
    pub fn secret(path: &Path) -> Result<String, ConfigError> {
        let unreadable =
            |source| ConfigError::UnreadableSecret { path: path.to_path_buf(), source };
        let text = SECRET.read(path).map_err(unreadable)?;
        let text = text.ok_or_else(|| unreadable(files::absent().into()));
        Ok(text?.trim().to_owned())
    }

    /// Repository with exactly this root, even inside another repository.
    pub fn repository_at(&self, directory: &Path) -> Result<Repository, ConfigError> {
        self.repository(canonical_directory(directory)?)
    }

    /// Repository that contains this directory: the nearest ancestor with a `.git` (a directory, or
    /// a file as in a linked work tree), otherwise the directory itself.
    pub fn repository_around(&self, directory: &Path) -> Result<Repository, ConfigError> {
        self.repository(enclosing_root(&canonical_directory(directory)?))
    }

    /// Repository of the client's project directory, or of the working directory.
    pub fn default_repository(&self) -> Result<Repository, ConfigError> {
        let directory = self.project_directory.as_ref().or(self.working_directory.as_ref());
        self.repository_around(directory.ok_or(ConfigError::NoWorkingDirectory)?)
    }

    fn repository(&self, root: PathBuf) -> Result<Repository, ConfigError> {
        let cache = self.cache_directory.clone().ok_or(ConfigError::NoCacheDirectory)?;
        Ok(Repository { root, cache, rules: self.rules() })
    }

    /// Hash of the settings that an index depends on; 0 for the default ones.
    fn rules(&self) -> u64 {
        let usual = Limits::default();
        let Limits { file_bytes, line_bytes, .. } = self.limits;
        let is_usual = self.manifest_directory.is_none()
            && (file_bytes, line_bytes) == (usual.file_bytes, usual.line_bytes);
        if is_usual {
            return 0;
        }
        let mut bytes = Vec::new();
        bytes.extend(file_bytes.to_le_bytes());
        bytes.extend((line_bytes as u64).to_le_bytes());
        let manifests = self.manifest_directory.as_deref().unwrap_or(Path::new(""));
        bytes.extend(manifests.as_os_str().as_encoded_bytes());
        xxhash_rust::xxh3::xxh3_64(&bytes)
    }
}

/// Path of the working directory: the shell's, which may contain symlinks, if it is the same
/// directory; otherwise the canonical one.
fn working_directory(named: Option<PathBuf>) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let directory =
        |path: &Path| files::find(path, true).ok().map(|found| (found.device, found.inode));
    named
        .filter(|named| directory(named).is_some() && directory(named) == directory(&here))
        .or(Some(here))
}

/// Path of the running executable, usable even after its file was replaced by another version.
pub fn running_program() -> io::Result<PathBuf> {
    let link = processes::RUNNING.map(Path::new).filter(|link| link.symlink_metadata().is_ok());
    link.map_or_else(program_path, |link| Ok(link.to_path_buf()))
}

/// Nearest ancestor of `directory` (canonical) with a `.git`, otherwise `directory`. A `.git` of
/// another user above this user's directories is ignored: that user could choose what is indexed.
pub fn enclosing_root(directory: &Path) -> PathBuf {
    let owner = |path: &Path| path.symlink_metadata().map(|found| owner::owner_of(&found)).ok();
    enclosing_root_by(directory, owner::effective_user(), owner)
}

fn enclosing_root_by(directory: &Path, user: u32, owner: impl Fn(&Path) -> Option<u32>) -> PathBuf {
    // If the directory itself belongs to another user, that user is trusted too.
    let trusted = [Some(user), Some(SUPERUSER), owner(directory)];
    let found = directory.ancestors().find(|candidate| {
        let git = owner(&candidate.join(".git"));
        git.is_some() && trusted.contains(&git)
    });
    found.unwrap_or(directory).to_path_buf()
}

fn canonical_directory(path: &Path) -> Result<PathBuf, ConfigError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => ConfigError::Missing { path: path.to_path_buf() },
        io::ErrorKind::NotADirectory => ConfigError::NotADirectory { path: path.to_path_buf() },
        _ => ConfigError::Unreadable { path: path.to_path_buf(), source },
    };
    let canonical = files::canonical(path).map_err(failed)?;
    if !fs::metadata(&canonical).map_err(failed)?.is_dir() {
        return Err(ConfigError::NotADirectory { path: path.to_path_buf() });
    }
    Ok(canonical)
}

fn number(
    name: &'static str,
    get: &impl Fn(&str) -> Option<OsString>,
) -> Result<Option<usize>, ConfigError> {
    let Some(value) = get(name) else { return Ok(None) };
    let parsed =
        value.to_str().and_then(|text| text.parse::<usize>().ok()).filter(|&number| number > 0);
    parsed.map(Some).ok_or(ConfigError::NotANumber { name, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::from_variables(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_first_usable_variable_names_the_cache() {
        let cache = |variables| config(variables).expect("no number is set").cache_directory;
        let all = [("COGRAPH_CACHE_DIR", "/a"), ("XDG_CACHE_HOME", "/b"), ("HOME", "/c")];
        assert_eq!(cache(&all), Some(PathBuf::from("/a")));
        assert_eq!(cache(&all[1..]), Some(PathBuf::from("/b/cograph")));
        assert_eq!(cache(&all[2..]), Some(PathBuf::from("/c/.cache/cograph")));
        assert_eq!(
            cache(&[("COGRAPH_CACHE_DIR", ""), ("XDG_CACHE_HOME", "relative"), ("HOME", "/c")]),
            Some("/c/.cache/cograph".into())
        );
        assert_eq!(cache(&[]), None);
    }

    #[test]
    fn a_repository_without_a_cache_is_a_typed_error() {
        let error = config(&[])
            .expect("no number is set")
            .repository_at(Path::new("/"))
            .expect_err("there is no cache directory");
        assert!(matches!(error, ConfigError::NoCacheDirectory));
    }

    #[test]
    fn settings_that_change_an_index_give_it_a_place_of_its_own() {
        let rules = |variables: &[(&str, &str)]| {
            let mut all = vec![("COGRAPH_CACHE_DIR", "/cache")];
            all.extend(variables);
            let config = config(&all).expect("the numbers are numbers");
            config.repository_at(Path::new("/")).expect("it exists").rules
        };
        assert_eq!(rules(&[]), 0);
        assert_eq!(rules(&[("COGRAPH_THREADS", "3"), ("COGRAPH_FILE_SECONDS", "5")]), 0);
        assert_eq!(rules(&[("COGRAPH_FILE_LIMIT", "4194304")]), 0, "the default, said aloud");
        let all = [
            rules(&[]),
            rules(&[("COGRAPH_FILE_LIMIT", "5000000")]),
            rules(&[("COGRAPH_LINE_LIMIT", "5000000")]),
            rules(&[("COGRAPH_GRAMMARS", "/grammars")]),
            rules(&[("COGRAPH_GRAMMARS", "/others")]),
        ];
        let different: std::collections::BTreeSet<u64> = all.into();
        assert_eq!(different.len(), all.len());
    }

    #[test]
    fn a_cache_that_depends_on_the_working_directory_is_refused() {
        let error = config(&[("COGRAPH_CACHE_DIR", "cache"), ("HOME", "/c")])
            .err()
            .expect("it is relative");
        assert!(
            matches!(
                &error, ConfigError::RelativeDirectory { path, .. } if path == Path::new("cache")
            ),
            "{error}"
        );
    }

    #[test]
    fn a_git_directory_of_another_user_is_no_root() {
        let (me, other) = (1000, 1001);
        let root = |owners: &[(&str, u32)]| {
            let owner = |path: &Path| {
                owners.iter().find(|(of, _)| Path::new(of) == path).map(|(_, owner)| *owner)
            };
            enclosing_root_by(Path::new("/shared/mine/deep"), me, owner).display().to_string()
        };
        let mine = ("/shared/mine/deep", me);
        assert_eq!(root(&[mine, ("/shared/.git", me)]), "/shared");
        assert_eq!(
            root(&[mine, ("/shared/.git", 0)]),
            "/shared",
            "the superuser decides what exists"
        );
        assert_eq!(root(&[mine, ("/shared/.git", other)]), "/shared/mine/deep");
        assert_eq!(root(&[mine, ("/shared/mine/.git", other), ("/shared/.git", me)]), "/shared");
        assert_eq!(
            root(&[("/shared/mine/deep", other), ("/shared/.git", other)]),
            "/shared",
            "all of it is the other's"
        );
    }

    #[test]
    fn limits_are_numbers() {
        let limits = config(&[("COGRAPH_THREADS", "3"), ("COGRAPH_FILE_LIMIT", "10")])
            .expect("both are numbers")
            .limits;
        assert_eq!((limits.threads, limits.file_bytes), (3, 10));
        for wrong in ["0", "-1", "many"] {
            assert!(matches!(
                config(&[("COGRAPH_THREADS", wrong)]),
                Err(ConfigError::NotANumber { name: "COGRAPH_THREADS", .. })
            ));
        }
    }

    #[test]
    fn the_root_is_the_nearest_directory_with_git_unless_named_exactly() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let top = fs::canonicalize(directory.path()).expect("it exists");
        let inner = top.join("a/b");
        fs::create_dir_all(&inner).expect("created");
        let config = config(&[("COGRAPH_CACHE_DIR", "/cache")]).expect("no number is set");
        fs::write(top.join("a/.git"), "gitdir: elsewhere").expect("written");
        assert_eq!(config.repository_around(&inner).expect("exists").root, top.join("a"));
        assert_eq!(config.repository_at(&inner).expect("exists").root, inner);
        fs::create_dir(inner.join(".git")).expect("created");
        assert_eq!(config.repository_around(&inner).expect("exists").root, inner);
    }
}
