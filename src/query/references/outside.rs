//! Uses of what is outside of the repository, by its qualified name: `markupsafe.Markup`,
//! `@vendor/queue/Queue`, or a suffix.

use cograph_model::facts::external_callable;
use rustc_hash::FxHashMap;

use crate::graph::answer::Certainty;
use crate::graph::error::QueryError;
use crate::graph::filter::FileFilter;
use crate::graph::lookup::Lookup;
use crate::names;
use crate::references::answer::{Reference, ReferencesParams};
use crate::references::listing::is_test;
use cograph_model::cancel::CancelToken;
use cograph_model::{SiteKind, Verdict};
use cograph_store::{NameKey, Snapshot};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Uses of an entity outside, or of a member of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutsideEntity {
    /// Qualified name.
    pub name: String,
    /// Number of uses that pass the filters.
    pub total: u64,
    /// Uses, by file and position.
    pub references: Vec<Reference>,
}

/// Uses of what is outside by one name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutsideUses {
    /// Name as requested.
    pub name: String,
    /// Number of uses.
    pub total: u64,
    /// Number of files with uses.
    pub file_count: u64,
    /// Uses by kind, most frequent first.
    pub by_kind: Vec<(SiteKind, u64)>,
    /// Entities of that name first, then their members, by name.
    pub entities: Vec<OutsideEntity>,
}

/// Returns the uses of what is outside by the name of the parameters; none if nothing outside has
/// it.
pub fn outside(
    snapshot: &Snapshot,
    params: &ReferencesParams,
    cancel: &CancelToken,
) -> Result<Option<OutsideUses>, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let wanted = params.symbol.trim().trim_matches('`');
    let chain = names::segments(wanted);
    // A name that is written nowhere has no uses.
    let Some(last) = chain.last() else { return Ok(None) };
    let is_written =
        !names::keys_of(&lookup, last)?.is_empty() || !names::keys_of(&lookup, wanted)?.is_empty();
    if !is_written {
        return Ok(None);
    }
    let filter = FileFilter::new(&lookup, params.path.as_deref(), None)?;
    let mut fits: FxHashMap<NameKey, Option<(usize, Rc<str>)>> = FxHashMap::default();
    let mut found: BTreeMap<(usize, Rc<str>), OutsideEntity> = BTreeMap::new();
    let (mut is_known, mut total, mut file_count) = (false, 0, 0);
    let mut kinds: BTreeMap<SiteKind, u64> = BTreeMap::new();
    let external = Verdict::External as usize;
    for file in snapshot.files()? {
        lookup.check()?;
        if file.verdicts[external] == 0 {
            continue;
        }
        let before = total;
        for (key, name) in snapshot.targets_outside(&file)? {
            if let std::collections::hash_map::Entry::Vacant(entry) = fits.entry(name) {
                let text = lookup.name(name)?;
                entry.insert(members(&text, &chain).map(|members| (members, text)));
            }
            let Some((members, text)) = &fits[&name] else { continue };
            let Some(site) = snapshot.site(key)? else { continue };
            is_known = true;
            let admits = (params.kinds.is_empty() || params.kinds.contains(&site.kind))
                && filter.admits(file.mark())
                && params.tests.admits(is_test(&lookup, &site, &file)?);
            if !admits {
                continue;
            }
            total += 1;
            *kinds.entry(site.kind).or_default() += 1;
            let entity = found.entry((*members, Rc::clone(text))).or_insert_with(|| {
                OutsideEntity { name: text.to_string(), total: 0, references: Vec::new() }
            });
            entity.total += 1;
            if entity.references.len() < params.limit {
                entity.references.push(Reference {
                    site: lookup.site(&site)?,
                    certainty: Certainty::Certain,
                    enclosing: site.enclosing.map(|key| lookup.info_of(key)).transpose()?,
                });
            }
        }
        file_count += u64::from(total > before);
    }
    let mut by_kind: Vec<(SiteKind, u64)> = kinds.into_iter().collect();
    by_kind.sort_by_key(|(kind, count)| (std::cmp::Reverse(*count), *kind));
    let entities = found.into_values().collect();
    let name = wanted.to_owned();
    Ok(is_known.then_some(OutsideUses { name, total, file_count, by_kind, entities }))
}

/// Returns how many segments of a qualified name outside follow the wanted ones; none if it is
/// another name. The wanted ones are its beginning, or they end at most one segment before its end.
pub(super) fn members(text: &str, wanted: &[&str]) -> Option<usize> {
    let own: Vec<&str> = names::segments(text)
        .into_iter()
        .map(|segment| external_callable(segment).unwrap_or(segment))
        .collect();
    let last = own.len().checked_sub(wanted.len())?;
    let at = (0..=last).rev().find(|&at| own[at..].starts_with(wanted))?;
    let members = last - at;
    (at == 0 || members <= 1).then_some(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_outside_are_found_by_a_suffix_or_with_their_members() {
        for (text, wanted, expected) in [
            ("@vendor/queue/Queue", "@vendor/queue/Queue", Some(0)),
            ("@vendor/queue/Queue.push", "@vendor/queue/Queue", Some(1)),
            ("@vendor/queue/Queue.push", "Queue", Some(1)),
            ("react/memo()", "react.memo", Some(0)),
            ("react/memo", "memo", Some(0)),
            ("lib.util.Map.of", "lib.util", Some(2)),
            ("a.util.Map.of", "util", None),
            ("std::vector::push_back", "std::vector", Some(1)),
            ("github.com/x/y.Z", "y.Z", Some(0)),
            ("markupsafe.Markup", "Mark", None),
            ("markupsafe.Markup", "other.Markup", None),
        ] {
            assert_eq!(members(text, &names::segments(wanted)), expected, "{wanted} of {text}");
        }
    }
}
