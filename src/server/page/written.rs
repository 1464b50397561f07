//! The page as a file: its document with a bounded set of answers inside: to the questions that its
//! views begin with, and about the symbols that are used most.

use crate::answers::reply::with;
use crate::page::neighbourhood::named;
use crate::page::packed::Packer;
use crate::page::questions::question;
use crate::tools::arguments::Arguments;
use crate::tools::tool::context::QueryContext;
use cograph_model::cancel::CancelToken;
use cograph_query::overview::matrix::{MatrixParams, matrix};
use cograph_query::{self as query, OverviewParams, QueryError, ReadFile};
use cograph_store::Snapshot;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of symbols with their source.
pub(crate) const MAX_SYMBOLS: usize = 1000;
/// Maximum number of directories with their own map and matrix, the largest first.
pub(crate) const MAX_DIRECTORIES: usize = 40;
/// Maximum size of all answers, in bytes, and of those about what is no symbol.
pub(crate) const MAX_ANSWERS: usize = 4 << 20;
const MAX_OF_VIEWS: usize = MAX_ANSWERS / 2;
/// Maximum number of callers, and of callees, of a symbol; of sites of each; of sites in its
/// source.
pub(crate) const MAX_NEIGHBOURS: usize = 24;
const MAX_PLACES: usize = 3;
const MAX_SITES: usize = 250;
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
    packer: Packer,
    /// Question, arguments, answer, as JSON.
    answers: Vec<String>,
    bytes: usize,
}

impl Answers<'_> {
    /// Asks a question and keeps its answer; false if it does not fit.
    fn add(&mut self, name: &str, arguments: Value, most: usize) -> Result<bool, QueryError> {
        let Some(mut answer) = self.ask(name, arguments.clone())? else { return Ok(true) };
        shorten(name, &mut answer);
        let Some(packed) = self.packer.pack_within(&answer, most.saturating_sub(self.bytes)) else {
            return Ok(false);
        };
        let text = format!("[{},{arguments},{packed}]", json!(name));
        self.bytes += text.len() + 1;
        self.answers.push(text);
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

/// Leaves out what the page does not show of an answer, or shows only of a few.
fn shorten(name: &str, answer: &mut Value) {
    match name {
        "around" => {
            cut(&mut answer["sites"], MAX_SITES);
            for side in ["callers", "callees"] {
                let nodes = &mut answer[side]["nodes"];
                cut(nodes, MAX_NEIGHBOURS);
                for node in nodes.as_array_mut().into_iter().flatten() {
                    cut(&mut node["sites"], MAX_PLACES);
                    // One line of source is shown.
                    for site in node["sites"].as_array_mut().into_iter().flatten().skip(1) {
                        site.as_object_mut().map(|site| site.remove("source"));
                    }
                }
            }
        }
        "outline" => {
            answer["symbols"].as_array_mut().into_iter().flatten().for_each(shorten_entry);
        }
        _ => {}
    }
}

/// Leaves what the page shows of an entry of an outline and of those inside.
fn shorten_entry(entry: &mut Value) {
    let Some(members) = entry.as_object_mut() else { return };
    members.retain(|name, _| matches!(name.as_str(), "symbol" | "kind" | "line" | "children"));
    let children = members.get_mut("children").and_then(Value::as_array_mut);
    children.into_iter().flatten().for_each(shorten_entry);
}

fn cut(list: &mut Value, most: usize) {
    if let Some(items) = list.as_array_mut() {
        items.truncate(most);
    }
}

/// Writes the page of a repository, called `name`; with `change`, a revision or range, that change.
/// What a reader wants first comes first: the views of the whole, its directories, then symbols,
/// each followed by its file.
pub fn written_page(
    snapshot: &Snapshot,
    files: &dyn ReadFile,
    name: &str,
    change: Option<&str>,
    cancel: &CancelToken,
) -> Result<WrittenPage, QueryError> {
    let context = QueryContext { snapshot, files, cancel, room: ROOM, sources: 0, process: None };
    let packer = Packer::default();
    let mut page = Answers { context, packer, answers: Vec::new(), bytes: 0 };
    page.add("overview", json!({}), MAX_OF_VIEWS)?;
    page.add("map", json!({"colour": "tests"}), MAX_OF_VIEWS)?;
    page.add("matrix", json!({}), MAX_OF_VIEWS)?;
    if let Some(change) = change {
        page.add("impact", json!({"symbol": [change]}), MAX_OF_VIEWS)?;
    }
    page.add("impact", json!({}), MAX_OF_VIEWS)?;
    for colour in ["churn", "unused", "coverage"] {
        page.add("map", json!({"colour": colour}), MAX_OF_VIEWS)?;
    }
    let directories = largest_directories(snapshot, cancel)?;
    let mut with_map = 0;
    for directory in directories.iter().take(MAX_DIRECTORIES) {
        let map = json!({"path": directory, "colour": "tests"});
        if page.add("map", map, MAX_OF_VIEWS)?
            && page.add("matrix", json!({"path": directory}), MAX_OF_VIEWS)?
        {
            with_map += 1;
        }
    }
    let params = OverviewParams { limit: MAX_SYMBOLS, ..OverviewParams::default() };
    let most_used = query::overview(snapshot, &params, cancel)?.hot_spots;
    let (mut symbols, mut outlined) = (BTreeMap::new(), BTreeSet::new());
    for symbol in &most_used {
        let at = (symbol.full_name(), symbol.name_at.line);
        if !page.add("around", json!({"symbol": at.0, "line": at.1}), MAX_ANSWERS)? {
            break;
        }
        symbols.insert(at, with(named(symbol), "end_line", json!(symbol.last_line)));
        let path = symbol.path.as_str();
        if !outlined.contains(path) && page.add("outline", json!({"path": [path]}), MAX_ANSWERS)? {
            outlined.insert(path);
        }
    }
    let (with_source, total) = (symbols.len(), snapshot.meta().symbols);
    let left_out = vec![
        format!(
            "{with_source} of {total} symbols are in it, those that are used most, each with its \
             source, and with up to {MAX_NEIGHBOURS} callers and callees"
        ),
        format!("{} of {} files have their outline", outlined.len(), snapshot.meta().files),
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
    });
    let data = data.to_string();
    let own = data.strip_suffix('}').unwrap_or_default();
    let (shared, answers) = (page.packer.members(), page.answers.join(","));
    let data = format!(r#"{own},{shared},"answers":[{answers}]}}"#);
    let html = cograph_page::with_data(&data).expect("the document has the place");
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
