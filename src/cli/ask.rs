//! Query commands: one per tool of the server, generated from its table, with the same parameters,
//! queries and rendering; the first parameter is positional.

pub(super) mod check;
pub(super) mod cycles;
pub(super) mod diff;
mod impact;
mod listing;
pub(super) mod page;
pub(super) mod unused;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::output::terminal::{self, Terminal};
use crate::base::root::QuestionScope;
use crate::output::progress::Bar;
use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use cograph_config::{Config, FileRules};
use cograph_model::cancel::CancelToken;
use cograph_query::sql::all_views;
use cograph_server::{
    self as server, Form, Host, Outcome, Parameter, Patience, ProgressReport, Repositories,
    ServerState, Shape, TOOLS, Tool,
};
use cograph_system::streams;

/// Timeout of waiting for an index: until the user interrupts.
const NO_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// Commands of all tools.
pub(super) fn commands() -> impl Iterator<Item = clap::Command> {
    TOOLS.iter().map(|tool| {
        let json = Arg::new("json")
            .long("json")
            .action(ArgAction::SetTrue)
            .help("Print the whole answer as JSON");
        let own = tool
            .own
            .iter()
            .enumerate()
            .map(|(position, parameter)| argument(parameter, position == 0));
        let common =
            tool.parameters().skip(tool.own.len()).map(|parameter| argument(parameter, false));
        clap::Command::new(tool.name)
            .about(tool.title)
            .long_about(long_about(tool))
            .args(own)
            .args(common)
            .arg(json)
            .args(if tool.name == impact::TOOL { impact::arguments() } else { Vec::new() })
            .args(terminal::arguments())
    })
}

/// What a command does; of `sql`, with the views that a statement may name.
fn long_about(tool: &Tool) -> String {
    if tool.name != "sql" {
        return tool.about.to_owned();
    }
    let views = all_views().map(|view| {
        let columns: Vec<&str> = view.columns.iter().map(|(name, _)| *name).collect();
        format!("\n  {}({}): {}", view.name, columns.join(", "), view.about)
    });
    format!("{}\n\nAll views:{}", tool.about, views.collect::<String>())
}

fn argument(parameter: &'static Parameter, is_first: bool) -> Arg {
    let argument = Arg::new(parameter.name).help(parameter.about).required(parameter.required);
    let argument = match parameter.shape {
        Shape::Flag => argument.action(ArgAction::SetTrue),
        Shape::Word(words) => {
            argument.value_parser(PossibleValuesParser::new(words.iter().copied()))
        }
        Shape::Integer { least, most } => {
            argument.value_parser(value_parser!(u64).range(least..=most))
        }
        Shape::Text { .. } => argument,
        Shape::Document { .. } => argument.value_name("FILE"),
        Shape::Texts { words, .. } => {
            let words = words();
            let argument = argument.action(ArgAction::Append);
            let argument =
                if is_first { argument.num_args(1..) } else { argument.value_delimiter(',') };
            if words.is_empty() {
                argument
            } else {
                argument.value_parser(PossibleValuesParser::new(words))
            }
        }
    };
    if is_first { argument } else { argument.long(long_name(parameter)) }
}

/// Option name of a parameter. Leaked once, because clap requires a static string.
fn long_name(parameter: &'static Parameter) -> &'static str {
    static NAMES: LazyLock<BTreeMap<&str, String>> = LazyLock::new(|| {
        let parameters = TOOLS.iter().flat_map(|tool| tool.parameters());
        parameters.map(|parameter| (parameter.name, parameter.name.replace('_', "-"))).collect()
    });
    NAMES.get(parameter.name).map_or(parameter.name, String::as_str)
}

/// Repositories that wait until the index reflects the files.
pub(super) fn repositories(config: &Config, root: PathBuf) -> Repositories {
    let patience = Patience { first: NO_TIMEOUT, renewal: NO_TIMEOUT };
    Repositories::new(Ok(config.clone()), Some(root), patience)
}

/// Runs the command of a tool.
pub(super) fn run(config: &Config, tool: &'static Tool, matches: &ArgMatches) -> Result<(), Stop> {
    let result = answer(config, tool, matches);
    if tool.name == impact::TOOL { impact::judged(result, matches) } else { result }
}

fn answer(config: &Config, tool: &'static Tool, matches: &ArgMatches) -> Result<(), Stop> {
    let given = matches.get_one::<String>("root");
    let QuestionScope { root, list, is_workspace } =
        QuestionScope::of(config, given.map(String::as_str))?;
    let here = config.working_directory.clone().filter(|_| given.is_none());
    let given = tool
        .parameters()
        .filter(|parameter| parameter.name != "root")
        .map(|parameter| Ok((parameter.name, words(parameter, matches)?)))
        .collect::<Result<Vec<_>, Stop>>()?;
    let given = given.into_iter().filter(|(_, words)| !words.is_empty());
    let given = given.chain(list.map(|list| ("root", vec![list])));
    let arguments = server::Arguments::from_words(tool, given)
        .map_err(Stop::Usage)?
        .with_paths(tool, |text| server::from_directory(&root, here.as_deref()?, text));
    let terminal = Terminal::new(config, matches, &root);
    let (repositories, person) = (repositories(config, root), TerminalHost::new());
    let is_json = matches.get_flag("json");
    let ask = |form| server::call(tool, &arguments, &repositories, &person, form);
    if tool.name == impact::TOOL
        && let Some(review) = impact::Review::of(matches)
    {
        if is_workspace {
            let why = "a review is of one repository: `--root` with its directory names it";
            return Err(Stop::Usage(why.to_owned()));
        }
        return review.run(&terminal, ask);
    }
    let wants_rows =
        !is_json && !is_workspace && terminal.has_rows() && server::may_have_rows(tool.name);
    let mut reply = ask(if is_json || wants_rows { Form::Json } else { Form::Text });
    let mut rows = None;
    if wants_rows && reply.outcome.is_answer() {
        rows = server::rows(&reply.text);
        if rows.is_none() {
            // No list of sites.
            reply = ask(Form::Text);
        }
    }
    drop(person);
    match reply.outcome {
        Outcome::Missing => Err(Stop::NothingFound(reply.text)),
        Outcome::Refused | Outcome::Failed | Outcome::Stopped => Err(Stop::Failure {
            message: reply.text,
            hint: format!("see `cograph {} --help`", tool.name),
        }),
        Outcome::Found | Outcome::Nothing | Outcome::NotYet => {
            let text = format!("{}\n", reply.text.trim_end_matches('\n'));
            match rows {
                Some(rows) => terminal.rows(&rows)?,
                None if is_json => to_stdout(|out| out.write_all(text.as_bytes()))?,
                None => terminal.text(&text)?,
            }
            if reply.outcome == Outcome::Nothing {
                Err(Stop::NothingFound(String::new()))
            } else {
                Ok(())
            }
        }
    }
}

/// Values of a parameter, as text.
fn words(parameter: &Parameter, matches: &ArgMatches) -> Result<Vec<String>, Stop> {
    Ok(match parameter.shape {
        Shape::Flag => {
            if matches.get_flag(parameter.name) {
                vec!["true".to_owned()]
            } else {
                Vec::new()
            }
        }
        Shape::Integer { .. } => {
            matches.get_one::<u64>(parameter.name).map(u64::to_string).into_iter().collect()
        }
        Shape::Document { most } => {
            let named = matches.get_one::<String>(parameter.name);
            named.map(|file| document(file, most)).transpose()?.into_iter().collect()
        }
        Shape::Text { .. } | Shape::Word(_) | Shape::Texts { .. } => {
            matches.get_many::<String>(parameter.name).into_iter().flatten().cloned().collect()
        }
    })
}

/// Text of a file that the user names, or of standard input for `-`. Bytes that are not UTF-8 are
/// replaced.
fn document(file: &str, most: usize) -> Result<String, Stop> {
    let failure = |reason: String| Stop::Failure {
        message: format!("cannot read {}: {reason}", server::one_line(file)),
        hint: "name a file, or `-` for standard input".to_owned(),
    };
    if file != "-" {
        let read = FileRules::settings(most as u64).read(Path::new(file));
        let text = read.map_err(|error| failure(error.to_string()))?;
        return text.ok_or_else(|| failure("there is no such file".to_owned()));
    }
    let input = streams::own_input().map_err(|error| failure(error.to_string()))?;
    let mut bytes = Vec::new();
    let read = input.take(most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| failure(error.to_string()))?;
    if bytes.len() > most {
        return Err(failure(format!("it is larger than {most} bytes")));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Host of a command: no queue, no cancellation.
pub(super) struct TerminalHost {
    cancel: CancelToken,
    bar: Bar,
}

impl TerminalHost {
    pub(super) fn new() -> Self {
        Self { cancel: CancelToken::new(), bar: Bar::new() }
    }
}

impl Host for TerminalHost {
    fn cancel(&self) -> &CancelToken {
        &self.cancel
    }

    fn progress(&self, report: &ProgressReport) {
        self.bar.show(report.thousandths, &report.message);
    }

    fn compares(&self, _: bool) {}

    fn pause(&self) {}

    fn resume(&self) -> bool {
        true
    }

    fn server(&self) -> Option<&ServerState> {
        None
    }

    fn spent_in_statements(&self, _: Duration) {}
}
