//! Symbols with some of the words in their name and the others in their context: in the names of
//! containers or in the path.
//!
//! Every such symbol has the rarest word in its name, its path or the name of a container, so only
//! these are read, up to a limit.

use std::cmp::Reverse;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::matching::{Pattern, WordSet};
use super::{Filter, Found};
use crate::graph::error::QueryError;
use crate::search::answer::Match;
use cograph_store::{
    FileKey, NameEntry, NameKey, NameParts, NameRank, PathTable, SymbolHead, SymbolKey,
};

/// Maximum number of blocks of names scanned for one of several words.
pub(super) const MAX_RUNS_OF_WORD: usize = 200;

/// Maximum number of symbols read for each of the two searches for the rarest word. Beyond it the
/// total is a lower bound.
const MAX_LOOKS: usize = 400;

/// Result of the search.
pub(super) struct Around {
    pub(super) found: Vec<Found>,
    /// True if there are no further matches.
    pub(super) is_complete: bool,
}

/// Finds the symbols with some of the words in their name that do not match by name alone. `rarest`
/// is the position of a word.
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

/// Name with the rarest word.
struct Name {
    key: NameKey,
    own: WordSet,
    /// True if it matches by name alone: its symbols have been found.
    is_found: bool,
}

struct Walk<'w, 'f, 'q> {
    filter: &'w Filter<'f, 'q>,
    pattern: &'w Pattern,
    rarest: usize,
    paths: Arc<PathTable>,
    /// Memos of the words in paths and in the names of containers.
    files: FxHashMap<FileKey, WordSet>,
    containers: FxHashMap<SymbolKey, WordSet>,
    looks_left: usize,
    found: Vec<Found>,
}

impl Walk<'_, '_, '_> {
    /// Reads the symbols with the rarest word in their name or in that of a container. Returns
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
        // Most referenced first: an incomplete result then contains the best ones.
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
                if !self.advance() {
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

    /// Reads the members of a symbol with the rarest word in its name or context. Returns whether
    /// these are all.
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
            if !self.advance() {
                return Ok(false);
            }
            match wanted {
                // The symbol is found by its own name, and its members with it.
                WantedAround::HasRarest => continue,
                WantedAround::No => {}
                // The symbol is found by its path.
                WantedAround::Yes(_) if self.in_path(head.file).has(rarest) => {}
                WantedAround::Yes(own) => self.take(&own, head)?,
            }
            if !self.inside(head.key)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads the symbols with the rarest word in their path. Returns whether these are all.
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

    fn advance(&mut self) -> bool {
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

    /// Adds a symbol with these words in its name if the others are in its context and it passes
    /// the filters.
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

    /// Returns the words in the name of a container and of its containers.
    fn in_containers(&mut self, container: SymbolKey) -> Result<WordSet, QueryError> {
        if let Some(known) = self.containers.get(&container) {
            return Ok(known.clone());
        }
        let words = self.pattern.words_in(&self.filter.lookup.qualifier(Some(container))?);
        self.containers.insert(container, words.clone());
        Ok(words)
    }
}

/// Classification of a symbol by its name.
enum WantedAround {
    /// Has the rarest word.
    HasRarest,
    /// Has none of the words, or matches by name alone and has been found.
    No,
    /// Has these words.
    Yes(WordSet),
}
