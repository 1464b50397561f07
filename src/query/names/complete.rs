//! `complete`: completion of symbol names and paths. Optimized for latency: it searches names by
//! prefix and returns each in its shortest unambiguous form.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::graph::answer::Total;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::names;
use cograph_model::cancel::CancelToken;
use cograph_store::{FileKey, KeyOrder, NameKey, Snapshot, SymbolHead, SymbolKey, SymbolRank};

/// Maximum number of names scanned; beyond it the total is a lower bound.
const MAX_NAMES: usize = 10_000;

/// Kind of the completed text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wanted {
    /// Name of a symbol.
    #[default]
    Symbol,
    /// Path of a file or directory.
    Path,
}

/// Parameters of `complete`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompleteParams {
    /// Kind.
    pub wanted: Wanted,
    /// Prefix to complete.
    pub typed: String,
    /// Maximum number of completions.
    pub limit: usize,
}

impl Default for CompleteParams {
    fn default() -> Self {
        Self { wanted: Wanted::default(), typed: String::new(), limit: 100 }
    }
}

/// Result of `complete`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompleteResult {
    /// Completions, best first.
    pub values: Vec<String>,
    /// Number of matches.
    pub total: Total,
}

/// Key of symbols that no qualified name can distinguish: overloads and duplicates.
type Place = (FileKey, Option<SymbolKey>);

/// Completes a prefix.
pub fn complete(
    snapshot: &Snapshot,
    params: &CompleteParams,
    cancel: &CancelToken,
) -> Result<CompleteResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let typed = params.typed.trim_start();
    match params.wanted {
        Wanted::Path => paths(&lookup, typed.strip_prefix("./").unwrap_or(typed), params.limit),
        Wanted::Symbol => match members(&lookup, typed)? {
            Some(found) => {
                let total = Total::Exact(found.len() as u64);
                Ok(CompleteResult { values: found.into_iter().take(params.limit).collect(), total })
            }
            None => by_name(&lookup, typed, params.limit),
        },
    }
}

/// Returns the next component of every path with this prefix, as a shell does, followed by files
/// whose own name has it.
fn paths(lookup: &Lookup<'_>, typed: &str, limit: usize) -> Result<CompleteResult, QueryError> {
    let (mut steps, mut files) = (BTreeSet::new(), Vec::new());
    for (_, path) in lookup.snapshot.paths()? {
        lookup.check()?;
        if let Some(rest) = path.strip_prefix(typed) {
            let end =
                rest.find('/').map_or(path.len(), |slash| path.len() - rest.len() + slash + 1);
            steps.insert(path[..end].to_owned());
        } else if !typed.is_empty()
            && !typed.contains('/')
            && begins(path.rsplit('/').next().unwrap_or(&path), typed)
        {
            files.push(path);
        }
    }
    files.sort_by_key(|path| path.len());
    let total = Total::Exact((steps.len() + files.len()) as u64);
    Ok(CompleteResult { values: steps.into_iter().chain(files).take(limit).collect(), total })
}

/// Returns the members of the file or symbol before the last separator; `None` if it does not exist
/// or has no members.
fn members(lookup: &Lookup<'_>, typed: &str) -> Result<Option<Vec<String>>, QueryError> {
    let double = typed.rfind("::").map(|at| (at, at + 2));
    let dot = typed.rfind('.').map(|at| (at, at + 1));
    let Some((end, start)) = double.max(dot).filter(|(end, _)| *end > 0) else { return Ok(None) };
    let (around, separator, begun) = (&typed[..end], &typed[end..start], &typed[start..]);
    let mut found = BTreeMap::new();
    let mut add = |name: &str, references: u32| {
        let best: &mut u32 = found.entry(name.to_owned()).or_default();
        *best = references.max(*best);
    };
    let file = match names::one_file(lookup, around) {
        // Path suffix shared by several files.
        Err(QueryError::AmbiguousPath { .. }) => None,
        other => other?,
    };
    if let Some(file) = file.filter(|_| separator == "::") {
        for symbol in
            lookup.snapshot.symbols_of(&file)?.iter().filter(|symbol| symbol.container.is_none())
        {
            add(&symbol.name_text, symbol.references);
        }
    } else {
        for container in names::all(lookup, around)? {
            for symbol in lookup.snapshot.symbols_in(container.key)? {
                add(&symbol.name_text, symbol.references);
            }
        }
    }
    let mut found: Vec<(Reverse<u32>, String)> = found
        .into_iter()
        .filter(|(name, _)| begins(name, begun))
        .map(|(name, references)| (Reverse(references), name))
        .collect();
    found.sort_unstable();
    let values: Vec<String> =
        found.into_iter().map(|(_, name)| format!("{around}{separator}{name}")).collect();
    Ok((!values.is_empty()).then_some(values))
}

/// Returns symbols whose own name has this prefix.
fn by_name(lookup: &Lookup<'_>, typed: &str, limit: usize) -> Result<CompleteResult, QueryError> {
    let (mut names, mut is_whole): (Vec<(NameKey, String)>, bool) = (Vec::new(), true);
    lookup.snapshot.visit_symbol_names_from(typed, |key, name| {
        is_whole = names.len() < MAX_NAMES;
        if is_whole {
            names.push((key, name.to_owned()));
        }
        is_whole && lookup.check().is_ok()
    })?;
    lookup.check()?;
    if !is_whole && typed.is_empty() {
        names = most_used(lookup, limit)?;
    }
    let mut total = 0;
    let mut ranked = Vec::with_capacity(names.len());
    for (key, name) in names {
        let places = places(lookup.order(), &lookup.snapshot.symbol_heads(key)?);
        total += places.len() as u64;
        let most = places.first().map_or(Reverse(0), |(references, _)| *references);
        let is_whole_name = !typed.is_empty() && name.eq_ignore_ascii_case(typed);
        ranked.push((!is_whole_name, !name.starts_with(typed), most, name.len(), name, places));
    }
    ranked.sort_unstable();
    // Of several matching names, the best meaning of each precedes further meanings of any.
    let (mut values, mut others) = (Vec::new(), Vec::new());
    for (is_beginning, .., name, places) in ranked {
        match places.split_first() {
            Some((_, [])) => values.push(Value::Name(name)),
            Some(((_, best), rest)) if is_beginning => {
                values.push(Value::Symbol(best.key()));
                others.extend(rest.iter().map(|(_, symbol)| Value::Symbol(symbol.key())));
            }
            _ => values.extend(places.iter().map(|(_, symbol)| Value::Symbol(symbol.key()))),
        }
    }
    let shown = values.into_iter().chain(others).take(limit).map(|value| match value {
        Value::Name(name) => Ok(name),
        Value::Symbol(symbol) => Ok(lookup.info_of(symbol)?.full_name()),
    });
    let values = shown.collect::<Result<_, QueryError>>()?;
    let total = if is_whole { Total::Exact(total) } else { Total::AtLeast(total) };
    Ok(CompleteResult { values, total })
}

/// Completion before it is converted to text.
enum Value {
    /// Unambiguous name.
    Name(String),
    /// One of several symbols with a name, completed with its path.
    Symbol(SymbolKey),
}

/// Returns the names of the most referenced symbols, for an empty prefix.
fn most_used(lookup: &Lookup<'_>, limit: usize) -> Result<Vec<(NameKey, String)>, QueryError> {
    let mut heads = Vec::new();
    lookup.snapshot.visit_referenced(1, |head| {
        heads.push(head);
        heads.len() < limit && lookup.check().is_ok()
    })?;
    let mut names = BTreeMap::new();
    for head in heads.into_iter().take(limit) {
        let symbol = lookup.symbol(head.key)?;
        names.insert(symbol.name, symbol.name_text.to_string());
    }
    Ok(names.into_iter().collect())
}

/// Returns the distinct places of a name, each with its most referenced symbol, most referenced
/// first.
fn places(order: &KeyOrder, heads: &[SymbolHead]) -> Vec<(Reverse<u32>, SymbolRank)> {
    let mut places: BTreeMap<Place, (Reverse<u32>, SymbolRank)> = BTreeMap::new();
    for head in heads {
        let found = (Reverse(head.references), order.head(head));
        let best = places.entry((head.file, head.container)).or_insert(found);
        *best = found.min(*best);
    }
    let mut places: Vec<(Reverse<u32>, SymbolRank)> = places.into_values().collect();
    places.sort_unstable();
    places
}

fn begins(name: &str, typed: &str) -> bool {
    name.get(..typed.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(typed))
}
