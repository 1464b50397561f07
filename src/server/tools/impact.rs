//! `impact`: what a change breaks, what depends on it, which tests to run.

pub(crate) mod coverage;
pub(crate) mod history;
mod json;
pub(crate) mod report;
mod shell;
mod text;

use std::cell::RefCell;
use std::time::Duration;

use rustc_hash::FxHashSet;

use crate::answers::Answer;
use crate::jsonrpc::admission::Class;
use crate::tools::arguments::Arguments;
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::{HEAVY_DEADLINE, Parameter, Shape, Tool};
use cograph_history::{Between, ChangeError, GitError};
use cograph_model::RepoPath;
use cograph_model::change::FileHistory;
use cograph_query::impact::{Execution, ImpactParams, ImpactResult};
use cograph_query::{self as query, QueryError};
use coverage::KnownCoverage;
use history::KnownHistory;

pub(crate) static TOOL: Tool = Tool {
    name: "impact",
    title: "Impact of a change",
    about: "What a change breaks, what depends on it, which tests to run, best first.",
    class: Class::Heavy,
    deadline: HEAVY_DEADLINE,
    hint: None,
    own: &[
        Parameter::new(
            "symbol",
            Shape::Texts { most: 1024, words: Vec::new },
            "Symbols, REV or A..B; default: uncommitted changes",
        )
        .with_paths()
        .also(&["name", "symbols", "change", "rev", "target", "query"]),
        Parameter::new("staged", Shape::Flag, "Staged changes").also(&["cached"]),
        Parameter::new("patch", Shape::Document { most: MAX_PATCH }, "Patch, already applied")
            .also(&["diff"]),
    ],
    output: None,
    handler: RUN,
};

/// Maximum size of a patch in a call.
pub(crate) const MAX_PATCH: usize = 4 << 20;

const RUN: Handler = |arguments, context| run(arguments, context);

/// Result with the history of the changed files.
pub(crate) struct Impact {
    result: ImpactResult,
    history: Vec<(RepoPath, FileHistory)>,
}

/// Maximum time of reading the history on, so that the first answer is not late.
const HISTORY_TIME: Duration = Duration::from_secs(5);

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let root = context.snapshot.meta().root.clone();
    let names = arguments.texts("symbol");
    let between = between(arguments, context, &root)?;
    let change = match &between {
        Some(between) => {
            let files = context.files;
            let read = |path: &RepoPath| files.read(path);
            Some(cograph_history::change(&root, between, &read, context.cancel).map_err(refusal)?)
        }
        None => None,
    };
    let symbols = if between.is_some() { &[][..] } else { names };
    let paths: FxHashSet<RepoPath> = match &change {
        Some(change) => {
            let sides = change.files.iter().flat_map(|file| [&file.old, &file.new]);
            sides.flatten().cloned().collect()
        }
        None => {
            let all = query::impact::named(context.snapshot, symbols, context.cancel)?;
            all.into_iter().map(|symbol| symbol.path).collect()
        }
    };
    // Without git there is no history, which the answer reports.
    let known = KnownHistory::of(context, HISTORY_TIME);
    let together =
        known.as_ref().map(|known| known.changed_together(context, between.as_ref(), &paths));
    let mut history: Vec<(RepoPath, FileHistory)> =
        known.map(|known| known.files(Some(&paths)).into_iter().collect()).unwrap_or_default();
    history
        .sort_unstable_by(|one, other| (other.1.commits, &one.0).cmp(&(one.1.commits, &other.0)));
    let read = RefCell::new(0_usize);
    let calls = |path: &RepoPath| {
        *read.borrow_mut() += 1;
        let text = context.files.read(path);
        text.map(|text| cograph_history::calls(path, &text)).unwrap_or_default()
    };
    let known = KnownCoverage::of(context);
    let executed: Vec<Execution> = match (&known, &change) {
        (None, _) => Vec::new(),
        (Some(known), Some(change)) => known.of_change(context, change)?,
        (Some(known), None) => known.of_symbols(context, symbols)?,
    };
    let params = ImpactParams {
        symbols,
        executed: &executed,
        change: change.as_ref(),
        together: together.as_ref(),
        calls: Some(&calls),
    };
    let mut result = query::impact(context.snapshot, &params, context.cancel)?;
    if known.is_some() && executed.is_empty() && !result.seeds.is_empty() {
        let body = if change.is_some() { "its body before the change" } else { "its present body" };
        result.unknown.push(format!("no recorded run executed it with {body}"));
    }
    Ok(Box::new(Impact { result, history }))
}

/// The change that the arguments mean; none for symbols.
fn between(
    arguments: &Arguments,
    context: &QueryContext<'_>,
    root: &std::path::Path,
) -> Result<Option<Between>, QueryError> {
    let names = arguments.texts("symbol");
    let patch = arguments.text("patch");
    if usize::from(!names.is_empty())
        + usize::from(arguments.flag("staged"))
        + usize::from(patch.is_some())
        > 1
    {
        let reason = "symbols or a revision, staged changes, or a patch: one of them".to_owned();
        return Err(QueryError::InvalidParameter { parameter: "symbol", reason });
    }
    if let Some(patch) = patch {
        return Ok(Some(Between::Patch(patch.as_bytes().to_vec())));
    }
    if arguments.flag("staged") {
        return Ok(Some(Between::Staged));
    }
    let [name] = names else {
        return Ok(names.is_empty().then_some(Between::WorkTree));
    };
    let is_range = name.contains("..") && !name.contains("../") && !name.contains('(');
    if is_range {
        return Ok(Some(Between::revision(name)));
    }
    match query::impact::named(context.snapshot, names, context.cancel) {
        Err(QueryError::NoSuchSymbol { .. })
            if cograph_history::is_revision(root, name, context.cancel) =>
        {
            Ok(Some(Between::revision(name)))
        }
        // The question itself reports a name that is no symbol either.
        _ => Ok(None),
    }
}

fn refusal(error: ChangeError) -> QueryError {
    match error {
        ChangeError::Git(GitError::Cancelled) => QueryError::Cancelled,
        ChangeError::Git(GitError::Missing | GitError::NoRepository(_)) => QueryError::Change {
            reason: format!("{error}; name symbols, or give a patch that the files have applied"),
        },
        ChangeError::Git(_) => QueryError::Change { reason: error.to_string() },
        ChangeError::Patch(reason) => QueryError::InvalidParameter { parameter: "patch", reason },
    }
}
