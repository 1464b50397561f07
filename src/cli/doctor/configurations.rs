//! Checks the client configurations that contain this server or hooks that run it: whether its
//! command exists, can be started and has this version.
//!
//! A project's configuration is repository content and untrusted: its command is compared with this
//! executable and never started. Nor is a command in the repository, whichever configuration
//! contains it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::clients::entry::{NAME, Scope, ServerEntry};
use crate::clients::hooks::own_hooks;
use crate::clients::{self, CLIENTS, Client};
use crate::doctor::finding::{Finding, Verdict};
use cograph_config::process::{Ended, run_command};
use cograph_config::{User, is_executable};

/// Timeout of `--version`.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// Configurations of all clients that contain this server or are unreadable.
pub(super) fn all(user: &User, root: Option<&Path>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for client in &CLIENTS {
        for scope in [Scope::User, Scope::Project] {
            let path = match (scope, root) {
                (Scope::User, _) => client.file(scope, user, Path::new(".")),
                (Scope::Project, root) => root.and_then(|root| client.file(scope, user, root)),
            };
            if let Some(path) = path {
                findings.extend(file(client, scope, &path, user, root));
            }
            findings.extend(hooks(client, scope, user, root));
        }
    }
    if findings.is_empty() {
        let names: Vec<&str> = CLIENTS.iter().map(|client| client.word).collect();
        let hint = format!("`cograph install CLIENT`, where CLIENT is one of {}", names.join(", "));
        findings.push(Finding::note("clients", "no client's list names this program", hint));
    }
    findings
}

fn file(
    client: &Client,
    scope: Scope,
    path: &Path,
    user: &User,
    root: Option<&Path>,
) -> Vec<Finding> {
    let text = match text_of(client, scope, path, root) {
        Ok(Some(text)) => text,
        Ok(None) => return Vec::new(),
        Err(finding) => return vec![finding],
    };
    let list = match client.list(&text) {
        Ok(list) => list,
        Err(why) => return vec![not_understood(client, path, &why)],
    };
    let local = root.map(|root| list.entries_for(root)).unwrap_or_default();
    let ours = |(name, entry): &(String, ServerEntry)| {
        name == NAME || Path::new(&entry.command).file_name().is_some_and(|program| program == NAME)
    };
    let entries = list.entries().into_iter().chain(local).filter(ours);
    let checked = |(name, entry)| {
        let role = Role { verb: "mcp", option: "", name: format!("{name:?}") };
        checked(client, scope, path, &role, &entry, user, root)
    };
    entries.map(checked).collect()
}

/// Text of a configuration, if there is one.
fn text_of(
    client: &Client,
    scope: Scope,
    path: &Path,
    root: Option<&Path>,
) -> Result<Option<String>, Finding> {
    let shown = path.display();
    if let (Scope::Project, Some(root)) = (scope, root)
        && let Some(target) = clients::outside(path, root)
    {
        let text = format!(
            "{shown} leads out of the repository, to {}; it was not read",
            target.display()
        );
        return Err(Finding::problem(client.word, text, "put a file instead of the link"));
    }
    clients::read(path).map_err(|error| {
        let text = format!("{shown} cannot be read: {error}");
        Finding::problem(client.word, text, "check the permissions of the file")
    })
}

fn not_understood(client: &Client, path: &Path, why: &str) -> Finding {
    let text = format!("{} cannot be understood: {why}", path.display());
    let hint = format!("correct the file: {} cannot read it either", client.title);
    Finding::problem(client.word, text, hint)
}

/// Hooks of a client that run this program.
fn hooks(client: &Client, scope: Scope, user: &User, root: Option<&Path>) -> Option<Finding> {
    let hooks = client.hooks?;
    let path = match scope {
        Scope::User => hooks.file(scope, user, Path::new("."))?,
        Scope::Project => hooks.file(scope, user, root?)?,
    };
    let text = match text_of(client, scope, &path, root) {
        Ok(text) => text?,
        Err(finding) => return Some(finding),
    };
    let own = match own_hooks(&text) {
        Ok(own) => own,
        Err(why) => return Some(not_understood(client, &path, &why)),
    };
    let (program, arguments) = own.first()?.words.split_first()?;
    let entry = ServerEntry { command: program.clone(), arguments: arguments.to_vec() };
    let events: Vec<&str> = own.iter().map(|hook| hook.event.as_str()).collect();
    let name = format!("hooks of {}", events.join(", "));
    let role = Role { verb: "hook", option: " --hooks", name };
    let finding = checked(client, scope, &path, &role, &entry, user, root);
    let wanted = hooks.with(&text, &shlex::try_quote(program).ok()?);
    if finding.verdict == Verdict::Good && wanted.as_deref() != Ok(text.as_str()) {
        let text = format!("{}: the hooks are not those of this version", path.display());
        return Some(Finding::problem(client.word, text, remedy(client, scope, &role)));
    }
    Some(finding)
}

/// What a command in a configuration is for.
struct Role {
    /// First argument of the program.
    verb: &'static str,
    /// Option of `install` that writes it.
    option: &'static str,
    /// Name in the finding.
    name: String,
}

/// Command that writes an entry again.
fn remedy(client: &Client, scope: Scope, role: &Role) -> String {
    format!("`cograph install {} --scope {}{}`", client.word, scope.word(), role.option)
}

fn checked(
    client: &Client,
    scope: Scope,
    path: &Path,
    role: &Role,
    entry: &ServerEntry,
    user: &User,
    root: Option<&Path>,
) -> Finding {
    let what = format!("{}: `{}`", path.display(), entry.command.escape_debug());
    let remedy = remedy(client, scope, role);
    let name = &role.name;
    let problem =
        |why: &str| Finding::problem(client.word, format!("{what} {why}"), remedy.clone());
    if entry.command.contains("${") {
        return Finding::note(
            client.word,
            format!("{what} has a variable, which only the client knows"),
            "",
        );
    }
    let has_directory = entry.command.contains(std::path::is_separator);
    if has_directory && !Path::new(&entry.command).is_absolute() {
        return problem(
            "is relative: it would start whatever lies there in the directory of the client",
        );
    }
    let Some(program) = user.program(&entry.command) else {
        let given = PathBuf::from(&entry.command);
        return match (given.components().count(), given.exists()) {
            (2.., true) if !is_executable(&given) => problem("cannot be executed"),
            (2.., _) => problem("does not exist"),
            _ => problem("is not in the search path"),
        };
    };
    if entry.arguments.first().map(String::as_str) != Some(role.verb) {
        return problem("is not started as a server: its first argument must be `mcp`");
    }
    let own = user.own_program().and_then(|own| own.canonicalize()).ok();
    let good = || {
        Finding::good(
            client.word,
            format!("{what} as {name}, version {}", env!("CARGO_PKG_VERSION")),
        )
    };
    let program = match program.canonicalize() {
        Ok(program) => program,
        Err(error) => return problem(&format!("cannot be followed: {error}")),
    };
    if own.as_ref() == Some(&program) {
        return good();
    }
    if root.is_some_and(|root| program.starts_with(root)) {
        return problem(
            "lies in the repository, which does not decide what this user runs; it was not started",
        );
    }
    if scope == Scope::Project {
        // Resolved in the user's search path, so the repository has no influence on a bare name.
        return match has_directory {
            false if entry.command == NAME => Finding::good(
                client.word,
                format!("{what} as {name}, which is {} here", program.display()),
            ),
            _ => problem(
                "is not this program; it was not started, because the file belongs to the \
                 repository",
            ),
        };
    }
    match version(&program) {
        Ok(version) if version == env!("CARGO_PKG_VERSION") => good(),
        Ok(version) => problem(&format!(
            "is version {}, this is {}",
            version.escape_debug(),
            env!("CARGO_PKG_VERSION")
        )),
        Err(why) => problem(&why),
    }
}

/// Version that a command prints.
fn version(program: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    command.arg("--version");
    let ran = run_command(command, VERSION_TIMEOUT)
        .map_err(|error| format!("cannot be started: {error}"))?;
    match ran.ended {
        Some(Ended::Itself(status)) if status.success() => {}
        Some(Ended::Itself(status)) => return Err(format!("does not say its version: {status}")),
        _ => {
            return Err(format!(
                "did not say its version within {} s, and was ended",
                VERSION_TIMEOUT.as_secs()
            ));
        }
    }
    let said = ran.output.trim();
    let version = said.strip_prefix(NAME).and_then(|rest| rest.strip_prefix(' '));
    version
        .map(str::to_owned)
        .ok_or_else(|| format!("is another program: `--version` prints {:?}", first_line(said)))
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(80).collect()
}
