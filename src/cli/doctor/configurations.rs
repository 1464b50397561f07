//! Checks the client configurations that contain this server: whether its command exists, can be
//! started and has this version.
//!
//! A project's configuration is repository content and untrusted: its command is compared with this
//! executable and never started. Nor is a command in the repository, whichever configuration
//! contains it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::Finding;
use crate::clients::{self, CLIENTS, Client, NAME, Scope, ServerEntry};
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
    let shown = path.display();
    if let (Scope::Project, Some(root)) = (scope, root)
        && let Some(target) = clients::outside(path, root)
    {
        let text = format!(
            "{shown} leads out of the repository, to {}; it was not read",
            target.display()
        );
        return vec![Finding::problem(client.word, text, "put a file in the place of the link")];
    }
    let text = match clients::read(path) {
        Ok(Some(text)) => text,
        Ok(None) => return Vec::new(),
        Err(error) => {
            let text = format!("{shown} cannot be read: {error}");
            return vec![Finding::problem(client.word, text, "check the permissions of the file")];
        }
    };
    let list = match client.list(&text) {
        Ok(list) => list,
        Err(why) => {
            let text = format!("{shown} cannot be understood: {why}");
            return vec![Finding::problem(
                client.word,
                text,
                format!("correct the file: {} cannot read it either", client.title),
            )];
        }
    };
    let local = root.map(|root| list.entries_for(root)).unwrap_or_default();
    let ours = |(name, entry): &(String, ServerEntry)| {
        name == NAME || Path::new(&entry.command).file_name().is_some_and(|program| program == NAME)
    };
    let entries = list.entries().into_iter().chain(local).filter(ours);
    entries.map(|(name, entry)| checked(client, scope, path, &name, &entry, user, root)).collect()
}

fn checked(
    client: &Client,
    scope: Scope,
    path: &Path,
    name: &str,
    entry: &ServerEntry,
    user: &User,
    root: Option<&Path>,
) -> Finding {
    let what = format!("{}: `{}`", path.display(), entry.command.escape_debug());
    let mend = format!("`cograph install {} --scope {}`", client.word, scope.word());
    let problem = |why: &str| Finding::problem(client.word, format!("{what} {why}"), mend.clone());
    if entry.command.contains("${") {
        return Finding::note(
            client.word,
            format!("{what} has a variable, which only the client knows"),
            "",
        );
    }
    let has_directory = entry.command.contains('/');
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
    if entry.arguments.first().map(String::as_str) != Some("mcp") {
        return problem("is not started as a server: its first argument must be `mcp`");
    }
    let own = user.own_program().and_then(|own| own.canonicalize()).ok();
    let good = || {
        Finding::good(
            client.word,
            format!("{what} as {name:?}, version {}", env!("CARGO_PKG_VERSION")),
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
                format!("{what} as {name:?}, which is {} here", program.display()),
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
