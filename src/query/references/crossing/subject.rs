//! The subjects of a question: the meanings of a name in one repository, with the symbols that
//! a use of each may lead to.

use crate::graph::answer::SymbolInfo;
use crate::graph::content::ReadFile;
use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::names;
use crate::references::crossing::renames::{self, Renamed};
use cograph_grammar::{self as grammar, ImplicitUse};
use cograph_model::cancel::CancelToken;
use cograph_model::facts::flags;
use cograph_model::{RelationKind, SymbolKind};
use cograph_store::{Snapshot, SymbolKey, SymbolRow};

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
    /// Imports by other names, of them or of the types around them.
    pub renamed: Vec<Renamed>,
    /// Files with imports of one of these that were not read: another name in them is not known.
    pub unread: usize,
}

/// Meanings of a name, best first, at most `most`; none if no symbol has it.
pub fn subjects(
    snapshot: &Snapshot,
    files: &dyn ReadFile,
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
    meanings.iter().take(most).map(|meaning| subject(&lookup, files, meaning)).collect()
}

/// True for the member of a type by which code makes an instance, where a language has one.
fn makes_instance(lookup: &Lookup<'_>, row: &SymbolRow) -> Result<bool, QueryError> {
    let file = lookup.file(row.file)?;
    let language = grammar::by_name(lookup.language(file.language));
    let maker = language.and_then(|one| one.manifest.names.member_behind(ImplicitUse::Make));
    Ok(row.kind.is_callable() && maker.is_some_and(|maker| *row.name_text == *maker))
}

fn subject(
    lookup: &Lookup<'_>,
    files: &dyn ReadFile,
    meaning: &names::Meaning,
) -> Result<Subject, QueryError> {
    let mut keys = Vec::new();
    for key in meaning.keys() {
        let row = lookup.symbol(key)?;
        let mut same = lookup.same_entity(key)?;
        if row.kind.is_type() {
            same.extend(lookup.constructors_of(key)?);
        }
        if let Some(container) = row.container
            && (row.kind == SymbolKind::Constructor || makes_instance(lookup, &row)?)
        {
            same.extend(lookup.same_entity(container)?);
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
    let (mut renamed, mut unread) = (Vec::new(), 0);
    for &key in &keys {
        let (own, left) = renames::renamed(lookup, files, key)?;
        unread = left.max(unread);
        named.extend(own.iter().map(|one| one.name.clone()));
        renamed.extend(own);
        let around = lookup.symbol(key)?.container.filter(|around| !keys.contains(around));
        if let Some(around) = around {
            let (around, left) = renames::renamed(lookup, files, around)?;
            unread = left.max(unread);
            renamed.extend(around);
        }
    }
    named.sort_unstable();
    named.dedup();
    Ok(Subject {
        symbol: lookup.info(&meaning.symbol)?,
        keys,
        overridden,
        names: named,
        is_default,
        renamed,
        unread,
    })
}
