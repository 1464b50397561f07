//! `cograph check`: unused code, cycles, broken rules and exceeded thresholds, against a baseline
//! that only gets shorter.

mod baseline;
mod checkup;
mod finding;
mod report;
mod rules_file;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::{TerminalHost, repositories};
use crate::base::root::RootArgument;
use crate::output;
use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use baseline::{BASELINE, Baseline};
use checkup::Checkup;
use cograph_config::Config;
use cograph_coverage::executed;
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_query::overview::cycles::{CyclesParams, cycles};
use cograph_query::overview::rules::broken_rules;
use cograph_query::overview::thresholds::exceeding;
use cograph_query::references::unused::{UnusedParams, unused};
use cograph_query::{QueryError, ReadFile};
use cograph_server::{self as server, Host};
use cograph_store::Snapshot;
use finding::Finding;
use rules_file::{Checked, RULES};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0  nothing is new, and the baseline has no entry that is gone
  1  something is new, or the baseline is to be made shorter
  2  the command line, the rules or the baseline are wrong
  3  the repository could not be read")]
pub(crate) struct CheckArguments {
    /// Rules [default: .cograph/rules.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// What is known [default: .cograph/baseline.json, if there is one]
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Make the baseline shorter, or make it, if there is none; it never gets longer
    #[arg(long)]
    write_baseline: bool,
    /// Form of the answer: sarif is for a code host
    #[arg(long, value_parser = ["text", "json", "sarif"], default_value = "text")]
    format: String,
    #[command(flatten)]
    root: RootArgument,
}

pub(crate) fn run(config: &Config, arguments: &CheckArguments) -> Result<(), Stop> {
    let root = arguments.root.repository(config)?.root;
    let rules = arguments.rules.clone().unwrap_or_else(|| root.join(RULES));
    let checked = Checked::read(&rules, arguments.rules.is_some())?;
    let path = arguments.baseline.clone().unwrap_or_else(|| root.join(BASELINE));
    let known = Baseline::read(&path)?;
    if known.is_none() && arguments.baseline.is_some() && !arguments.write_baseline {
        let message = format!("{}: there is no such file: --write-baseline", path.display());
        return Err(Stop::Usage(server::one_line(&message)));
    }
    let repositories = repositories(config, root);
    let host = TerminalHost::new();
    let (snapshot, files) = repositories.up_to_date_snapshot_and_files(&host)?;
    let found = found(&snapshot, &files, &checked, host.cancel());
    drop(host);
    let found = found.map_err(|error| Stop::Failure {
        message: server::one_line(&error.to_string()),
        hint: "see `cograph check --help`".to_owned(),
    })?;
    if !found.unmatched.is_empty() {
        let patterns = found.unmatched.join("`, `");
        let message = format!("{}: no file fits `{patterns}`", rules.display());
        return Err(Stop::Usage(server::one_line(&message)));
    }
    let (findings, needless) = (found.findings, found.needless);
    let mut baseline = known.clone().unwrap_or_default();
    if arguments.write_baseline {
        baseline = match known {
            Some(known) => known.lowered(&findings),
            None => Baseline::of(&findings),
        };
        write(&path, &baseline)?;
    }
    let outdated = baseline.outdated(&findings);
    let checkup = Checkup { findings, baseline, outdated, needless };
    let text = match arguments.format.as_str() {
        "json" => report::json(&checkup).to_string(),
        "sarif" => report::sarif(&checkup).to_string(),
        _ => report::text(&checkup, &path.display().to_string()),
    };
    to_stdout(|out| writeln!(out, "{}", text.trim_end()))?;
    let is_clean = checkup.new_findings().next().is_none()
        && checkup.outdated.is_empty()
        && checkup.needless.is_empty();
    if is_clean { Ok(()) } else { Err(Stop::Problems) }
}

/// What was found, without a baseline.
struct Collected {
    findings: Vec<Finding>,
    unmatched: Vec<String>,
    needless: Vec<String>,
}

fn found(
    snapshot: &Snapshot,
    files: &dyn ReadFile,
    checked: &Checked,
    cancel: &CancelToken,
) -> Result<Collected, QueryError> {
    let broken = broken_rules(snapshot, &checked.rules, &checked.exceptions, cancel)?;
    let mut findings = finding::of_rules(&broken);
    if checked.cycles {
        findings.extend(finding::of_cycles(&cycles(snapshot, &CyclesParams::default(), cancel)?));
    }
    findings.extend(finding::of_thresholds(&exceeding(snapshot, &checked.thresholds, cancel)?));
    if !checked.unused.is_empty() {
        let executed = executed(snapshot, &|path: &RepoPath| files.read(path))?;
        let unused = unused(snapshot, files, &UnusedParams { path: None, executed }, cancel)?;
        findings.extend(finding::of_unused(&unused, &checked.unused));
    }
    let needless = broken.needless.iter().map(|&place| {
        let exception = &checked.exceptions[place];
        format!(
            "needless: the exception to `{}` of `{}` that imports `{}` accepts nothing: take it \
             out of the rules",
            exception.rule, exception.from, exception.to
        )
    });
    Ok(Collected {
        findings: finding::in_order(findings),
        needless: needless.collect(),
        unmatched: broken.unmatched,
    })
}

fn write(path: &Path, baseline: &Baseline) -> Result<(), Stop> {
    let failed = |error: std::io::Error| Stop::Failure {
        message: server::one_line(&format!("cannot write {}: {error}", path.display())),
        hint: "check that the directory may be written".to_owned(),
    };
    if let Some(directory) = path.parent().filter(|one| !one.as_os_str().is_empty()) {
        std::fs::create_dir_all(directory).map_err(failed)?;
    }
    std::fs::write(path, baseline.text()).map_err(failed)?;
    output::note(&server::one_line(&format!("{}: {} entries", path.display(), baseline.len())));
    Ok(())
}
