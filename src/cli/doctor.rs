//! `cograph doctor`: checks everything that a client depends on, and suggests a fix for each
//! problem. Read-only.

mod configurations;
mod environment;
mod finding;
mod servers;

use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};

use crate::base::root::RootArgument;
use crate::output::numbers::shown;
use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use cograph_config::{Config, ConfigError, User};
use cograph_index as index;
use cograph_server::one_line;
use finding::{Finding, Verdict};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(super) struct DoctorArguments {
    #[command(flatten)]
    root: RootArgument,
    /// Print the findings as one JSON object
    #[arg(long)]
    json: bool,
    /// Timeout of each server, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 10,
        value_parser = clap::value_parser!(u64).range(1..=600)
    )]
    timeout: u64,
}

/// Runs all checks. The exit code is a failure if there is a problem.
pub(super) fn run(
    config: Result<Config, ConfigError>,
    arguments: &DoctorArguments,
) -> Result<(), Stop> {
    let user = User::from_environment();
    let patience = Duration::from_secs(arguments.timeout);
    let mut findings = Vec::new();
    let repository = config.and_then(|config| {
        let repository = match &arguments.root.root {
            Some(root) => config.repository_at(root)?,
            None => index::check_implicit_root(&config, config.default_repository()?)?,
        };
        Ok((config, repository))
    });
    let root = match &repository {
        Ok((config, repository)) => {
            findings.push(servers::own(&repository.root, patience));
            findings.extend(environment::all(config, repository, patience));
            Some(repository.root.clone())
        }
        Err(error) => {
            findings.push(Finding::problem("settings", error.to_string(), error.hint()));
            None
        }
    };
    findings.extend(servers::upstream(&user, patience));
    findings.extend(configurations::all(&user, root.as_deref()));
    let problems = findings.iter().filter(|finding| finding.verdict == Verdict::Problem).count();
    to_stdout(|out| match arguments.json {
        true => {
            let root = root.map(|root| root.display().to_string()).unwrap_or_default();
            writeln!(out, "{}", json(&root, &findings, problems))
        }
        false => write!(
            out,
            "{}",
            text(&root.map(|root| shown(&root)).unwrap_or_default(), &findings, problems)
        ),
    })?;
    if problems > 0 { Err(Stop::Problems) } else { Ok(()) }
}

fn text(root: &str, findings: &[Finding], problems: usize) -> String {
    let mut text = format!("cograph {} in {root}\n", env!("CARGO_PKG_VERSION"));
    for finding in findings {
        text += &format!(
            "{:8} {}: {}\n",
            finding.verdict.word(),
            one_line(&finding.area),
            one_line(&finding.text)
        );
        if !finding.hint.is_empty() {
            text += &format!("{:8} -> {}\n", "", one_line(&finding.hint));
        }
    }
    text + &match problems {
        0 => "healthy\n".to_owned(),
        1 => "1 problem\n".to_owned(),
        _ => format!("{problems} problems\n"),
    }
}

fn json(root: &str, findings: &[Finding], problems: usize) -> String {
    let one = |finding: &Finding| {
        let mut value = json!({
            "area": finding.area,
            "verdict": finding.verdict.word(),
            "text": finding.text,
            "hint": finding.hint,
        });
        for (name, number) in &finding.numbers {
            value[*name] = (*number).into();
        }
        value
    };
    json!({
        "healthy": problems == 0,
        "version": env!("CARGO_PKG_VERSION"),
        "root": root,
        "problems": problems,
        "findings": findings.iter().map(one).collect::<Vec<Value>>(),
    })
    .to_string()
}
