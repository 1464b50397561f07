//! The subjects of a question: the meanings of a name in one repository, with the symbols that
//! a use of each may lead to.

use crate::graph::answer::SymbolInfo;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::names;
use cograph_model::cancel::CancelToken;
use cograph_model::facts::flags;
use cograph_model::{RelationKind, SymbolKind};
use cograph_store::{Snapshot, SymbolKey};

/// Maximum number of methods that a method overrides, directly or not.
const MAX_OVERRIDDEN: usize = 200;

/// Meaning of a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subject {
    /// Symbol.
    pub symbol: SymbolInfo,
    /// It, its equivalents and declarations; for a type its constructors, and the reverse.
    pub keys: Vec<SymbolKey>,
    /// Methods that it overrides: a call of one may reach it.
    pub overridden: Vec<SymbolKey>,
    /// Names by which uses elsewhere may call it.
    pub names: Vec<String>,
    /// True if uses elsewhere may have any name for it: it is what a module exports by default.
    pub is_default: bool,
}

/// Meanings of a name, best first, at most `most`; none if no symbol has it.
pub fn subjects(
    snapshot: &Snapshot,
    wanted: &str,
    most: usize,
    cancel: &CancelToken,
) -> Result<Vec<Subject>, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    if !names::may_exist(&lookup, wanted)? {
        return Ok(Vec::new());
    }
    let meanings = match names::meanings(&lookup, wanted) {
        Err(QueryError::NoSuchSymbol { .. }) => return Ok(Vec::new()),
        meanings => meanings?,
    };
    meanings.iter().take(most).map(|meaning| subject(&lookup, meaning)).collect()
}

fn subject(lookup: &Lookup<'_>, meaning: &names::Meaning) -> Result<Subject, QueryError> {
    let mut keys = Vec::new();
    for key in meaning.keys() {
        let row = lookup.symbol(key)?;
        let mut same = lookup.same_entity(key)?;
        if row.kind.is_type() {
            same.extend(lookup.constructors_of(key)?);
        }
        if row.kind == SymbolKind::Constructor {
            same.extend(row.container);
        }
        same.retain(|key| !keys.contains(key));
        keys.extend(same);
    }
    let mut above = keys.clone();
    let mut next = 0;
    while let Some(&key) = above.get(next).filter(|_| above.len() < MAX_OVERRIDDEN) {
        next += 1;
        let relations = lookup.relations_from(key)?;
        let overrides = relations.iter().filter(|one| one.kind == RelationKind::Overrides);
        let new: Vec<SymbolKey> =
            overrides.map(|one| one.to).filter(|to| !above.contains(to)).collect();
        above.extend(new);
    }
    let overridden = above.split_off(keys.len());
    let (mut named, mut is_default) = (Vec::new(), false);
    for &key in &keys {
        let row = lookup.symbol(key)?;
        is_default |= row.flags & flags::DEFAULT_EXPORT != 0;
        let name = row.name_text.to_string();
        if !named.contains(&name) {
            named.push(name);
        }
    }
    Ok(Subject {
        symbol: lookup.info(&meaning.symbol)?,
        keys,
        overridden,
        names: named,
        is_default,
    })
}
