//! What depends on the changed symbols: references backwards by distance, through overrides,
//! constructors, derived types and, where nothing else is known, the type around a member.

use rustc_hash::FxHashMap;

use crate::graph::answer::Certainty;
use crate::graph::calls::edge::certainty;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_model::{RelationKind, SiteKind, SymbolKind};
use cograph_store::{FileKey, NameKey, SiteRow, SiteTarget, SymbolKey, SymbolRow};

/// Maximum number of symbols that are followed.
pub const MAX_SYMBOLS: usize = 1_000;
/// Maximum distance.
pub const MAX_DISTANCE: u32 = 12;
/// Maximum number of sites of one symbol that are followed.
pub(super) const MAX_SITES: usize = 5_000;
/// Maximum number of methods that a symbol overrides, with itself.
const MAX_OVERRIDDEN: usize = 200;
/// Maximum number of types that inherit a constructor, with its own.
const MAX_TYPES: usize = 500;
/// Maximum number of possible uses that are kept.
pub(super) const MAX_POSSIBLE: usize = 500;
/// Number of symbols with a name above which unresolved uses of the name are no evidence.
const MAX_NAMESAKES: usize = 12;

/// How a symbol was reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Way {
    /// It is changed itself.
    Changed,
    /// It calls or constructs the next one.
    Calls,
    /// It refers to the next one in another way.
    Uses,
    /// The next one overrides what it is or calls.
    Overrides,
    /// It derives from the next one.
    Derives,
    /// The next one is a member of it that is not called by name.
    Contains,
    /// It is a test that the next one sets up.
    SetUp,
}

/// Reached symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reached {
    pub(super) distance: u32,
    pub(super) way: Way,
    /// The next symbol towards the change.
    pub(super) next: Option<SymbolKey>,
    /// Line of the reference to it, if it is one.
    pub(super) line: u32,
    /// True if a step is a heuristic.
    pub(super) is_likely: bool,
}

/// Result of the traversal.
#[derive(Default)]
pub(super) struct Dependents {
    /// By symbol; the changed ones have distance 0.
    pub(super) symbols: FxHashMap<SymbolKey, Reached>,
    /// In order of distance.
    pub(super) order: Vec<SymbolKey>,
    /// Files that refer to a reached symbol at their top level.
    pub(super) files: FxHashMap<FileKey, Reached>,
    /// Sites that may lead to a changed symbol, with the certainty.
    pub(super) possible: Vec<(SiteRow, Certainty, SymbolKey)>,
    /// True if a limit ended the traversal.
    pub(super) is_cut: bool,
    /// True if there are more sites that may lead to a changed symbol.
    pub(super) more_possible: bool,
}

impl Dependents {
    /// True if no more symbols are followed, which is noted.
    fn is_full(&mut self) -> bool {
        let is_full = self.order.len() >= MAX_SYMBOLS;
        self.is_cut |= is_full;
        is_full
    }

    pub(super) fn reach(&mut self, symbol: SymbolKey, reached: Reached) {
        if self.symbols.contains_key(&symbol) || self.is_full() {
            return;
        }
        self.symbols.insert(symbol, reached);
        self.order.push(symbol);
    }

    fn may_lead(&mut self, site: SiteRow, degree: Certainty, seed: SymbolKey) {
        if self.possible.len() < MAX_POSSIBLE {
            self.possible.push((site, degree, seed));
        } else {
            self.more_possible = true;
        }
    }
}

/// Follows references backwards from these symbols.
pub(super) fn dependents(
    lookup: &Lookup<'_>,
    seeds: &[SymbolKey],
) -> Result<Dependents, QueryError> {
    let mut found = Dependents::default();
    for &seed in seeds {
        let (distance, way, next) = (0, Way::Changed, None);
        found.reach(seed, Reached { distance, way, next, line: 0, is_likely: false });
    }
    let mut at = 0;
    while let Some(&symbol) = found.order.get(at) {
        at += 1;
        lookup.check()?;
        let own = found.symbols[&symbol];
        if own.distance < MAX_DISTANCE && !found.is_full() {
            step(lookup, &mut found, symbol, own)?;
        }
    }
    possible(lookup, &mut found, seeds)?;
    Ok(found)
}

fn step(
    lookup: &Lookup<'_>,
    found: &mut Dependents,
    symbol: SymbolKey,
    own: Reached,
) -> Result<(), QueryError> {
    let row = lookup.symbol(symbol)?;
    let is_test = lookup.is_test(&row)?;
    let before = (found.order.len(), found.files.len());
    // A runner calls tests. Half of what a hot function reaches are tests, and they need no search.
    let is_overriding =
        || lookup.relations_from(symbol).map(|all| all.iter().any(|one| is_override(one.kind)));
    if is_test
        && row.references == 0
        && row.kind.is_callable()
        && own.distance > 0
        && !is_overriding()?
    {
        return around(lookup, found, symbol, own);
    }
    let same = lookup.same_entity(symbol)?;
    for &key in &same {
        sites(lookup, found, symbol, key, own, None)?;
        overloaded(lookup, found, symbol, key, own)?;
    }
    if row.kind.is_type() {
        for constructor in lookup.constructors_of(symbol)? {
            sites(lookup, found, symbol, constructor, own, None)?;
        }
        for relation in lookup.relations_to(symbol)?.iter() {
            if matches!(relation.kind, RelationKind::Inherits | RelationKind::Implements) {
                found.reach(relation.from, after(own, symbol, Way::Derives, 0, false));
            }
        }
    }
    if row.kind == SymbolKind::Constructor
        && let Some(container) = row.container
    {
        constructions(lookup, found, symbol, container, own)?;
    }
    let mut above = same;
    let (own_count, mut next) = (above.len(), 0);
    while let Some(&key) = above.get(next).filter(|_| above.len() < MAX_OVERRIDDEN) {
        next += 1;
        for relation in lookup.relations_from(key)?.iter() {
            if is_override(relation.kind) && !above.contains(&relation.to) {
                above.push(relation.to);
            }
        }
    }
    found.is_cut |= above.len() >= MAX_OVERRIDDEN;
    for &overridden in &above[own_count..] {
        sites(lookup, found, symbol, overridden, own, Some(Way::Overrides))?;
    }
    // A member that no reference leads to is used through its type: by a framework, by the language
    // or by its base.
    let is_quiet = before == (found.order.len(), found.files.len());
    match is_quiet || own_count < above.len() || is_test {
        true => around(lookup, found, symbol, own),
        false => Ok(()),
    }
}

/// Reaches the type that a symbol is a member of.
fn around(
    lookup: &Lookup<'_>,
    found: &mut Dependents,
    symbol: SymbolKey,
    own: Reached,
) -> Result<(), QueryError> {
    if let Some(container) = lookup.symbol(symbol)?.container
        && lookup.symbol(container)?.kind.is_type()
    {
        found.reach(container, after(own, symbol, Way::Contains, 0, own.is_likely));
    }
    Ok(())
}

fn after(own: Reached, next: SymbolKey, way: Way, line: u32, is_likely: bool) -> Reached {
    Reached {
        distance: own.distance + 1,
        way,
        next: Some(next),
        line,
        is_likely: own.is_likely || is_likely,
    }
}

/// Follows the references to a symbol, which mean `symbol`.
fn sites(
    lookup: &Lookup<'_>,
    found: &mut Dependents,
    symbol: SymbolKey,
    key: SymbolKey,
    own: Reached,
    through: Option<Way>,
) -> Result<(), QueryError> {
    let mut count = 0;
    lookup.snapshot.visit_sites_to(key, |site| {
        count += 1;
        take(found, symbol, own, &site, through);
        count < MAX_SITES && !found.is_full()
    })?;
    found.is_cut |= count >= MAX_SITES;
    Ok(())
}

/// Follows the calls that mean one of several overloads, of which a symbol is one.
fn overloaded(
    lookup: &Lookup<'_>,
    found: &mut Dependents,
    symbol: SymbolKey,
    key: SymbolKey,
    own: Reached,
) -> Result<(), QueryError> {
    let row = lookup.symbol(key)?;
    if !row.kind.is_callable() || found.is_full() {
        return Ok(());
    }
    let all = lookup.snapshot.sites_possibly_to(key)?;
    found.is_cut |= all.len() > MAX_SITES;
    for site in all.into_iter().take(MAX_SITES) {
        let SiteTarget::Candidates(set) = site.target else { continue };
        let mut is_overload = true;
        for other in lookup.snapshot.candidates(set)? {
            let other = lookup.symbol(other)?;
            is_overload &= other.container == row.container && other.name == row.name;
        }
        if is_overload {
            take(found, symbol, own, &site, None);
        }
    }
    Ok(())
}

fn take(
    found: &mut Dependents,
    symbol: SymbolKey,
    own: Reached,
    site: &SiteRow,
    through: Option<Way>,
) {
    let way = match site.kind {
        // What is imported is used where it is named.
        SiteKind::Import => return,
        SiteKind::Call | SiteKind::Construct => Way::Calls,
        SiteKind::Inherit | SiteKind::Implement => Way::Derives,
        _ => Way::Uses,
    };
    let is_likely = certainty(site) != Certainty::Certain;
    let reached = after(own, symbol, through.unwrap_or(way), site.at.line, is_likely);
    match site.enclosing {
        Some(enclosing) => found.reach(enclosing, reached),
        None => drop(found.files.entry(site.file).or_insert(reached)),
    }
}

/// Follows the constructions of a type and of those that inherit its constructor.
fn constructions(
    lookup: &Lookup<'_>,
    found: &mut Dependents,
    symbol: SymbolKey,
    container: SymbolKey,
    own: Reached,
) -> Result<(), QueryError> {
    let (mut types, mut next) = (vec![container], 0);
    while let Some(&of) = types.get(next).filter(|_| types.len() < MAX_TYPES) {
        next += 1;
        let mut count = 0;
        lookup.snapshot.visit_sites_to(of, |site| {
            count += 1;
            if matches!(site.kind, SiteKind::Call | SiteKind::Construct) {
                take(found, symbol, own, &site, None);
            }
            count < MAX_SITES && !found.is_full()
        })?;
        found.is_cut |= count >= MAX_SITES;
        for relation in lookup.relations_to(of)?.iter() {
            if relation.kind == RelationKind::Inherits
                && !types.contains(&relation.from)
                && lookup.constructors_of(relation.from)?.is_empty()
            {
                types.push(relation.from);
            }
        }
    }
    found.is_cut |= types.len() >= MAX_TYPES;
    Ok(())
}

/// Collects the sites that may lead to a changed symbol: it is one of several candidates, or has
/// the name of a use that nothing is known about.
fn possible(
    lookup: &Lookup<'_>,
    found: &mut Dependents,
    seeds: &[SymbolKey],
) -> Result<(), QueryError> {
    let mut names: Vec<(NameKey, SymbolKey)> = Vec::new();
    for &seed in seeds {
        let row = lookup.symbol(seed)?;
        for site in lookup.snapshot.sites_possibly_to(seed)? {
            let degree = certainty(&site);
            found.may_lead(site, degree, seed);
        }
        if is_found_by_name(&row)
            && lookup.snapshot.bearers(row.name, MAX_NAMESAKES + 1)? <= MAX_NAMESAKES
            && !names.iter().any(|(name, _)| *name == row.name)
        {
            names.push((row.name, seed));
        }
    }
    for (name, seed) in names {
        for site in lookup.snapshot.unresolved_named(name)? {
            lookup.check()?;
            found.may_lead(site, Certainty::Textual, seed);
        }
    }
    let order = lookup.order();
    found.possible.sort_by_key(|(site, degree, _)| (*degree, order.site(site)));
    found.possible.dedup_by_key(|(site, ..)| site.key);
    Ok(())
}

fn is_override(kind: RelationKind) -> bool {
    kind == RelationKind::Overrides
}

fn is_found_by_name(row: &SymbolRow) -> bool {
    row.kind.is_callable() || row.kind == SymbolKind::Field
}
