//! The numbers that rows get, fixed before the first row is written: keys of names, symbols, sites
//! and sets of candidates.
//!
//! Everything is numbered in the order of files, so that equal graphs give equal stores.

use rustc_hash::{FxHashMap, FxHashSet};
use typed_arena::Arena;

use crate::model::facts::{FileFacts, LocalSymbol, NameId, Site};
use crate::model::graph::{FileRecord, FileResolution, Graph, Resolution, SymbolRef, Target};
use crate::model::{Step, Verdict};
use crate::store::format::columns::Mark;
use crate::store::format::front_coding;

/// What resolution said of a file that it has no entry for.
static FAULT: Resolution =
    Resolution { verdict: Verdict::Unresolved, step: Step::Fault, target: Target::None };

/// What must be known of all files before the first one is written.
#[derive(Debug)]
pub struct Outline {
    /// The names that symbols have, each once.
    pub symbol_names: Vec<Box<str>>,
    /// How many sites that are stored lead to each symbol, by file.
    pub references: Vec<Vec<u32>>,
}

impl Outline {
    /// That of a graph.
    pub(in crate::store) fn of(graph: &Graph) -> Self {
        let facts = graph.files.iter().filter_map(|record| record.content.as_ref().ok());
        let names =
            facts.flat_map(|facts| facts.symbols.iter().map(|symbol| name_of(facts, symbol.name)));
        let names: FxHashSet<&str> = names.collect();
        Self {
            symbol_names: names.into_iter().map(Box::from).collect(),
            references: references(graph),
        }
    }
}

/// Every key of a store.
pub(in crate::store) struct Numbering<'g> {
    /// Names to add, with their keys. In a new store those of symbols come first, in the order of
    /// `blocks::order`.
    pub(in crate::store) names: Vec<(u32, &'g str)>,
    /// How many names symbols have.
    pub(in crate::store) symbol_names: usize,
    /// The key of each file.
    pub(in crate::store) files: Vec<u32>,
    /// The first symbol key of each file.
    pub(in crate::store) first_symbols: Vec<u32>,
    /// The first site key of each file.
    pub(in crate::store) first_sites: Vec<u32>,
    /// Resolved and likely sites of each symbol, by file, of those files that are written.
    pub(in crate::store) references: Vec<Vec<u32>>,
    /// Distinct sets of candidates to add, with their keys.
    pub(in crate::store) candidate_sets: Vec<(u32, &'g [SymbolRef])>,
    pub(in crate::store) name_keys: FxHashMap<&'g str, u32>,
    pub(in crate::store) set_keys: FxHashMap<&'g [SymbolRef], u32>,
    /// The key of the first site of the next file.
    pub(in crate::store) next_site: u64,
}

/// What keys are given to, kept as long as the keys.
#[derive(Default)]
pub(in crate::store) struct Texts {
    names: Arena<u8>,
    sets: Arena<SymbolRef>,
}

impl Texts {
    fn name(&self, name: &str) -> &str {
        self.names.alloc_str(name)
    }
}

impl<'g> Numbering<'g> {
    /// Numbers files and symbols, and the names of these. The error says which limit of the format
    /// is broken.
    pub(in crate::store) fn new(outline: Outline, texts: &'g Texts) -> Result<Self, String> {
        let Outline { symbol_names, references } = outline;
        let mut names: Vec<&'g str> = symbol_names.iter().map(|name| texts.name(name)).collect();
        drop(symbol_names);
        // Readers find a name among them by its text.
        names.sort_unstable_by(|one, other| front_coding::order(one, other));
        let mut first_symbols = Vec::with_capacity(references.len());
        let mut next = 1_u64;
        for symbols in &references {
            first_symbols.push(key(next, "symbols")?);
            next += symbols.len() as u64;
        }
        key(next, "symbols")?;
        Ok(Self {
            symbol_names: names.len(),
            files: (1..).take(references.len()).collect(),
            first_symbols,
            first_sites: Vec::with_capacity(references.len()),
            references,
            candidate_sets: Vec::new(),
            name_keys: names.iter().copied().zip(1..).collect(),
            names: (1..).zip(names).collect(),
            set_keys: FxHashMap::default(),
            next_site: 1,
        })
    }

    /// Numbers the sites of the next file, and what they lead to.
    pub(in crate::store) fn take_in(
        &mut self,
        texts: &'g Texts,
        (record, _): (&FileRecord, &FileResolution),
        sites: &FileSites<'_>,
    ) -> Result<(), String> {
        self.first_sites.push(key(self.next_site, "sites")?);
        self.next_site += u64::from(sites.len());
        key(self.next_site, "sites")?;
        let Ok(facts) = &record.content else { return Ok(()) };
        let mut keys = FileNames::new(facts);
        for site in sites.in_order() {
            keys.get_or(site.facts.name, |name| self.intern(texts, name));
            match &site.resolution.target {
                Target::Candidates(symbols) if !self.set_keys.contains_key(&**symbols) => {
                    let next = self.candidate_sets.len() as u32 + 1;
                    let symbols = &*texts.sets.alloc_extend(symbols.iter().copied());
                    self.set_keys.insert(symbols, next);
                    self.candidate_sets.push((next, symbols));
                }
                Target::External(name) => {
                    self.intern(texts, name);
                }
                Target::None | Target::Symbol(_) | Target::File(_) | Target::Candidates(_) => {}
            }
        }
        for import in &facts.imports {
            self.intern(texts, &import.module);
            if import.item.is_some() {
                keys.get_or(import.item, |name| self.intern(texts, name));
            }
        }
        key(self.names.len() as u64, "names").map(drop)
    }

    fn intern(&mut self, texts: &'g Texts, name: &str) -> u32 {
        if let Some(&known) = self.name_keys.get(name) {
            return known;
        }
        let (next, name) = (self.names.len() as u32 + 1, texts.name(name));
        self.name_keys.insert(name, next);
        self.names.push((next, name));
        next
    }

    /// How many sites lead to a symbol.
    pub(in crate::store) fn references(&self, place: usize, symbol: LocalSymbol) -> u32 {
        self.references[place][symbol.0 as usize]
    }

    /// The key of a file.
    pub(in crate::store) fn file(&self, place: usize) -> u32 {
        self.files[place]
    }

    /// The key of a name that is in the graph.
    pub(in crate::store) fn name(&self, name: &str) -> u32 {
        *self.name_keys.get(name).expect("every name of the graph was numbered")
    }

    /// The key of a symbol.
    pub(in crate::store) fn symbol(&self, symbol: SymbolRef) -> u32 {
        self.first_symbols[symbol.file.0 as usize] + symbol.symbol.0
    }

    /// The key of a name of a file, which `names` remembers.
    pub(super) fn name_in(&self, names: &mut FileNames<'_>, name: NameId) -> u32 {
        names.get_or(name, |text| self.name(text))
    }

    /// The key of a set of candidates that is in the graph.
    pub(super) fn candidate_set(&self, symbols: &[SymbolRef]) -> u32 {
        *self.set_keys.get(symbols).expect("every set of the graph was numbered")
    }

    /// How many symbols there are.
    pub(super) fn symbol_total(&self) -> usize {
        self.references.iter().map(Vec::len).sum()
    }
}

/// The keys of the names of one file: a name has many sites, and its text is looked up once.
pub(super) struct FileNames<'g> {
    facts: &'g FileFacts,
    /// 0 where the key has not been asked for.
    keys: Vec<u32>,
    /// The key of what has no name.
    unnamed: u32,
}

impl<'g> FileNames<'g> {
    pub(in crate::store) fn new(facts: &'g FileFacts) -> Self {
        Self { facts, keys: vec![0; facts.names.len()], unnamed: 0 }
    }

    fn get_or(&mut self, name: NameId, find: impl FnOnce(&str) -> u32) -> u32 {
        let known = match name.get() {
            Some(place) => &mut self.keys[place],
            None => &mut self.unnamed,
        };
        if *known == 0 {
            *known = find(name_of(self.facts, name));
        }
        *known
    }
}

/// How many resolved and likely sites lead to each symbol, by file.
pub(in crate::store) fn references(graph: &Graph) -> Vec<Vec<u32>> {
    let mut references: Vec<Vec<u32>> =
        graph.files.iter().map(|record| vec![0; symbols_in(record)]).collect();
    for symbol in graph.resolutions.iter().flat_map(leads_to) {
        references[symbol.file.0 as usize][symbol.symbol.0 as usize] += 1;
    }
    references
}

/// The symbols that the sites of a file lead to, as far as that counts as a reference.
pub(in crate::store) fn leads_to(found: &FileResolution) -> impl Iterator<Item = SymbolRef> + '_ {
    found.sites.iter().filter_map(|resolution| match resolution.target {
        Target::Symbol(symbol) if is_stored(resolution) => Some(symbol),
        _ => None,
    })
}

/// How many symbols a file has.
pub(in crate::store) fn symbols_in(record: &FileRecord) -> usize {
    record.content.as_ref().map_or(0, |facts| facts.symbols.len())
}

/// The text of a name; empty for what has none (a pattern, an anonymous thing that sites lie in).
pub(in crate::store) fn name_of(facts: &FileFacts, name: NameId) -> &str {
    name.get().map_or("", |place| &facts.names[place])
}

pub(in crate::store) fn key(number: u64, what: &str) -> Result<u32, String> {
    // Half of the range, so that a key is a positive number everywhere.
    u32::try_from(number)
        .ok()
        .filter(|&key| key < u32::MAX / 2)
        .ok_or_else(|| format!("more {what} than a store can hold ({})", u32::MAX / 2))
}

/// Whether a site is stored: one that names a local value leads to no symbol.
pub(in crate::store) fn is_stored(resolution: &Resolution) -> bool {
    resolution.step != Step::LocalValue
}

/// A site with its answer.
#[derive(Clone, Copy)]
pub(in crate::store) struct ResolvedSite<'g> {
    /// What the file says.
    pub(in crate::store) facts: Site,
    /// What resolution says.
    pub(in crate::store) resolution: &'g Resolution,
}

impl ResolvedSite<'_> {
    /// What it is, in one number.
    pub(in crate::store) fn mark(&self) -> Mark {
        let Resolution { verdict, step, .. } = *self.resolution;
        Mark { verdict, kind: self.facts.kind, step, line: self.facts.at.line }
    }
}

/// The run of a symbol's own sites among those of its file.
#[derive(Clone, Copy, Default)]
pub(super) struct SiteSpan {
    /// The first, counted from the file's first.
    pub(in crate::store) start: u32,
    /// From the first to the last.
    pub(in crate::store) len: u32,
}

/// The sites of one file that are stored, in order of place. Those that name a local value lead to
/// no symbol and are left out.
pub(in crate::store) struct FileSites<'g> {
    sites: Vec<ResolvedSite<'g>>,
    /// The position of each among all sites of the file.
    positions: Vec<usize>,
}

impl<'g> FileSites<'g> {
    /// Those of the file at a position of the graph; none for a skipped one.
    pub(in crate::store) fn new(graph: &'g Graph, place: usize) -> Self {
        Self::of(&graph.files[place], &graph.resolutions[place])
    }

    /// Those of a file; none for a skipped one.
    pub(in crate::store) fn of(record: &FileRecord, found: &'g FileResolution) -> Self {
        let all = record.content.as_ref().map(|facts| facts.sites.list()).unwrap_or_default();
        let resolution = |position: usize| found.sites.get(position).unwrap_or(&FAULT);
        let mut positions: Vec<usize> =
            (0..all.len()).filter(|&position| is_stored(resolution(position))).collect();
        // Already in order as extraction gives them; readers rely on it.
        positions.sort_by_key(|&position| all[position].at);
        let site = |&position: &usize| ResolvedSite {
            facts: all[position],
            resolution: resolution(position),
        };
        let sites = positions.iter().map(site).collect();
        Self { sites, positions }
    }

    /// What another resolution of the same file says of the same sites.
    pub(in crate::store) fn like<'r>(
        &self,
        resolution: &'r FileResolution,
    ) -> impl Iterator<Item = &'r Resolution> {
        self.positions.iter().map(|position| resolution.sites.get(*position).unwrap_or(&FAULT))
    }

    /// How many.
    pub(in crate::store) fn len(&self) -> u32 {
        u32::try_from(self.sites.len()).expect("a file is limited to far fewer than 2^32 sites")
    }

    /// One after the other.
    pub(in crate::store) fn in_order(&self) -> impl Iterator<Item = ResolvedSite<'g>> {
        self.sites.iter().copied()
    }

    /// For each symbol of the file, where the sites are that it is the innermost symbol around.
    pub(super) fn spans(&self, symbols: usize) -> Vec<SiteSpan> {
        let mut spans = vec![SiteSpan::default(); symbols];
        for (number, site) in (0_u32..).zip(&self.sites) {
            if let Some(span) =
                site.facts.enclosing.get().and_then(|enclosing| spans.get_mut(enclosing))
            {
                if span.len == 0 {
                    span.start = number;
                }
                span.len = number - span.start + 1;
            }
        }
        spans
    }

    /// The other files that sites and imports of this one lead to, with how many do, in order.
    pub(in crate::store) fn file_edges(
        &self,
        found: &FileResolution,
        place: usize,
    ) -> Vec<(usize, u32)> {
        let by_site = self.sites.iter().filter_map(|site| match &site.resolution.target {
            Target::Symbol(symbol) => Some(symbol.file),
            Target::File(file) => Some(*file),
            Target::None | Target::Candidates(_) | Target::External(_) => None,
        });
        let imports = found.imports.iter().copied().flatten();
        let mut targets: Vec<usize> = by_site
            .chain(imports)
            .map(|file| file.0 as usize)
            .filter(|&file| file != place)
            .collect();
        targets.sort_unstable();
        targets.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
    }
}
