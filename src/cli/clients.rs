//! Programs that use this server, and where each keeps its list of servers: files and commands as
//! their makers document them. Shared by `install`, which changes those files, and `doctor`, which
//! only reads them.

mod json;
#[cfg(test)]
mod properties;
mod toml;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::cli::output::json::quoted;
use crate::config::User;

/// The name under which this server stands in the lists.
pub(super) const NAME: &str = "cograph";

/// The largest file of a client that is read: some keep more than settings in it.
const MOST_BYTES: u64 = 64 << 20;

/// A program that starts servers.
pub(super) struct Client {
    /// Its name on the command line.
    pub(super) word: &'static str,
    /// Its name for people.
    pub(super) title: &'static str,
    /// Its own program, if that can change the list.
    pub(super) program: Option<&'static str>,
    format: Format,
    user_file: fn(&User) -> Option<PathBuf>,
    project_file: &'static str,
    add: fn(Scope, &ServerEntry) -> Option<Vec<String>>,
    remove: fn(Scope) -> Option<Vec<String>>,
    /// What a person has to do before the client uses an entry.
    pub(super) next: fn(Scope) -> &'static str,
}

/// For whom a server is in the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum Scope {
    /// For this user, in all projects
    User,
    /// For everybody who works on this project: the file is in its directory
    Project,
}

/// How a client writes its list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    /// JSON, the servers in the member of this name.
    Json {
        section: &'static str,
        /// Comments and commas before a closing bracket are allowed.
        relaxed: bool,
        /// An entry says that it is spoken to over standard input and output.
        typed: bool,
    },
    /// TOML, one table a server below this one.
    Toml { section: &'static str },
}

/// What a list says about one server that is started as a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ServerEntry {
    /// The program.
    pub(super) command: String,
    /// Its arguments.
    pub(super) arguments: Vec<String>,
}

/// A client's list, and in it the member that has the servers.
#[derive(Clone, Copy)]
pub(super) struct List<'a> {
    text: &'a str,
    format: Format,
}

/// Every client that is known.
pub(super) static CLIENTS: [Client; 5] = [
    Client {
        word: "claude-code",
        title: "Claude Code",
        program: Some("claude"),
        format: Format::Json { section: "mcpServers", relaxed: false, typed: true },
        user_file: |user| Some(user.claude.as_ref().or(user.home.as_ref())?.join(".claude.json")),
        project_file: ".mcp.json",
        add: |scope, entry| {
            Some(words(&["mcp", "add", "--scope", scope.word(), NAME, "--"], entry))
        },
        remove: |scope| Some(texts(&["mcp", "remove", "--scope", scope.word(), NAME])),
        next: |scope| match scope {
            Scope::User => "`claude mcp list` shows it; sessions that run see it after a restart",
            Scope::Project => {
                "Claude Code asks each user once whether the servers of the project may be used"
            }
        },
    },
    Client {
        word: "codex",
        title: "Codex",
        program: Some("codex"),
        format: Format::Toml { section: "mcp_servers" },
        user_file: |user| Some(user.codex.as_ref()?.join("config.toml")),
        project_file: ".codex/config.toml",
        add: |scope, entry| {
            (scope == Scope::User).then(|| words(&["mcp", "add", NAME, "--"], entry))
        },
        remove: |scope| (scope == Scope::User).then(|| texts(&["mcp", "remove", NAME])),
        next: |scope| match scope {
            Scope::User => "`codex mcp list` shows it",
            Scope::Project => "Codex reads the file in projects that the user trusts",
        },
    },
    Client {
        word: "gemini",
        title: "Gemini CLI",
        program: Some("gemini"),
        format: Format::Json { section: "mcpServers", relaxed: true, typed: false },
        user_file: |user| Some(user.home.as_ref()?.join(".gemini/settings.json")),
        project_file: ".gemini/settings.json",
        add: |scope, entry| Some(words(&["mcp", "add", "--scope", scope.word(), NAME], entry)),
        remove: |scope| Some(texts(&["mcp", "remove", "--scope", scope.word(), NAME])),
        next: |_| "`gemini mcp list` shows it, in a folder that the user trusts",
    },
    Client {
        word: "cursor",
        title: "Cursor",
        program: None,
        format: Format::Json { section: "mcpServers", relaxed: true, typed: false },
        user_file: |user| Some(user.home.as_ref()?.join(".cursor/mcp.json")),
        project_file: ".cursor/mcp.json",
        add: |_, _| None,
        remove: |_| None,
        next: |_| "Cursor shows it among its MCP tools, where it can be switched on",
    },
    Client {
        word: "vscode",
        title: "Visual Studio Code",
        program: Some("code"),
        format: Format::Json { section: "servers", relaxed: true, typed: true },
        user_file: visual_studio_code,
        project_file: ".vscode/mcp.json",
        add: |scope, entry| {
            (scope == Scope::User).then(|| vec!["--add-mcp".to_owned(), described(entry)])
        },
        remove: |_| None,
        next: |_| "the command `MCP: List Servers` shows it and starts it",
    },
];

#[cfg(not(target_os = "macos"))]
fn visual_studio_code(user: &User) -> Option<PathBuf> {
    Some(user.settings.as_ref()?.join("Code/User/mcp.json"))
}

#[cfg(target_os = "macos")]
fn visual_studio_code(user: &User) -> Option<PathBuf> {
    Some(user.home.as_ref()?.join("Library/Application Support/Code/User/mcp.json"))
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn words(first: &[&str], entry: &ServerEntry) -> Vec<String> {
    texts(first)
        .into_iter()
        .chain([entry.command.clone()])
        .chain(entry.arguments.iter().cloned())
        .collect()
}

/// An entry with its name, as one program wants it on its command line.
fn described(entry: &ServerEntry) -> String {
    let arguments: Vec<String> = entry.arguments.iter().map(|argument| quoted(argument)).collect();
    format!(
        "{{\"name\":{},\"command\":{},\"args\":[{}]}}",
        quoted(NAME),
        quoted(&entry.command),
        arguments.join(",")
    )
}

/// The client of a name.
pub(super) fn client(word: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.word == word)
}

impl Scope {
    /// The word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

impl Client {
    /// The file with the list; none if the user's directory is not known.
    pub(super) fn file(&self, scope: Scope, user: &User, root: &Path) -> Option<PathBuf> {
        match scope {
            Scope::User => (self.user_file)(user),
            Scope::Project => Some(root.join(self.project_file)),
        }
    }

    /// The arguments with which its own program takes an entry in, if it can.
    pub(super) fn add(&self, scope: Scope, entry: &ServerEntry) -> Option<Vec<String>> {
        (self.add)(scope, entry)
    }

    /// The arguments with which its own program takes the entry out, if it can.
    pub(super) fn remove(&self, scope: Scope) -> Option<Vec<String>> {
        (self.remove)(scope)
    }

    /// Reads a list. The text of a file that does not exist is empty.
    pub(super) fn list<'a>(&self, text: &'a str) -> Result<List<'a>, String> {
        let list = List { text, format: self.format };
        match self.format {
            Format::Json { section, relaxed, .. } => json::check(text, relaxed, section)?,
            Format::Toml { section } => toml::check(text, section)?,
        }
        Ok(list)
    }
}

impl List<'_> {
    /// The servers that are programs, by name.
    pub(super) fn entries(&self) -> Vec<(String, ServerEntry)> {
        match self.format {
            Format::Json { section, relaxed, .. } => json::entries(self.text, relaxed, &[section]),
            Format::Toml { section } => toml::entries(self.text, section),
        }
    }

    /// The servers of one directory, which one client keeps in the list of the user.
    pub(super) fn entries_for(&self, directory: &Path) -> Vec<(String, ServerEntry)> {
        match (self.format, directory.to_str()) {
            (Format::Json { section, relaxed, .. }, Some(directory)) => {
                json::entries(self.text, relaxed, &["projects", directory, section])
            }
            _ => Vec::new(),
        }
    }

    /// What it says about this server.
    pub(super) fn entry(&self) -> Option<ServerEntry> {
        self.entries().into_iter().find(|(name, _)| name == NAME).map(|(_, entry)| entry)
    }

    /// Whether there is something under this server's name, of whatever kind.
    pub(super) fn has(&self) -> bool {
        match self.format {
            Format::Json { section, relaxed, .. } => json::has(self.text, relaxed, section, NAME),
            Format::Toml { section } => toml::has(self.text, section, NAME),
        }
    }

    /// The text with this server in the list; everything else as it was.
    pub(super) fn with(&self, entry: &ServerEntry) -> Result<String, String> {
        match self.format {
            Format::Json { section, relaxed, typed } => {
                json::with(self.text, relaxed, section, NAME, entry, typed)
            }
            Format::Toml { section } => toml::with(self.text, section, NAME, entry),
        }
    }

    /// The text without this server; everything else as it was.
    pub(super) fn without(&self) -> Result<String, String> {
        match self.format {
            Format::Json { section, relaxed, .. } => {
                json::without(self.text, relaxed, section, NAME)
            }
            Format::Toml { section } => toml::without(self.text, section, NAME),
        }
    }

    /// Whether the two say the same about everything but this server, whatever their spaces.
    pub(super) fn agrees_with(&self, other: &List<'_>) -> bool {
        match self.format {
            Format::Json { section, relaxed, .. } => {
                json::agree(self.text, other.text, relaxed, section, NAME)
            }
            Format::Toml { section } => toml::agree(self.text, other.text, section, NAME),
        }
    }

    /// Whether it says nothing at all beside this server.
    pub(super) fn is_ours_alone(&self) -> bool {
        self.agrees_with(&List { text: "", format: self.format })
    }
}

/// Where a path in a repository leads, if that is out of the repository: through the file itself or
/// a directory above it. `root` is canonical.
pub(super) fn outside(path: &Path, root: &Path) -> Option<PathBuf> {
    let mut existing = path;
    // What is not there yet is made where the directories above it are. A link that leads nowhere
    // is there.
    while existing.symlink_metadata().is_err() {
        existing = existing.parent()?;
    }
    match existing.canonicalize() {
        Ok(real) if real.starts_with(root) => None,
        Ok(real) => Some(real),
        Err(_) => Some(std::fs::read_link(existing).unwrap_or_else(|_| existing.to_path_buf())),
    }
}

/// The text of a client's file, where its links lead; none if there is no such file.
pub(super) fn read(path: &Path) -> io::Result<Option<String>> {
    read_with(path, OFlags::empty())
}

/// The same of a file that must be at this very path.
pub(super) fn read_here(path: &Path) -> io::Result<Option<String>> {
    read_with(path, OFlags::NOFOLLOW)
}

fn read_with(path: &Path, flags: OFlags) -> io::Result<Option<String>> {
    // A pipe must not hold this up.
    let flags = flags | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = match rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from) {
        Ok(file) => File::from(file),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("it is larger than {} MB", MOST_BYTES >> 20)));
    }
    Ok(Some(text))
}
