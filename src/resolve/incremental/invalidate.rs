//! Invalidation: applies changed files to tables that are read on demand, and computes the files to
//! resolve again: new and changed files, and those whose footprint contains an answer that differs.

mod placement;

use crate::files::archive::PostingFlags;
use crate::files::project_file::ProjectFile;
use crate::files::table::File;
use crate::imports::{Modules, package_with_names};
use crate::incremental::change::{Change, Changed, Listing, Replaced, VisibleChange};
use crate::incremental::derive;
use crate::incremental::fingerprints::{Answers, Links};
use crate::units::contexts::contexts;
use crate::units::footprint::{ChangedAnswers, Footprint, KeySet, Question};
use crate::units::import_target::family;
use crate::units::interface_hash;
use crate::units::prepared::FileSummary;
use crate::workspace::postings::{self, Own};
use crate::workspace::tables::Tables;
use cograph_grammar::Language;
use cograph_model::RepoPath;
use cograph_model::SymbolKind;
use cograph_model::facts::{ExprId, FileFacts, LocalSymbol, ScopeId, Symbol, flags};
use cograph_model::graph::{FileId, FileKey};
use placement::Placement;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

impl Tables {
    /// Applies a change and returns the files to resolve, in order. `asked` has the footprints of
    /// the files, by file id after the change.
    pub fn update(&mut self, change: Change, asked: &[&Footprint]) -> Vec<FileId> {
        let Change { listing, changed, project_files } = change;
        let mut altered = ChangedAnswers::default();
        let named = |file: FileId| match &listing {
            Some(Listing(files)) => files[file.0 as usize].clone(),
            None => (self.files.path(file).clone(), self.files.key(file)),
        };
        let replaced: Vec<Replaced> = changed
            .into_iter()
            .map(|file| {
                let (path, key) = named(file.file);
                self.compare(path, key, file, &mut altered)
            })
            .collect();
        let gone =
            listing.as_ref().map(|listing| self.gone(listing, &mut altered)).unwrap_or_default();
        for Replaced { was, is, .. } in &replaced {
            let (was, is) = (was.as_ref().map(|(_, own)| own), is.as_ref().map(|(.., own)| own));
            record_altered_lists(
                was.map_or(&[], |own| own),
                is.map_or(&[], |own| own),
                &mut altered,
            );
        }
        let in_place = listing.is_none()
            && project_files.is_none()
            && replaced.iter().all(|file| file.seen != VisibleChange::Anything)
            && !self.derived.depends_on_altered(|asking| altered.has_question(asking));
        let changed: FxHashSet<FileId> = replaced.iter().map(|file| file.file).collect();
        if in_place {
            self.put(replaced);
        } else {
            let placement = Placement::of(
                self,
                &replaced,
                &gone,
                listing.as_ref(),
                project_files.as_deref(),
                asked,
            );
            self.update_all(listing, replaced, gone, project_files, placement, &mut altered);
        }
        let is_affected = |file: &FileId| {
            self.files.has_facts(*file)
                && (changed.contains(file) || altered.invalidates(asked[file.0 as usize]))
        };
        self.files.ids().filter(is_affected).collect()
    }

    /// Compares a file with its previous state.
    fn compare(
        &self,
        path: RepoPath,
        key: FileKey,
        changed: Changed,
        altered: &mut ChangedAnswers,
    ) -> Replaced {
        let Changed { file, content } = changed;
        let before = self.files.position(key);
        let was = before
            .and_then(|before| Some((self.files.head(before)?.clone(), self.own_postings(before))));
        let mut seen = VisibleChange::Anything;
        let is = content.map(|(language, facts, shared)| {
            let mut left = FileFacts::clone(&facts);
            let names = self.files.names.numbers(&left.names);
            let prepared = shared.truncate(&mut left, language, names);
            let (head, content) = prepared.into_parts(Arc::new(left));
            if let Some((was, before)) = was.as_ref().zip(before) {
                seen = self.visible_change(before, was, key, &facts, &head, altered);
            }
            let own = postings::of_file(
                content.unit(&self.files.names),
                package_with_names(&head, &path),
            )
            .collect();
            (head, content, own)
        });
        if before.is_none() {
            altered.question(Question::stated(path.as_str()));
        }
        // Also for a file without facts: a footprint may contain the failed read.
        if seen == VisibleChange::Anything && before.is_some() {
            altered.facts.insert(key);
        }
        Replaced { file, key, path, was, is, seen }
    }

    /// Returns the visible part of a file's change: only functions if everything before them is
    /// unchanged.
    fn visible_change(
        &self,
        before: FileId,
        (was, own): &(FileSummary, Vec<Own>),
        key: FileKey,
        now: &FileFacts,
        is: &FileSummary,
        altered: &mut ChangedAnswers,
    ) -> VisibleChange {
        let is_other = was.nesting != is.nesting
            || was.everywhere != is.everywhere
            || was.further != is.further;
        if !std::ptr::eq(was.language, is.language) || is_other {
            return VisibleChange::Anything;
        }
        if was.interface == is.interface {
            return VisibleChange::Nothing;
        }
        let Some((was, _)) = self.files.facts(before) else { return VisibleChange::Anything };
        let (first, end) = (
            functions_start(&was).max(functions_start(now)),
            was.symbols.len().min(now.symbols.len()),
        );
        let (old, new) = (contexts(&was), contexts(now));
        let same = |symbols: usize| {
            interface_hash::of_first(&was, symbols, &old)
                == interface_hash::of_first(now, symbols, &new)
        };
        if first > end || !same(first) {
            return VisibleChange::Anything;
        }
        // Binary search for the longest common prefix of symbols.
        let (mut low, mut high) = (first, end);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if same(middle) { low = middle } else { high = middle - 1 }
        }
        let names: BTreeSet<&str> = [&was, now]
            .into_iter()
            .flat_map(|facts| {
                facts.symbols[low..]
                    .iter()
                    .filter_map(|symbol| Some(&*facts.names[symbol.name.get()?]))
            })
            .collect();
        // The computation of import targets looks up modules by name.
        let names_modules = is.language.manifest.modules.declares_children()
            && now.imports.iter().any(|import| {
                import.item.get().is_some_and(|item| names.contains(&*now.names[item]))
            });
        if names_modules {
            return VisibleChange::Anything;
        }
        // Linked programs and heuristics find a function in a posting list of its name.
        let lists = own.iter().filter(|(_, symbol, _)| symbol.get().is_some_and(|own| own >= low));
        altered.functions(key, names.into_iter(), lists.map(|(list, ..)| *list));
        VisibleChange::Functions
    }

    /// Returns the removed files, by their previous ids.
    fn gone(
        &self,
        Listing(files): &Listing,
        altered: &mut ChangedAnswers,
    ) -> Vec<(FileId, Vec<Own>)> {
        let left: FxHashSet<FileKey> = files.iter().map(|(_, key)| *key).collect();
        let gone = self.files.ids().filter(|file| !left.contains(&self.files.key(*file)));
        let gone: Vec<(FileId, Vec<Own>)> =
            gone.map(|file| (file, self.own_postings(file))).collect();
        for (file, own) in &gone {
            let key = self.files.key(*file);
            altered.question(Question::stated(self.files.path(*file).as_str()));
            for files in [&mut altered.facts, &mut altered.links, &mut altered.given] {
                files.insert(key);
            }
            record_altered_lists(own, &[], altered);
        }
        gone
    }

    /// Replaces files and their entries in posting lists.
    fn put(&mut self, replaced: Vec<Replaced>) {
        for Replaced { file, key, was, is, seen, .. } in replaced {
            let was = was.map(|(_, own)| own).unwrap_or_default();
            let (head, content, own) = match is {
                Some((head, content, own)) => (Some(head), Some(Arc::new(content)), own),
                None => (None, None, Vec::new()),
            };
            if seen != VisibleChange::Nothing {
                self.postings.replace(key, &was, &own);
            }
            let known = self.files.entry(file);
            known.head = head;
            known.content = OnceLock::from(content);
        }
    }

    /// Applies a change with more than functions visible: computes global tables and derived tables
    /// again where the change may affect them.
    fn update_all(
        &mut self,
        listing: Option<Listing>,
        replaced: Vec<Replaced>,
        gone: Vec<(FileId, Vec<Own>)>,
        project_files: Option<Vec<ProjectFile>>,
        placement: Placement,
        altered: &mut ChangedAnswers,
    ) {
        let has_listing = listing.is_some();
        let answers = Answers::of(self);
        let numbers = Links::of(self);
        let may_lead_elsewhere = self.files.ids().filter(|file| placement.invalidates(self, *file));
        let links = may_lead_elsewhere
            .map(|file| (self.files.key(file), numbers.number(self, &self.modules, file)));
        let links: FxHashMap<FileKey, u64> = links.collect();
        let others: Vec<&Replaced> =
            replaced.iter().filter(|file| file.seen == VisibleChange::Anything).collect();
        let touched: FxHashSet<&str> =
            others.iter().flat_map(|file| file.languages()).map(family).collect();
        let others: Vec<FileId> = others.into_iter().map(|file| file.file).collect();

        let mut before = placement.is_other.then(|| PreviousImports::of(self));
        for (file, own) in &gone {
            let key = self.files.key(*file);
            self.postings.replace(key, own, &[]);
        }
        if let Some(listing) = listing {
            self.list(listing);
        }
        if let Some(now) = project_files {
            self.files.project_files = now;
        }
        self.put(replaced);
        if let Some(before) = &mut before {
            let modules = Modules::new(&self.files);
            before.modules = std::mem::replace(&mut self.modules, modules);
            let imported = |file: FileId| {
                let key = self.files.key(file);
                let stays = !links.contains_key(&key) && !others.contains(&file);
                before.imported(key).filter(|_| stays).map_or_else(
                    || self.import_files(file),
                    |keys| {
                        let mut files: Vec<FileId> =
                            keys.iter().filter_map(|key| self.files.position(*key)).collect();
                        files.sort_unstable();
                        files.into()
                    },
                )
            };
            let imported = self.files.ids().map(imported).collect();
            self.modules.set_imported(imported);
        } else {
            for file in others {
                self.modules.invalidate_targets(file);
                let imported = self.import_files(file);
                self.modules.set_imported_of(file, imported);
            }
        }
        self.connect();
        derive::derive(self, |family| {
            has_listing || placement.is_everywhere || touched.contains(family)
        });

        answers.compare(&Answers::of(self), self, altered);
        let numbers = Links::of(self);
        let number = |key: &FileKey| {
            self.files.position(*key).map(|file| numbers.number(self, &self.modules, file))
        };
        let relinked = links.iter().filter(|(key, was)| number(key) != Some(**was));
        relinked.for_each(|(key, _)| altered.links.insert(*key));
        placement.questions.iter().for_each(|question| altered.question(*question));
        altered.reach = match before {
            Some(before) => before.leading_to(&altered.links),
            None => closure(
                self.files.ids().map(|file| {
                    (self.files.key(file), self.next_to(file).map(|next| self.files.key(next)))
                }),
                &altered.links,
            ),
        };
    }

    /// Assigns new file ids from a listing.
    fn list(&mut self, Listing(listing): Listing) {
        let (mut files, mut keys) =
            (Vec::with_capacity(listing.len()), Vec::with_capacity(listing.len()));
        for (path, key) in listing {
            let known = self.files.position(key).map(|file| {
                let File { head, content, .. } = self.files.entry(file);
                (head.take(), std::mem::take(content))
            });
            let (head, content) = known.unwrap_or_default();
            files.push(File { path, head, content });
            keys.push(key);
        }
        self.files.set(files, keys);
        self.postings.clear_memo();
    }
}

/// Returns the number of symbols before the trailing top-level functions, which other files find by
/// name alone.
fn functions_start(facts: &FileFacts) -> usize {
    let is_apart = |symbol: &&Symbol| {
        symbol.kind == SymbolKind::Function
            && symbol.scope == ScopeId(0)
            && symbol.container == LocalSymbol::NONE
            && facts.clauses_of(symbol).owner == ExprId::NONE
            && symbol.flags & flags::DEFAULT_EXPORT == 0
    };
    facts.symbols.len() - facts.symbols.iter().rev().take_while(is_apart).count()
}

/// Records the posting lists in which the symbols of a file differ.
fn record_altered_lists(was: &[Own], is: &[Own], altered: &mut ChangedAnswers) {
    let by_list = |own: &[Own]| {
        let mut lists: FxHashMap<Question, Vec<(LocalSymbol, PostingFlags)>> = FxHashMap::default();
        own.iter().for_each(|(list, symbol, flags)| {
            lists.entry(*list).or_default().push((*symbol, *flags))
        });
        lists
    };
    let (was, is) = (by_list(was), by_list(is));
    let others =
        was.iter().filter(|(list, symbols)| is.get(*list) != Some(*symbols)).map(|(list, _)| list);
    others
        .chain(is.keys().filter(|list| !was.contains_key(*list)))
        .for_each(|list| altered.question(*list));
}

/// Import targets before a change, by keys.
struct PreviousImports {
    keys: Vec<FileKey>,
    positions: Vec<Option<FileId>>,
    /// Files that share names with the others of their package.
    shares: Vec<bool>,
    modules: Modules,
}

impl PreviousImports {
    fn of(tables: &Tables) -> Self {
        let shares = |file| {
            tables
                .files
                .language(file)
                .is_some_and(|language: &Language| language.manifest.modules.shared_folder)
        };
        Self {
            keys: tables.files.keys().to_vec(),
            positions: tables.files.positions().to_vec(),
            shares: tables.files.ids().map(shares).collect(),
            modules: Modules::default(),
        }
    }

    /// Returns the keys of the files that the imports of a file led to; `None` if it did not exist.
    fn imported(&self, key: FileKey) -> Option<Vec<FileKey>> {
        let file = self.positions.get(key.0 as usize).copied().flatten()?;
        Some(self.modules.imported(file).map(|file| self.keys[file.0 as usize]).collect())
    }

    /// Returns the files from which some of `targets` were reachable.
    fn leading_to(&self, targets: &KeySet) -> KeySet {
        let next = |(place, key): (usize, &FileKey)| {
            let file = FileId::at(place);
            let package = self.modules.package_of(file).filter(|_| self.shares[place]);
            let siblings = package
                .into_iter()
                .flat_map(|package| self.modules.package(package).files.iter().copied());
            (
                *key,
                self.modules.imported(file).chain(siblings).map(|file| self.keys[file.0 as usize]),
            )
        };
        closure(self.keys.iter().enumerate().map(next), targets)
    }
}

/// Returns the files from which some of `targets` are reachable; `steps` has the direct neighbours
/// of each file.
fn closure<I: Iterator<Item = FileKey>>(
    steps: impl Iterator<Item = (FileKey, I)>,
    targets: &KeySet,
) -> KeySet {
    let mut found = targets.clone();
    let mut waiting: Vec<FileKey> = targets.iter().collect();
    if waiting.is_empty() {
        return found;
    }
    let mut from: FxHashMap<FileKey, Vec<FileKey>> = FxHashMap::default();
    for (file, next) in steps {
        next.for_each(|next| from.entry(next).or_default().push(file));
    }
    while let Some(file) = waiting.pop() {
        for &before in from.get(&file).into_iter().flatten() {
            if !found.contains(before) {
                found.insert(before);
                waiting.push(before);
            }
        }
    }
    found
}
