//! Key assignment before the first row is written: names, symbols, sites and candidate sets.
//!
//! Keys follow the order of files, so that equal graphs give equal stores.

use rustc_hash::{FxHashMap, FxHashSet};
use typed_arena::Arena;

use crate::format::columns::Mark;
use crate::format::front_coding;
use cograph_model::facts::{FileFacts, LocalSymbol, NameId, Site};
use cograph_model::graph::{
    FileId, FileRecord, FileResolution, Graph, Resolution, SymbolRef, Target,
};
use cograph_model::{SiteKind, Step, Verdict};

/// Resolution of a site without an entry.
static FAULT: Resolution =
    Resolution { verdict: Verdict::Unresolved, step: Step::Fault, target: Target::None };

/// Data of all files that must be known before the first is written.
#[derive(Debug)]
pub struct Outline {
    /// Distinct names of symbols.
    pub symbol_names: Vec<Box<str>>,
    /// Number of stored references to each symbol, by file.
    pub references: Vec<Vec<u32>>,
}

impl Outline {
    /// Outline of a graph.
    pub(crate) fn of(graph: &Graph) -> Self {
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

/// Keys of a store.
pub(crate) struct Numbering<'g> {
    /// Names to add, with their keys. In a new store the names of symbols come first, in the order
    /// of `front_coding::order`.
    pub(crate) names: Vec<(u32, &'g str)>,
    /// Number of distinct symbol names.
    pub(crate) symbol_names: usize,
    /// Key of each file.
    pub(crate) files: Vec<u32>,
    /// First symbol key of each file.
    pub(crate) first_symbols: Vec<u32>,
    /// First site key of each file.
    pub(crate) first_sites: Vec<u32>,
    /// Number of resolved and likely sites of each symbol, by file, for files that are written.
    pub(crate) references: Vec<Vec<u32>>,
    /// Distinct candidate sets to add, with their keys.
    pub(crate) candidate_sets: Vec<(u32, &'g [SymbolRef])>,
    pub(crate) name_keys: FxHashMap<&'g str, u32>,
    pub(crate) set_keys: FxHashMap<&'g [SymbolRef], u32>,
    /// First site key of the next file.
    pub(crate) next_site: u64,
}

/// Interned values with their keys.
#[derive(Default)]
pub(crate) struct Texts {
    names: Arena<u8>,
    sets: Arena<SymbolRef>,
}

impl Texts {
    fn name(&self, name: &str) -> &str {
        self.names.alloc_str(name)
    }
}

impl<'g> Numbering<'g> {
    /// Assigns keys to files, symbols and symbol names. The error names the exceeded limit of the
    /// format.
    pub(crate) fn new(outline: Outline, texts: &'g Texts) -> Result<Self, String> {
        let Outline { symbol_names, references } = outline;
        let mut names: Vec<&'g str> = symbol_names.iter().map(|name| texts.name(name)).collect();
        drop(symbol_names);
        // Sorted: readers find a symbol name by binary search.
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

    /// Assigns keys to the sites of the next file and their targets.
    pub(crate) fn assign(
        &mut self,
        texts: &'g Texts,
        record: &FileRecord,
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

    /// Number of references to a symbol.
    pub(crate) fn references(&self, place: usize, symbol: LocalSymbol) -> u32 {
        self.references[place][symbol.0 as usize]
    }

    /// Key of a file.
    pub(crate) fn file(&self, place: usize) -> u32 {
        self.files[place]
    }

    /// Key of a name in the graph.
    pub(crate) fn name(&self, name: &str) -> u32 {
        *self.name_keys.get(name).expect("every name of the graph was numbered")
    }

    /// Key of a symbol.
    pub(crate) fn symbol(&self, symbol: SymbolRef) -> u32 {
        self.first_symbols[symbol.file.0 as usize] + symbol.symbol.0
    }

    /// Key of a name of a file, memoized in `names`.
    pub(super) fn name_in(&self, names: &mut FileNames<'_>, name: NameId) -> u32 {
        names.get_or(name, |text| self.name(text))
    }

    /// Key of a candidate set in the graph.
    pub(super) fn candidate_set(&self, symbols: &[SymbolRef]) -> u32 {
        *self.set_keys.get(symbols).expect("every set of the graph was numbered")
    }

    /// Number of symbols.
    pub(super) fn symbol_total(&self) -> usize {
        self.references.iter().map(Vec::len).sum()
    }
}

/// Memo of the keys of one file's names: a name has many sites but is looked up once.
pub(super) struct FileNames<'g> {
    facts: &'g FileFacts,
    /// 0 if not looked up yet.
    keys: Vec<u32>,
    /// Key of the empty name.
    unnamed: u32,
}

impl<'g> FileNames<'g> {
    pub(crate) fn new(facts: &'g FileFacts) -> Self {
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

/// Number of resolved and likely sites of each symbol, by file.
pub(crate) fn references(graph: &Graph) -> Vec<Vec<u32>> {
    let mut references: Vec<Vec<u32>> =
        graph.files.iter().map(|record| vec![0; symbols_in(record)]).collect();
    for symbol in graph.resolutions.iter().flat_map(FileResolution::targets) {
        references[symbol.file.0 as usize][symbol.symbol.0 as usize] += 1;
    }
    references
}

/// Number of symbols of a file.
pub(crate) fn symbols_in(record: &FileRecord) -> usize {
    record.content.as_ref().map_or(0, |facts| facts.symbols.len())
}

/// Text of a name; empty for unnamed things (a pattern, an anonymous enclosing scope).
pub(crate) fn name_of(facts: &FileFacts, name: NameId) -> &str {
    name.get().map_or("", |place| &facts.names[place])
}

pub(crate) fn key(number: u64, what: &str) -> Result<u32, String> {
    // Half of the range, so that a key is positive as a signed integer.
    u32::try_from(number)
        .ok()
        .filter(|&key| key < u32::MAX / 2)
        .ok_or_else(|| format!("more {what} than a store can hold ({})", u32::MAX / 2))
}

/// True if a site is stored: sites of local values have no target symbol.
pub(crate) fn is_stored(resolution: &Resolution) -> bool {
    resolution.step != Step::LocalValue
}

/// Site with its resolution.
#[derive(Clone, Copy)]
pub(crate) struct ResolvedSite<'g> {
    /// Site in the facts.
    pub(crate) facts: Site,
    /// Its resolution.
    pub(crate) resolution: &'g Resolution,
}

impl ResolvedSite<'_> {
    /// Packed properties.
    pub(crate) fn mark(&self) -> Mark {
        let Resolution { verdict, step, .. } = *self.resolution;
        Mark { verdict, kind: self.facts.kind, step, line: self.facts.at.line }
    }
}

/// Range of a symbol's own sites within its file.
#[derive(Clone, Copy, Default)]
pub(super) struct SiteSpan {
    /// First, relative to the file's first site.
    pub(crate) start: u32,
    /// Length from the first to the last.
    pub(crate) len: u32,
}

/// Stored sites of one file, in order of position, with the reads of variables that hold what a
/// site leads to. Sites of local values are excluded.
pub(crate) struct FileSites<'g> {
    sites: Vec<ResolvedSite<'g>>,
    /// Index of each among all sites of the file, then among the holders.
    positions: Vec<Place>,
}

/// Index of a resolution.
#[derive(Clone, Copy)]
enum Place {
    /// Among those of the sites.
    Site(usize),
    /// Among those of the holders.
    Holder(usize),
}

impl Place {
    fn of(self, found: &FileResolution) -> &Resolution {
        match self {
            Self::Site(position) => found.sites.get(position),
            Self::Holder(position) => found.holders.get(position).map(|(_, holder)| holder),
        }
        .unwrap_or(&FAULT)
    }
}

impl<'g> FileSites<'g> {
    /// Sites of a file; none if it was skipped.
    pub(crate) fn of(record: &FileRecord, found: &'g FileResolution) -> Self {
        let all = record.content.as_ref().map(|facts| facts.sites.list()).unwrap_or_default();
        let is_kept = |position: &usize| is_stored(Place::Site(*position).of(found));
        let own =
            (0..all.len()).filter(is_kept).map(|position| (Place::Site(position), all[position]));
        let holders = found.holders.iter().enumerate().filter_map(|(position, (site, _))| {
            let site = *all.get(site.get()?)?;
            Some((Place::Holder(position), Site { kind: SiteKind::Read, ..site }))
        });
        let mut all: Vec<(Place, Site)> = own.chain(holders).collect();
        // Extraction yields this order already but for the holders; readers rely on it.
        all.sort_by_key(|(_, site)| site.at);
        let site = |(place, facts): &(Place, Site)| ResolvedSite {
            facts: *facts,
            resolution: place.of(found),
        };
        let sites = all.iter().map(site).collect();
        Self { sites, positions: all.into_iter().map(|(place, _)| place).collect() }
    }

    /// The same sites under another resolution of the file.
    pub(crate) fn like<'r>(
        &self,
        resolution: &'r FileResolution,
    ) -> impl Iterator<Item = &'r Resolution> {
        self.positions.iter().map(|place| place.of(resolution))
    }

    /// Number of sites.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.sites.len()).expect("a file is limited to far fewer than 2^32 sites")
    }

    /// Sites in order.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = ResolvedSite<'g>> {
        self.sites.iter().copied()
    }

    /// For each symbol, the range of the sites whose innermost enclosing symbol it is.
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

    /// Other files targeted by sites and imports, with their counts and the bits of the imports,
    /// sorted. `targets` and `sorts` have the target and the bits of each import.
    pub(crate) fn file_edges(
        &self,
        place: usize,
        targets: &[Option<FileId>],
        sorts: &[u8],
    ) -> Vec<(usize, u32, u8)> {
        let by_site = self.sites.iter().flat_map(|site| {
            let file = match &site.resolution.target {
                Target::File(file) => Some(*file),
                _ => None,
            };
            let symbols = site.resolution.targets().iter();
            file.into_iter().chain(symbols.map(|symbol| symbol.file))
        });
        let imports = targets.iter().enumerate().filter_map(|(import, target)| {
            Some(((*target)?, sorts.get(import).copied().unwrap_or_default()))
        });
        let mut targets: Vec<(usize, u8)> = by_site
            .map(|file| (file, 0))
            .chain(imports)
            .map(|(file, sort)| (file.0 as usize, sort))
            .filter(|&(file, _)| file != place)
            .collect();
        targets.sort_unstable();
        let bits = |run: &[(usize, u8)]| run.iter().fold(0, |bits, (_, sort)| bits | sort);
        let edge = |run: &[(usize, u8)]| (run[0].0, run.len() as u32, bits(run));
        targets.chunk_by(|a, b| a.0 == b.0).map(edge).collect()
    }
}
