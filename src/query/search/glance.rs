//! `glance`: what is known of names that were searched for as text: definitions and numbers of
//! uses, within a bounded number of rows. Unknown names are compared without case and separators.

use crate::graph::answer::{Certainty, SymbolInfo, Tests};
use crate::graph::calls::{CallGraph, Unresolved};
use crate::graph::error::QueryError;
use crate::graph::function_values;
use crate::graph::lookup::Lookup;
use crate::names::{self, text};
use cograph_model::cancel::CancelToken;
use cograph_model::{SiteKind, SymbolKind, Verdict};
use cograph_store::{FileKey, NameEntry, NameKey, NameParts, Snapshot, SymbolKey, SymbolRow};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Maximum number of symbols of one name that are read.
const MAX_SYMBOLS: usize = 24;

/// Maximum number of symbols of an ordinary word: what has many is no search for one of them.
const MAX_PLAIN: usize = 3;

/// Maximum number of references that are read for the numbers of callers, of all names together.
const MAX_READ: u64 = 200;

/// Maximum number of blocks of names that are compared with an unknown one.
const MAX_BLOCKS: usize = 200;

/// Minimum length of an unknown name that is compared with others.
const MIN_COMPARED: usize = 5;

/// Name to look up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GlanceName {
    /// Name, perhaps with qualifiers, joined by dots.
    pub text: String,
    /// True for an ordinary word: found only if it names few functions or types.
    pub is_plain: bool,
    /// True if case is ignored.
    pub ignores_case: bool,
}

/// Parameters of `glance`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GlanceParams {
    /// Names.
    pub names: Vec<GlanceName>,
    /// Maximum number of names that are found.
    pub limit: usize,
    /// True if a name without symbols represents one that is equal without case and separators.
    pub forgives: bool,
}

/// Known name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Glance {
    /// Name as it was given.
    pub asked: String,
    /// Name as the code has it.
    pub name: String,
    /// First symbol of the name: code before tests, most used first.
    pub first: SymbolInfo,
    /// Number of symbols of the name, at most `MAX_SYMBOLS`.
    pub symbols: usize,
    /// True if there are more.
    pub has_more: bool,
    /// Uses of all of them, unless there are too many to read.
    pub uses: Option<GlanceUses>,
    /// Number of certain and likely references to all of them, if they were all read.
    pub references: u64,
}

/// Numbers of uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GlanceUses {
    /// True if callers are counted, otherwise references.
    pub are_callers: bool,
    /// Certain ones.
    pub certain: usize,
    /// Those that a heuristic chose.
    pub likely: usize,
    /// Number of files with any of these.
    pub files: usize,
    /// Possible ones.
    pub possible: usize,
}

/// Looks names up, in order.
pub fn glance(
    snapshot: &Snapshot,
    params: &GlanceParams,
    cancel: &CancelToken,
) -> Result<Vec<Glance>, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let (mut found, mut left): (Vec<Glance>, u64) = (Vec::new(), MAX_READ);
    for name in &params.names {
        if found.len() >= params.limit {
            break;
        }
        let mut known = known(&lookup, &name.text, name, left)?;
        if known.is_none() && params.forgives && !name.is_plain {
            let near = alike(&lookup, &name.text)?;
            for other in near {
                known = known.or(self::known(&lookup, &other, name, left)?);
            }
        }
        let read = known.as_ref().filter(|known| known.uses.is_some());
        left = left.saturating_sub(read.map_or(0, |known| known.references));
        found.extend(known.filter(|known| found.iter().all(|other| other.name != known.name)));
    }
    Ok(found)
}

/// Looks one name up.
fn known(
    lookup: &Lookup<'_>,
    text: &str,
    name: &GlanceName,
    left: u64,
) -> Result<Option<Glance>, QueryError> {
    let (mut rows, has_more) = rows(lookup, text, name.ignores_case)?;
    let is_code = |row: &SymbolRow| -> Result<bool, QueryError> {
        let language = lookup.place(row.file)?.language;
        Ok(row.kind != SymbolKind::Test && !lookup.has_data(language))
    };
    let mut admitted = Vec::with_capacity(rows.len());
    for row in &rows {
        admitted.push(is_code(row)?);
    }
    let mut admitted = admitted.into_iter();
    rows.retain(|_| admitted.next() == Some(true));
    names::prefer_definitions(lookup, &mut rows)?;
    let is_main = |row: &Rc<SymbolRow>| row.kind.is_type() || row.kind.is_callable();
    if name.is_plain && (has_more || rows.len() > MAX_PLAIN || !rows.iter().any(is_main)) {
        return Ok(None);
    }
    let mut infos =
        rows.iter().map(|row| lookup.info(row)).collect::<Result<Vec<SymbolInfo>, _>>()?;
    infos.sort_by_cached_key(names::order_of_choices);
    let symbols = infos.len();
    let Some(first) = infos.into_iter().next() else { return Ok(None) };
    let references: u64 = rows.iter().map(|row| u64::from(row.references)).sum();
    let is_readable = !has_more && references <= left && !is_widely_held(lookup, &rows)?;
    let uses = if is_readable { Some(uses(lookup, &rows, first.kind)?) } else { None };
    let own = if text.contains('.') { first.qualified_name() } else { first.name.clone() };
    let asked = name.text.clone();
    Ok(Some(Glance { asked, name: own, first, symbols, has_more, uses, references }))
}

/// Returns the symbols of a name, up to a limit, and whether there are more. Of a qualified name
/// whose qualifiers are not known, those of its last part.
fn rows(
    lookup: &Lookup<'_>,
    text: &str,
    ignores_case: bool,
) -> Result<(Vec<Rc<SymbolRow>>, bool), QueryError> {
    let last = text.rsplit('.').next().unwrap_or(text);
    let keys: Vec<NameKey> = match ignores_case {
        true => {
            let named = lookup.snapshot.names_ignoring_case(last)?;
            named.into_iter().map(|(key, _)| key).collect()
        }
        false => names::keys_of(lookup, last)?,
    };
    let mut count = 0;
    for &key in &keys {
        count += lookup.snapshot.bearers(key, MAX_SYMBOLS + 1)?;
    }
    if last.len() < text.len() && count <= MAX_SYMBOLS {
        let found = names::all(lookup, text)?;
        if !found.is_empty() {
            return Ok((found, false));
        }
    }
    let mut found = Vec::new();
    for key in keys {
        lookup.snapshot.visit_symbol_heads(key, |head| {
            found.push(head.key);
            found.len() < MAX_SYMBOLS
        })?;
    }
    found.truncate(MAX_SYMBOLS);
    let rows = found.into_iter().map(|key| lookup.symbol(key)).collect::<Result<_, _>>()?;
    Ok((rows, count > MAX_SYMBOLS))
}

/// True if a function is the value of variables or fields with many references, any of which may
/// call it.
fn is_widely_held(lookup: &Lookup<'_>, rows: &[Rc<SymbolRow>]) -> Result<bool, QueryError> {
    let keys: Vec<SymbolKey> = rows.iter().map(|row| row.key).collect();
    for holder in function_values::holders(lookup, &keys)? {
        if u64::from(lookup.symbol(holder)?.references) > MAX_READ {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Counts callers of functions, and references to anything else.
fn uses(
    lookup: &Lookup<'_>,
    rows: &[Rc<SymbolRow>],
    kind: SymbolKind,
) -> Result<GlanceUses, QueryError> {
    let keys: Vec<_> = rows.iter().map(|row| row.key).collect();
    let mut files: FxHashSet<FileKey> = FxHashSet::default();
    let mut uses = GlanceUses { are_callers: kind.is_callable(), ..GlanceUses::default() };
    if !uses.are_callers {
        for &key in &keys {
            lookup.snapshot.visit_sites_to(key, |site| {
                match site.verdict {
                    Verdict::Likely => uses.likely += 1,
                    _ => uses.certain += 1,
                }
                files.insert(site.file);
                true
            })?;
            uses.possible += lookup.snapshot.sites_possibly_to(key)?.len();
        }
        uses.files = files.len();
        return Ok(uses);
    }
    let kinds = [SiteKind::Call, SiteKind::Construct, SiteKind::Decorate];
    let graph = CallGraph::new(lookup, &kinds, true, Certainty::Likely, Tests::Include);
    let callers = graph.callers_of(&keys, Unresolved::Ignored)?;
    for edge in &callers.edges {
        match edge.certainty {
            Certainty::Certain => uses.certain += 1,
            _ => uses.likely += 1,
        }
        files.extend(edge.sites.iter().map(|site| site.file));
    }
    uses.files = files.len();
    uses.possible = usize::try_from(callers.counts.possible).unwrap_or(usize::MAX);
    Ok(uses)
}

/// Returns the names that are equal to one without case and separators, in order.
fn alike(lookup: &Lookup<'_>, text: &str) -> Result<Vec<String>, QueryError> {
    let last = text.rsplit('.').next().unwrap_or(text);
    let bare = folded(last);
    if bare.len() < MIN_COMPARED || !bare.is_ascii() {
        return Ok(Vec::new());
    }
    // The words of the name; of one without any, its beginning and its end, which separators
    // seldom divide.
    let words: Vec<String> = text::words(last).into_iter().filter(|word| word.len() > 2).collect();
    let parts = match words.as_slice() {
        [] | [_] => NameParts::none().or_all_of([&bare[..3], &bare[bare.len() - 3..]]),
        several => NameParts::none().or_all_of(several.iter().map(String::as_str)),
    };
    let mut found = Vec::new();
    let mut take = |name: &NameEntry<'_>| {
        if folded(name.text) == bare && name.text != last {
            found.push(name.text.to_owned());
        }
        lookup.check().is_ok()
    };
    let mut walk = lookup.snapshot.walk_names(MAX_BLOCKS)?;
    let runs = walk.runs_with(&parts)?;
    walk.visit(&parts, &runs, |_| false, &mut take)?;
    walk.visit_later(&mut take)?;
    lookup.check()?;
    // Names with a meaning of their own often differ by leading underscores.
    let leading = |name: &String| name.len() - name.trim_start_matches('_').len();
    found.sort_unstable_by(|one, other| (leading(one), one).cmp(&(leading(other), other)));
    found.dedup();
    Ok(found)
}

/// A name in lower case without separators.
fn folded(name: &str) -> String {
    let letters = name.chars().filter(|letter| !matches!(letter, '_' | '-' | '$'));
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folded_without_case_and_separators() {
        for name in ["parse_config", "parseConfig", "ParseConfig", "PARSE_CONFIG", "parse-config"] {
            assert_eq!(folded(name), "parseconfig");
        }
    }
}
