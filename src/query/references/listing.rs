//! The list of the references to a symbol.

use crate::graph::answer::{Certainty, Counts};
use crate::graph::calls::MAX_RELATED;
use crate::graph::calls::group::Group;
use crate::graph::error::QueryError;
use crate::graph::filter::{FileFilter, directories};
use crate::graph::lookup::Lookup;
use crate::names;
use crate::names::Meanings;
use crate::references::answer::{
    FileReferences, Reference, ReferencesParams, ReferencesResult, Related,
};
use cograph_faults::{Fault, planted};
use cograph_grammar as grammar;
use cograph_model::cancel::CancelToken;
use cograph_model::facts::flags;
use cograph_model::{RelationKind, SiteKind, Step, SymbolKind};
use cograph_store::{FileRow, SiteRow, SiteTarget, Snapshot, SymbolKey, SymbolRank, SymbolRow};
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::rc::Rc;

/// Words by which a constructor calls another one.
pub(crate) const RECEIVER_WORDS: [&str; 4] = ["this", "super", "base", "self"];

/// Number of possible and textual references that are listed without being asked for.
pub(crate) const FEW_VAGUE: usize = 5;

/// Finds the references to a symbol.
pub fn references(
    snapshot: &Snapshot,
    params: &ReferencesParams,
    cancel: &CancelToken,
) -> Result<ReferencesResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let meaning =
        names::Meaning { symbol: names::symbol(&lookup, &params.symbol)?, also: Vec::new() };
    references_of(&lookup, &meaning, params)
}

/// Finds the references to every meaning of the name, best first, at most `most` meanings.
pub fn references_all(
    snapshot: &Snapshot,
    params: &ReferencesParams,
    most: usize,
    cancel: &CancelToken,
) -> Result<Meanings<ReferencesResult>, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    Meanings::of(&lookup, &params.symbol, most, |meaning| references_of(&lookup, meaning, params))
}

pub(crate) fn references_of(
    lookup: &Lookup<'_>,
    meaning: &names::Meaning,
    params: &ReferencesParams,
) -> Result<ReferencesResult, QueryError> {
    let (snapshot, symbol) = (lookup.snapshot, &meaning.symbol);
    let filter = FileFilter::new(lookup, params.path.as_deref(), None)?;
    let mut same = Vec::new();
    for key in meaning.keys() {
        same.extend(lookup.same_entity(key)?);
    }
    let mut sites = Vec::new();
    for &key in &same {
        sites.extend(snapshot.sites_to(key)?);
        sites.extend(snapshot.sites_possibly_to(key)?);
    }
    if symbol.kind.is_type() {
        // A type name, or an alias of it, that constructs it refers to the constructor.
        for constructor in lookup.constructors_of(symbol.key)? {
            for site in snapshot.sites_to(constructor)? {
                let is_alias = || -> Result<bool, QueryError> {
                    let name = lookup.name(site.name)?;
                    let makes = matches!(site.kind, SiteKind::Construct | SiteKind::Decorate);
                    Ok(makes && !RECEIVER_WORDS.contains(&&*name))
                };
                if site.name == symbol.name || is_alias()? {
                    sites.push(site);
                }
            }
        }
    }
    let language = lookup.language(lookup.file(symbol.file)?.language);
    sites.extend(
        snapshot
            .unresolved_named(symbol.name)?
            .into_iter()
            .filter(|site| site.target == SiteTarget::None)
            .filter(|site| may_mean(symbol, language, site.kind)),
    );
    let group = same.iter().copied().collect();
    let mut group = Group::new(&group);
    let (mut found, mut other_kinds) = (Vec::new(), FxHashSet::default());
    for site in sites {
        lookup.check()?;
        let file = lookup.file(site.file)?;
        if filter.admits(file.mark()) && params.tests.admits(is_test(lookup, &site, &file)?) {
            let found_site = Found { certainty: group.certainty(lookup, &site)?, file, site };
            if is_of_kinds(&params.kinds, symbol.kind, found_site.site.kind) {
                found.push(found_site);
            } else if found_site.is_sure() {
                other_kinds.insert(found_site.site.key);
            }
        }
    }
    found.sort_by(|a, b| {
        (a.certainty, &a.file.path, a.site.at, a.site.key).cmp(&(
            b.certainty,
            &b.file.path,
            b.site.at,
            b.site.key,
        ))
    });
    // An ambiguous reference may have several declarations of the same entity as candidates.
    found.dedup_by_key(|found| found.site.key);
    let mut result = ReferencesResult {
        symbol: lookup.info(symbol)?,
        declarations: same[1..].iter().map(|&key| lookup.info_of(key)).collect::<Result<_, _>>()?,
        counts: Counts::default(),
        by_kind: by_kind(&found),
        of_other_kinds: other_kinds.len() as u64,
        reasons: reasons(&found),
        listed: listed(params.list, &found),
        file_count: 0,
        by_directory: Vec::new(),
        files: Vec::new(),
        related: related(lookup, &same, params)?,
    };
    for entry in &found {
        result.counts.add(entry.certainty);
    }
    let listed = result.listed;
    let is_listed = |found: &&Found| found.certainty <= listed;
    let mut files: Vec<_> = found.iter().filter(is_listed).map(|found| found.site.file).collect();
    result.by_directory =
        directories(found.iter().filter(is_listed).map(|found| (&found.file.path, 1)));
    files.sort_unstable();
    files.dedup();
    result.file_count = files.len() as u64;
    let listed = found
        .iter()
        .filter(|found| found.certainty <= result.listed)
        .skip(if planted(Fault::EveryPageIsFirst) { 0 } else { params.offset })
        .take(params.limit);
    for entry in listed {
        let reference = Reference {
            site: lookup.site(&entry.site)?,
            certainty: entry.certainty,
            enclosing: entry.site.enclosing.map(|key| lookup.info_of(key)).transpose()?,
        };
        match result.files.last_mut() {
            Some(last)
                if last.path == entry.file.path
                    && last
                        .references
                        .last()
                        .is_some_and(|last| last.certainty == entry.certainty) =>
            {
                last.references.push(reference);
            }
            _ => result.files.push(FileReferences {
                path: entry.file.path.clone(),
                references: vec![reference],
            }),
        }
    }
    Ok(result)
}

/// Lowest certainty of the references that are listed.
pub(crate) fn listed(wanted: Option<Certainty>, found: &[Found]) -> Certainty {
    let vague = found.iter().filter(|found| !found.is_sure()).count();
    match wanted {
        _ if vague == found.len() => Certainty::Textual,
        None if vague <= FEW_VAGUE => Certainty::Textual,
        None => Certainty::Likely,
        Some(wanted) => wanted,
    }
}

/// True if a reference to a symbol is of one of these kinds, or if there are none. A call of a type
/// constructs it, and what inherits an interface implements it, whatever the language writes.
pub(crate) fn is_of_kinds(kinds: &[SiteKind], of: SymbolKind, kind: SiteKind) -> bool {
    let also = match kind {
        SiteKind::Call if of.is_type() => Some(SiteKind::Construct),
        // What constructs an interface is the body of an anonymous class.
        SiteKind::Inherit | SiteKind::Construct if of == SymbolKind::Interface => {
            Some(SiteKind::Implement)
        }
        _ => None,
    };
    kinds.is_empty() || kinds.contains(&kind) || also.is_some_and(|also| kinds.contains(&also))
}

/// True if a reference of a kind that is not resolved may mean a symbol of its name: where
/// callables have a namespace of their own, no assignment means one.
pub(crate) fn may_mean(symbol: &SymbolRow, language: &str, kind: SiteKind) -> bool {
    kind != SiteKind::Write
        || !symbol.kind.is_callable()
        || symbol.flags & flags::PROPERTY != 0
        || !grammar::by_name(language)
            .is_some_and(|language| language.manifest.resolution.separate_callables)
}

pub(crate) struct Found {
    certainty: Certainty,
    file: Rc<FileRow>,
    site: SiteRow,
}

impl Found {
    fn is_sure(&self) -> bool {
        self.certainty <= Certainty::Likely
    }
}

pub(crate) fn is_test(
    lookup: &Lookup<'_>,
    site: &SiteRow,
    file: &FileRow,
) -> Result<bool, QueryError> {
    match site.enclosing {
        Some(enclosing) => lookup.is_test(&*lookup.symbol(enclosing)?),
        None => Ok(file.test),
    }
}

pub(crate) fn by_kind(found: &[Found]) -> Vec<(SiteKind, u64)> {
    let count = |kind| {
        found.iter().filter(|found| found.is_sure() && found.site.kind == kind).count() as u64
    };
    let mut kinds: Vec<_> = SiteKind::ALL
        .iter()
        .map(|&kind| (kind, count(kind)))
        .filter(|(_, count)| *count > 0)
        .collect();
    kinds.sort_by_key(|(kind, count)| (Reverse(*count), *kind));
    kinds
}

pub(crate) fn reasons(found: &[Found]) -> Vec<(Certainty, Step, u64)> {
    let mut reasons: Vec<(Certainty, Step, u64)> = Vec::new();
    for entry in found.iter().filter(|entry| !entry.is_sure()) {
        let known = reasons
            .iter_mut()
            .find(|(certainty, step, _)| (*certainty, *step) == (entry.certainty, entry.site.step));
        match known {
            Some((.., count)) => *count += 1,
            None => reasons.push((entry.certainty, entry.site.step, 1)),
        }
    }
    reasons.sort_by_key(|&(certainty, step, count)| (certainty, Reverse(count), step));
    reasons
}

/// Returns the relations of the symbols to others, except those to declarations of the same entity.
/// Incoming relations are followed transitively: a change of the symbol affects all of them; those
/// of code, or of a kind, that the filters leave out are not listed.
pub(crate) fn related(
    lookup: &Lookup<'_>,
    same: &[SymbolKey],
    params: &ReferencesParams,
) -> Result<Vec<Related>, QueryError> {
    let mut ends = Vec::new();
    let of_types = [SiteKind::Inherit, SiteKind::Implement];
    let lists_types = params.kinds.is_empty() || params.kinds.iter().any(|k| of_types.contains(k));
    let is_listed = |kind| kind == RelationKind::Overrides || lists_types;
    let rank = |other: SymbolKey| Ok::<_, QueryError>(lookup.order().row(&*lookup.symbol(other)?));
    for &key in same {
        for relation in lookup
            .relations_from(key)?
            .iter()
            .filter(|relation| relation.kind != RelationKind::Defines && is_listed(relation.kind))
        {
            ends.push((relation.kind, false, rank(relation.to)?));
        }
    }
    let (mut below, mut next) = (same.to_vec(), 0);
    let mut seen: FxHashSet<SymbolKey> = same.iter().copied().collect();
    while let Some(&key) = below.get(next).filter(|_| below.len() < MAX_RELATED) {
        next += 1;
        lookup.check()?;
        for relation in lookup
            .relations_to(key)?
            .iter()
            .filter(|relation| relation.kind != RelationKind::Defines)
        {
            if seen.insert(relation.from) {
                below.push(relation.from);
                if is_listed(relation.kind)
                    && params.tests.admits(lookup.is_test(&*lookup.symbol(relation.from)?)?)
                {
                    ends.push((relation.kind, true, rank(relation.from)?));
                }
            }
        }
    }
    ends.sort_unstable();
    ends.dedup();
    let related = |(kind, incoming, other): (_, _, SymbolRank)| {
        Ok(Related { kind, incoming, symbol: lookup.info_of(other.key())? })
    };
    ends.into_iter().map(related).collect()
}
