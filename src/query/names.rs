//! Resolution of symbol and file names in parameters: `path::Container.name`, any suffix of it,
//! `path:line`.
//!
//! An answer is never about another symbol than the named one: an ambiguous name yields an error
//! with the candidates, an unknown one an error with similar names.

mod aliases;
pub mod complete;
mod files;
pub(super) mod fuzzy;
mod qualified;
pub(super) mod text;

use cograph_faults::{Fault, planted};
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::answer::SymbolInfo;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::{graph, names};
use cograph_grammar::{self as grammar, Tier};
use cograph_model::facts::flags;
use cograph_model::{RelationKind, SymbolKind};
use cograph_store::{FileRow, NameEntry, NameKey, NameParts, SymbolKey, SymbolRow};
use files::{MAX_LISTED, MAX_NEAR};
pub(super) use files::{file, near_paths, one_file};
use fuzzy::{DistanceMatcher, filter_for_distance};
pub(super) use qualified::{all, heads, keys_of, segments};

/// Maximum number of blocks of names scanned for similar ones, most referenced names first.
const MAX_RUNS: usize = 1_500;

/// Target of a name.
pub(super) enum Named {
    /// Symbol.
    Symbol(Rc<SymbolRow>),
    /// Range of lines of a file, inclusive; for a whole file up to `u32::MAX`.
    Lines(Rc<FileRow>, u32, u32),
}

/// Returns the only symbol that `wanted` names.
pub(super) fn symbol(lookup: &Lookup<'_>, wanted: &str) -> Result<Rc<SymbolRow>, QueryError> {
    let mut found = candidates(lookup, wanted)?;
    if let [_] = *found {
        return Ok(found.swap_remove(0));
    }
    let mut choices =
        found.iter().map(|symbol| lookup.info(symbol)).collect::<Result<Vec<_>, _>>()?;
    choices.sort_by_cached_key(order_of_choices);
    choices.truncate(MAX_LISTED);
    let (name, total) = (normalized(wanted).to_owned(), found.len() as u64);
    Err(QueryError::AmbiguousSymbol { name, choices, total })
}

/// Returns the symbols that `wanted` may name, of which there is at least one.
fn candidates(lookup: &Lookup<'_>, wanted: &str) -> Result<Vec<Rc<SymbolRow>>, QueryError> {
    let wanted = normalized(wanted);
    if let Some((path, line)) = place(wanted)
        && let Some(file) = one_file(lookup, path)?
    {
        let symbols = lookup.snapshot.symbols_at(&file, line, line)?;
        return match Lookup::at_line(&symbols, line) {
            Some(symbol) => Ok(vec![lookup.remember(symbol.clone())]),
            None => Err(QueryError::NoSuchSymbol {
                name: wanted.to_owned(),
                near: nearest(lookup, &file, line)?,
            }),
        };
    }
    let mut found = named(lookup, wanted)?;
    prefer_definitions(lookup, &mut found)?;
    if found.is_empty() {
        let near = near(lookup, wanted)?;
        return Err(QueryError::NoSuchSymbol { name: wanted.to_owned(), near });
    }
    Ok(found)
}

/// Returns every symbol that a name may mean: as it is written, without the parentheses of a call,
/// or without a list of parameters.
fn named(lookup: &Lookup<'_>, wanted: &str) -> Result<Vec<Rc<SymbolRow>>, QueryError> {
    let mut found = all(lookup, wanted)?;
    if found.is_empty() && wanted.contains('`') {
        // Names in quotes are known without them.
        found = all(lookup, &wanted.replace('`', ""))?;
    }
    match wanted.split_once('(') {
        Some((name, rest)) if found.is_empty() && rest.ends_with(')') && !name.is_empty() => {
            all(lookup, name.trim_end())
        }
        _ if found.is_empty() => aliases::aliased(lookup, wanted),
        _ => Ok(found),
    }
}

/// True if a symbol may have a name. Names like it, which an error lists, are not looked for.
pub(super) fn may_exist(lookup: &Lookup<'_>, wanted: &str) -> Result<bool, QueryError> {
    let wanted = normalized(wanted);
    Ok(place(wanted).is_some() || !named(lookup, wanted)?.is_empty())
}

/// Meaning of a name: a symbol with equivalent ones (overloads, and methods related to it by
/// overriding or implementing).
pub(super) struct Meaning {
    /// Representative symbol.
    pub(super) symbol: Rc<SymbolRow>,
    /// Equivalent symbols.
    pub(super) also: Vec<Rc<SymbolRow>>,
}

impl Meaning {
    /// Keys of all symbols.
    pub(super) fn keys(&self) -> Vec<SymbolKey> {
        std::iter::once(&self.symbol).chain(&self.also).map(|symbol| symbol.key).collect()
    }
}

/// Returns every meaning of `wanted`, best first; never empty.
pub(super) fn meanings(lookup: &Lookup<'_>, wanted: &str) -> Result<Vec<Meaning>, QueryError> {
    let mut found = candidates(lookup, wanted)?;
    if let [_] = *found {
        return Ok(vec![Meaning { symbol: found.swap_remove(0), also: Vec::new() }]);
    }
    let mut ranked = found
        .into_iter()
        .map(|symbol| Ok((lookup.info(&symbol)?, symbol)))
        .collect::<Result<Vec<_>, QueryError>>()?;
    ranked.sort_by_cached_key(|(symbol, _)| order_of_choices(symbol));
    let places: FxHashMap<SymbolKey, usize> =
        ranked.iter().enumerate().map(|(place, (_, symbol))| (symbol.key, place)).collect();
    // A forest: the root of each symbol is the first equivalent one.
    let mut parents: Vec<usize> = (0..ranked.len()).collect();
    let mut overloads = FxHashMap::default();
    for (place, (_, symbol)) in ranked.iter().enumerate() {
        lookup.check()?;
        let relations = lookup.relations_from(symbol.key)?;
        let overridden = relations
            .iter()
            .filter(|relation| relation.kind == RelationKind::Overrides)
            .filter_map(|relation| places.get(&relation.to).copied());
        let overloaded = symbol.kind.is_callable().then(|| {
            *overloads.entry((symbol.file, symbol.container, symbol.kind)).or_insert(place)
        });
        for other in overridden.chain(overloaded) {
            let (one, other) = (root(&parents, place), root(&parents, other));
            parents[one.max(other)] = one.min(other);
        }
    }
    let mut meanings: Vec<Meaning> = Vec::new();
    let mut of_root = FxHashMap::default();
    for (place, (_, symbol)) in ranked.into_iter().enumerate() {
        match of_root.entry(root(&parents, place)) {
            Entry::Occupied(meaning) => {
                let meaning: &mut Meaning = &mut meanings[*meaning.get()];
                meaning.also.push(symbol);
            }
            Entry::Vacant(entry) => {
                entry.insert(meanings.len());
                meanings.push(Meaning { symbol, also: Vec::new() });
            }
        }
    }
    Ok(meanings)
}

fn root(parents: &[usize], mut place: usize) -> usize {
    while parents[place] != place {
        place = parents[place];
    }
    place
}

/// Returns the symbol, lines or file that `wanted` names.
pub(super) fn symbol_or_lines(lookup: &Lookup<'_>, wanted: &str) -> Result<Named, QueryError> {
    let tidied = normalized(wanted);
    if let Some((path, first, last)) = lines(tidied) {
        let file = file(lookup, path)?;
        if first == 0 || last < first {
            let reason = format!("`{wanted}`: lines are counted from 1, the first before the last");
            return Err(QueryError::InvalidParameter { parameter: "targets", reason });
        }
        return Ok(Named::Lines(file, first, last));
    }
    if let Some((path, line)) = place(tidied)
        && let Some(file) = one_file(lookup, path)?
    {
        let symbols = lookup.snapshot.symbols_at(&file, line, line)?;
        return Ok(match Lookup::at_line(&symbols, line) {
            Some(symbol) => Named::Symbol(lookup.remember(symbol.clone())),
            None => Named::Lines(file, line, line),
        });
    }
    if let Some(file) = lookup.snapshot.file_at(tidied)? {
        return Ok(Named::Lines(Rc::new(file), 1, u32::MAX));
    }
    match symbol(lookup, tidied) {
        Ok(symbol) => Ok(Named::Symbol(symbol)),
        // File name alone: `show README.md`.
        Err(QueryError::NoSuchSymbol { name, near }) => match file(lookup, tidied) {
            Ok(file) => Ok(Named::Lines(file, 1, u32::MAX)),
            Err(error @ QueryError::AmbiguousPath { .. }) => Err(error),
            Err(_) => Err(QueryError::NoSuchSymbol { name, near }),
        },
        Err(error) => Err(error),
    }
}

/// Strips decoration of names: blanks, back ticks around the whole.
fn normalized(wanted: &str) -> &str {
    let wanted = wanted.trim();
    wanted.strip_prefix('`').and_then(|wanted| wanted.strip_suffix('`')).unwrap_or(wanted)
}

/// Parses `path:line` and `path:line:column`.
fn place(wanted: &str) -> Option<(&str, u32)> {
    let (head, last) = wanted.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    match head.rsplit_once(':').map(|(path, line)| (path, line.parse())) {
        Some((path, Ok(line))) => Some((path, line)),
        _ => Some((head, last)).filter(|(path, _)| !path.is_empty() && !path.ends_with(':')),
    }
}

/// Parses `path:from-to`.
fn lines(wanted: &str) -> Option<(&str, u32, u32)> {
    let (path, range) = wanted.rsplit_once(':')?;
    let (first, last) = range.split_once('-')?;
    Some((
        path,
        first.trim_start_matches('L').parse().ok()?,
        last.trim_start_matches('L').parse().ok()?,
    ))
}

/// Drops other symbols of the same entity: declarations of a definition, extensions of a type,
/// constructors named like their type. Where there is code, drops headings of documents, keys of
/// data and blocks of tests, which have the name of what they are about.
pub(super) fn prefer_definitions(
    lookup: &Lookup<'_>,
    found: &mut Vec<Rc<SymbolRow>>,
) -> Result<(), QueryError> {
    if found.len() < 2 || planted(Fault::DeclarationsMeant) {
        return Ok(());
    }
    let keys: FxHashSet<SymbolKey> = found.iter().map(|symbol| symbol.key).collect();
    let mut dropped = FxHashSet::default();
    for symbol in found.iter() {
        lookup.check()?;
        let is_declaration = lookup.snapshot.relations_to(symbol.key)?.iter().any(|relation| {
            relation.kind == RelationKind::Defines && keys.contains(&relation.from)
        });
        let is_constructor = symbol.kind == SymbolKind::Constructor
            && symbol.container.is_some_and(|container| keys.contains(&container));
        if is_declaration || is_constructor {
            dropped.insert(symbol.key);
        }
    }
    let is_extension = |symbol: &SymbolRow| symbol.flags & flags::EXTENSION != 0;
    if found.iter().any(|symbol| symbol.kind.is_type() && !is_extension(symbol)) {
        dropped.extend(found.iter().filter(|symbol| is_extension(symbol)).map(|symbol| symbol.key));
    }
    found.retain(|symbol| !dropped.contains(&symbol.key));
    let mut is_code = Vec::with_capacity(found.len());
    for symbol in found.iter() {
        let language = lookup.language(lookup.file(symbol.file)?.language);
        let is_read = grammar::tier_of(language) != Some(Tier::Structure);
        is_code.push(is_read && symbol.kind != SymbolKind::Test);
    }
    if is_code.contains(&true) {
        let mut is_code = is_code.into_iter();
        found.retain(|_| is_code.next() == Some(true));
    }
    Ok(())
}

pub(super) fn order_of_choices(symbol: &SymbolInfo) -> (bool, bool, Reverse<u32>, String, u32) {
    let is_main_kind = symbol.kind.is_type() || symbol.kind.is_callable();
    (
        symbol.is_test(),
        !is_main_kind,
        Reverse(symbol.references),
        symbol.path.to_string(),
        symbol.first_line,
    )
}

/// Returns symbols with similar names: the same name in another container, in other case, misspelt,
/// or as a part.
pub(super) fn near(lookup: &Lookup<'_>, wanted: &str) -> Result<Vec<SymbolInfo>, QueryError> {
    let wanted = wanted.strip_suffix("()").unwrap_or(wanted);
    let chain = segments(wanted);
    let name = chain.last().copied().unwrap_or(wanted);
    let lower = name.to_ascii_lowercase();
    let forgiven = text::max_edit_distance(name.len()).max(1);
    let mut names: Vec<(usize, usize, String, NameKey)> = Vec::new();
    let (mut near, mut ahead) =
        (DistanceMatcher::new(name, forgiven), DistanceMatcher::new(name, forgiven));
    let mut walk = lookup.snapshot.walk_names(MAX_RUNS)?;
    let wanted = filter_for_distance(name, forgiven);
    let runs = walk.runs_with(&wanted)?;
    let runs = walk.beginning(&runs, |beginning, shared| ahead.may_begin(beginning, shared));
    let mut take = |own: &NameEntry<'_>| {
        if let Some(errors) = near.distance(own.text, own.shared) {
            let score = if own.text == name { 0 } else { 1 + errors };
            names.push((score, own.text.len(), own.text.to_owned(), own.key));
        }
        lookup.check().is_ok()
    };
    walk.visit(&wanted, &runs, |_| false, &mut take)?;
    walk.visit_later(&mut take)?;
    if lower.len() >= 3 {
        let known: FxHashSet<NameKey> = names.iter().map(|(.., key)| *key).collect();
        let mut walk = lookup.snapshot.walk_names(MAX_RUNS)?;
        let wanted = NameParts::none().or_all_of([lower.as_str()]);
        let runs = walk.runs_with(&wanted)?;
        let mut take = |own: &NameEntry<'_>| {
            if !known.contains(&own.key) && text::contains_ignoring_case(own.text, &lower) {
                names.push((5, own.text.len(), own.text.to_owned(), own.key));
            }
            lookup.check().is_ok()
        };
        walk.visit(&wanted, &runs, |_| false, &mut take)?;
        walk.visit_later(take)?;
    }
    lookup.check()?;
    names.sort_unstable();
    let mut near = Vec::new();
    for (score, length, _, key) in names.into_iter().take(MAX_NEAR * 4) {
        for head in lookup.snapshot.symbol_heads(key)? {
            near.push((score, Reverse(head.references), length, lookup.order().head(&head)));
        }
    }
    near.sort_unstable();
    near.into_iter().take(MAX_NEAR).map(|(_, _, _, rank)| lookup.info_of(rank.key())).collect()
}

/// Returns the symbols of a file nearest to a line.
fn nearest(lookup: &Lookup<'_>, file: &FileRow, line: u32) -> Result<Vec<SymbolInfo>, QueryError> {
    let symbols = lookup.snapshot.symbols_of(file)?;
    let mut near: Vec<&SymbolRow> =
        symbols.iter().filter(|symbol| symbol.container.is_none()).collect();
    near.sort_by_key(|symbol| symbol.extent.start.line.abs_diff(line));
    near.into_iter().take(MAX_NEAR).map(|symbol| lookup.info(symbol)).collect()
}

/// Results of a query for all meanings of a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meanings<T> {
    /// Results, best meaning first.
    pub answers: Vec<T>,
    /// Further meanings, without a result.
    pub others: Vec<SymbolInfo>,
}

impl<T> Meanings<T> {
    /// True if the name has one meaning.
    pub fn is_one(&self) -> bool {
        self.answers.len() == 1 && self.others.is_empty()
    }

    pub(crate) fn of(
        lookup: &graph::lookup::Lookup<'_>,
        name: &str,
        most: usize,
        answer: impl Fn(&names::Meaning) -> Result<T, QueryError>,
    ) -> Result<Self, QueryError> {
        let meanings = names::meanings(lookup, name)?;
        let (first, rest) = meanings.split_at(meanings.len().min(most));
        Ok(Self {
            answers: first.iter().map(answer).collect::<Result<_, _>>()?,
            others: rest
                .iter()
                .map(|meaning| lookup.info(&meaning.symbol))
                .collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_parsed() {
        assert_eq!(place("a/b.x:12"), Some(("a/b.x", 12)));
        assert_eq!(place("a/b.x:12:3"), Some(("a/b.x", 12)));
        assert_eq!(place("a/b.x::12"), None);
        assert_eq!(place("name"), None);
        assert_eq!(lines("b.x:3-9"), Some(("b.x", 3, 9)));
        assert_eq!(lines("b.x:L3-L9"), Some(("b.x", 3, 9)));
        assert_eq!(segments("a.b::C#d"), ["a", "b", "C", "d"]);
        assert_eq!(normalized(" `call` "), "call");
    }
}
