//! Command line: arguments, exit codes, and error messages. One file per subcommand; the layers
//! below do the work.
//!
//! ```text
//! arguments ──> clap ──┬── trace, search, … (the tools) ──> server::call ──┐
//!                      ├── mcp, serve ──> server: runs until its client ends
//!                      ├── index, doctor, install, export, grammar, … ─────┤
//!                      └── exit code, message and hint  <── stderr         └──> output: stdout
//! ```
//!
//! Results go to stdout, everything else to stderr. A closed pipe (`| head`) ends the program
//! quietly.

mod ask;
/// What every command has.
mod base {
    pub(crate) mod root;
}
mod clients;
mod completions;
mod coverage;
mod doctor;
mod exchange;
mod grammar;
mod hook;
mod index;
mod install;
mod lsp;
mod mcp;
mod output;
mod serve;

use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use cograph_config::{self as config, Config, ConfigError};
use cograph_server as server;
use exchange::{export, import};
use output::stop::Stop;

/// A code knowledge graph that a coding agent can trust.
#[derive(Debug, Parser)]
#[command(name = "cograph", version, about, max_term_width = 110, arg_required_else_help = true)]
struct Arguments {
    #[command(flatten)]
    log: output::log::LogArguments,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Index a repository, or bring its index up to date
    Index(index::IndexArguments),
    /// Compare the graphs of two revisions: symbols and edges that came, went and moved
    Diff(ask::diff::DiffArguments),
    /// Find definitions that nothing uses, by how certain that is
    Unused(ask::unused::UnusedArguments),
    /// Find files that import each other in a circle, and the imports to cut
    Cycles(ask::cycles::CyclesArguments),
    /// Check a repository in continuous integration: what is new of unused code, cycles, broken
    /// rules, complexity and size
    Check(ask::check::CheckArguments),
    /// Import which test executed what, for `impact` and `sql`
    #[command(subcommand)]
    Coverage(coverage::CoverageCommand),
    /// Export parts of the graph for other programs
    #[command(subcommand)]
    Export(export::Command),
    /// Import edges that a compiler states, from its SCIP index
    #[command(subcommand)]
    Import(import::ImportCommand),
    /// Publish the index of the commit that is checked out, for other machines
    #[cfg(feature = "publish")]
    Publish(exchange::publish::PublishArguments),
    /// Start from a published index instead of a build
    #[cfg(feature = "publish")]
    Pull(exchange::publish::PullArguments),
    /// Serve an MCP client on standard input and output
    Mcp(mcp::McpArguments),
    /// Serve an editor on standard input and output (Language Server Protocol)
    Lsp(lsp::LspArguments),
    /// Show the repository in a browser, or write the page as a file
    Page(ask::page::PageArguments),
    /// Serve many clients from one process, to which `cograph mcp --upstream` forwards calls
    Serve(serve::ServeArguments),
    /// Check everything that a client depends on, and suggest a fix for each problem
    Doctor(doctor::DoctorArguments),
    /// Answer a hook of an agent: read its JSON on standard input, print what the index adds
    Hook(hook::HookArguments),
    /// Add this server to a client's configuration
    Install(install::InstallArguments),
    /// Remove this server from a client's configuration
    Uninstall(install::ClientArguments),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArguments),
    /// Compare the calls in the syntax trees of a directory with the references extracted from them
    #[command(hide = true)]
    LostLines(grammar::lost_lines::LostLinesArguments),
    /// Check a language manifest, or show what is extracted from a file
    #[command(subcommand)]
    Grammar(grammar::Command),
}

const NOTHING_FOUND: u8 = 1;
const UNDECIDED: u8 = 2;
const USAGE: u8 = 2;
const FAILURE: u8 = 3;

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            // Help and version are results; clap selects the stream.
            let code = if error.use_stderr() { USAGE } else { 0 };
            return if error.print().is_ok() || code == 0 {
                ExitCode::from(code)
            } else {
                ExitCode::from(FAILURE)
            };
        }
    };
    let result = run(&matches);
    output::profile::print();
    let stop = match result {
        Ok(()) => return ExitCode::SUCCESS,
        Err(stop) => stop,
    };
    match stop {
        Stop::Closed => ExitCode::SUCCESS,
        Stop::Problems => ExitCode::from(NOTHING_FOUND),
        Stop::NothingFound(message) if message.is_empty() => ExitCode::from(NOTHING_FOUND),
        Stop::NothingFound(message) => end(NOTHING_FOUND, &message),
        Stop::Undecided(message) if message.is_empty() => ExitCode::from(UNDECIDED),
        Stop::Undecided(message) => end(UNDECIDED, &message),
        Stop::Usage(message) => end(USAGE, &format!("error: {message}")),
        Stop::AlreadyServed(message) => end(server::ALREADY_SERVED, &message),
        Stop::Failure { message, hint } => {
            end(FAILURE, &format!("error: {message}\n  hint: {hint}"))
        }
    }
}

/// Commands of this module, and one per tool of the server.
fn command() -> clap::Command {
    output::examples::add(Arguments::command().subcommands(ask::commands()))
}

fn run(matches: &ArgMatches) -> Result<(), Stop> {
    cograph_system::signals::survive_file_size_limit()?;
    let level =
        output::log::start(matches, matches!(matches.subcommand_name(), Some("mcp" | "serve")))?;
    let config = Config::from_environment().and_then(|config| {
        use_manifests(&config)?;
        Ok(Config { worker: index::worker_command(&level), ..config })
    });
    if let Some((name, matches)) = matches.subcommand()
        && let Some(tool) = server::tool(name)
    {
        return ask::run(&config?, tool, matches);
    }
    match Arguments::from_arg_matches(matches)
        .map_err(|error| Stop::Usage(error.to_string()))?
        .command
    {
        Command::Index(arguments) => index::run(&config?, &arguments),
        Command::Diff(arguments) => ask::diff::run(&config?, &arguments),
        Command::Unused(arguments) => ask::unused::run(&config?, &arguments),
        Command::Check(arguments) => ask::check::run(&config?, &arguments),
        Command::Cycles(arguments) => ask::cycles::run(&config?, &arguments),
        Command::Coverage(command) => coverage::run(&config?, &command),
        Command::Export(command) => export::run(&config?, &command),
        Command::Import(command) => import::run(&config?, &command),
        #[cfg(feature = "publish")]
        Command::Publish(arguments) => exchange::publish::publish(&config?, &arguments),
        #[cfg(feature = "publish")]
        Command::Pull(arguments) => exchange::publish::pull(&config?, &arguments),
        Command::Mcp(arguments) => mcp::run(config, &level, &arguments),
        Command::Lsp(arguments) => lsp::run(config, &arguments),
        Command::Page(arguments) => ask::page::run(&config?, &arguments),
        Command::Serve(arguments) => serve::run(config, &arguments),
        Command::Doctor(arguments) => doctor::run(config, &arguments),
        Command::Hook(arguments) => hook::run(config, &arguments),
        Command::Install(arguments) => install::install(config, &arguments),
        Command::Uninstall(arguments) => install::uninstall(config, &arguments),
        Command::Completions(arguments) => completions::run(&arguments, command()),
        Command::LostLines(arguments) => grammar::lost_lines::run(&config?, &arguments),
        Command::Grammar(command) => grammar::run(&config?, &command),
    }
}

/// Uses the manifests of the user's directory, and names those that do not fit.
fn use_manifests(config: &Config) -> Result<(), ConfigError> {
    if let Some(directory) = &config.manifest_directory {
        cograph_grammar::use_manifests(config::manifests(directory)?);
        for error in cograph_grammar::manifest_errors() {
            output::note(&format!("warning: language left out: {}", server::one_line(error)));
        }
    }
    Ok(())
}

fn end(code: u8, message: &str) -> ExitCode {
    output::note(message);
    ExitCode::from(code)
}
