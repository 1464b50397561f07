//! Why a symbol without callers may be called all the same: annotations, bases outside of the
//! repository, the run time of its language.

use crate::graph::answer::SymbolInfo;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_grammar as grammar;
use cograph_model::facts::flags;
use cograph_model::{RelationKind, SiteKind, Verdict};
use cograph_store::{SiteRow, SiteTarget, SymbolKey, SymbolRow};

/// Maximum number of reasons of each kind.
const MAX_REASONS: usize = 4;

/// Reason for a call that no reference shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// A decorator or annotation, which may register or call it: the name as written or the
    /// qualified name outside, and the symbol that it leads to.
    Decorated {
        /// Name.
        name: String,
        /// Line.
        line: u32,
        /// Symbol of the repository.
        symbol: Option<Box<SymbolInfo>>,
    },
    /// Its type derives from or implements a type outside of the repository, which may call it.
    BaseOutside {
        /// Name of the type outside.
        base: String,
    },
    /// The language or its run time calls functions of this name.
    Runtime {
        /// Title of the language.
        language: &'static str,
    },
    /// Test code, which a test runner calls.
    Test,
}

/// Returns the reasons for calls of a symbol that no reference shows.
pub(super) fn reasons(lookup: &Lookup<'_>, symbol: SymbolKey) -> Result<Vec<Reason>, QueryError> {
    let symbol = lookup.symbol(symbol)?;
    let language = grammar::by_name(lookup.language(lookup.place(symbol.file)?.language));
    let mut found = decorators(lookup, &symbol, language)?;
    if let Some(language) = language
        && language.is_called_by_runtime(&symbol.name_text)
    {
        found.push(Reason::Runtime { language: language.title() });
    }
    if symbol.flags & flags::TEST != 0 && symbol.kind.is_callable() {
        found.push(Reason::Test);
    }
    if let Some(container) = symbol.container.filter(|_| symbol.kind.is_callable()) {
        let mut outside = bases_outside(lookup, container)?;
        if outside.is_empty() {
            for site in bases_of_block(lookup, &symbol, container)? {
                outside.extend(base_outside(lookup, &site)?);
            }
        }
        found.extend(outside.into_iter().map(|base| Reason::BaseOutside { base }));
    }
    Ok(found)
}

/// Returns the decorators of a definition: references before its name and inside of its extent,
/// without those that are known to hand it to nothing.
fn decorators(
    lookup: &Lookup<'_>,
    symbol: &SymbolRow,
    language: Option<&grammar::Language>,
) -> Result<Vec<Reason>, QueryError> {
    let mut found = Vec::new();
    for site in lookup.sites_of(symbol.file)?.iter() {
        // A decorator with arguments is a call.
        let may_decorate =
            matches!(site.kind, SiteKind::Decorate | SiteKind::Call | SiteKind::Construct);
        let is_before = symbol.extent.start <= site.at && site.at < symbol.name_at;
        // An attribute may belong to what it decorates; a call in its header is none.
        let is_own = site.kind != SiteKind::Decorate && site.enclosing == Some(symbol.key);
        if !may_decorate || !is_before || is_own {
            continue;
        }
        let targets = lookup.targets(site)?;
        let outside = match site.target {
            SiteTarget::External(name) => Some(lookup.name(name)?),
            _ => None,
        };
        let name = match outside {
            Some(outside) => outside.to_string(),
            None => lookup.name(site.name)?.to_string(),
        };
        let is_plain = language.is_some_and(|language| language.registers_nothing(&name));
        if is_plain && targets.is_empty() {
            continue;
        }
        let symbol = targets.first().map(|&target| lookup.info_of(target).map(Box::new));
        found.push(Reason::Decorated { name, line: site.at.line, symbol: symbol.transpose()? });
        if found.len() == MAX_REASONS {
            break;
        }
    }
    Ok(found)
}

/// Returns a type and the types of the repository that it derives from or implements.
pub(crate) fn bases_inside(
    lookup: &Lookup<'_>,
    container: SymbolKey,
) -> Result<Vec<SymbolKey>, QueryError> {
    let mut types = Vec::new();
    let mut left = vec![container];
    let mut next = 0;
    while let Some(&key) = left.get(next).filter(|_| next < MAX_TYPES) {
        next += 1;
        lookup.check()?;
        if !lookup.symbol(key)?.kind.is_type() {
            continue;
        }
        types.push(key);
        for relation in lookup.relations_from(key)?.iter() {
            let is_base =
                matches!(relation.kind, RelationKind::Inherits | RelationKind::Implements);
            if is_base && !left.contains(&relation.to) {
                left.push(relation.to);
            }
        }
    }
    Ok(types)
}

/// Returns the names of the types outside that a type or its bases derive from or implement.
pub(crate) fn bases_outside(
    lookup: &Lookup<'_>,
    container: SymbolKey,
) -> Result<Vec<String>, QueryError> {
    let mut found: Vec<String> = Vec::new();
    for key in bases_inside(lookup, container)? {
        for site in lookup.snapshot.sites_in(&*lookup.symbol(key)?)? {
            let Some(base) = base_outside(lookup, &site)? else { continue };
            if found.len() < MAX_REASONS && !found.contains(&base) {
                found.push(base);
            }
        }
    }
    Ok(found)
}

/// Returns the references that make bases in the header of the block apart from its type in which a
/// member is written (`impl Base for Type`). The references of a header are next to each other,
/// outside of all members.
pub(crate) fn bases_of_block(
    lookup: &Lookup<'_>,
    symbol: &SymbolRow,
    container: SymbolKey,
) -> Result<Vec<SiteRow>, QueryError> {
    let own = lookup.symbol(container)?;
    let (whole, part) = (own.extent, symbol.extent.start_byte);
    if own.file == symbol.file && (whole.start_byte..whole.end_byte).contains(&part) {
        return Ok(Vec::new());
    }
    let sites = lookup.sites_of(symbol.file)?;
    let before = &sites[..sites.partition_point(|site| site.at < symbol.extent.start)];
    let mut named = None;
    for (place, site) in before.iter().enumerate().rev() {
        if site.target != SiteTarget::Symbol(container) {
            continue;
        }
        let around = lookup.containers(site.enclosing)?;
        if around.iter().all(|around| around.key != container) {
            named = Some(place);
            break;
        }
    }
    let Some(named) = named else { return Ok(Vec::new()) };
    let (line, enclosing) = (before[named].at.line, before[named].enclosing);
    let is_near = |site: &&SiteRow| {
        site.enclosing == enclosing && site.at.line.abs_diff(line) <= HEADER_LINES
    };
    let (left, right) = before.split_at(named);
    let header = left.iter().rev().take_while(is_near).chain(right.iter().take_while(is_near));
    Ok(header.filter(|site| is_base(site.kind)).cloned().collect())
}

fn is_base(kind: SiteKind) -> bool {
    matches!(kind, SiteKind::Inherit | SiteKind::Implement)
}

/// Returns the name of the type outside that a reference makes a base.
fn base_outside(lookup: &Lookup<'_>, site: &SiteRow) -> Result<Option<String>, QueryError> {
    if !is_base(site.kind) || !matches!(site.verdict, Verdict::External | Verdict::Unresolved) {
        return Ok(None);
    }
    let base = match site.target {
        SiteTarget::External(name) => lookup.name(name)?,
        _ => lookup.name(site.name)?,
    };
    Ok(Some(base.to_string()))
}

/// Lines over which the header of a block apart from its type may be spread, each way.
const HEADER_LINES: u32 = 2;

/// Maximum number of types of a hierarchy that are read.
const MAX_TYPES: usize = 20;
