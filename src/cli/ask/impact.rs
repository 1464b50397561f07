//! `cograph impact` in reviews and continuous integration: a verdict as the exit code, and forms of
//! the answer that other programs show.

use std::io::Write;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches};

use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use crate::output::terminal::Terminal;
use cograph_server::{self as server, Form, Outcome, Reply, ReportForm, Verdict};

/// Name of the tool.
pub(super) const TOOL: &str = "impact";

const CHECK: &str = "check";
const FORMAT: &str = "format";

/// Arguments that a model does not have.
pub(super) fn arguments() -> Vec<Arg> {
    vec![
        Arg::new(CHECK)
            .long(CHECK)
            .action(ArgAction::SetTrue)
            .help("Exit with 0 if nothing breaks, 1 if something does, 2 if that is not known"),
        Arg::new(FORMAT)
            .long(FORMAT)
            .value_name("FORMAT")
            .value_parser(PossibleValuesParser::new(["text", "json", "markdown", "sarif"]))
            .conflicts_with("json")
            .help("Form of the answer: markdown for a comment in a review, sarif for a code host"),
    ]
}

/// What a review requests beyond the answer.
pub(super) struct Review {
    checks: bool,
    form: Option<ReportForm>,
    is_json: bool,
}

impl Review {
    /// None if the command is one like the others.
    pub(super) fn of(matches: &ArgMatches) -> Option<Self> {
        let checks = matches.get_flag(CHECK);
        let format = matches.get_one::<String>(FORMAT).map(String::as_str);
        let form = match format {
            Some("markdown") => Some(ReportForm::Markdown),
            Some("sarif") => Some(ReportForm::Sarif),
            _ => None,
        };
        let is_json = format == Some("json") || matches.get_flag("json");
        (checks || format.is_some()).then_some(Self { checks, form, is_json })
    }

    /// Asks, prints, and decides.
    pub(super) fn run(&self, terminal: &Terminal, ask: impl Fn(Form) -> Reply) -> Result<(), Stop> {
        let reply = ask(Form::Json);
        if reply.outcome == Outcome::NotYet || !reply.outcome.is_answer() {
            return Err(self.failure(reply));
        }
        let text = match self.form {
            Some(form) => server::report(&reply.text, form),
            None if self.is_json => Some(reply.text.clone()),
            None => None,
        };
        match text {
            Some(text) => to_stdout(|out| writeln!(out, "{}", text.trim_end_matches('\n')))?,
            None => terminal.text(&format!("{}\n", ask(Form::Text).text.trim_end_matches('\n')))?,
        }
        match (self.checks, server::verdict(&reply.text)) {
            (true, Verdict::Breaks) => Err(Stop::Problems),
            (true, Verdict::Unknown) => Err(Stop::Undecided(String::new())),
            (true, Verdict::Fits) => Ok(()),
            (false, _) if reply.outcome == Outcome::Nothing => {
                Err(Stop::NothingFound(String::new()))
            }
            (false, _) => Ok(()),
        }
    }

    fn failure(&self, reply: Reply) -> Stop {
        match reply.outcome {
            Outcome::Missing if !self.checks => Stop::NothingFound(reply.text),
            _ => {
                Stop::Failure { message: reply.text, hint: format!("see `cograph {TOOL} --help`") }
            }
        }
    }
}

/// With `--check` an error is no verdict, whatever failed.
pub(super) fn judged(result: Result<(), Stop>, matches: &ArgMatches) -> Result<(), Stop> {
    match result {
        Err(Stop::Failure { message, hint }) if matches.get_flag(CHECK) => {
            Err(Stop::Undecided(format!("error: {message}\n  hint: {hint}")))
        }
        result => result,
    }
}
