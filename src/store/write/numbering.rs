//! The numbers that rows get, fixed before the first row is written: keys of names, symbols, sites and sets of candidates.
//!
//! Everything is numbered in the order of files, so that equal graphs give equal stores.

use rustc_hash::FxHashMap;

use crate::model::facts::{FileFacts, NameId, Site};
use crate::model::graph::{Graph, Resolution, SymbolRef, Target};
use crate::model::{Step, Verdict};

/// What resolution said of a file that it has no entry for.
static FAULT: Resolution = Resolution { verdict: Verdict::Unresolved, step: Step::Fault, target: Target::None };

/// Every key of a store.
pub(super) struct Numbering<'g> {
    /// Names by key, from key 1. Those of symbols come first.
    pub(super) names: Vec<&'g str>,
    /// How many names symbols have.
    pub(super) symbol_names: usize,
    /// The first symbol key of each file.
    pub(super) first_symbols: Vec<u32>,
    /// The first site key of each file.
    pub(super) first_sites: Vec<u32>,
    /// Resolved and likely sites of each symbol, by key from key 1.
    pub(super) references: Vec<u32>,
    /// Distinct sets of candidates by key, from key 1.
    pub(super) candidate_sets: Vec<&'g [SymbolRef]>,
    name_keys: FxHashMap<&'g str, u32>,
    set_keys: FxHashMap<&'g [SymbolRef], u32>,
}

impl<'g> Numbering<'g> {
    /// Numbers a graph. The error says which limit of the format it breaks.
    pub(super) fn new(graph: &'g Graph) -> Result<Self, String> {
        let mut numbering = Self {
            names: Vec::new(),
            symbol_names: 0,
            first_symbols: Vec::with_capacity(graph.files.len()),
            first_sites: Vec::with_capacity(graph.files.len()),
            references: Vec::new(),
            candidate_sets: Vec::new(),
            name_keys: FxHashMap::default(),
            set_keys: FxHashMap::default(),
        };
        let mut next = 1_u64;
        for record in &graph.files {
            numbering.first_symbols.push(key(next, "symbols")?);
            if let Ok(facts) = &record.content {
                next += facts.symbols.len() as u64;
                for symbol in &facts.symbols {
                    numbering.intern(name_of(facts, symbol.name));
                }
            }
        }
        key(next, "symbols")?;
        numbering.symbol_names = numbering.names.len();
        numbering.references = vec![0; usize::try_from(next - 1).expect("symbols are limited to 32 bits")];
        let mut next = 1_u64;
        for (place, record) in graph.files.iter().enumerate() {
            numbering.first_sites.push(key(next, "sites")?);
            if let Ok(facts) = &record.content {
                next += numbering.take_in(graph, place, facts);
            }
        }
        key(next, "sites")?;
        key(numbering.names.len() as u64, "names")?;
        Ok(numbering)
    }

    fn take_in(&mut self, graph: &'g Graph, place: usize, facts: &'g FileFacts) -> u64 {
        let sites = FileSites::new(graph, place);
        for site in sites.in_order() {
            self.intern(name_of(facts, site.facts.name));
            match &site.resolution.target {
                Target::Symbol(symbol) => {
                    let key = self.symbol(*symbol);
                    self.references[key as usize - 1] += 1;
                }
                Target::Candidates(symbols) => {
                    let next = self.candidate_sets.len() as u32 + 1;
                    if *self.set_keys.entry(symbols).or_insert(next) == next {
                        self.candidate_sets.push(symbols);
                    }
                }
                Target::External(name) => self.intern(name),
                Target::None | Target::File(_) => {}
            }
        }
        for import in &facts.imports {
            self.intern(&import.module);
            if import.item.is_some() {
                self.intern(name_of(facts, import.item));
            }
        }
        u64::from(sites.len())
    }

    fn intern(&mut self, name: &'g str) {
        let next = self.names.len() as u32 + 1;
        if *self.name_keys.entry(name).or_insert(next) == next {
            self.names.push(name);
        }
    }

    /// The key of a file.
    pub(super) fn file(&self, place: usize) -> u32 {
        place as u32 + 1
    }

    /// The key of a name that is in the graph.
    pub(super) fn name(&self, name: &str) -> u32 {
        *self.name_keys.get(name).expect("every name of the graph was numbered")
    }

    /// The key of a symbol.
    pub(super) fn symbol(&self, symbol: SymbolRef) -> u32 {
        self.first_symbols[symbol.file.0 as usize] + symbol.symbol.0
    }

    /// The key of a set of candidates that is in the graph.
    pub(super) fn candidate_set(&self, symbols: &[SymbolRef]) -> u32 {
        *self.set_keys.get(symbols).expect("every set of the graph was numbered")
    }

    /// How many symbols there are.
    pub(super) fn symbol_total(&self) -> usize {
        self.references.len()
    }
}

/// The text of a name; empty for what has none (a pattern, an anonymous thing that sites lie in).
pub(super) fn name_of(facts: &FileFacts, name: NameId) -> &str {
    name.get().map_or("", |place| &facts.names[place])
}

fn key(number: u64, what: &str) -> Result<u32, String> {
    // Half of the range, so that a key is a positive number everywhere.
    u32::try_from(number)
        .ok()
        .filter(|&key| key < u32::MAX / 2)
        .ok_or_else(|| format!("more {what} than a store can hold ({})", u32::MAX / 2))
}

/// A site with its answer.
#[derive(Clone, Copy)]
pub(super) struct ResolvedSite<'g> {
    /// What the file says.
    pub(super) facts: &'g Site,
    /// What resolution says.
    pub(super) resolution: &'g Resolution,
}

/// The run of a symbol's own sites among those of its file.
#[derive(Clone, Copy, Default)]
pub(super) struct SiteSpan {
    /// The first, counted from the file's first.
    pub(super) start: u32,
    /// From the first to the last.
    pub(super) len: u32,
}

/// The sites of one file that are stored, in order of place. Those that name a local value lead to no symbol and are left out.
pub(super) struct FileSites<'g> {
    sites: Vec<ResolvedSite<'g>>,
}

impl<'g> FileSites<'g> {
    /// Those of the file at a position of the graph; none for a skipped one.
    pub(super) fn new(graph: &'g Graph, place: usize) -> Self {
        let resolutions = graph.resolutions.get(place).map(|found| found.sites.as_slice()).unwrap_or_default();
        let all = graph.files[place].content.as_ref().map(|facts| facts.sites.as_slice()).unwrap_or_default();
        let mut sites: Vec<_> = all
            .iter()
            .enumerate()
            .map(|(number, facts)| ResolvedSite { facts, resolution: resolutions.get(number).unwrap_or(&FAULT) })
            .filter(|site| site.resolution.step != Step::LocalValue)
            .collect();
        // Already in order as extraction gives them; readers rely on it.
        sites.sort_by_key(|site| site.facts.at);
        Self { sites }
    }

    /// How many.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.sites.len()).expect("a file is limited to far fewer than 2^32 sites")
    }

    /// One after the other.
    pub(super) fn in_order(&self) -> impl Iterator<Item = ResolvedSite<'g>> {
        self.sites.iter().copied()
    }

    /// For each symbol of the file, where the sites are that it is the innermost symbol around.
    pub(super) fn spans(&self, symbols: usize) -> Vec<SiteSpan> {
        let mut spans = vec![SiteSpan::default(); symbols];
        for (number, site) in (0_u32..).zip(&self.sites) {
            if let Some(span) = site.facts.enclosing.get().and_then(|enclosing| spans.get_mut(enclosing)) {
                if span.len == 0 {
                    span.start = number;
                }
                span.len = number - span.start + 1;
            }
        }
        spans
    }

    /// The other files that sites and imports of this one lead to, with how many do, in order.
    pub(super) fn file_edges(&self, graph: &Graph, place: usize) -> Vec<(usize, u32)> {
        let by_site = self.sites.iter().filter_map(|site| match &site.resolution.target {
            Target::Symbol(symbol) => Some(symbol.file),
            Target::File(file) => Some(*file),
            Target::None | Target::Candidates(_) | Target::External(_) => None,
        });
        let imports = graph.resolutions.get(place).map(|found| found.imports.as_slice()).unwrap_or_default();
        let mut targets: Vec<usize> =
            by_site.chain(imports.iter().copied().flatten()).map(|file| file.0 as usize).filter(|&file| file != place).collect();
        targets.sort_unstable();
        targets.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect()
    }
}
