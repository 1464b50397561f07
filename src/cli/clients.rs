//! MCP clients, and the configuration file or command of each, as its vendor documents it. Shared
//! by `install`, which edits these files, and `doctor`, which reads them.

pub(crate) mod entry;
pub(super) mod hooks;
mod json;
#[cfg(test)]
mod properties;
mod toml;

use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use cograph_config::{FileRules, User};
use cograph_system::files;
pub(super) use entry::{Literal, Member, NAME, Scope, ServerEntry};
use hooks::HookFile;

/// A configuration file. Large, because some clients keep other data in it.
const RULES: FileRules = FileRules::settings(64 << 20);

/// MCP client.
pub(super) struct Client {
    /// Name on the command line.
    pub(super) word: &'static str,
    /// Name for people.
    pub(super) title: &'static str,
    /// Executable, if it has a command to edit the configuration.
    pub(super) program: Option<&'static str>,
    format: Format,
    /// Member of an entry that keeps the client from deferring the tools of the server.
    eager: Option<Member>,
    /// Hooks, if the client knows some.
    pub(super) hooks: Option<&'static HookFile>,
    user_file: fn(&User) -> Option<PathBuf>,
    project_file: &'static str,
    add: fn(Scope, &ServerEntry) -> Option<Vec<String>>,
    remove: fn(Scope) -> Option<Vec<String>>,
    /// Next step for the user before the client uses an entry.
    pub(super) next: fn(Scope) -> &'static str,
}

/// Format of a configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    /// JSON, with the servers in the member of this name.
    Json {
        section: &'static str,
        /// Accepts comments and trailing commas.
        relaxed: bool,
        /// Further members of an entry.
        fixed: &'static [Member],
    },
    /// TOML, one table per server below this one.
    Toml { section: &'static str },
}

/// Transport of an entry.
const STDIO: Member = ("type", Literal::Text("stdio"));

/// Parsed configuration, and the path of the member with the servers.
#[derive(Clone, Copy)]
pub(super) struct List<'a> {
    text: &'a str,
    format: Format,
}

/// Every supported client.
pub(super) static CLIENTS: [Client; 6] = [
    Client {
        word: "claude-code",
        title: "Claude Code",
        program: Some("claude"),
        format: Format::Json { section: "mcpServers", relaxed: false, fixed: &[STDIO] },
        eager: Some(("alwaysLoad", Literal::True)),
        hooks: Some(&hooks::CLAUDE_CODE),
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
        eager: None,
        hooks: Some(&hooks::CODEX),
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
        format: Format::Json { section: "mcpServers", relaxed: true, fixed: &[] },
        eager: None,
        hooks: Some(&hooks::GEMINI),
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
        format: Format::Json { section: "mcpServers", relaxed: true, fixed: &[] },
        eager: None,
        hooks: Some(&hooks::CURSOR),
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
        format: Format::Json { section: "servers", relaxed: true, fixed: &[STDIO] },
        eager: None,
        hooks: None,
        user_file: visual_studio_code,
        project_file: ".vscode/mcp.json",
        add: |scope, entry| {
            (scope == Scope::User).then(|| vec!["--add-mcp".to_owned(), described(entry)])
        },
        remove: |_| None,
        next: |_| "the command `MCP: List Servers` shows it and starts it",
    },
    Client {
        word: "copilot",
        title: "Copilot CLI",
        program: None,
        format: Format::Json {
            section: "mcpServers",
            relaxed: true,
            fixed: &[("type", Literal::Text("local")), ("tools", Literal::Texts(&["*"]))],
        },
        eager: Some(("deferTools", Literal::Text("never"))),
        hooks: Some(&hooks::COPILOT),
        user_file: |user| Some(user.home.as_ref()?.join(".copilot/mcp-config.json")),
        project_file: ".github/mcp.json",
        add: |_, _| None,
        remove: |_| None,
        next: |_| "`/mcp show` lists it",
    },
];

#[cfg(windows)]
fn visual_studio_code(user: &User) -> Option<PathBuf> {
    Some(user.home.as_ref()?.join("AppData/Roaming/Code/User/mcp.json"))
}

#[cfg(not(any(windows, target_os = "macos")))]
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

/// An entry with its name, in the syntax of one client's command line.
fn described(entry: &ServerEntry) -> String {
    json!({"name": NAME, "command": entry.command, "args": entry.arguments}).to_string()
}

/// Client by name.
pub(super) fn client(word: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.word == word)
}

impl Client {
    /// Path of the configuration; none if the home directory is unknown.
    pub(super) fn file(&self, scope: Scope, user: &User, root: &Path) -> Option<PathBuf> {
        match scope {
            Scope::User => (self.user_file)(user),
            Scope::Project => Some(root.join(self.project_file)),
        }
    }

    /// Member of an entry that has the client load all tools at the start of a session, if the
    /// client knows one.
    pub(super) fn eager(&self) -> Option<Member> {
        self.eager
    }

    /// Arguments for the client's own command that adds an entry.
    pub(super) fn add(&self, scope: Scope, entry: &ServerEntry) -> Option<Vec<String>> {
        (self.add)(scope, entry)
    }

    /// Arguments for the client's own command that removes the entry.
    pub(super) fn remove(&self, scope: Scope) -> Option<Vec<String>> {
        (self.remove)(scope)
    }

    /// Parses a configuration. A missing file has an empty text.
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
    /// Stdio servers by name.
    pub(super) fn entries(&self) -> Vec<(String, ServerEntry)> {
        match self.format {
            Format::Json { section, relaxed, .. } => json::entries(self.text, relaxed, &[section]),
            Format::Toml { section } => toml::entries(self.text, section),
        }
    }

    /// Stdio servers of one project, in a client that keeps them in the user's configuration.
    pub(super) fn entries_for(&self, directory: &Path) -> Vec<(String, ServerEntry)> {
        match (self.format, directory.to_str()) {
            (Format::Json { section, relaxed, .. }, Some(directory)) => {
                json::entries(self.text, relaxed, &["projects", directory, section])
            }
            _ => Vec::new(),
        }
    }

    /// Entry of this server.
    pub(super) fn entry(&self) -> Option<ServerEntry> {
        self.entries().into_iter().find(|(name, _)| name == NAME).map(|(_, entry)| entry)
    }

    /// True if there is an entry of this server's name, of any kind.
    pub(super) fn has(&self) -> bool {
        match self.format {
            Format::Json { section, relaxed, .. } => json::has(self.text, relaxed, section, NAME),
            Format::Toml { section } => toml::has(self.text, section, NAME),
        }
    }

    /// The text with an entry of this server and a further member of it, otherwise unchanged.
    pub(super) fn with(
        &self,
        entry: &ServerEntry,
        eager: Option<Member>,
    ) -> Result<String, String> {
        match self.format {
            Format::Json { section, relaxed, fixed } => {
                json::with(self.text, relaxed, section, NAME, entry, (fixed, eager))
            }
            Format::Toml { section } => toml::with(self.text, section, NAME, entry),
        }
    }

    /// The text without this server, otherwise unchanged.
    pub(super) fn without(&self) -> Result<String, String> {
        match self.format {
            Format::Json { section, relaxed, .. } => {
                json::without(self.text, relaxed, section, NAME)
            }
            Format::Toml { section } => toml::without(self.text, section, NAME),
        }
    }

    /// True if both are equal except for this server and formatting.
    pub(super) fn agrees_with(&self, other: &List<'_>) -> bool {
        match self.format {
            Format::Json { section, relaxed, .. } => {
                json::agree(self.text, other.text, relaxed, section, NAME)
            }
            Format::Toml { section } => toml::agree(self.text, other.text, section, NAME),
        }
    }

    /// True if it contains nothing except this server.
    pub(super) fn has_only_this_server(&self) -> bool {
        self.agrees_with(&List { text: "", format: self.format })
    }
}

/// Target of a path in a repository if it is outside of the repository, through a symlink at any
/// level. `root` is canonical.
pub(super) fn outside(path: &Path, root: &Path) -> Option<PathBuf> {
    let mut existing = path;
    // A missing file will be created in its nearest existing parent. A dangling symlink exists.
    while existing.symlink_metadata().is_err() {
        existing = existing.parent()?;
    }
    match files::canonical(existing) {
        Ok(real) if real.starts_with(root) => None,
        Ok(real) => Some(real),
        Err(_) => Some(std::fs::read_link(existing).unwrap_or_else(|_| existing.to_path_buf())),
    }
}

/// Reads a configuration file, following symlinks; none if it does not exist.
pub(super) fn read(path: &Path) -> io::Result<Option<String>> {
    Ok(RULES.read(path)?)
}

/// Reads a configuration file without following a final symlink.
pub(super) fn read_here(path: &Path) -> io::Result<Option<String>> {
    Ok(FileRules { follows_links: false, ..RULES }.read(path)?)
}
