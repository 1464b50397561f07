//! `cograph completions`: the completion script for a shell.

use clap_complete::Shell;

use super::Stop;
use super::output::to_stdout;
use std::io::Write;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

pub(super) fn run(arguments: &CompletionsArguments) -> Result<(), Stop> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::command(), "cograph", &mut script);
    to_stdout(|out| out.write_all(&script))
}
