//! Symbols of the two sides of a changed file: which ones the changed lines are in, and what
//! happened to them. Pure.

use rustc_hash::{FxHashMap, FxHashSet};

use super::types::{name_of_type, name_of_value};
use cograph_extract::{self as extract, Body};
use cograph_grammar as grammar;
use cograph_model::change::{
    CallShape, CallShapes, ChangeKind, ChangedSymbol, SymbolSide, UNREAD_BINARY, UNREAD_NO_LANGUAGE,
};
use cograph_model::facts::{ArgumentLabel, Expr, FileFacts, LocalSymbol, flags};
use cograph_model::words::{Term, terms_of};
use cograph_model::{RepoPath, SiteKind, SymbolKind};

/// Share of the words that the texts of a renamed or moved symbol have in common, in hundredths.
const SAME_TEXT: usize = 60;
/// Maximum number of pairs of removed and added symbols that are compared.
const MAX_PAIRS: usize = 20_000;
/// Maximum nesting of symbols.
const MAX_NESTING: usize = 100;

/// Side of a changed file with what comparing it needs.
#[derive(Debug, Default)]
pub(super) struct FileSide {
    pub(super) symbols: Vec<SideSymbol>,
    lines: Vec<std::ops::Range<usize>>,
}

/// Symbol with its text.
#[derive(Clone, Debug)]
pub(super) struct SideSymbol {
    pub(super) side: SymbolSide,
    /// Path of its file after the change.
    home: RepoPath,
    terms: FxHashSet<Term>,
}

/// Why the symbols of a text are not known.
pub(super) type Unread = &'static str;

pub(super) fn facts_of(path: &RepoPath, text: &[u8]) -> Result<(FileFacts, Vec<Body>), Unread> {
    if memchr::memchr(0, text).is_some() {
        return Err(UNREAD_BINARY);
    }
    let Some(language) = grammar::detect(path, text, &[]) else {
        return Err(UNREAD_NO_LANGUAGE);
    };
    if grammar::most_bytes(language).is_some_and(|most| text.len() as u64 > most) {
        return Err("too large");
    }
    extract::extract_with_bodies(language, path.as_str(), text, extract::Limits::quick())
        .map_err(|_| "too costly to parse")
}

impl FileSide {
    /// Extracts the symbols of a text. Needs a thread with the stack that extraction needs.
    pub(super) fn of(path: &RepoPath, text: &[u8]) -> Result<Self, Unread> {
        let (facts, bodies) = facts_of(path, text)?;
        Ok(Self::of_facts(path, text, &facts, &bodies))
    }

    /// The symbols of a text that was extracted.
    pub(super) fn of_facts(
        path: &RepoPath,
        text: &[u8],
        facts: &FileFacts,
        bodies: &[Body],
    ) -> Self {
        let mut executed = executed(facts, bodies);
        let whole = (String::new(), extract::fingerprint(text));
        let mut symbols = Vec::new();
        for (position, (symbol, details)) in facts.symbols.iter().zip(&facts.details).enumerate() {
            if symbol.flags & flags::LOCAL != 0 && symbol.kind != SymbolKind::Test {
                continue;
            }
            let name = name_of(facts, LocalSymbol::at(position));
            if name.is_empty() {
                continue;
            }
            let bytes = symbol.start_byte as usize..symbol.end_byte as usize;
            let own = text.get(bytes).unwrap_or_default();
            let receiver = usize::from(symbol.flags & flags::HAS_SELF != 0);
            let (parameters, types): (Vec<String>, Vec<String>) =
                (facts.bindings[symbol.params().range()].iter())
                    .filter_map(|binding| Some((binding.name.get()?, binding.ty())))
                    .map(|(name, ty)| (facts.names[name].to_string(), name_of_type(facts, ty)))
                    .unzip();
            // Receivers are among the parameters where the language writes them there.
            let written = parameters.len().saturating_sub(usize::from(symbol.arity.1).min(999));
            let skipped = if symbol.arity.1 == u16::MAX { 0 } else { receiver.min(written) };
            let side = SymbolSide {
                path: path.clone(),
                name: name.to_owned(),
                container: container_of(facts, LocalSymbol::at(position)),
                kind: symbol.kind,
                visibility: symbol.visibility,
                is_exported: symbol.flags & flags::EXPORTED != 0,
                name_at: details.name_at,
                lines: (details.start.line, details.end.line),
                signature: details.signature.to_string(),
                arity: symbol.arity,
                parameters: parameters.into_iter().skip(skipped).collect(),
                types: types.into_iter().skip(skipped).collect(),
                takes_any_name: symbol.arity.1 == u16::MAX,
                bodies: executed
                    .remove(&position)
                    .into_iter()
                    .flatten()
                    .chain([whole.clone()])
                    .collect(),
            };
            let terms = terms_of(own).into_iter().collect();
            symbols.push(SideSymbol { side, home: path.clone(), terms });
        }
        let mut start = 0;
        let ends = memchr::memchr_iter(b'\n', text).chain([text.len()]);
        let lines = ends.map(|end| std::mem::replace(&mut start, end + 1)..end).collect();
        Self { symbols, lines }
    }

    /// Symbols whose texts are not known.
    pub(super) fn without_text(sides: Vec<SymbolSide>) -> Self {
        let symbols = sides.into_iter().map(|side| {
            let home = side.path.clone();
            SideSymbol { side, home, terms: FxHashSet::default() }
        });
        Self { symbols: symbols.collect(), lines: Vec::new() }
    }

    /// Positions of the innermost symbols around lines, and the first line outside of all, with
    /// text on it.
    pub(super) fn around(&self, lines: &[u32], text: &[u8]) -> (FxHashSet<usize>, Option<u32>) {
        let (mut found, mut outside) = (FxHashSet::default(), None);
        for &line in lines {
            let around = (self.symbols.iter().enumerate())
                .filter(|(_, symbol)| symbol.side.lines.0 <= line && line <= symbol.side.lines.1)
                .min_by_key(|(_, symbol)| symbol.side.lines.1 - symbol.side.lines.0);
            match around {
                Some((position, _)) => drop(found.insert(position)),
                None if self.has_text(line, text) => outside = outside.or(Some(line)),
                None => {}
            }
        }
        (found, outside)
    }

    fn has_text(&self, line: u32, text: &[u8]) -> bool {
        !self.line(line, text).trim_ascii().is_empty()
    }

    fn line<'t>(&self, line: u32, text: &'t [u8]) -> &'t [u8] {
        let bytes = (line as usize).checked_sub(1).and_then(|at| self.lines.get(at));
        bytes.and_then(|bytes| text.get(bytes.clone())).unwrap_or_default()
    }

    /// Terms of the line that heads one outside of all symbols: the last one before it that starts
    /// with a word in the first column, as in the headings of hunks.
    pub(super) fn heading_terms(&self, outside: Option<u32>, text: &[u8]) -> Vec<Term> {
        let is_heading = |line: &&[u8]| {
            line.first().is_some_and(|&byte| byte.is_ascii_alphabetic() || b"_$".contains(&byte))
        };
        let last = outside.unwrap_or_default();
        let heading = (1..=last).rev().map(|line| self.line(line, text)).find(is_heading);
        heading.map(terms_of).unwrap_or_default()
    }
}

/// Bodies by the innermost symbol around them that is not local.
fn executed(facts: &FileFacts, bodies: &[Body]) -> FxHashMap<usize, Vec<(String, u64)>> {
    let mut found: FxHashMap<usize, Vec<(String, u64)>> = FxHashMap::default();
    for body in bodies {
        let mut next = Some(body.symbol);
        for _ in 0..MAX_NESTING {
            let Some(position) = next else { break };
            let symbol = &facts.symbols[position];
            if symbol.flags & flags::LOCAL == 0 || symbol.kind == SymbolKind::Test {
                found.entry(position).or_default().push((body.name.clone(), body.fingerprint));
                break;
            }
            next = symbol.container.get();
        }
    }
    found
}

fn name_of(facts: &FileFacts, symbol: LocalSymbol) -> &str {
    let name = symbol.get().and_then(|position| facts.symbols[position].name.get());
    name.map_or("", |name| &*facts.names[name])
}

fn container_of(facts: &FileFacts, symbol: LocalSymbol) -> String {
    let mut names = Vec::new();
    let mut next = symbol.get().map(|position| facts.symbols[position].container);
    while let Some(position) = next.and_then(LocalSymbol::get) {
        if names.len() == MAX_NESTING {
            break;
        }
        names.push(name_of(facts, LocalSymbol::at(position)));
        next = Some(facts.symbols[position].container);
    }
    names.reverse();
    names.join(".")
}

/// Compares the sides of one file. `old_touched` and `new_touched` are the positions of symbols
/// with changed lines.
pub(super) fn compared(
    old: &FileSide,
    new: &FileSide,
    old_touched: &FxHashSet<usize>,
    new_touched: &FxHashSet<usize>,
) -> (Vec<ChangedSymbol>, Vec<SideSymbol>, Vec<SideSymbol>) {
    let (old_keys, new_keys) = (keys(old), keys(new));
    let by_key: FxHashMap<&Key<'_>, usize> =
        new_keys.iter().enumerate().map(|(at, key)| (key, at)).collect();
    let (mut changed, mut removed, mut is_paired) =
        (Vec::new(), Vec::new(), vec![false; new.symbols.len()]);
    for (at, key) in old_keys.iter().enumerate() {
        let Some(&other) = by_key.get(key) else {
            let mut symbol = old.symbols[at].clone();
            if let Some(new) = new.symbols.first() {
                symbol.home.clone_from(&new.side.path);
            }
            removed.push(symbol);
            continue;
        };
        is_paired[other] = true;
        let (before, after) = (&old.symbols[at].side, &new.symbols[other].side);
        // What a header means may change on another line: a label, a list of exports.
        let kind = match is_same_header(before, after) {
            false => ChangeKind::Signature,
            true if old_touched.contains(&at) || new_touched.contains(&other) => ChangeKind::Body,
            true => continue,
        };
        changed.push(ChangedSymbol { kind, old: Some(before.clone()), new: Some(after.clone()) });
    }
    let added = (0..new.symbols.len()).filter(|&at| !is_paired[at]);
    (changed, removed, added.map(|at| new.symbols[at].clone()).collect())
}

/// Identity of a symbol within its file.
type Key<'s> = (&'s str, &'s str, bool, u32);

fn keys(side: &FileSide) -> Vec<Key<'_>> {
    let mut seen: FxHashMap<(&str, &str, bool), u32> = FxHashMap::default();
    let key = |symbol: &'_ SideSymbol| symbol.side.kind.is_type();
    side.symbols
        .iter()
        .map(|symbol| {
            let (container, name) = (symbol.side.container.as_str(), symbol.side.name.as_str());
            let count = seen.entry((container, name, key(symbol))).or_default();
            *count += 1;
            (container, name, key(symbol), *count)
        })
        .collect()
}

/// True if nothing that a use depends on differs: parameters, types, bases, visibility. The value
/// of a variable or field is no part of its header.
fn is_same_header(old: &SymbolSide, new: &SymbolSide) -> bool {
    fn header(side: &SymbolSide) -> &str {
        let is_value =
            matches!(side.kind, SymbolKind::Variable | SymbolKind::Field | SymbolKind::Constant);
        match side.signature.split_once('=') {
            Some((header, _)) if is_value => header.trim_end(),
            _ => &side.signature,
        }
    }
    old.kind == new.kind
        && old.visibility == new.visibility
        && old.is_exported == new.is_exported
        && old.arity == new.arity
        && header(old) == header(new)
}

/// Pairs symbols that are gone with new ones: renamed within a symbol or file, or moved to another.
/// The rest is removed and added.
pub(super) fn paired(removed: Vec<SideSymbol>, added: Vec<SideSymbol>) -> Vec<ChangedSymbol> {
    let mut pairs = Vec::new();
    if removed.len().saturating_mul(added.len()) <= MAX_PAIRS {
        for (at, old) in removed.iter().enumerate() {
            for (other, new) in added.iter().enumerate() {
                if let Some(alike) = likeness(old, new) {
                    pairs.push((std::cmp::Reverse(alike), at, other));
                }
            }
        }
    }
    pairs.sort_unstable();
    let (mut is_gone, mut is_new) = (vec![true; removed.len()], vec![true; added.len()]);
    let mut changed = Vec::new();
    for (_, at, other) in pairs {
        if !is_gone[at] || !is_new[other] {
            continue;
        }
        (is_gone[at], is_new[other]) = (false, false);
        let (old, new) = (&removed[at].side, &added[other].side);
        let kind = if old.name == new.name { ChangeKind::Moved } else { ChangeKind::Renamed };
        changed.push(ChangedSymbol { kind, old: Some(old.clone()), new: Some(new.clone()) });
    }
    let gone = removed.into_iter().zip(is_gone).filter(|(_, is_gone)| *is_gone);
    changed.extend(gone.map(|(symbol, _)| ChangedSymbol {
        kind: ChangeKind::Removed,
        old: Some(symbol.side),
        new: None,
    }));
    let new = added.into_iter().zip(is_new).filter(|(_, is_new)| *is_new);
    changed.extend(new.map(|(symbol, _)| ChangedSymbol {
        kind: ChangeKind::Added,
        old: None,
        new: Some(symbol.side),
    }));
    changed
}

/// How much two symbols resemble each other, if enough for one to be the other.
fn likeness(old: &SideSymbol, new: &SideSymbol) -> Option<(usize, bool)> {
    let (before, after) = (&old.side, &new.side);
    let is_kin = before.kind == after.kind
        || before.kind.is_callable() && after.kind.is_callable()
        || before.kind.is_type() && after.kind.is_type();
    let is_near = before.container == after.container && old.home == new.home;
    if !is_kin || before.name != after.name && !is_near {
        return None;
    }
    let shared = old.terms.intersection(&new.terms).count();
    let all = old.terms.len() + new.terms.len() - shared;
    let alike = (shared * 100).checked_div(all)?;
    // A short symbol is little more than its name.
    let own_name = usize::from(before.name != after.name) * 2;
    let corrected = (shared * 100).checked_div(all.saturating_sub(own_name).max(1))?.min(100);
    (corrected.max(alike) >= SAME_TEXT).then_some((corrected.max(alike), is_near))
}

/// Calls of a text with their arguments.
pub(super) fn calls(path: &RepoPath, text: &[u8]) -> Result<CallShapes, Unread> {
    let (facts, _) = facts_of(path, text)?;
    Ok(calls_of(&facts, text))
}

/// Calls of a text that was extracted.
pub(super) fn calls_of(facts: &FileFacts, text: &[u8]) -> CallShapes {
    let mut shapes = CallShapes::new();
    for site in facts.sites.list().iter() {
        if !matches!(site.kind, SiteKind::Call | SiteKind::Construct | SiteKind::Decorate) {
            continue;
        }
        let mut shape = CallShape { is_open: site.spread || site.in_macro, ..CallShape::default() };
        let mut named = Vec::new();
        for &argument in &facts.lists[site.args.range()] {
            let ty = name_of_value(facts, text, argument);
            match argument.get().map(|at| facts.exprs[at]) {
                Some(Expr::Argument(_, ArgumentLabel::Name(name))) => {
                    let name = name.get().map_or("", |name| &*facts.names[name]);
                    shape.named.push(name.to_owned());
                    named.push(ty);
                }
                Some(Expr::Argument(_, ArgumentLabel::Last | ArgumentLabel::Spread)) => {
                    shape.is_open = true;
                }
                _ => {
                    shape.positional += 1;
                    shape.types.push(ty);
                }
            }
        }
        shape.types.append(&mut named);
        // The tokens of a macro are not parsed as arguments: their text is counted.
        if site.in_macro && shape.named.is_empty() {
            let name = site.name.get().map_or(0, |name| facts.names[name].len());
            if let Some(count) = counted(text.get(site.byte as usize + name..).unwrap_or_default())
            {
                (shape.positional, shape.is_open) = (count, false);
            }
        }
        shapes.insert(site.at, shape);
    }
    shapes
}

/// Number of arguments in parentheses at the beginning of a text; none if it does not begin with
/// them, or ends within them.
fn counted(text: &[u8]) -> Option<u16> {
    let inner = text.strip_prefix(b"(")?;
    let (mut depth, mut commas, mut is_empty, mut after_comma) = (0_u32, 0_u16, true, false);
    let mut rest = inner.iter().copied();
    while let Some(byte) = rest.next() {
        match byte {
            b')' if depth == 0 => {
                return Some(if is_empty { 0 } else { commas + u16::from(!after_comma) });
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b'"' => {
                // To the end of the text, over what is escaped.
                while let Some(inner) = rest.next().filter(|&byte| byte != b'"') {
                    if inner == b'\\' {
                        rest.next();
                    }
                }
            }
            b',' if depth == 0 => {
                commas = commas.checked_add(1)?;
                after_comma = true;
                continue;
            }
            byte if byte.is_ascii_whitespace() => continue,
            _ => {}
        }
        (is_empty, after_comma) = (false, false);
    }
    None
}

/// Stack of the thread that extracts symbols.
pub(crate) const STACK: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn arguments_in_the_tokens_of_a_macro_are_counted() {
        for (text, count) in [
            ("()", Some(0)),
            ("( a )", Some(1)),
            ("(a, f(b, c), \"x, \\\", y)\")", Some(3)),
            ("(a,\n b,\n)", Some(2)),
            (" (a)", None),
            ("(a, (b)", None),
            ("", None),
        ] {
            assert_eq!(counted(text.as_bytes()), count, "{text}");
        }
    }
}
