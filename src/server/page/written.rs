//! The page as a file: its document with a bounded set of answers inside: to the questions that its
//! views begin with, and about the symbols that are used most.

use crate::page::neighbourhood::named;
use crate::page::questions::question;
use crate::tools::arguments::Arguments;
use crate::tools::tool::context::QueryContext;
use cograph_model::cancel::CancelToken;
use cograph_query::overview::matrix::{MatrixParams, matrix};
use cograph_query::{self as query, OverviewParams, QueryError, ReadFile};
use cograph_store::Snapshot;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Maximum number of symbols with their source.
pub(crate) const MAX_SYMBOLS: usize = 400;
/// Maximum number of directories with their own map and matrix, the largest first.
pub(crate) const MAX_DIRECTORIES: usize = 24;
/// Maximum size of all answers, in bytes.
pub(crate) const MAX_ANSWERS: usize = 8 << 20;
/// Size limit of an answer, in bytes.
const ROOM: usize = 40_000;

/// The page as a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenPage {
    /// The document.
    pub html: String,
    /// Number of symbols with their source.
    pub symbols: usize,
    /// What is left out, one sentence each.
    pub left_out: Vec<String>,
}

/// Answers so far.
struct Answers<'a> {
    context: QueryContext<'a>,
    /// Question, arguments, answer.
    answers: Vec<Value>,
    bytes: usize,
}

impl Answers<'_> {
    /// Asks a question and keeps its answer; false once the limit is reached.
    fn add(&mut self, name: &str, arguments: Value) -> Result<bool, QueryError> {
        if self.bytes >= MAX_ANSWERS {
            return Ok(false);
        }
        let Some(answer) = self.ask(name, arguments.clone())? else { return Ok(true) };
        let bytes = answer.to_string().len();
        if self.bytes + bytes > MAX_ANSWERS {
            return Ok(false);
        }
        self.bytes += bytes;
        self.answers.push(json!([name, arguments, answer]));
        Ok(true)
    }

    /// None for a question without an answer, such as a change without git.
    fn ask(&self, name: &str, arguments: Value) -> Result<Option<Value>, QueryError> {
        let Some(tool) = question(name) else { return Ok(None) };
        let given: Map<String, Value> = match arguments {
            Value::Object(given) => given,
            _ => Map::new(),
        };
        let Ok(arguments) = Arguments::check(tool, given) else { return Ok(None) };
        match (tool.handler)(&arguments, &self.context) {
            Ok(answer) => Ok(Some(answer.json())),
            Err(error @ (QueryError::Cancelled | QueryError::Store(_))) => Err(error),
            Err(_) => Ok(None),
        }
    }
}

/// Writes the page of a repository, called `name`; with `change`, a revision or range, that change.
pub fn written_page(
    snapshot: &Snapshot,
    files: &dyn ReadFile,
    name: &str,
    change: Option<&str>,
    cancel: &CancelToken,
) -> Result<WrittenPage, QueryError> {
    let context = QueryContext { snapshot, files, cancel, room: ROOM, sources: 0, process: None };
    let mut page = Answers { context, answers: Vec::new(), bytes: 0 };
    page.add("overview", json!({}))?;
    page.add("map", json!({"colour": "tests"}))?;
    page.add("matrix", json!({}))?;
    if let Some(change) = change {
        // Another error than that of the question would say less.
        page.add("impact", json!({"symbol": [change]}))?;
    }
    page.add("impact", json!({}))?;
    for colour in ["churn", "unused", "coverage"] {
        page.add("map", json!({"colour": colour}))?;
    }
    let params = OverviewParams { limit: MAX_SYMBOLS, ..OverviewParams::default() };
    let most_used = query::overview(snapshot, &params, cancel)?.hot_spots;
    let mut symbols = BTreeMap::new();
    let mut with_source = 0;
    for symbol in &most_used {
        let question = json!({"symbol": symbol.full_name(), "line": symbol.name_at.line});
        if !page.add("around", question)? {
            break;
        }
        with_source += 1;
        symbols.insert((symbol.full_name(), symbol.name_at.line), named(symbol));
    }
    let directories = largest_directories(snapshot, cancel)?;
    let mut with_map = 0;
    for directory in directories.iter().take(MAX_DIRECTORIES) {
        let maps = page.add("map", json!({"path": directory, "colour": "tests"}))?;
        if !maps || !page.add("matrix", json!({"path": directory}))? {
            break;
        }
        with_map += 1;
    }
    let total = snapshot.meta().symbols;
    let left_out = vec![
        format!(
            "{with_source} of {total} symbols are in it, those that are used most, each with its \
             source, callers and callees"
        ),
        format!("{with_map} of {} directories have their own map and matrix", directories.len()),
        "search knows these symbols, and paths are not in it".to_owned(),
    ];
    let data = json!({
        "name": name,
        "made_of": format!(
            "a copy of generation {}: what it leaves out", snapshot.meta().identity.generation
        ),
        "left_out": left_out,
        "symbols": symbols.into_values().collect::<Vec<Value>>(),
        "answers": page.answers,
    });
    let html = cograph_page::with_data(&data.to_string()).expect("the document has the place");
    Ok(WrittenPage { html, symbols: with_source, left_out })
}

/// The modules of the repository, the largest first.
fn largest_directories(
    snapshot: &Snapshot,
    cancel: &CancelToken,
) -> Result<Vec<String>, QueryError> {
    let params = MatrixParams { path: String::new(), depth: 0, tests: true, limit: usize::MAX };
    let mut modules = matrix(snapshot, &params, cancel)?.modules;
    modules.retain(|module| module.path != "." && module.files > 1);
    modules.sort_by(|one, other| other.lines.cmp(&one.lines).then(one.path.cmp(&other.path)));
    Ok(modules.into_iter().map(|module| module.path).collect())
}
