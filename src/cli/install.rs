//! `cograph install` and `cograph uninstall`: add this server to a client's configuration, and
//! remove it. Uses the client's own command if there is one; the rest of the file is preserved byte
//! for byte.

mod config_file;
mod hooks;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::builder::PossibleValuesParser;

use super::clients::{self, CLIENTS, Client, List};
use crate::base::root::RootArgument;
use crate::clients::entry::{Member, NAME, Scope, ServerEntry};
use crate::output::numbers::shown;
use crate::output::stop::Stop;
use crate::output::streams::{note, to_stdout};
use cograph_config::process::{Ended, run_command};
use cograph_config::{Config, ConfigError, User};
use cograph_server::for_terminal;
use config_file::{ConfigFile, diff};
use hooks::HookSettings;

/// Timeout of a client's own command.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(60);

/// Arguments of `install`.
#[derive(Debug, clap::Args)]
pub(super) struct InstallArguments {
    #[command(flatten)]
    client: ClientArguments,
    /// Have the client load all tools at the start of a session, instead of when the model searches
    /// for one (Claude Code, Copilot CLI)
    #[arg(long)]
    eager: bool,
    /// Add hooks as well: one line at the start of a session, and after a search what the index
    /// knows of its names (all but VS Code)
    #[arg(long)]
    hooks: bool,
}

/// Arguments of both commands.
#[derive(Debug, clap::Args)]
pub(super) struct ClientArguments {
    /// The client
    #[arg(value_parser = PossibleValuesParser::new(CLIENTS.iter().map(|client| client.word)))]
    client: String,
    /// For this user in all projects, or for everyone who works on this project
    #[arg(long, value_enum, default_value = "user")]
    scope: Scope,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    root: RootArgument,
}

/// Context of a run.
struct Task {
    client: &'static Client,
    scope: Scope,
    user: User,
    /// Working directory of the client's own command: selects the project's file.
    directory: PathBuf,
    place: ConfigFile,
    /// Further member of the entry.
    eager: Option<Member>,
    dry_run: bool,
}

/// Adds the server.
pub(super) fn install(
    config: Result<Config, ConfigError>,
    arguments: &InstallArguments,
) -> Result<(), Stop> {
    let mut task = Task::new(config, &arguments.client)?;
    let client = task.client;
    if arguments.eager {
        task.eager = Some(client.eager().ok_or_else(|| {
            without_setting(client, "--eager", |client| client.eager().is_some())
        })?);
    }
    if arguments.hooks && client.hooks.is_none() {
        return Err(without_setting(client, "--hooks", |client| client.hooks.is_some()));
    }
    let command = match task.scope {
        Scope::User => task.user.own_program()?.to_string_lossy().into_owned(),
        // A shared file cannot contain a path of this machine.
        Scope::Project => {
            if task.user.program(NAME).is_none() {
                note(&format!(
                    "note: `{NAME}` is not in the search path; clients that read this file will \
                     look for it there"
                ));
            }
            NAME.to_owned()
        }
    };
    let program = command.clone();
    task.install(&ServerEntry { command, arguments: vec!["mcp".to_owned()] })?;
    match task.hooks()?.filter(|_| arguments.hooks) {
        // The command of a hook is a line for a shell.
        Some(hooks) => hooks.install(&shlex::try_quote(&program).unwrap_or_default()),
        None => Ok(()),
    }
}

/// Error for an option that a client has no setting for.
fn without_setting(client: &Client, option: &str, has: fn(&Client) -> bool) -> Stop {
    let known: Vec<&str> =
        CLIENTS.iter().filter(|client| has(client)).map(|client| client.word).collect();
    Stop::Usage(format!("{} has no setting for {option}; {} have", client.title, known.join(", ")))
}

/// Removes the server.
pub(super) fn uninstall(
    config: Result<Config, ConfigError>,
    arguments: &ClientArguments,
) -> Result<(), Stop> {
    let task = Task::new(config, arguments)?;
    // In reverse order: some clients have both in one file.
    if let Some(hooks) = task.hooks()? {
        hooks.uninstall()?;
    }
    Task { place: task.place.again()?, ..task }.uninstall()
}

impl Task {
    fn new(config: Result<Config, ConfigError>, arguments: &ClientArguments) -> Result<Self, Stop> {
        let client = clients::client(&arguments.client)
            .ok_or_else(|| Stop::Usage("no such client".to_owned()))?;
        let user = User::from_environment();
        let directory = match arguments.scope {
            Scope::User => PathBuf::from("."),
            Scope::Project => arguments.root.repository(&config?)?.root,
        };
        let path =
            client.file(arguments.scope, &user, &directory).ok_or_else(|| Stop::Failure {
                message: format!(
                    "cannot tell where {} keeps its settings: HOME is not set",
                    client.title
                ),
                hint: "set HOME to the user's directory".to_owned(),
            })?;
        let within = (arguments.scope == Scope::Project).then_some(directory.as_path());
        let place = ConfigFile::read(&path, within)?;
        Ok(Self {
            client,
            scope: arguments.scope,
            user,
            directory,
            place,
            eager: None,
            dry_run: arguments.dry_run,
        })
    }

    /// Settings of the client with a place for hooks.
    fn hooks(&self) -> Result<Option<HookSettings>, Stop> {
        HookSettings::read(self.client, self.scope, &self.user, &self.directory, self.dry_run)
    }

    fn install(&self, entry: &ServerEntry) -> Result<(), Stop> {
        let before = self.place.text();
        let list = self.list(before)?;
        let wanted = list.with(entry, self.eager).map_err(|why| self.unusable(&why))?;
        if wanted == before {
            return self.print_message(&format!(
                "nothing to do: {} exists already, as `{}`",
                NAME,
                line(entry)
            ));
        }
        // The commands of clients do not know the member.
        let own = if list.has() || self.eager.is_some() {
            None
        } else {
            self.client.add(self.scope, entry).and_then(|words| self.own_command(words))
        };
        if self.dry_run {
            let way =
                own.map_or(String::new(), |own| format!("\nit would be done by `{}`", own.shown));
            return self
                .print_message(&format!("{}nothing was written{way}", diff(before, &wanted)));
        }
        let copy = self.place.keep(&wanted)?;
        let mut by = String::new();
        let mut text = None;
        if let Some(own) = own {
            text = own.run(&self.directory).and_then(|()| self.merged(&list, entry, &wanted));
            match &text {
                Some(_) => by = format!(" by `{}`", own.shown),
                None => note(&format!(
                    "note: `{}` did not do it; the file is written instead",
                    own.shown
                )),
            }
        }
        let text = match text {
            Some(text) => text,
            None => {
                // The client's command may have changed the file although it failed.
                let place = self.place.again()?;
                let wanted = self.list(place.text())?.with(entry, self.eager);
                let wanted = wanted.map_err(|why| self.unusable(&why))?;
                place.write(&wanted)?;
                wanted
            }
        };
        let mut message = format!("{}installed{by}", diff(before, &text));
        if let Some(copy) = copy {
            let copy = self.rename_copy(copy, &text)?;
            message += &format!("; what was there before: {}", shown(&copy));
        }
        self.print_message(&format!("{message}\nnext: {}", (self.client.next)(self.scope)))
    }

    /// Result of the client's own command. If it reformatted the rest of the file without changing
    /// values, the original formatting is restored.
    fn merged(&self, before: &List<'_>, entry: &ServerEntry, wanted: &str) -> Option<String> {
        let place = self.place.again().ok()?;
        let list = self.client.list(place.text()).ok()?;
        if list.entry().as_ref() != Some(entry) {
            return None;
        }
        let is_rearranged =
            self.place.exists() && place.text() != wanted && list.agrees_with(before);
        if is_rearranged && place.write(wanted).is_ok() {
            return Some(wanted.to_owned());
        }
        Some(place.text().to_owned())
    }

    fn uninstall(&self) -> Result<(), Stop> {
        let before = self.place.text();
        let list = self.list(before)?;
        if !list.has() {
            return self.print_message(&format!("nothing to do: {NAME} is not there"));
        }
        if let Some((copies, text)) =
            self.place.original(before, |text| Some(self.client.list(text).ok()?.has()))
        {
            if self.dry_run {
                return self.print_message(&format!("{}nothing was written", diff(before, &text)));
            }
            self.place.write(&text)?;
            for copy in copies {
                // Best effort: the file is unchanged, so a remaining backup has the same contents.
                let _ = std::fs::remove_file(copy);
            }
            return self.print_message(&format!(
                "{}uninstalled; the file is as it was before",
                diff(before, &text)
            ));
        }
        if list.has_only_this_server() {
            if self.dry_run {
                return self.print_message(&format!(
                    "{}the file would be removed; nothing was written",
                    diff(before, "")
                ));
            }
            self.place.remove()?;
            return self.print_message(&format!(
                "{}uninstalled; the file had nothing else and was removed",
                diff(before, "")
            ));
        }
        let wanted = list.without().map_err(|why| self.unusable(&why))?;
        let own = self.client.remove(self.scope).and_then(|words| self.own_command(words));
        if self.dry_run {
            let way =
                own.map_or(String::new(), |own| format!("\nit would be done by `{}`", own.shown));
            return self
                .print_message(&format!("{}nothing was written{way}", diff(before, &wanted)));
        }
        let own =
            own.and_then(|own| own.run(&self.directory).map(|()| format!(" by `{}`", own.shown)));
        let place = self.place.again()?;
        let after = self.list(place.text())?;
        let text = if after.has() {
            let wanted = after.without().map_err(|why| self.unusable(&why))?;
            place.write(&wanted)?;
            wanted
        } else if place.text() != wanted && after.agrees_with(&list) {
            place.write(&wanted)?;
            wanted
        } else {
            place.text().to_owned()
        };
        self.print_message(&format!(
            "{}uninstalled{}",
            diff(before, &text),
            own.unwrap_or_default()
        ))
    }

    fn list<'a>(&self, text: &'a str) -> Result<List<'a>, Stop> {
        self.client.list(text).map_err(|why| self.unusable(&why))
    }

    fn unusable(&self, why: &str) -> Stop {
        Stop::Failure {
            message: format!("cannot change {}: {why}", shown(self.place.path())),
            hint: "correct the file and run this again; it is as it was".to_owned(),
        }
    }

    /// The backup belongs to the new contents of the file.
    fn rename_copy(&self, copy: PathBuf, text: &str) -> Result<PathBuf, Stop> {
        let Some(kept) = self.place.keep(text)? else { return Ok(copy) };
        if kept != copy {
            // It would never be used again.
            let _ = std::fs::remove_file(copy);
        }
        Ok(kept)
    }

    fn own_command(&self, words: Vec<String>) -> Option<OwnCommand> {
        let name = self.client.program?;
        let program = self.user.program(name)?;
        let shown = std::iter::once(name)
            .chain(words.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(" ");
        Some(OwnCommand { program, words, shown })
    }

    fn print_message(&self, message: &str) -> Result<(), Stop> {
        let (title, scope) = (self.client.title, self.scope.word());
        // The diff keeps the file's line ends and tabs; control characters are escaped.
        to_stdout(|out| {
            writeln!(
                out,
                "{title}, {scope} scope: {}\n{}",
                shown(self.place.path()),
                for_terminal(message)
            )
        })
    }
}

/// Command line of the client's own executable.
struct OwnCommand {
    program: PathBuf,
    words: Vec<String>,
    shown: String,
}

impl OwnCommand {
    /// Runs it; none if it fails. The error is printed.
    fn run(&self, directory: &Path) -> Option<()> {
        let mut command = Command::new(&self.program);
        command.args(&self.words).current_dir(directory);
        let said = match run_command(command, CLIENT_TIMEOUT) {
            Ok(ran) => match ran.ended {
                Some(Ended::Itself(status)) if status.success() => return Some(()),
                Some(Ended::Itself(status)) => format!("{status}: {}{}", ran.output, ran.errors),
                _ => format!("it did not end within {} seconds", CLIENT_TIMEOUT.as_secs()),
            },
            Err(error) => error.to_string(),
        };
        note(&format!("note: `{}`: {}", self.shown, said.trim().escape_debug()));
        None
    }
}

fn line(entry: &ServerEntry) -> String {
    std::iter::once(&entry.command)
        .chain(&entry.arguments)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}
