//! Function values: variables and fields that functions are assigned to, and calls through them.
//!
//! A function is assigned where its name is the value of an assignment or an initialiser (`ops.read
//! = f`, `{ .read = f }`, `{ onClick: f }`): the reference to it follows the write of the variable
//! or field, without a call between the two.

use rustc_hash::FxHashSet;

use super::lookup::Lookup;
use crate::graph::answer::Certainty;
use crate::graph::error::QueryError;
use cograph_model::SiteKind;
use cograph_model::facts::flags;
use cograph_store::{SiteRow, SiteTarget, SymbolKey, SymbolRow};

/// Maximum number of writes of a variable or field. With more, its value is unknown.
const MAX_WRITES: usize = 64;
/// Maximum number of references of a variable or field that are searched for writes. With more, its
/// value is unknown.
const MAX_REFERENCES: u32 = 4096;
/// Maximum distance from a write to its value, in lines and in references.
const MAX_LINES: u32 = 2;
const MAX_STEPS: usize = 4;
/// Sites read on each side of one: the skipped ones, and references out of order of position.
const SITES_AROUND: u32 = 12;

/// Possible functions of a variable or field.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct FunctionValues {
    /// Functions assigned by writes, by key.
    pub(super) functions: Vec<SymbolKey>,
    /// True if other values are possible: a write has another value, or there are too many writes.
    pub(super) is_open: bool,
}

impl FunctionValues {
    /// Certainty of a call of the value calling one of the functions. A single one is no proof: a
    /// value can be initialized without a name, such as by its position in a list.
    pub(crate) fn certainty(&self) -> Certainty {
        if self.functions.len() == 1 && !self.is_open {
            Certainty::Likely
        } else {
            Certainty::Possible
        }
    }
}

/// Returns the variables and fields that any of these functions is assigned to, by key.
pub(crate) fn holders(
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
            if let Some(write) = write_before(&all[..at], &value) {
                holders.extend(lookup.targets(write)?);
            }
        }
    }
    holders.sort_unstable();
    holders.dedup();
    Ok(holders)
}

/// Returns the functions assigned to a variable or field.
pub(super) fn by(lookup: &Lookup<'_>, holder: SymbolKey) -> Result<FunctionValues, QueryError> {
    let open = FunctionValues { functions: Vec::new(), is_open: true };
    let mut writes: Vec<SiteRow> = Vec::new();
    for key in lookup.same_entity(holder)? {
        if lookup.symbol(key)?.references > MAX_REFERENCES {
            return Ok(open);
        }
        lookup.snapshot.visit_sites_to(key, |site| {
            if site.kind == SiteKind::Write {
                writes.push(site);
            }
            writes.len() <= MAX_WRITES
        })?;
    }
    if writes.len() > MAX_WRITES {
        return Ok(open);
    }
    let (mut functions, mut is_open) = (FxHashSet::default(), false);
    for write in writes {
        lookup.check()?;
        let (all, at) = around(lookup, &write)?;
        let after = all[at..].iter().skip(1).take(MAX_STEPS);
        let (mut line, mut has_function) = (None, false);
        for site in after.take_while(|site| matches!(site.kind, SiteKind::Read | SiteKind::Type)) {
            // The value is on one line, which may differ from that of the write.
            if *line.get_or_insert(site.at.line) != site.at.line
                || site.at.line - write.at.line > MAX_LINES
            {
                break;
            }
            for target in lookup.targets(site)? {
                if is_value(&*lookup.symbol(target)?) {
                    functions.insert(target);
                    has_function = true;
                }
            }
        }
        is_open |= !has_function;
    }
    let mut functions: Vec<SymbolKey> = functions.into_iter().collect();
    functions.sort_unstable();
    Ok(FunctionValues { functions, is_open })
}

/// Returns the sites that call the value of a variable or field.
pub(crate) fn calls(lookup: &Lookup<'_>, holder: SymbolKey) -> Result<Vec<SiteRow>, QueryError> {
    let mut calls = Vec::new();
    for key in lookup.same_entity(holder)? {
        lookup.snapshot.visit_sites_to(key, |site| {
            if matches!(site.target, SiteTarget::HeldBy(_)) {
                calls.push(site);
            }
            true
        })?;
    }
    Ok(calls)
}

/// Returns the nearest write before a value, if there is no call between the two.
fn write_before<'s>(before: &'s [SiteRow], value: &SiteRow) -> Option<&'s SiteRow> {
    for site in before.iter().rev().take(MAX_STEPS) {
        match site.kind {
            SiteKind::Write if value.at.line - site.at.line <= MAX_LINES => return Some(site),
            SiteKind::Read | SiteKind::Type if site.at.line == value.at.line => {}
            _ => return None,
        }
    }
    None
}

/// True if reading a symbol yields a function: reading a property calls it.
fn is_value(symbol: &SymbolRow) -> bool {
    symbol.kind.is_callable() && symbol.flags & flags::PROPERTY == 0
}

/// Returns the sites around one, in order of position, and its index among them.
fn around(lookup: &Lookup<'_>, site: &SiteRow) -> Result<(Vec<SiteRow>, usize), QueryError> {
    let mut sites = lookup.snapshot.sites_around(site, SITES_AROUND)?;
    sites.sort_by_key(|site| (site.at, site.key));
    let at = sites.iter().position(|other| other.key == site.key).unwrap_or(sites.len());
    Ok((sites, at))
}
