//! `explore`: the symbols most relevant to a question, the call paths between them, their source,
//! the tests that cover them, and further candidates.

mod answer;
mod connect;
mod more;
pub mod neighbourhood;

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use super::locate;
use super::show::excerpt;
use crate::graph::answer::{Certainty, SymbolInfo, Tests, Total};
use crate::graph::calls::edge::{End, Neighbours};
use crate::graph::calls::{CallGraph, Unresolved};
use crate::graph::content::ReadFile;
use crate::graph::error::QueryError;
use crate::graph::filter::FileFilter;
use crate::graph::lookup::Lookup;
use crate::locate::located::Located;
use crate::show::answer::Excerpt;
pub use answer::{
    Connection, CoveringTest, ExploreParams, ExploreResult, Explored, OtherSymbol, Source,
    UnmatchedWord, Why,
};
use cograph_model::SiteKind;
use cograph_model::cancel::CancelToken;
use cograph_store::{FileKey, Snapshot, SymbolKey, SymbolRow};

/// Kinds of sites that are calls.
const CALLS: [SiteKind; 3] = [SiteKind::Call, SiteKind::Construct, SiteKind::Decorate];

/// Kinds of sites that are dependencies.
const USES: [SiteKind; 8] = [
    SiteKind::Call,
    SiteKind::Construct,
    SiteKind::Decorate,
    SiteKind::Read,
    SiteKind::Write,
    SiteKind::Type,
    SiteKind::Inherit,
    SiteKind::Implement,
];

/// Maximum number of callers of a symbol whose numbers of references are compared: a common
/// function has tens of thousands.
pub const MAX_COMPARED: usize = 1_000;

/// Multiple of the further symbols among which they are selected.
const OTHERS_CONSIDERED: usize = 8;

/// Number of ranked symbols among which functions of the best files are selected.
const FUNCTIONS_CONSIDERED: usize = 600;

/// Answers `explore`.
pub fn explore(
    snapshot: &Snapshot,
    files: &dyn ReadFile,
    params: &ExploreParams,
    cancel: &CancelToken,
) -> Result<ExploreResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let filter = FileFilter::new(&lookup, params.path.as_deref(), None)?;
    if params.text.trim().is_empty() {
        let reason = "it is empty: give words or names of symbols".to_owned();
        return Err(QueryError::InvalidParameter { parameter: "text", reason });
    }
    let many = params.limit + params.others * OTHERS_CONSIDERED;
    let mut found = locate::locate(&lookup, &filter, &params.text, many.max(FUNCTIONS_CONSIDERED))?;
    let functions = more::functions(&lookup, &found.symbols, params.limit, params.functions)?;
    let unmatched = more::unmatched(&lookup, &found)?;
    found.symbols.truncate(many);
    let rest = found.symbols.split_off(found.symbols.len().min(params.limit));
    let rest = over_files(&found.symbols, rest, params.others);
    let first = std::mem::take(&mut found.symbols);
    let keys: Vec<SymbolKey> = first.iter().map(|located| located.head.key).collect();
    let uses = CallGraph::new(&lookup, &USES, true, Certainty::Likely, Tests::Include);
    let graph = CallGraph::new(&lookup, &CALLS, true, Certainty::Likely, Tests::Include);
    let mut symbols = Vec::with_capacity(first.len());
    for located in &first {
        let row = lookup.symbol(located.head.key)?;
        let source = read_source(&lookup, files, &row, params)
            .map(|excerpt| more::with_words(excerpt, &found));
        symbols.push(Explored {
            why: why(located, &found.words),
            ..describe(&lookup, &uses, &graph, &row, &keys, source, params)?
        });
    }
    let other = |(at, located): (usize, &Located)| {
        let row = lookup.symbol(located.head.key)?;
        let source = match at < params.sources {
            true => read_source(&lookup, files, &row, params).ok(),
            false => None,
        };
        Ok(OtherSymbol {
            symbol: lookup.info(&row)?,
            why: why(located, &found.words),
            source: source.map(|excerpt| more::with_words(excerpt, &found)),
        })
    };
    let others = rest.iter().enumerate().map(other).collect::<Result<_, QueryError>>()?;
    let connections = connect::connections(&lookup, &graph, &keys, params.depth)?;
    let (mut tests, test_total) = connect::covering_tests(&lookup, &graph, &keys, params.depth)?;
    tests.truncate(params.limit * 2);
    let total =
        if found.is_partial { Total::AtLeast(found.total) } else { Total::Exact(found.total) };
    let word_weights = found.weights;
    Ok(ExploreResult {
        symbols,
        others,
        total,
        connections,
        tests,
        test_total,
        functions,
        unmatched,
        word_weights,
    })
}

/// Selects further symbols: the best ones, and in the last third the best of each file that has
/// none yet. What a task changes is often in a file whose best symbol is far behind the many of
/// another.
fn over_files(first: &[Located], mut rest: Vec<Located>, count: usize) -> Vec<Located> {
    let others = rest.split_off(rest.len().min(count - count / 3));
    let mut files: Vec<FileKey> =
        first.iter().chain(&rest).map(|located| located.head.file).collect();
    let (mut apart, mut same) = (Vec::new(), Vec::new());
    for located in others {
        if files.contains(&located.head.file) {
            same.push(located);
        } else {
            files.push(located.head.file);
            apart.push(located);
        }
    }
    rest.extend(apart.into_iter().chain(same));
    rest.truncate(count);
    rest
}

fn why(located: &Located, words: &[String]) -> Why {
    let matched = located.words.iter().map(|&word| words[usize::from(word)].clone());
    Why { is_named: located.is_named, words: matched.collect() }
}

/// Reads the lines of a symbol.
fn read_source(
    lookup: &Lookup<'_>,
    files: &dyn ReadFile,
    symbol: &SymbolRow,
    params: &ExploreParams,
) -> Result<Excerpt, QueryError> {
    let (first, last) = (symbol.extent.start.line, symbol.extent.end.line);
    let shown = last.min(first.saturating_add(params.lines_per_symbol.saturating_sub(1)));
    excerpt(files, &*lookup.file(symbol.file)?, None, first, shown)
}

fn describe(
    lookup: &Lookup<'_>,
    uses: &CallGraph<'_, '_>,
    calls: &CallGraph<'_, '_>,
    symbol: &SymbolRow,
    listed: &[SymbolKey],
    source: Result<Source, QueryError>,
    params: &ExploreParams,
) -> Result<Explored, QueryError> {
    let info = lookup.info(symbol)?;
    let calling = uses.callers(symbol.key, Unresolved::Counted)?;
    let callers = symbols_at(&calling, symbol.key);
    let callees = symbols_at(&calls.callees(symbol.key)?, symbol.key);
    let infos = |keys: &[SymbolKey]| -> Result<Vec<SymbolInfo>, QueryError> {
        keys.iter().take(params.limit).map(|&key| lookup.info_of(key)).collect()
    };
    Ok(Explored {
        symbol: info,
        why: Why::default(),
        source,
        caller_total: callers.len() as u64,
        callers: infos(&by_references(lookup, callers, listed)?)?,
        callee_total: callees.len() as u64,
        callees: infos(&callees)?,
        possible_callers: calling.counts.possible,
    })
}

/// Returns the symbols among neighbours without duplicates and without the symbol itself.
fn symbols_at(neighbours: &Neighbours, itself: SymbolKey) -> Vec<SymbolKey> {
    let mut seen = FxHashSet::from_iter([itself]);
    let ends = neighbours.edges.iter().filter_map(|edge| match edge.end {
        End::Symbol(key) => Some(key),
        End::File(_) | End::External(_) => None,
    });
    ends.filter(|key| seen.insert(*key)).collect()
}

/// Returns the first callers: non-test code first, and of each those that are not listed anyway,
/// then by number of references.
fn by_references(
    lookup: &Lookup<'_>,
    mut callers: Vec<SymbolKey>,
    listed: &[SymbolKey],
) -> Result<Vec<SymbolKey>, QueryError> {
    callers.truncate(MAX_COMPARED);
    let mut ranked = Vec::with_capacity(callers.len());
    for key in callers {
        let row = lookup.symbol(key)?;
        let order = lookup.order().row(&row);
        let is_listed = listed.contains(&key);
        ranked.push((lookup.is_test(&row)?, is_listed, Reverse(row.references), order));
    }
    ranked.sort_unstable();
    Ok(ranked.into_iter().map(|(.., rank)| rank.key()).collect())
}
