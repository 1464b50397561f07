//! The file in which a user names the upstreams: one line each, a name and where it is. Only the user's own directory is looked
//! into: a repository must not be able to have programs started.

use std::io;
use std::path::{Path, PathBuf};

use super::User;

/// What a file says: names with their targets, in the order of the file.
pub type NamedTargets = Vec<(String, String)>;

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamsError {
    /// It could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It says something else than names and targets.
    #[error("cannot use {}: {why}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What is wrong there.
        why: String,
    },
}

impl User {
    /// The file with this user's upstreams, if it is known where it would be.
    pub fn upstreams_file(&self) -> Option<PathBuf> {
        Some(self.settings.as_ref()?.join("cograph").join("upstreams.toml"))
    }
}

/// Reads a file of upstreams; none if there is no such file.
pub fn upstreams(path: &Path) -> Result<Option<NamedTargets>, UpstreamsError> {
    #[expect(clippy::disallowed_methods, reason = "reads the user's settings, not a repository's source")]
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(UpstreamsError::Unreadable { path: path.to_owned(), source }),
    };
    parse(&text).map(Some).map_err(|why| UpstreamsError::Wrong { path: path.to_owned(), why })
}

fn parse(text: &str) -> Result<NamedTargets, String> {
    let mut table: toml::Table = text.parse().map_err(|error| format!("it is not valid TOML: {error}"))?;
    let listed = table.remove("upstreams");
    if let Some(key) = table.keys().next() {
        return Err(format!("{key:?} is not known there: only the table `upstreams` is"));
    }
    let Some(listed) = listed else { return Ok(Vec::new()) };
    let toml::Value::Table(listed) = listed else { return Err("`upstreams` is not a table".to_owned()) };
    let target = |(name, target): (String, toml::Value)| match target {
        toml::Value::String(target) => Ok((name, target)),
        _ => Err(format!("the target of {name:?} is not a text")),
    };
    listed.into_iter().map(target).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_targets_and_nothing_else() {
        let named = |name: &str, target: &str| (name.to_owned(), target.to_owned());
        let text = "# mine\n[upstreams]\nweb = \"/run/web.sock\"\napi = \"cmd:cograph mcp --root /srv/api\"\n";
        let mut found = parse(text).expect("it is right");
        found.sort();
        assert_eq!(found, [named("api", "cmd:cograph mcp --root /srv/api"), named("web", "/run/web.sock")]);
        assert_eq!(parse(""), Ok(Vec::new()));
        for wrong in
            ["[upstreams]\nweb = 1", "upstreams = 1", "[upstream]\nweb = \"x\"", "web = ", "[upstreams]\na = \"\"\na = \"\""]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_file_is_among_the_settings_of_the_user() {
        let user = User { settings: Some("/s".into()), ..User::default() };
        assert_eq!(user.upstreams_file(), Some("/s/cograph/upstreams.toml".into()));
        assert!(matches!(upstreams(Path::new("/no/such/file")), Ok(None)));
    }
}
