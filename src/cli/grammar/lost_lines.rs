//! `cograph lost-lines`: calls of syntax trees without a reference, and lines that the grammar did
//! not understand, one JSON object per file. For authors of manifests.

use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::output::stop::Stop;
use crate::output::streams::to_stdout;
use cograph_config::Config;
use cograph_extract::{self as extract, Coverage};
use cograph_grammar as grammar;
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_source::{self as source, Root};

/// Prefix of a file that decides its language, in bytes.
const HEAD: usize = 4096;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct LostLinesArguments {
    /// The directory
    directory: PathBuf,
}

pub(crate) fn run(config: &Config, arguments: &LostLinesArguments) -> Result<(), Stop> {
    let root = config.repository_at(&arguments.directory)?.root;
    let walk = source::walk(&root, config.limits.threads, &CancelToken::new())
        .map_err(cograph_index::IndexError::from)?;
    let (place, neighbours) = (Root::new(&root), vec![0; grammar::count()]);
    for file in &walk.files {
        let head = source::read_head(&place, &file.path, HEAD).unwrap_or_default();
        let Some(language) = grammar::detect(&file.path, &head, &neighbours) else { continue };
        let Ok(text) = source::read(&place, &file.path, &config.limits).text else { continue };
        let coverage = extract::coverage(
            language,
            file.path.as_str(),
            &text.bytes,
            extract::Limits::default(),
        );
        let line = line(&file.path, grammar::names()[usize::from(language.0)], &coverage);
        to_stdout(|out| writeln!(out, "{line}"))?;
    }
    Ok(())
}

fn line(path: &RepoPath, language: &str, coverage: &Coverage) -> Value {
    let places = |places: &[(u32, String)]| -> Vec<Value> {
        places.iter().map(|(line, what)| json!({"line": line, "text": what})).collect()
    };
    let incomplete = coverage.incomplete.iter().map(|line| json!({"line": line}));
    json!({
        "path": path.as_str(),
        "language": language,
        "calls": coverage.calls,
        "stored": coverage.stored,
        "in_problems": coverage.in_problems,
        "lost": places(&coverage.lost),
        "symbols": places(&coverage.symbols),
        "lines": coverage.lines,
        "incomplete": incomplete.collect::<Vec<Value>>(),
    })
}
