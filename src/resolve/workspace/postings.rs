//! Posting lists of symbols: by name in a namespace or package, members by name, macros by name. A
//! full build creates them in memory and stores them; an incremental update reads the stored ones
//! and overlays the changed files.

use crate::files::archive::{Archive, Posting, PostingFlags};
use crate::imports;
use crate::units::footprint::Question;
use crate::units::space::Space;
use crate::units::symbols::Symbols;
use crate::units::unit::Unit;
use crate::workspace::sorted_postings::{Collected, SortedPostings};
use cograph_grammar::Tier;
use cograph_model::SymbolKind;
use cograph_model::facts::{BindingKind, Expr, LocalSymbol, ScopeId, flags};
use cograph_model::graph::{FileId, FileKey, SymbolRef};
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::Arc;

/// Entry of a file in a posting list: list, symbol, and flags.
pub(crate) type Own = (Question, LocalSymbol, PostingFlags);

/// Returns the entries of a file in posting lists, in order. `package` is that of
/// [`package_with_names`](crate::imports::package_with_names).
pub(crate) fn of_file(unit: Unit<'_>, package: Option<u64>) -> impl Iterator<Item = Own> + '_ {
    let own = move |list: Question, symbol: LocalSymbol| {
        let position = symbol.get().expect("a posting always names a symbol");
        (list, symbol, PostingFlags::of(&unit.facts.symbols[position]))
    };
    let rules = &unit.language.manifest.resolution;
    let by_name = unit.language.tier() == Tier::Shared || (rules.global_names && rules.open_types);
    let by_kind = unit.facts.symbols.iter().enumerate().filter_map(move |(position, symbol)| {
        let list = match symbol.kind {
            SymbolKind::Method | SymbolKind::Constructor => {
                Question::members(unit.text(symbol.name))
            }
            SymbolKind::Field if unit.language.tier() == Tier::Full && !rules.declarations => {
                Question::fields(unit.text(symbol.name))
            }
            // An extension property.
            SymbolKind::Variable if unit.facts.clauses_of(symbol).owner.is_some() => {
                Question::fields(unit.text(symbol.name))
            }
            SymbolKind::Macro => Question::macros(unit.text(symbol.name)),
            kind if by_name
                && (kind == SymbolKind::Function || kind.is_type())
                && symbol.flags & flags::LOCAL == 0 =>
            {
                Question::alone(unit.text(symbol.name))
            }
            _ => return None,
        };
        Some((list, LocalSymbol::at(position)))
    });
    let in_package = package.into_iter().flat_map(move |package| {
        let bound =
            unit.facts.bindings.iter().filter(|binding| {
                binding.scope == ScopeId(0) && binding.kind == BindingKind::Symbol
            });
        bound.map(move |binding| {
            (Question::member_of_package(package, unit.text(binding.name)), binding.symbol())
        })
    });
    let in_further = unit.spaces.packages.iter().flat_map(move |(scope, name)| {
        let package = imports::package_identity(unit.language, name);
        unit.all_bound(*scope).iter().filter_map(move |&id| {
            let binding = &unit.facts.bindings[id.0 as usize];
            let list = Question::member_of_package(package, unit.text(binding.name));
            (binding.kind == BindingKind::Symbol).then_some((list, binding.symbol()))
        })
    });
    names_in_spaces(unit)
        .chain(globals(unit))
        .chain(openings(unit))
        .chain(derived(unit))
        .chain(by_kind)
        .chain(in_package)
        .chain(in_further)
        .map(move |(list, symbol)| own(list, symbol))
}

/// Definitions of a name, each with whether other files can refer to it.
pub(crate) type Definitions = SmallVec<[(SymbolRef, bool); 2]>;

/// All posting lists.
#[derive(Debug, Default)]
pub(crate) struct Postings {
    /// Lists in memory: all of a full build. Files are in order.
    lists: SortedPostings,
    /// Those with declarations.
    declared: FxHashSet<Question>,
    /// Lists including members defined outside of the bodies of their types.
    joined: FxHashMap<Question, Symbols>,
    written: Option<Written>,
}

/// Stored lists with an overlay of changed files.
#[derive(Debug)]
struct Written {
    archive: Arc<dyn Archive>,
    /// Keys of changed files, whose stored entries are ignored.
    hidden: FxHashSet<FileKey>,
    /// Current entries of changed files.
    since: FxHashMap<Question, Vec<Posting>>,
    /// Memo of lists that were read.
    found: FoundPostings,
}

#[derive(Debug, Default)]
struct FoundPostings {
    places: Mutex<FxHashMap<Question, Option<usize>>>,
    lists: boxcar::Vec<(Symbols, Box<[PostingFlags]>)>,
}

/// A list without members defined elsewhere.
struct Listed<'p> {
    symbols: &'p [SymbolRef],
    has_declarations: bool,
    /// Flags of each symbol, if the list was read from the archive.
    all_flags: Option<&'p [PostingFlags]>,
}

impl Postings {
    /// Creates posting lists backed by an archive.
    pub(crate) fn written(archive: Arc<dyn Archive>) -> Self {
        let written = Written {
            archive,
            hidden: FxHashSet::default(),
            since: FxHashMap::default(),
            found: FoundPostings::default(),
        };
        Self { written: Some(written), ..Self::default() }
    }

    /// Creates the posting lists of files with their packages. The files are in order, and have
    /// about as many entries as symbols.
    pub(crate) fn of_files<'u>(
        files: impl Iterator<Item = (FileId, Unit<'u>, Option<u64>)>,
        symbols: usize,
    ) -> Self {
        let (mut entries, mut declared) = (Collected::with_room(symbols), FxHashSet::default());
        for (file, unit, package) in files {
            for (list, symbol, flags) in of_file(unit, package) {
                entries.push(list, SymbolRef { file, symbol });
                if flags.is_declared {
                    declared.insert(list);
                }
            }
        }
        Self { lists: SortedPostings::of(entries), declared, ..Self::default() }
    }

    /// Replaces the entries of a file that has changed since the lists were stored.
    pub(crate) fn replace(&mut self, key: FileKey, before: &[Own], now: &[Own]) {
        let written = self.written.as_mut().expect("files change in tables that are read by need");
        if !written.hidden.insert(key) {
            for (list, ..) in before {
                if let Some(since) = written.since.get_mut(list) {
                    since.retain(|posting| posting.file != key);
                }
            }
        }
        for &(list, symbol, flags) in now {
            let posting = Posting { file: key, symbol: symbol.0, flags };
            written.since.entry(list).or_default().push(posting);
        }
        let places = written.found.places.get_mut();
        for (list, ..) in before.iter().chain(now) {
            places.remove(list);
        }
    }

    /// Clears the memo, because file ids have changed or a read has failed.
    pub(crate) fn clear_memo(&mut self) {
        if let Some(written) = &mut self.written {
            written.found = FoundPostings::default();
        }
    }

    /// Returns the symbols of a list, ordered by file. `position` maps a key to the file.
    pub(crate) fn get(
        &self,
        list: Question,
        position: &impl Fn(FileKey) -> Option<FileId>,
    ) -> Option<&[SymbolRef]> {
        if let Some(joined) = self.joined.get(&list) {
            return Some(joined);
        }
        self.plain(list, position).map(|listed| listed.symbols)
    }

    /// Returns a list only if it contains declarations.
    pub(crate) fn with_declarations(
        &self,
        list: Question,
        position: &impl Fn(FileKey) -> Option<FileId>,
    ) -> Option<&[SymbolRef]> {
        self.plain(list, position).filter(|listed| listed.has_declarations)?;
        self.get(list, position)
    }

    /// Returns the definitions in a list, each with whether it is exported. `flags` returns those
    /// of a symbol with facts in memory.
    pub(crate) fn definitions(
        &self,
        list: Question,
        position: &impl Fn(FileKey) -> Option<FileId>,
        flags: impl Fn(SymbolRef) -> PostingFlags,
    ) -> Definitions {
        let Some(Listed { symbols, all_flags, .. }) = self.plain(list, position) else {
            return Definitions::new();
        };
        let with_flags = symbols.iter().enumerate().map(|(place, symbol)| {
            (*symbol, all_flags.map_or_else(|| flags(*symbol), |all_flags| all_flags[place]))
        });
        with_flags
            .filter(|(_, flags)| !flags.is_declared)
            .map(|(symbol, flags)| (symbol, flags.is_exported))
            .collect()
    }

    /// Returns a list without members defined elsewhere.
    fn plain(
        &self,
        list: Question,
        position: &impl Fn(FileKey) -> Option<FileId>,
    ) -> Option<Listed<'_>> {
        let Some(written) = &self.written else {
            let listed = |symbols| Listed {
                symbols,
                has_declarations: self.declared.contains(&list),
                all_flags: None,
            };
            return self.lists.get(list).map(listed);
        };
        let known = |place: usize| {
            let (symbols, all_flags) = &written.found.lists[place];
            let has_declarations = all_flags.iter().any(|flags| flags.is_declared);
            Listed { symbols, has_declarations, all_flags: Some(all_flags) }
        };
        let places = || written.found.places.lock();
        if let Some(place) = places().get(&list) {
            return place.map(known);
        }
        // Outside of the lock: two threads may read the same list, and one copy is dropped.
        let mut all: Vec<(SymbolRef, PostingFlags)> = Vec::new();
        let mut take = |posting: Posting| {
            let file = position(posting.file);
            all.extend(file.map(|file| {
                (SymbolRef { file, symbol: LocalSymbol(posting.symbol) }, posting.flags)
            }));
        };
        let mut own = |posting: Posting| {
            if !written.hidden.contains(&posting.file) {
                take(posting);
            }
        };
        written.archive.postings(list.0, &mut own);
        written.since.get(&list).into_iter().flatten().copied().for_each(take);
        // Stable: the symbols of one file keep their order.
        all.sort_by_key(|(symbol, _)| symbol.file);
        let place = (!all.is_empty()).then(|| {
            let all_flags = all.iter().map(|(_, flags)| *flags).collect();
            let symbols = all.into_iter().map(|(symbol, _)| symbol).collect();
            written.found.lists.push((symbols, all_flags))
        });
        places().insert(list, place);
        place.map(known)
    }

    /// Adds members defined outside of the bodies of their types to lists, and replaces those added
    /// before.
    pub(crate) fn join(
        &mut self,
        members: &[(Question, SymbolRef)],
        position: &impl Fn(FileKey) -> Option<FileId>,
    ) {
        let mut joined: FxHashMap<Question, Symbols> = FxHashMap::default();
        for (list, member) in members {
            let symbols = joined.entry(*list).or_insert_with(|| {
                let listed = self.plain(*list, position);
                listed.map(|listed| Symbols::from_slice(listed.symbols)).unwrap_or_default()
            });
            if !symbols.contains(member) {
                symbols.push(*member);
            }
        }
        self.joined = joined;
    }

    /// Returns every list of a full build, sorted by hash.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (Question, &[SymbolRef])> {
        self.lists.in_order()
    }
}

/// Returns the names that a file adds to namespaces, as questions whose answers contain them, with
/// their symbols.
fn names_in_spaces<'u>(unit: Unit<'u>) -> impl Iterator<Item = (Question, LocalSymbol)> + 'u {
    let put = move |binding: &'u cograph_model::facts::Binding| {
        let space =
            unit.spaces.of_scope(binding.scope).filter(|_| binding.kind == BindingKind::Symbol)?;
        (!is_member_elsewhere(&unit, binding.symbol()))
            .then(|| (Question::space(space, unit.text(binding.name)), binding.symbol()))
    };
    let any = !unit.spaces.scopes.is_empty();
    unit.facts.bindings.iter().filter(move |_| any).filter_map(put)
}

/// Returns what a file declares in the global scope, in languages in which files are modules.
fn globals(unit: Unit<'_>) -> impl Iterator<Item = (Question, LocalSymbol)> + '_ {
    let root = Space::root(unit.language);
    let all = unit.facts.symbols.iter().enumerate();
    all.filter(|(_, symbol)| symbol.flags & flags::GLOBAL != 0).map(move |(position, symbol)| {
        (Question::space(root, unit.text(symbol.name)), LocalSymbol::at(position))
    })
}

/// Returns the types that a file opens, in languages in which others may open them as well.
fn openings<'u>(unit: Unit<'u>) -> impl Iterator<Item = (Question, LocalSymbol)> + 'u {
    let is_open = unit.language.manifest.resolution.open_types;
    let all = unit.spaces.scopes.iter().filter(move |(_, _, symbol)| is_open && symbol.is_some());
    let implied = unit.spaces.implied.iter();
    let implied = implied.map(|(space, symbol)| (Question::implied(*space), *symbol));
    all.map(|(_, space, symbol)| (Question::opened(*space), *symbol)).chain(implied)
}

/// Returns the types with bases of a file by the names of these bases, in languages in which a
/// receiver may have members of derived types.
fn derived<'u>(unit: Unit<'u>) -> impl Iterator<Item = (Question, LocalSymbol)> + 'u {
    let rules = &unit.language.manifest.resolution;
    let is_read = rules.open_types || rules.derived_members;
    let all = unit.facts.symbols.iter().enumerate().filter(move |_| is_read);
    all.flat_map(move |(position, symbol)| {
        let bases = &unit.facts.lists[unit.facts.clauses_of(symbol).bases.range()];
        let named = bases.iter().filter_map(move |base| {
            let Expr::Base(mut base, _) = unit.facts.exprs[base.get()?] else { return None };
            loop {
                match unit.facts.exprs[base.get()?] {
                    Expr::Wrap(inner, _) | Expr::Apply(inner, _) => base = inner,
                    Expr::Name(name, _) | Expr::Member(_, name) => return Some(unit.text(name)),
                    _ => return None,
                }
            }
        });
        named.map(move |name| (Question::derived(name), LocalSymbol::at(position)))
    })
}

/// True for a member defined outside of its type's body.
fn is_member_elsewhere(unit: &Unit<'_>, symbol: LocalSymbol) -> bool {
    symbol.is_some() && unit.clauses(symbol).owner.is_some()
}
