//! What the place, the name and the bases of a definition say of uses that no reference shows.

use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::references::evidence::{bases_inside, bases_of_block, bases_outside};
use crate::references::unused::entry_points::EntryPoints;
use cograph_grammar::{self as grammar, Language, MemberLookup};
use cograph_model::facts::flags;
use cograph_model::{RelationKind, SiteKind, SymbolKind};
use cograph_store::{SymbolKey, SymbolRow};
use rustc_hash::FxHashSet;

/// Doubts of one question.
pub(super) struct Doubts<'l, 'q> {
    lookup: &'l Lookup<'q>,
    entries: &'l EntryPoints,
    /// Definitions without a known use that were executed.
    executed: FxHashSet<SymbolKey>,
}

impl<'l, 'q> Doubts<'l, 'q> {
    pub(super) fn new(
        lookup: &'l Lookup<'q>,
        entries: &'l EntryPoints,
        executed: FxHashSet<SymbolKey>,
    ) -> Self {
        Self { lookup, entries, executed }
    }

    /// True for a definition without a known use that was executed.
    pub(super) fn is_executed(&self, row: &SymbolRow) -> bool {
        self.executed.contains(&row.key)
    }

    /// The first doubt of a definition; `is_visible` outside of its file, type or package.
    pub(super) fn of(
        &self,
        row: &SymbolRow,
        is_visible: bool,
    ) -> Result<Option<String>, QueryError> {
        let lookup = self.lookup;
        Ok(if let Some(manifest) = self.entries.naming(row, is_visible) {
            Some(format!("entry point: {manifest} names it or its file"))
        } else if self.is_executed(row) {
            Some("it was executed".to_owned())
        } else if runs_code(lookup, row)? {
            Some("its value is what a call returns".to_owned())
        } else if row.name_text.starts_with('[') {
            Some("its name is computed".to_owned())
        } else if is_argument(lookup, row)? {
            Some("it is in the arguments of a macro".to_owned())
        } else if gives_values(lookup, row)? {
            Some("constants behind it have their values by their places".to_owned())
        } else if completes_a_base(lookup, row)? {
            Some("its base may ask for it".to_owned())
        } else if let Some(base) = reading_base(lookup, row)? {
            Some(base)
        } else if let Some(interface) = interface(lookup, row, is_visible)? {
            Some(interface)
        } else if let Some(line) = other_meaning(lookup, row)? {
            Some(format!("its name means another definition at line {line}"))
        } else if has_variants(lookup, row)? {
            Some("it is compiled under a condition, and another of its name".to_owned())
        } else {
            None
        })
    }
}

fn language(lookup: &Lookup<'_>, row: &SymbolRow) -> Result<Option<&'static Language>, QueryError> {
    Ok(grammar::by_name(lookup.language(lookup.place(row.file)?.language)))
}

/// True in the arguments of a macro, which decides what becomes of a definition there: a test of a
/// runner, for instance.
fn is_argument(lookup: &Lookup<'_>, row: &SymbolRow) -> Result<bool, QueryError> {
    let around = lookup.containers(row.container)?;
    let mut all = std::iter::once(row.flags).chain(around.iter().map(|around| around.flags));
    Ok(all.any(|own| own & flags::ARGUMENT != 0))
}

/// True for a constant without a value of its own or with one that its place gives, and for one
/// before that: the value of the one follows from the place and the value of the other.
fn gives_values(lookup: &Lookup<'_>, row: &SymbolRow) -> Result<bool, QueryError> {
    if row.kind != SymbolKind::Constant || row.flags & flags::STATIC != 0 {
        return Ok(false);
    }
    let words = language(lookup, row)?.map(|language| &language.manifest.names.place_values);
    let is_by_place = |row: &SymbolRow| {
        let text = &*row.signature;
        let mut found = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        *text == *row.name_text
            || words.is_some_and(|words| found.any(|found| words.iter().any(|word| word == found)))
    };
    let file = lookup.file(row.file)?;
    let next = lookup.snapshot.symbols_of(&file)?.into_iter().find(|other| {
        other.container == row.container && other.extent.start_byte >= row.extent.end_byte
    });
    // The header of one alone starts with a keyword.
    let is_of_list = |row: &SymbolRow| row.signature.starts_with(&*row.name_text);
    let gives = |next: &SymbolRow| next.kind == SymbolKind::Constant && is_by_place(next);
    Ok(is_by_place(row)
        || is_of_list(row) && next.is_some_and(|next| is_of_list(&next) && gives(&next)))
}

/// Why types may need a method without calls, where they implement interfaces by having methods.
fn interface(
    lookup: &Lookup<'_>,
    row: &SymbolRow,
    is_visible: bool,
) -> Result<Option<String>, QueryError> {
    let (SymbolKind::Method, Some(container)) = (row.kind, row.container) else { return Ok(None) };
    let language = language(lookup, row)?.filter(|one| one.has_structural_interfaces());
    let Some(language) = language else { return Ok(None) };
    if lookup.symbol(container)?.kind == SymbolKind::Interface {
        let members = lookup.snapshot.symbols_in(container)?;
        let is_other = |other: &SymbolRow| other.name != row.name && other.kind.is_callable();
        let name = &lookup.symbol(container)?.name_text;
        return Ok((!members.iter().any(is_other))
            .then(|| format!("it separates the types that implement `{name}` from others")));
    }
    if !is_visible
        && row.flags & flags::EXPORTED != 0
        && language.manifest.resolution.members == MemberLookup::Embedding
    {
        return Ok(Some("an interface of a library may ask for it".to_owned()));
    }
    for other in lookup.snapshot.symbols_named(row.name)? {
        let Some(around) = other.container.filter(|around| *around != container) else { continue };
        let around = lookup.symbol(around)?;
        if around.kind == SymbolKind::Interface && !bases_outside(lookup, around.key)?.is_empty() {
            let name = &around.name_text;
            return Ok(Some(format!(
                "its type may implement `{name}`, whose bases are not all in the repository"
            )));
        }
    }
    Ok(None)
}

/// True for a variable whose initialisation calls something: it may be there for what that does.
fn runs_code(lookup: &Lookup<'_>, row: &SymbolRow) -> Result<bool, QueryError> {
    if !matches!(row.kind, SymbolKind::Constant | SymbolKind::Variable) {
        return Ok(false);
    }
    let sites = lookup.sites_of(row.file)?;
    let is_call = |kind| matches!(kind, SiteKind::Call | SiteKind::Construct);
    Ok(sites
        .iter()
        .any(|site| is_call(site.kind) && row.extent.start <= site.at && site.at < row.extent.end))
}

/// True for a definition under a condition whose name others have: a reference leads to one of them
/// only, and may mean this one in another build.
fn has_variants(lookup: &Lookup<'_>, row: &SymbolRow) -> Result<bool, QueryError> {
    let around = lookup.containers(row.container)?;
    let mut all = std::iter::once(row.flags).chain(around.iter().map(|around| around.flags));
    Ok(all.any(|own| own & flags::CONDITIONAL != 0) && lookup.snapshot.bearers(row.name, 2)? > 1)
}

/// Returns the first line of its file where the name of a definition outside of types means
/// another: an import under a condition may bind it too.
fn other_meaning(lookup: &Lookup<'_>, row: &SymbolRow) -> Result<Option<u32>, QueryError> {
    if let Some(around) = row.container
        && lookup.symbol(around)?.kind.is_type()
    {
        return Ok(None);
    }
    let own = lookup.same_entity(row.key)?;
    for site in lookup.snapshot.sites_named(&*lookup.file(row.file)?, row.name)? {
        if lookup.targets(&site)?.iter().any(|target| !own.contains(target)) {
            return Ok(Some(site.at.line));
        }
    }
    Ok(None)
}

/// True for a constant or type of a block that implements a base, which cannot be without it.
fn completes_a_base(lookup: &Lookup<'_>, row: &SymbolRow) -> Result<bool, QueryError> {
    match row.container.filter(|_| !row.kind.is_callable()) {
        Some(container) => Ok(!bases_of_block(lookup, row, container)?.is_empty()),
        None => Ok(false),
    }
}

/// Why the bases of a class may read it: what is in a class may replace what a base has, and a
/// class itself may be registered by a base that is not in the repository.
fn reading_base(lookup: &Lookup<'_>, row: &SymbolRow) -> Result<Option<String>, QueryError> {
    let class = match (row.kind, row.container) {
        (SymbolKind::Class, _) => row.key,
        (SymbolKind::Constant | SymbolKind::Variable | SymbolKind::Method, Some(class)) => class,
        _ => return Ok(None),
    };
    // What overrides is used with what it overrides.
    let overrides =
        lookup.relations_from(row.key)?.iter().any(|one| one.kind == RelationKind::Overrides);
    if class != row.key && !overrides {
        let bases = bases_inside(lookup, class)?;
        let same = lookup.snapshot.symbols_named(row.name)?;
        let of_base = |base| base != class && bases.contains(&base);
        if same.iter().any(|same| same.container.is_some_and(of_base)) {
            return Ok(Some("a base of its class has it too".to_owned()));
        }
    }
    if row.kind == SymbolKind::Method {
        return Ok(None);
    }
    if class == row.key
        && let Some(hook) = registering_base(lookup, row)?
    {
        return Ok(Some(hook));
    }
    let outside = bases_outside(lookup, class)?;
    Ok(outside
        .first()
        .map(|base| format!("its class derives from {base}, which is not in the repository")))
}

/// Why a base of a class may register it: a member of the base is called for each class that is
/// derived from it.
fn registering_base(lookup: &Lookup<'_>, row: &SymbolRow) -> Result<Option<String>, QueryError> {
    let Some(language) = language(lookup, row)? else { return Ok(None) };
    for base in bases_inside(lookup, row.key)? {
        if base == row.key {
            continue;
        }
        let members = lookup.snapshot.symbols_in(base)?;
        let hook = members.iter().find(|one| language.is_called_for_derived(&one.name_text));
        if let Some(hook) = hook {
            let (name, base) = (&hook.name_text, lookup.symbol(base)?);
            return Ok(Some(format!("`{name}` of {} may register it", base.name_text)));
        }
    }
    Ok(None)
}
