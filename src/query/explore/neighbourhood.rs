//! `around`: a symbol with its callers, its source with what every site in it means, its callees
//! and the symbols related to it.

use std::rc::Rc;

use crate::graph::answer::{SiteInfo, SymbolInfo, Total};
use crate::graph::content::ReadFile;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::names;
use crate::show::{Excerpt, excerpt};
use crate::trace::{self, Direction, TraceFinding, TraceParams, TraceResult};
use cograph_model::RelationKind;
use cograph_model::cancel::CancelToken;
use cograph_store::{SiteTarget, Snapshot, SymbolRow};

/// Maximum number of other symbols of the same name.
const MAX_NAMESAKES: usize = 20;
/// Maximum number of targets of an ambiguous site that are named.
const MAX_TARGETS: usize = 5;
/// Maximum number of references that are read for the callers: a type of a large repository has
/// hundreds of thousands, of which a reader sees some.
pub const MAX_REFERENCES: usize = 2_500;
/// Maximum number of related symbols in each direction.
const MAX_RELATED: usize = 50;

/// Parameters of `around`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AroundParams {
    /// Symbol.
    pub symbol: String,
    /// Line of its name, where the name has several meanings.
    pub line: Option<u32>,
    /// Maximum number of lines of source.
    pub lines: u32,
    /// Maximum number of callers, and of callees.
    pub limit: usize,
}

/// Site in the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceSite {
    /// Site.
    pub site: SiteInfo,
    /// Its targets: one, the variants of a definition, or the first candidates.
    pub targets: Vec<SymbolInfo>,
    /// Number of targets.
    pub total: u64,
    /// Qualified name of a target outside of the repository.
    pub external: Option<String>,
}

/// Related symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RelatedSymbol {
    /// Kind of the relation.
    pub kind: RelationKind,
    /// True if the other symbol is its source.
    pub incoming: bool,
    /// Other symbol.
    pub symbol: SymbolInfo,
}

/// Result of `around`.
#[derive(Clone, Debug)]
pub struct AroundResult {
    /// Symbol.
    pub symbol: SymbolInfo,
    /// Other symbols of the name, best first.
    pub namesakes: Vec<SymbolInfo>,
    /// Number of these.
    pub namesake_total: u64,
    /// Source; an error if the file cannot be read.
    pub source: Result<Excerpt, QueryError>,
    /// Sites in the source, in order of position.
    pub sites: Vec<SourceSite>,
    /// Callers: a tree of one level.
    pub callers: TraceResult,
    /// Callees: a tree of one level.
    pub callees: TraceResult,
    /// Symbols directly related to it.
    pub related: Vec<RelatedSymbol>,
}

/// Finds what is around a symbol.
pub fn around(
    snapshot: &Snapshot,
    files: &dyn ReadFile,
    params: &AroundParams,
    cancel: &CancelToken,
) -> Result<AroundResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let (symbol, others) = chosen(&lookup, params)?;
    let file = lookup.file(symbol.file)?;
    let first = symbol.extent.start.line;
    let last = symbol.extent.end.line.min(first.saturating_add(params.lines.saturating_sub(1)));
    let source = excerpt(files, &file, Some(lookup.info(&symbol)?), first, last);
    let mut sites = Vec::new();
    for site in snapshot.sites_of(&file)? {
        lookup.check()?;
        if (first..=last).contains(&site.at.line) {
            let (targets, external) = match site.target {
                SiteTarget::None => (Vec::new(), None),
                SiteTarget::Symbol(one) | SiteTarget::HeldBy(one) => (vec![one], None),
                SiteTarget::Candidates(set) => (lookup.candidates(set)?, None),
                SiteTarget::External(name) => (Vec::new(), Some(lookup.name(name)?.to_string())),
            };
            let total = targets.len() as u64;
            let named = targets.into_iter().take(MAX_TARGETS).map(|key| lookup.info_of(key));
            let targets = named.collect::<Result<_, _>>()?;
            sites.push(SourceSite { site: lookup.site(&site)?, targets, total, external });
        }
    }
    let traced = |direction| {
        let (limit, references) = (params.limit, MAX_REFERENCES);
        let params = TraceParams { direction, limit, references, ..TraceParams::default() };
        trace::from_symbol(&lookup, &symbol, &params)
    };
    let mut callers = traced(Direction::Callers)?;
    if symbol.references as usize > MAX_REFERENCES
        && let TraceFinding::Tree(tree) = &mut callers.finding
    {
        tree.total = Total::AtLeast(tree.total.number());
    }
    let named = others.iter().take(MAX_NAMESAKES).map(|other| lookup.info(other));
    Ok(AroundResult {
        symbol: lookup.info(&symbol)?,
        namesakes: named.collect::<Result<_, _>>()?,
        namesake_total: others.len() as u64,
        source,
        sites,
        callers,
        callees: traced(Direction::Callees)?,
        related: related(&lookup, &symbol)?,
    })
}

/// The symbol that is meant, and the others of its name.
fn chosen(
    lookup: &Lookup<'_>,
    params: &AroundParams,
) -> Result<(Rc<SymbolRow>, Vec<Rc<SymbolRow>>), QueryError> {
    let meanings = names::meanings(lookup, &params.symbol)?;
    let mut all: Vec<Rc<SymbolRow>> = meanings
        .into_iter()
        .flat_map(|meaning| std::iter::once(meaning.symbol).chain(meaning.also))
        .collect();
    let is_meant = |symbol: &Rc<SymbolRow>| {
        params
            .line
            .is_some_and(|line| symbol.name_at.line == line || symbol.extent.start.line == line)
    };
    let place = all.iter().position(is_meant).unwrap_or(0);
    let symbol = all.remove(place);
    Ok((symbol, all))
}

/// What overrides, implements or derives from a symbol, and what it does.
fn related(lookup: &Lookup<'_>, symbol: &SymbolRow) -> Result<Vec<RelatedSymbol>, QueryError> {
    let mut found = Vec::new();
    for relation in lookup.relations_from(symbol.key)?.iter().take(MAX_RELATED) {
        let symbol = lookup.info_of(relation.to)?;
        found.push(RelatedSymbol { kind: relation.kind, incoming: false, symbol });
    }
    for relation in lookup.relations_to(symbol.key)?.iter().take(MAX_RELATED) {
        let symbol = lookup.info_of(relation.from)?;
        found.push(RelatedSymbol { kind: relation.kind, incoming: true, symbol });
    }
    Ok(found)
}
