//! Functions as values: which variables and fields they are put into, and where what these hold is
//! called.
//!
//! A function is put into a variable or field where its name is the value of an assignment or an
//! initialiser (`ops.read = f`, `{ .read = f }`, `{ onClick: f }`): the reference to it follows the
//! write of the variable or field, with nothing that is called between the two.

use rustc_hash::FxHashSet;

use super::lookup::Lookup;
use crate::model::SiteKind;
use crate::model::facts::flags;
use crate::query::{Certainty, QueryError};
use crate::store::{SiteRow, SiteTarget, SymbolKey, SymbolRow};

/// Writes of a variable or field that are looked at. Where there are more, what is held is left
/// open.
const MOST: usize = 64;
/// References of a variable or field that are looked through for writes. Where there are more, what
/// is held is left open.
const MOST_REFERENCES: u32 = 4096;
/// Lines and references from a write to the value that is written.
const LINES: u32 = 2;
const STEPS: usize = 4;
/// Sites that are read on each side of one: those that are stepped over, and references that are
/// not in order of place.
const AROUND: u32 = 12;

/// The functions that a variable or field may hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Held {
    /// Those that writes put there, by key.
    pub(super) functions: Vec<SymbolKey>,
    /// Something else may be there as well: a write has another value, or there are too many writes
    /// to look at.
    pub(super) is_open: bool,
}

impl Held {
    /// How surely a call of the value calls one of the functions. Even a single one is no proof: a
    /// value can be put in place in ways that have no name, such as by its position in a list.
    pub(in crate::query) fn certainty(&self) -> Certainty {
        if self.functions.len() == 1 && !self.is_open {
            Certainty::Likely
        } else {
            Certainty::Possible
        }
    }
}

/// The variables and fields that any of these functions is put into, by key.
pub(super) fn holders(
    lookup: &Lookup<'_>,
    functions: &[SymbolKey],
) -> Result<Vec<SymbolKey>, QueryError> {
    let mut holders = Vec::new();
    for &function in functions {
        if !is_value(&*lookup.symbol(function)?) {
            continue;
        }
        let mut values: Vec<SiteRow> = Vec::new();
        lookup.snapshot.visit_sites_to(function, |site| {
            if site.kind == SiteKind::Read {
                values.push(site);
            }
            true
        })?;
        for value in values {
            lookup.check()?;
            let (all, at) = around(lookup, &value)?;
            if let Some(holder) = written(&all[..at], &value) {
                holders.push(holder);
            }
        }
    }
    holders.sort_unstable();
    holders.dedup();
    Ok(holders)
}

/// The functions that are put into a variable or field.
pub(super) fn by(lookup: &Lookup<'_>, holder: SymbolKey) -> Result<Held, QueryError> {
    let open = Held { functions: Vec::new(), is_open: true };
    let mut writes: Vec<SiteRow> = Vec::new();
    for key in lookup.same_thing(holder)? {
        if lookup.symbol(key)?.references > MOST_REFERENCES {
            return Ok(open);
        }
        lookup.snapshot.visit_sites_to(key, |site| {
            if site.kind == SiteKind::Write {
                writes.push(site);
            }
            writes.len() <= MOST
        })?;
    }
    if writes.len() > MOST {
        return Ok(open);
    }
    let (mut functions, mut is_open) = (FxHashSet::default(), false);
    for write in writes {
        lookup.check()?;
        let (all, at) = around(lookup, &write)?;
        let after = all[at..].iter().skip(1).take(STEPS);
        let (mut line, mut has_function) = (None, false);
        for site in after.take_while(|site| matches!(site.kind, SiteKind::Read | SiteKind::Type)) {
            // The value stands on one line, which may be another one than that of the write.
            if *line.get_or_insert(site.at.line) != site.at.line
                || site.at.line - write.at.line > LINES
            {
                break;
            }
            if let SiteTarget::Symbol(target) = site.target
                && is_value(&*lookup.symbol(target)?)
            {
                functions.insert(target);
                has_function = true;
            }
        }
        is_open |= !has_function;
    }
    let mut functions: Vec<SymbolKey> = functions.into_iter().collect();
    functions.sort_unstable();
    Ok(Held { functions, is_open })
}

/// The sites that call what a variable or field holds.
pub(in crate::query) fn calls(
    lookup: &Lookup<'_>,
    holder: SymbolKey,
) -> Result<Vec<SiteRow>, QueryError> {
    let mut calls = Vec::new();
    for key in lookup.same_thing(holder)? {
        lookup.snapshot.visit_sites_to(key, |site| {
            if matches!(site.target, SiteTarget::HeldBy(_)) {
                calls.push(site);
            }
            true
        })?;
    }
    Ok(calls)
}

/// The variable or field that the nearest of the sites before a value writes, if nothing is called
/// between the two.
fn written(before: &[SiteRow], value: &SiteRow) -> Option<SymbolKey> {
    for site in before.iter().rev().take(STEPS) {
        match (site.kind, site.target) {
            (SiteKind::Write, SiteTarget::Symbol(holder))
                if value.at.line - site.at.line <= LINES =>
            {
                return Some(holder);
            }
            (SiteKind::Read | SiteKind::Type, _) if site.at.line == value.at.line => {}
            _ => return None,
        }
    }
    None
}

/// Whether reading a symbol gives a function: reading a property calls it.
fn is_value(symbol: &SymbolRow) -> bool {
    symbol.kind.is_callable() && symbol.flags & flags::PROPERTY == 0
}

/// The sites around one, in order of place, and its place among them.
fn around(lookup: &Lookup<'_>, site: &SiteRow) -> Result<(Vec<SiteRow>, usize), QueryError> {
    let mut sites = lookup.snapshot.sites_around(site, AROUND)?;
    sites.sort_by_key(|site| (site.at, site.key));
    let at = sites.iter().position(|other| other.key == site.key).unwrap_or(sites.len());
    Ok((sites, at))
}
