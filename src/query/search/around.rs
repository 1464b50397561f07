//! Symbols that have some of the words asked for in their name, and the others around them: in the
//! names of containers or in the path.
//!
//! Whatever fits so has the rarest of the words in its name, in its path or in the name of a
//! container: only what has it there is looked at, and of that a bounded number.

use std::cmp::Reverse;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::matching::{Pattern, WordSet};
use super::{Filter, Found, Match};
use crate::query::QueryError;
use crate::store::{
    FileKey, NameEntry, NameKey, NameParts, NameRank, PathTable, SymbolHead, SymbolKey,
};

/// Runs of names that are looked through for a word among others that is not asked for alone.
pub(super) const MAX_RUNS_OF_WORD: usize = 200;

/// Symbols that are looked at in each of the two ways to the rarest word. Beyond them the total is
/// a lower bound.
const MAX_LOOKS: usize = 400;

/// What stands around what was asked for.
pub(super) struct Around {
    pub(super) found: Vec<Found>,
    /// Whether nothing else does.
    pub(super) is_complete: bool,
}

/// Finds the symbols whose name has some of the words and is not what was asked for. `rarest` is
/// one of the words.
pub(super) fn symbols_around(
    filter: &Filter<'_, '_>,
    pattern: &Pattern,
    rarest: usize,
) -> Result<Around, QueryError> {
    let mut walk = Walk {
        filter,
        pattern,
        rarest,
        paths: filter.lookup.snapshot.path_table()?,
        files: FxHashMap::default(),
        containers: FxHashMap::default(),
        looks_left: MAX_LOOKS,
        found: Vec::new(),
    };
    let by_name = walk.with_rarest_in_names()?;
    walk.looks_left = MAX_LOOKS;
    let by_path = walk.with_rarest_in_paths()?;
    Ok(Around { found: walk.found, is_complete: by_name && by_path })
}

/// A name that has the rarest word.
struct Name {
    key: NameKey,
    own: WordSet,
    /// Whether it fits as a whole: the symbols that have it have been found.
    is_found: bool,
}

struct Walk<'w, 'f, 'q> {
    filter: &'w Filter<'f, 'q>,
    pattern: &'w Pattern,
    rarest: usize,
    paths: Arc<PathTable>,
    /// Which words stand in paths and in the names of containers.
    files: FxHashMap<FileKey, WordSet>,
    containers: FxHashMap<SymbolKey, WordSet>,
    looks_left: usize,
    found: Vec<Found>,
}

impl Walk<'_, '_, '_> {
    /// Looks at the symbols with the rarest word in their name or in that of a container. Gives
    /// whether these are all.
    fn with_rarest_in_names(&mut self) -> Result<bool, QueryError> {
        let lookup = self.filter.lookup;
        let word = &self.pattern.words()[self.rarest];
        let (mut names, mut later) = (Vec::new(), Vec::new());
        let mut walk = lookup.snapshot.walk_names(MAX_RUNS_OF_WORD)?;
        let wanted = NameParts::none().or_all_of([word.as_str()]);
        let runs = walk.runs_with(&wanted)?;
        let (pattern, rarest) = (self.pattern, self.rarest);
        let named = |name: &NameEntry<'_>| {
            let own = pattern.words_in(name.text);
            own.has(rarest).then(|| Name {
                key: name.key,
                own,
                is_found: pattern.fits(name.text).is_some(),
            })
        };
        let is_complete = walk.visit(
            &wanted,
            &runs,
            |_| false,
            |name| {
                names.extend(
                    named(name).map(|found| (name.figures, NameRank::in_order(name.key), found)),
                );
                lookup.check().is_ok()
            },
        )?;
        walk.visit_later(|name| {
            later.extend(named(name).map(|found| (name.text.to_owned(), found)));
            lookup.check().is_ok()
        })?;
        let ranks = lookup.snapshot.rank_later(&mut later)?;
        names.extend(later.into_iter().zip(ranks).map(|((_, found), rank)| (None, rank, found)));
        // What is used most first: if it cannot be everything, it is the best.
        let mut by_use = Vec::with_capacity(names.len());
        for (figures, rank, name) in names {
            let (_, most) = figures.map_or_else(|| lookup.figures(name.key), Ok)?;
            by_use.push((Reverse(most), rank, name));
        }
        by_use.sort_unstable_by_key(|(most, rank, _)| (*most, *rank));
        for (.., name) in by_use {
            lookup.check()?;
            let mut heads = lookup.snapshot.symbol_heads(name.key)?;
            heads.sort_by_key(|head| lookup.order().head(head));
            for head in heads {
                if !self.look() {
                    return Ok(false);
                }
                if !name.is_found {
                    self.take(&name.own, head)?;
                }
                if !self.inside(head.key)? {
                    return Ok(false);
                }
            }
        }
        Ok(is_complete)
    }

    /// Looks at what is written inside a symbol that has the rarest word in its name or around it.
    /// Gives whether that is all.
    fn inside(&mut self, container: SymbolKey) -> Result<bool, QueryError> {
        let mut members = Vec::new();
        let order = self.filter.lookup.order();
        self.filter.lookup.snapshot.visit_heads_in(container, |head, name| {
            members.push((head, self.wanted(name)));
            // Members in other files than the container may come in any order.
            members.len() <= self.looks_left || !order.is_by_key()
        })?;
        members.sort_by_key(|(head, _)| order.head(head));
        let rarest = self.rarest;
        for (head, wanted) in members {
            if !self.look() {
                return Ok(false);
            }
            match wanted {
                // By that word it is found without its container, and so is what is inside it.
                WantedAround::HasRarest => continue,
                WantedAround::No => {}
                // By the path it is found as well.
                WantedAround::Yes(_) if self.in_path(head.file).has(rarest) => {}
                WantedAround::Yes(own) => self.take(&own, head)?,
            }
            if !self.inside(head.key)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Looks at the symbols with the rarest word in their path. Gives whether these are all.
    fn with_rarest_in_paths(&mut self) -> Result<bool, QueryError> {
        let rarest = self.rarest;
        let word = &self.pattern.words()[rarest];
        let paths = Arc::clone(&self.paths);
        let mut files = paths.with_part(word);
        files.sort_by_key(|(file, _)| self.filter.lookup.order().file(*file));
        for (file, symbols) in files {
            if !self.in_path(file).has(rarest) {
                continue;
            }
            self.filter.lookup.check()?;
            let mut wanted = Vec::new();
            let mut left = self.looks_left;
            self.filter.lookup.snapshot.visit_heads_between(symbols, |head, name| {
                if let WantedAround::Yes(own) = self.wanted(name) {
                    wanted.push((head, own));
                }
                left = left.saturating_sub(1);
                left > 0
            })?;
            self.looks_left = left;
            for (head, own) in wanted {
                self.take(&own, head)?;
            }
            if left == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn look(&mut self) -> bool {
        let may = self.looks_left > 0;
        self.looks_left = self.looks_left.saturating_sub(1);
        may
    }

    fn wanted(&self, name: &str) -> WantedAround {
        let own = self.pattern.words_in(name);
        if own.has(self.rarest) {
            WantedAround::HasRarest
        } else if own.is_empty() || self.pattern.fits(name).is_some() {
            WantedAround::No
        } else {
            WantedAround::Yes(own)
        }
    }

    /// Takes a symbol with these words in its name if the others are around it and it passes the
    /// filters.
    fn take(&mut self, own: &WordSet, head: SymbolHead) -> Result<(), QueryError> {
        let mut words = own.clone();
        words.join(self.in_path(head.file));
        if let Some(container) = head.container.filter(|_| !words.is_complete()) {
            words.join(&self.in_containers(container)?);
        }
        if words.is_complete() {
            self.found.extend(self.filter.admit(Match::Around, head)?);
        }
        Ok(())
    }

    fn in_path(&mut self, file: FileKey) -> &WordSet {
        let (paths, pattern) = (&self.paths, self.pattern);
        self.files
            .entry(file)
            .or_insert_with(|| pattern.words_in(paths.path(file).unwrap_or_default()))
    }

    /// The words in the name of a container and in those around it.
    fn in_containers(&mut self, container: SymbolKey) -> Result<WordSet, QueryError> {
        if let Some(known) = self.containers.get(&container) {
            return Ok(known.clone());
        }
        let words = self.pattern.words_in(&self.filter.lookup.qualifier(Some(container))?);
        self.containers.insert(container, words.clone());
        Ok(words)
    }
}

/// Whether a symbol without the rarest word in its name may be what is looked for.
enum WantedAround {
    /// It has the rarest word.
    HasRarest,
    /// It has none of the words, or fits as a whole and has been found.
    No,
    /// It has these words.
    Yes(WordSet),
}
