//! Uses of what is outside of a repository, by the last part of its qualified name.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::answer::{SiteInfo, SymbolInfo, Tests};
use crate::graph::error::QueryError;
use crate::graph::filter::FileFilter;
use crate::graph::having::having;
use crate::graph::lookup::Lookup;
use crate::names::segments;
use crate::references::crossing::ends::{Ends, last_part};
use crate::references::crossing::headers;
use crate::references::outside::members;
use cograph_grammar as grammar;
use cograph_model::cancel::CancelToken;
use cograph_model::facts::{external_callable, is_held_part};
use cograph_model::{SiteKind, SymbolKind, words};
use cograph_store::{FileKey, ImportRow, SiteRow, Snapshot};

/// Uses to take.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UseFilter {
    /// Kinds of sites; empty for all.
    pub kinds: Vec<SiteKind>,
    /// Path prefix or glob of the files.
    pub path: Option<String>,
    /// Treatment of test code.
    pub tests: Tests,
}

/// Qualified name outside of the repository, as code of one language writes it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct OutsideName {
    /// Qualified name.
    pub text: String,
    /// Language.
    pub language: String,
    /// Modules of which its file takes every name, where the name has none of them, or headers
    /// outside that it includes; sorted.
    pub opened: Vec<String>,
    /// Namespaces around its uses, innermost first, and those that its file opens, in languages
    /// whose files share namespaces.
    pub around: Vec<String>,
}

/// Site that uses such a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UseSite {
    /// Site.
    pub site: SiteInfo,
    /// Symbol around it; none at the top level of a file.
    pub enclosing: Option<SymbolInfo>,
}

/// Names outside of a repository with their sites, by name, each by file and position.
pub struct OutsideNames {
    names: BTreeMap<OutsideName, Vec<SiteRow>>,
    /// Qualified names whose last part is wanted, whatever the filter takes.
    written: Vec<String>,
}

/// Rows of the repository whose names were found, for their sites.
pub struct UseLookup<'q>(Lookup<'q>);

impl OutsideNames {
    /// Finds the names whose last part is one of `wanted`.
    pub fn ending_with(
        snapshot: &Snapshot,
        wanted: &[String],
        filter: &UseFilter,
        cancel: &CancelToken,
    ) -> Result<Self, QueryError> {
        let lookup = Lookup::new(snapshot, cancel)?;
        let admitted = FileFilter::new(&lookup, filter.path.as_deref(), None)?;
        let mut names: BTreeMap<OutsideName, Vec<SiteRow>> = BTreeMap::new();
        let mut ends = Ends::new(&lookup, wanted)?;
        for file in files_with(&lookup, wanted)? {
            lookup.check()?;
            let file = lookup.file(file)?;
            if !admitted.admits(file.mark()) {
                continue;
            }
            let declares = grammar::by_name(lookup.language(file.language))
                .is_some_and(|language| language.manifest.modules.declares_packages());
            let imports = snapshot.imports_of(file.key)?;
            let sites = ends.sites_in(&file, &imports)?;
            let imported = if file.package.is_some() || declares { imports } else { Vec::new() };
            let mut included: Option<Vec<String>> = None;
            for (site, text) in sites {
                if !(filter.kinds.is_empty() || filter.kinds.contains(&site.kind)) {
                    continue;
                }
                let is_test = match site.enclosing {
                    Some(enclosing) => lookup.is_test(&*lookup.symbol(enclosing)?)?,
                    None => file.test,
                };
                if !filter.tests.admits(is_test) {
                    continue;
                }
                let language = lookup.language(file.language).to_owned();
                let mut around = match shares_namespaces(&language) {
                    true => namespaces_around(&lookup, &site)?,
                    false => Vec::new(),
                };
                let opened = match has_headers(&language) {
                    true => {
                        let found = match included.take() {
                            Some(known) => known,
                            None => headers::outside(&lookup, file.key)?,
                        };
                        let opened = found.clone();
                        included = Some(found);
                        around.extend(opened.iter().filter(|one| is_namespace(one)).cloned());
                        opened
                    }
                    false => opened(&text, &imported),
                };
                let name = OutsideName { text: text.to_string(), language, opened, around };
                names.entry(name).or_default().push(site);
            }
        }
        for sites in names.values_mut() {
            sites.sort_by_key(|site| lookup.order().site(site));
        }
        let written = ends.found().map(|text| text.to_string()).collect();
        Ok(Self { names, written })
    }

    /// Lookup for the sites of the names in the snapshot that they are of.
    pub fn lookup<'q>(
        &self,
        snapshot: &'q Snapshot,
        cancel: &'q CancelToken,
    ) -> Result<UseLookup<'q>, QueryError> {
        Ok(UseLookup(Lookup::new(snapshot, cancel)?))
    }

    /// True if a name outside is the given one, or that of a member of it.
    pub fn have(&self, name: &str) -> bool {
        let wanted = segments(name.trim().trim_matches('`'));
        self.written.iter().any(|text| members(text, &wanted).is_some())
    }

    /// Names with the numbers of their sites.
    pub fn names(&self) -> impl Iterator<Item = (&OutsideName, usize)> {
        self.names.iter().map(|(name, sites)| (name, sites.len()))
    }

    /// The first sites of a name.
    pub fn sites(
        &self,
        UseLookup(lookup): &UseLookup<'_>,
        name: &OutsideName,
        most: usize,
    ) -> Result<Vec<UseSite>, QueryError> {
        let sites = self.names.get(name).map_or(&[][..], Vec::as_slice);
        let one = |site: &SiteRow| {
            Ok(UseSite {
                site: lookup.site(site)?,
                enclosing: site.enclosing.map(|key| lookup.info_of(key)).transpose()?,
            })
        };
        sites.iter().take(most).map(one).collect()
    }
}

/// True for a language whose files include headers.
pub(super) fn has_headers(language: &str) -> bool {
    grammar::by_name(language).is_some_and(|language| {
        let manifest = &language.manifest;
        manifest.modules.pastes_files() && !manifest.resolution.open_types
    })
}

/// True for a language whose files may open the namespaces of others.
fn shares_namespaces(language: &str) -> bool {
    grammar::by_name(language).is_some_and(|language| language.manifest.modules.pastes_files())
}

/// True for what is no path of a header with an ending.
fn is_namespace(opened: &str) -> bool {
    !opened.contains(['/', '.'])
}

/// Names of the namespaces and types around a site, innermost first.
fn namespaces_around(lookup: &Lookup<'_>, site: &SiteRow) -> Result<Vec<String>, QueryError> {
    let Some(enclosing) = site.enclosing else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    for row in lookup.containers(Some(enclosing))? {
        if row.kind.is_type() || matches!(row.kind, SymbolKind::Module | SymbolKind::Namespace) {
            names.push(row.name_text.to_string());
        }
    }
    Ok((1..=names.len()).rev().map(|count| names[..count].join(".")).collect())
}

/// Modules of which a file takes every name, for a name that is in none that it imports.
fn opened(text: &str, imports: &[ImportRow]) -> Vec<String> {
    let parts = segments(text);
    let is_in = |module: &str| {
        let own = segments(module);
        own.len() < parts.len() && own.iter().eq(&parts[..own.len()])
    };
    if imports.iter().any(|import| is_in(&import.module)) {
        return Vec::new();
    }
    let whole = imports.iter().filter(|import| import.item.is_none() && import.target.is_none());
    let mut found: Vec<String> = whole.map(|import| import.module.to_string()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// True if a qualified name may be that of a symbol elsewhere, by its end: the name, and the
/// container where that is known.
pub fn may_name(text: &str, container: &str, name: &str) -> bool {
    let parts = segments(text);
    let before = parts.len().checked_sub(2).map(|at| parts[at]);
    let own = segments(container).last().copied();
    let fits = match (before, own) {
        (Some(before), Some(own)) => {
            before == own || external_callable(before).is_some() || is_held_part(before)
        }
        _ => true,
    };
    fits && last_part(text) == name
}

/// Files that may use one of the names: those with its words in their text, and those whose words
/// are not indexed.
fn files_with(lookup: &Lookup<'_>, wanted: &[String]) -> Result<Vec<FileKey>, QueryError> {
    let mut found: BTreeSet<FileKey> = BTreeSet::new();
    for name in wanted {
        let terms = words::terms_of(name.as_bytes());
        if terms.is_empty() {
            return Ok(lookup.snapshot.files()?.into_iter().map(|file| file.key).collect());
        }
        let having = having(lookup, &terms)?;
        found.extend(having.files);
        found.extend(having.without_words);
    }
    let mut files = Vec::with_capacity(found.len());
    for file in found {
        // Keys of files that are gone may be among them.
        if lookup.snapshot.file(file)?.is_some() {
            files.push(file);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::may_name;

    #[test]
    fn a_name_of_another_container_is_none_of_a_member() {
        assert!(may_name("lib.Walk.new", "Walk", "new"));
        assert!(may_name("lib.make().new", "Walk", "new"));
        assert!(may_name("lib.walks.[].new", "Walk", "new"));
        assert!(!may_name("alloc.boxed.Box.new", "Walk", "new"));
        assert!(may_name("other.greet", "", "greet"));
        assert!(!may_name("other.greets", "", "greet"));
    }
}
