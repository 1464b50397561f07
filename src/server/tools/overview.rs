//! `overview`: architecture of the repository.

mod json;
mod text;

use crate::answers::Answer;
use crate::jsonrpc::admission::Class;
use crate::tools::arguments::Arguments;
use crate::tools::impact::history::KnownHistory;
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::{HEAVY_DEADLINE, Parameter, Shape, Tool, common};
use cograph_model::RepoPath;
use cograph_model::change::FileHistory;
use cograph_query::{self as query, OverviewParams, OverviewResult, QueryError};
use std::time::Duration;

pub(crate) static TOOL: Tool = Tool {
    name: "overview",
    title: "Overview",
    about: "The architecture of the repository or a directory: languages, modules and what they \
            depend on, entry points, \
            most used symbols, cycles. Use when the code is new to you.",
    class: Class::Heavy,
    deadline: HEAVY_DEADLINE,
    hint: None,
    own: &[
        Parameter::new("path", Shape::Text { most: 1024 }, "Only this directory")
            .with_paths()
            .also(&["file", "directory", "dir"]),
        Parameter::new(
            "depth",
            Shape::Integer { least: 1, most: 20 },
            "Levels of directories that count as modules",
        )
        .also(&["levels"]),
    ],
    output: None,
    handler: RUN,
};

/// Maximum time of reading the history on.
const HISTORY_TIME: Duration = Duration::from_secs(2);
/// Maximum number of files that changed most.
const CHANGED: usize = 8;

/// Architecture, and which files change most.
pub(crate) struct Overview {
    result: OverviewResult,
    /// Files by the commits of the last year, the most first.
    changed: Vec<(RepoPath, FileHistory)>,
    /// How much history there is; empty for none.
    extent: String,
}

const RUN: Handler = |arguments, context| run(arguments, context);

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let defaults = OverviewParams::default();
    let params = OverviewParams {
        path: common::directory(arguments.text("path").unwrap_or_default()),
        depth: common::depth(arguments, defaults.depth),
        ..defaults
    };
    let result = query::overview(context.snapshot, &params, context.cancel)?;
    let known = KnownHistory::of(context, HISTORY_TIME);
    let extent = known.as_ref().map(KnownHistory::extent).unwrap_or_default();
    let files = known.map(|known| known.files(None)).unwrap_or_default();
    let is_below = |path: &RepoPath| match path.as_str().strip_prefix(params.path.as_str()) {
        Some(rest) => params.path.is_empty() || rest.starts_with('/'),
        None => false,
    };
    let mut changed: Vec<(RepoPath, FileHistory)> =
        files.into_iter().filter(|(path, facts)| facts.recent > 0 && is_below(path)).collect();
    changed.sort_unstable_by(|one, other| {
        (other.1.recent, other.1.commits, &one.0).cmp(&(one.1.recent, one.1.commits, &other.0))
    });
    let mut present = Vec::new();
    for (path, facts) in changed {
        if present.len() == CHANGED {
            break;
        }
        let row = context.snapshot.file_at(path.as_str())?;
        let language = row.filter(|row| row.skipped.is_none()).and_then(|row| row.language);
        // Data such as a list of translations changes for other reasons.
        if language.is_some() {
            present.push((path, facts));
        }
    }
    Ok(Box::new(Overview { result, changed: present, extent }))
}
