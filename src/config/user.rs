//! The user's environment: search path, and the configuration directories of other programs. Opens
//! no file; existence is checked only to find a program.

use cograph_system::owner;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Directories of the user.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct User {
    /// Home directory, if known.
    pub home: Option<PathBuf>,
    /// Configuration directory: `XDG_CONFIG_HOME`, else `.config` in the home directory.
    pub settings: Option<PathBuf>,
    /// Configuration directory of Claude Code, if not in the home directory.
    pub claude: Option<PathBuf>,
    /// Configuration directory of Codex.
    pub codex: Option<PathBuf>,
    /// Search path for programs, in order.
    pub search: Vec<PathBuf>,
}

impl User {
    /// Reads the environment of this process.
    #[expect(clippy::disallowed_methods, reason = "config is the one reader of the environment")]
    pub fn from_environment() -> Self {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// Reads variables through `lookup`. Relative directories are ignored.
    pub(crate) fn from_variables(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let directory =
            |name: &str| lookup(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = owner::HOME.iter().find_map(|name| directory(name));
        let below_home = |name: &str| home.as_ref().map(|home| home.join(name));
        Self {
            settings: directory("XDG_CONFIG_HOME").or_else(|| below_home(".config")),
            claude: directory("CLAUDE_CONFIG_DIR"),
            codex: directory("CODEX_HOME").or_else(|| below_home(".codex")),
            search: lookup("PATH")
                .map(|paths| std::env::split_paths(&paths).collect())
                .unwrap_or_default(),
            home,
        }
    }

    /// Resolves a command: a path if it has a separator, else the first executable file of that
    /// name in the search path.
    pub fn program(&self, command: &str) -> Option<PathBuf> {
        if command.contains(std::path::is_separator) {
            return Some(PathBuf::from(command)).filter(|path| is_executable(path));
        }
        // A command is named without the ending that its file has on some systems.
        let ending = std::env::consts::EXE_SUFFIX;
        let file = if command.ends_with(ending) { "" } else { ending };
        let candidates = self
            .search
            .iter()
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(format!("{command}{file}")));
        candidates.into_iter().find(|path| is_executable(path))
    }

    /// Returns a stable path of this program: the entry in the search path, which is valid after an
    /// update, else the running file.
    pub fn own_program(&self) -> io::Result<PathBuf> {
        let running = program_path()?;
        let same = |found: &PathBuf| found.canonicalize().ok() == running.canonicalize().ok();
        let name = running.file_name().and_then(|name| name.to_str());
        Ok(name.and_then(|name| self.program(name)).filter(same).unwrap_or(running))
    }
}

/// Path of the running program's file, which may have been replaced meanwhile.
pub fn program_path() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// Returns the paths of git's user and system configuration, and of the user's default ignore file,
/// regardless of their existence.
#[expect(clippy::disallowed_methods, reason = "config is the one reader of the environment")]
pub fn git_settings() -> Vec<PathBuf> {
    git_settings_of(|name| std::env::var_os(name))
}

fn git_settings_of(lookup: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let named = |name: &str| lookup(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = owner::HOME.iter().find_map(|name| named(name));
    let own = named("XDG_CONFIG_HOME")
        .or_else(|| home.as_ref().map(|home| home.join(".config")))
        .map(|own| own.join("git"));
    let machine = named("GIT_CONFIG_SYSTEM").unwrap_or_else(|| PathBuf::from("/etc/gitconfig"));
    let own = own.into_iter().flat_map(|own| [own.join("config"), own.join("ignore")]);
    named("GIT_CONFIG_GLOBAL")
        .into_iter()
        .chain(home.map(|home| home.join(".gitconfig")))
        .chain(own)
        .chain([machine])
        .collect()
}

/// True if a path is an executable file.
pub fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && owner::is_executable(&found))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(variables: &[(&str, &str)]) -> User {
        User::from_variables(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn settings_are_below_the_home_directory_unless_said_otherwise() {
        let plain = user(&[("HOME", "/h")]);
        assert_eq!(
            (plain.settings, plain.claude, plain.codex),
            (Some("/h/.config".into()), None, Some("/h/.codex".into()))
        );
        let other = user(&[
            ("HOME", "/h"),
            ("XDG_CONFIG_HOME", "/s"),
            ("CLAUDE_CONFIG_DIR", "/c"),
            ("CODEX_HOME", "relative"),
        ]);
        assert_eq!((other.settings, other.claude), (Some("/s".into()), Some("/c".into())));
        assert_eq!(other.codex, Some("/h/.codex".into()), "a relative directory counts as not set");
        assert_eq!(user(&[]), User::default());
    }

    #[test]
    fn settings_of_git_are_where_git_looks_for_them() {
        let paths = |variables: &[(&str, &str)]| {
            let found = git_settings_of(|name| {
                variables
                    .iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| OsString::from(value))
            });
            found.into_iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            paths(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "")]),
            ["/h/.gitconfig", "/h/.config/git/config", "/h/.config/git/ignore", "/etc/gitconfig"]
        );
        let named = [
            ("HOME", "/h"),
            ("XDG_CONFIG_HOME", "/x"),
            ("GIT_CONFIG_GLOBAL", "/g"),
            ("GIT_CONFIG_SYSTEM", "/s"),
        ];
        assert_eq!(paths(&named), ["/g", "/h/.gitconfig", "/x/git/config", "/x/git/ignore", "/s"]);
        assert_eq!(paths(&[]), ["/etc/gitconfig"]);
    }

    #[cfg(unix)]
    #[test]
    fn programs_are_found_in_the_order_of_the_search_path() {
        use std::os::unix::fs::PermissionsExt;

        let place = tempfile::tempdir().expect("a temporary directory");
        let file = |name: &str, mode: u32| {
            let path = place.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it is below the place"))
                .expect("created");
            std::fs::write(&path, "").expect("written");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("it is ours");
            path
        };
        file("a/tool", 0o644);
        let (second, _) = (file("b/tool", 0o755), file("c/tool", 0o755));
        let search = ["a", "b", "c"].map(|name| place.path().join(name)).to_vec();
        let user = User { search, ..User::default() };
        assert_eq!(
            user.program("tool"),
            Some(second.clone()),
            "a file that cannot be executed is passed over"
        );
        assert_eq!(user.program("other"), None);
        assert_eq!(user.program(second.to_str().expect("it is text")), Some(second));
        assert_eq!(user.program("./tool"), None);
    }
}
