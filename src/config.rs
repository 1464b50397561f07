//! Settings from outside: the only reader of the environment and of the home directory; limits;
//! what the root of a repository is and where the cache is. Opens no store and reads no source.

mod upstreams;
mod user;

pub use upstreams::{NamedTarget, NamedTargets, UpstreamsError, upstreams};
pub use user::{User, git_settings, is_executable};

use crate::faults;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The variable that holds the token for HTTP. It is for this process: programs that this one
/// starts do not get it.
pub const TOKEN_VARIABLE: &str = "COGRAPH_TOKEN";

/// Everything that comes from outside the command line and the repository. It is not printed: it
/// holds a secret.
#[derive(Clone)]
pub struct Config {
    /// Where stores live, if a place is known: one directory a repository.
    pub cache_directory: Option<PathBuf>,
    /// The user's home directory, if one is known.
    pub home: Option<PathBuf>,
    /// Where a client says its project is, if it does.
    pub project_directory: Option<PathBuf>,
    /// The path of the directory that the process was started in. A directory that is made again
    /// under this path is meant by it, although the process is still in the one that is gone.
    pub working_directory: Option<PathBuf>,
    /// What a runtime over HTTP asks its clients to show, and what they show to it.
    pub token: Option<String>,
    /// Whether the user wants output without colour.
    pub no_color: bool,
    /// What bounds the work.
    pub limits: Limits,
    /// Starts a process that makes whole builds; without one they are made in this process.
    pub worker: Option<WorkerCommand>,
}

/// How a process of this program is started that makes whole builds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// What bounds the work of an index run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Size of the largest file that is read, in bytes.
    pub file_bytes: u64,
    /// Length of the longest line of a file that is parsed, in bytes.
    pub line_bytes: usize,
    /// Number of threads that read, parse and resolve.
    pub threads: usize,
    /// Stack of each of those threads: deeply nested source needs it.
    pub stack_bytes: usize,
    /// How long one file may take in a process of its own, before it is left out.
    pub file_time: Duration,
    /// How much memory such a process may take, in bytes.
    pub memory_bytes: u64,
    /// How much room the stores of all repositories may take together, in bytes.
    pub cache_bytes: u64,
}

/// A directory that is indexed as one unit, and the cache that has its store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repository {
    /// Its canonical root.
    pub root: PathBuf,
    /// The cache directory: stores of all repositories.
    pub cache: PathBuf,
}

/// Why a setting could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The root does not exist.
    #[error("no such directory: {}", path.display())]
    Missing {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The root is not a directory.
    #[error("not a directory: {}", path.display())]
    NotADirectory {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The root could not be looked at.
    #[error("cannot open the directory {}: {source}", path.display())]
    Unreadable {
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file with a secret could not be read.
    #[error("cannot read the token in {}: {source}", path.display())]
    UnreadableSecret {
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No place for the cache is known.
    #[error(
        "no directory for the index: none of COGRAPH_CACHE_DIR, XDG_CACHE_HOME and HOME is an \
         absolute path"
    )]
    NoCacheDirectory,
    /// The cache would be another one in each directory that the program is started in.
    #[error("COGRAPH_CACHE_DIR={path:?} is not an absolute path")]
    RelativeCacheDirectory {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The directory is the root by accident, as far as one can tell.
    #[error("{} {why}, and nothing in it says that it is a project", path.display())]
    NotMeant {
        /// The directory.
        path: PathBuf,
        /// What makes it unlikely.
        why: String,
    },
    /// A number from the environment is not one.
    #[error("{name}={value:?} is not a whole number greater than 0")]
    NotANumber {
        /// The variable.
        name: &'static str,
        /// Its value.
        value: OsString,
    },
    /// The working directory is gone or may not be read.
    #[error("cannot tell the working directory that the process was started in")]
    NoWorkingDirectory,
}

impl ConfigError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Missing { .. } => {
                "check the spelling, or name the repository's directory with --root"
            }
            Self::NotADirectory { .. } => "name the directory that contains the file",
            Self::Unreadable { .. } => {
                "check the permissions of the directory and of those above it"
            }
            Self::UnreadableSecret { .. } => "name a file that holds the token and nothing else",
            Self::NoCacheDirectory => "set COGRAPH_CACHE_DIR to a directory that may be written",
            Self::RelativeCacheDirectory { .. } => "give it as an absolute path, or unset it",
            Self::NotMeant { .. } => {
                "start in the directory of the project, or name this one with --root if it is to \
                 be indexed"
            }
            Self::NotANumber { .. } => "correct or unset the variable",
            Self::NoWorkingDirectory => {
                "change to a directory that exists, or name one with --root"
            }
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 4 << 20,
            line_bytes: 32 << 10,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            stack_bytes: 32 << 20,
            file_time: Duration::from_secs(30),
            memory_bytes: memory_of_the_machine() / 4 * 3,
            cache_bytes: 10 << 30,
        }
    }
}

impl Config {
    /// Reads the environment of this process.
    #[expect(clippy::disallowed_methods, reason = "config is the one reader of the environment")]
    pub fn from_environment() -> Result<Self, ConfigError> {
        faults::read(|name| std::env::var_os(name));
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// Reads variables through `lookup`. A variable that is set to nothing counts as not set.
    pub fn from_variables(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        let get = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let directory = |name: &str| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let given = get("COGRAPH_CACHE_DIR").map(PathBuf::from);
        if let Some(path) = given.clone().filter(|path| !path.is_absolute()) {
            return Err(ConfigError::RelativeCacheDirectory { path });
        }
        let cache_directory = given
            .or_else(|| directory("XDG_CACHE_HOME").map(|path| path.join("cograph")))
            .or_else(|| directory("HOME").map(|path| path.join(".cache").join("cograph")));
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
            home: directory("HOME"),
            project_directory: directory("CLAUDE_PROJECT_DIR"),
            working_directory: working_directory(directory("PWD")),
            token: get(TOKEN_VARIABLE).and_then(|token| token.into_string().ok()),
            no_color: get("NO_COLOR").is_some(),
            limits,
        })
    }

    /// The socket of the runtime that shares the stores of this cache.
    pub fn socket(&self) -> Result<PathBuf, ConfigError> {
        let cache = self.cache_directory.as_ref().ok_or(ConfigError::NoCacheDirectory)?;
        Ok(cache.join("run").join("socket"))
    }

    /// Where the client's project is, or else where the process was started, if that is known.
    pub fn started_in(&self) -> Option<PathBuf> {
        self.project_directory.clone().or_else(|| self.working_directory.clone())
    }

    /// The text of a file that holds a secret, without the blanks around it.
    #[expect(
        clippy::disallowed_methods,
        reason = "a file of the user's settings, not of a repository"
    )]
    pub fn secret(path: &Path) -> Result<String, ConfigError> {
        let unreadable =
            |source| ConfigError::UnreadableSecret { path: path.to_path_buf(), source };
        Ok(fs::read_to_string(path).map_err(unreadable)?.trim().to_owned())
    }

    /// The repository at exactly this directory, even if it lies inside another repository.
    pub fn repository_at(&self, directory: &Path) -> Result<Repository, ConfigError> {
        self.repository(canonical_directory(directory)?)
    }

    /// The repository that contains this directory: the nearest directory at or above it that has a
    /// `.git` (a directory, or a file as in a linked work tree), else the directory itself.
    pub fn repository_around(&self, directory: &Path) -> Result<Repository, ConfigError> {
        self.repository(enclosing_root(&canonical_directory(directory)?))
    }

    /// The repository that contains the client's project directory, or else the working directory.
    pub fn default_repository(&self) -> Result<Repository, ConfigError> {
        let directory = self.project_directory.as_ref().or(self.working_directory.as_ref());
        self.repository_around(directory.ok_or(ConfigError::NoWorkingDirectory)?)
    }

    fn repository(&self, root: PathBuf) -> Result<Repository, ConfigError> {
        let cache = self.cache_directory.clone().ok_or(ConfigError::NoCacheDirectory)?;
        Ok(Repository { root, cache })
    }
}

/// The path of the working directory: the one that the shell calls it by (which may lead through a
/// link that is turned one day), if that leads there, else the one without links.
fn working_directory(named: Option<PathBuf>) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let directory = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    named
        .filter(|named| directory(named).is_some() && directory(named) == directory(&here))
        .or(Some(here))
}

/// The program that is running, as one that can be started again: also after its file was replaced
/// by another version.
pub fn running_program() -> io::Result<PathBuf> {
    let running = Path::new("/proc/self/exe");
    match running.symlink_metadata() {
        Ok(_) => Ok(running.to_path_buf()),
        Err(_) => std::env::current_exe(),
    }
}

#[cfg(target_os = "linux")]
fn memory_of_the_machine() -> u64 {
    let known = rustix::system::sysinfo();
    known.totalram * u64::from(known.mem_unit)
}

#[cfg(not(target_os = "linux"))]
fn memory_of_the_machine() -> u64 {
    u64::MAX
}

/// The nearest directory at or above `directory` (canonical) that has a `.git`, else `directory`
/// itself. A `.git` that another user has put above the directories of this one decides nothing:
/// who may write there could choose what is indexed.
pub fn enclosing_root(directory: &Path) -> PathBuf {
    let owner = |path: &Path| path.symlink_metadata().map(|found| found.uid()).ok();
    enclosing_root_by(directory, rustix::process::geteuid().as_raw(), owner)
}

fn enclosing_root_by(directory: &Path, user: u32, owner: impl Fn(&Path) -> Option<u32>) -> PathBuf {
    const SUPERUSER: u32 = 0;
    // Where the directory itself is another user's, that one decides about it in any case.
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
    let canonical = fs::canonicalize(path).map_err(failed)?;
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
    fn a_cache_that_depends_on_the_working_directory_is_refused() {
        let error = config(&[("COGRAPH_CACHE_DIR", "cache"), ("HOME", "/c")])
            .err()
            .expect("it is relative");
        assert!(
            matches!(
                &error, ConfigError::RelativeCacheDirectory { path } if path == Path::new("cache")
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
            "the superuser decides what is there"
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
