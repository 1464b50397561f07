//! The user's list of upstreams: a TOML file with one name and target on each line. Only the user's
//! own configuration directory is read: a repository must not be able to start programs.

use crate::list_error::ListError;
use std::path::{Path, PathBuf};

use crate::user::User;
use crate::user_file::FileRules;

/// A list of upstreams.
const RULES: FileRules = FileRules::settings(1 << 20);

/// Upstreams in the order of the file.
pub type NamedTargets = Vec<NamedTarget>;

/// Entry of the file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NamedTarget {
    /// Name.
    pub name: String,
    /// Target.
    pub target: String,
    /// File with the bearer token for the target.
    pub token_file: Option<PathBuf>,
}

impl User {
    /// Path of the user's list of upstreams, if the configuration directory is known.
    pub fn upstreams_file(&self) -> Option<PathBuf> {
        Some(self.settings.as_ref()?.join("cograph").join("upstreams.toml"))
    }
}

/// Reads a list of upstreams; `None` if the file does not exist.
pub fn upstreams(path: &Path) -> Result<Option<NamedTargets>, ListError> {
    let unreadable = |source| ListError::Unreadable { path: path.to_owned(), source };
    let Some(text) = RULES.read(path).map_err(unreadable)? else { return Ok(None) };
    let directory = path.parent().unwrap_or(Path::new(""));
    parse(&text, directory).map(Some).map_err(|why| ListError::Wrong { path: path.to_owned(), why })
}

/// Relative paths are resolved against the directory of the file.
fn parse(text: &str, directory: &Path) -> Result<NamedTargets, String> {
    let mut table: toml::Table =
        text.parse().map_err(|error| format!("it is not valid TOML: {error}"))?;
    let listed = table.remove("upstreams");
    if let Some(key) = table.keys().next() {
        return Err(format!("{key:?} is not known there: only the table `upstreams` is"));
    }
    let Some(listed) = listed else { return Ok(Vec::new()) };
    let toml::Value::Table(listed) = listed else {
        return Err("`upstreams` is not a table".to_owned());
    };
    listed.into_iter().map(|(name, entry)| entry_of(name, entry, directory)).collect()
}

/// Parses an entry: a target, or a table with the target and its options.
fn entry_of(name: String, entry: toml::Value, directory: &Path) -> Result<NamedTarget, String> {
    let mut table = match entry {
        toml::Value::String(target) => return Ok(NamedTarget { name, target, token_file: None }),
        toml::Value::Table(table) => table,
        _ => return Err(format!("the target of {name:?} is not a text")),
    };
    let mut text = |key: &str| match table.remove(key) {
        Some(toml::Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("`{key}` of {name:?} is not a text")),
        None => Ok(None),
    };
    let (target, token_file) =
        (text("target")?, text("token-file")?.map(|file| directory.join(file)));
    if let Some(key) = table.keys().next() {
        return Err(format!(
            "{key:?} of {name:?} is not known: only `target` and `token-file` are"
        ));
    }
    let target = target.ok_or_else(|| format!("{name:?} has no `target`"))?;
    Ok(NamedTarget { name, target, token_file })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_targets_and_nothing_else() {
        let named = |name: &str, target: &str, token_file: Option<&str>| NamedTarget {
            name: name.to_owned(),
            target: target.to_owned(),
            token_file: token_file.map(PathBuf::from),
        };
        let text = "# mine\n[upstreams]\nweb = \"/run/web.sock\"\n\
                    api = \"cmd:cograph mcp --root /srv/api\"\n\
                    far = { target = \"https://far.example/mcp\", token-file = \"far.token\" }\n\
                    [upstreams.near]\ntarget = \"http://127.0.0.1:1/mcp\"\n\
                    token-file = \"/etc/near.token\"\n";
        let directory = Path::new("/home/me");
        let mut found = parse(text, directory).expect("it is right");
        found.sort();
        let wanted = [
            named("api", "cmd:cograph mcp --root /srv/api", None),
            named("far", "https://far.example/mcp", Some("/home/me/far.token")),
            named("near", "http://127.0.0.1:1/mcp", Some("/etc/near.token")),
            named("web", "/run/web.sock", None),
        ];
        assert_eq!(found, wanted);
        assert_eq!(parse("", directory), Ok(Vec::new()));
        for wrong in [
            "[upstreams]\nweb = 1",
            "upstreams = 1",
            "[upstream]\nweb = \"x\"",
            "web = ",
            "[upstreams]\na = \"\"\na = \"\"",
            "[upstreams.a]\ntoken-file = \"t\"",
            "[upstreams.a]\ntarget = \"x\"\ntoken = \"secret\"",
            "[upstreams.a]\ntarget = \"x\"\ntoken-file = 1",
        ] {
            assert!(parse(wrong, directory).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_file_is_among_the_settings_of_the_user() {
        let user = User { settings: Some("/s".into()), ..User::default() };
        assert_eq!(user.upstreams_file(), Some("/s/cograph/upstreams.toml".into()));
        assert!(matches!(upstreams(Path::new("/no/such/file")), Ok(None)));
    }
}
