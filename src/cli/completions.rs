//! `cograph completions`: the completion script for a shell.

use clap_complete::Shell;

use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use std::io::Write;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

/// Prints the script that completes the words of `command`.
pub(super) fn run(
    arguments: &CompletionsArguments,
    mut command: clap::Command,
) -> Result<(), Stop> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "cograph", &mut script);
    to_stdout(|out| out.write_all(&script))
}
