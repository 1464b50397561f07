//! Sites of one repository whose qualified names outside of it end with one of the wanted names.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use crate::names::{keys_of, segments};
use cograph_model::SiteKind;
use cograph_model::facts::external_callable;
use cograph_store::{FileRow, ImportRow, NameKey, SiteRow, SiteTarget};

/// Wanted ends of qualified names, with those that were read.
pub(super) struct Ends<'q> {
    lookup: &'q Lookup<'q>,
    wanted: &'q [String],
    /// Names by which sites use what ends so.
    keys: Vec<NameKey>,
    /// Names outside; none for one with another end.
    texts: FxHashMap<NameKey, Option<Rc<str>>>,
}

impl<'q> Ends<'q> {
    pub(super) fn new(lookup: &'q Lookup<'q>, wanted: &'q [String]) -> Result<Self, QueryError> {
        let mut keys = Vec::new();
        for name in wanted {
            keys.extend(keys_of(lookup, name)?);
            keys.extend(keys_of(lookup, &format!("{name}!"))?);
        }
        Ok(Self { lookup, wanted, keys, texts: FxHashMap::default() })
    }

    /// Sites of a file with such names, by position.
    pub(super) fn sites_in(
        &mut self,
        file: &FileRow,
        imports: &[ImportRow],
    ) -> Result<Vec<(SiteRow, Rc<str>)>, QueryError> {
        let snapshot = self.lookup.snapshot;
        let mut sites = Vec::new();
        if !self.may_be_renamed(imports) {
            for &key in &self.keys {
                sites.extend(snapshot.sites_outside_named(file, key)?);
            }
            sites.sort_unstable_by_key(|site| site.key);
            // A value may have any name in the file.
            let is_used = |site: &SiteRow| {
                matches!(site.kind, SiteKind::Call | SiteKind::Construct | SiteKind::Decorate)
            };
            if sites.iter().all(is_used) {
                return self.with_texts(sites);
            }
            sites.clear();
        }
        for (key, name) in snapshot.targets_outside(file)? {
            if self.text(name)?.is_some() {
                sites.extend(snapshot.site(key)?);
            }
        }
        self.with_texts(sites)
    }

    /// Names that were found.
    pub(super) fn found(self) -> impl Iterator<Item = Rc<str>> {
        self.texts.into_values().flatten()
    }

    fn with_texts(&mut self, sites: Vec<SiteRow>) -> Result<Vec<(SiteRow, Rc<str>)>, QueryError> {
        let mut found = Vec::with_capacity(sites.len());
        for site in sites {
            let SiteTarget::External(name) = site.target else { continue };
            if let Some(text) = self.text(name)? {
                found.push((site, text));
            }
        }
        Ok(found)
    }

    /// A qualified name, if it has a wanted end. Memoized.
    fn text(&mut self, name: NameKey) -> Result<Option<Rc<str>>, QueryError> {
        if let Some(known) = self.texts.get(&name) {
            return Ok(known.clone());
        }
        let text = self.lookup.name(name)?;
        let text = self.is_wanted(last_part(&text)).then_some(text);
        self.texts.insert(name, text.clone());
        Ok(text)
    }

    /// True if an import may give another name to what has a wanted one.
    fn may_be_renamed(&self, imports: &[ImportRow]) -> bool {
        imports.iter().any(|import| {
            import.item.as_deref().is_some_and(|item| self.is_wanted(item))
                || self.is_wanted(last_part(&import.module))
        })
    }

    fn is_wanted(&self, name: &str) -> bool {
        self.wanted.iter().any(|wanted| wanted == name)
    }
}

/// Last part of a qualified name, without the marks of calls and macros.
pub(super) fn last_part(text: &str) -> &str {
    let last = segments(text).last().copied().unwrap_or(text);
    let last = external_callable(last).unwrap_or(last);
    last.trim_end_matches('!')
}

#[cfg(test)]
mod tests {
    use super::last_part;

    #[test]
    fn the_last_part_of_a_name_has_no_marks() {
        for (text, expected) in [
            ("lib.core.greet", "greet"),
            ("@acme/greet/Greeter.hello", "hello"),
            ("greet_lib.shout!", "shout"),
            ("example.com/acme/greet.New().Hello", "Hello"),
            ("lib/make()", "make"),
            ("greet", "greet"),
        ] {
            assert_eq!(last_part(text), expected);
        }
    }
}
