//! Edges that a compiler states replace what was inferred for a reference, as long as their targets
//! are there.

use crate::units::interner::Name;
use crate::workspace::program::Program;
use cograph_model::facts::{FileFacts, LocalSymbol, Site, SiteId, Symbol, flags};
use cograph_model::graph::{FileId, FileResolution, Resolution, SymbolRef, Target};
use cograph_model::stated::{Stated, StatedEdge, StatedFile, StatedSymbol, StatedTarget};
use cograph_model::{Position, SiteKind, Step, SymbolKind, Verdict};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Targets of an edge that are there.
enum LedTo {
    Symbols(Vec<SymbolRef>),
    File(FileId),
}

/// Replaces the results of the references that edges are stated for.
pub(super) fn apply(
    program: &Program<'_>,
    file: FileId,
    (stated, of_file): (&Stated, &StatedFile),
    sites: &[Site],
    result: &mut FileResolution,
) {
    let Some(unit) = program.unit(file) else { return };
    // The bytes were made for this content: damage means that nothing is stated.
    let edges = of_file.edges().unwrap_or_default();
    let own = by_position(unit.facts);
    let mut others = Others { program, stated, known: FxHashMap::default() };
    for edge in &edges {
        let first = sites.partition_point(|site| site.at < edge.at);
        let here = sites[first..].iter().take_while(|site| site.at == edge.at).count();
        if here == 0 {
            continue;
        }
        let Some(found) = others.targets(file, edge, &own) else { continue };
        let here = first..first + here;
        match &found {
            LedTo::File(to) => {
                here.for_each(|at| lead_to_file(sites[at].kind, &mut result.sites[at], *to));
            }
            LedTo::Symbols(to) => share(program, here, sites, result, to),
        }
    }
}

/// Gives the references at one place the stated targets. If several stand there (a shorthand reads
/// a value and writes a member), those that lead to some of the targets keep these, and the others
/// get the rest; if none does, the targets are of what is read.
fn share(
    program: &Program<'_>,
    here: Range<usize>,
    sites: &[Site],
    result: &mut FileResolution,
    to: &[SymbolRef],
) {
    let own = |result: &FileResolution, at: usize| -> Vec<SymbolRef> {
        let own = result.sites[at].targets();
        own.iter().copied().filter(|symbol| to.contains(symbol)).collect()
    };
    let is_one = here.len() == 1;
    let known: Vec<Vec<SymbolRef>> = here.clone().map(|at| own(result, at)).collect();
    let is_known = !is_one && known.iter().any(|own| !own.is_empty());
    let is_read = |at: usize| sites[at].kind != SiteKind::Write;
    let has_reads = here.clone().any(is_read);
    let rest: Vec<SymbolRef> =
        to.iter().copied().filter(|one| !known.iter().any(|own| own.contains(one))).collect();
    for (at, own) in here.zip(&known) {
        let to = match is_known {
            _ if is_one => to,
            true if own.is_empty() => &rest,
            true => own,
            false if is_read(at) || !has_reads => to,
            false => &[],
        };
        let holder = holder(&mut result.holders, SiteId::at(at));
        lead_to(program, sites[at].kind, &mut result.sites[at], holder, to);
    }
}

/// Symbols by the positions of their names.
fn by_position(facts: &FileFacts) -> FxHashMap<Position, LocalSymbol> {
    let details = facts.details.iter().enumerate();
    details.rev().map(|(place, details)| (details.name_at, LocalSymbol::at(place))).collect()
}

fn holder(holders: &mut [(SiteId, Resolution)], site: SiteId) -> Option<&mut Resolution> {
    let place = holders.binary_search_by_key(&site, |(site, _)| *site).ok()?;
    Some(&mut holders[place].1)
}

/// Symbols of other files, by their names.
struct Others<'p, 'a> {
    program: &'p Program<'a>,
    stated: &'p Stated,
    known: FxHashMap<u32, Option<SymbolRef>>,
}

impl Others<'_, '_> {
    /// All targets of an edge; none if one of them is not there.
    fn targets(
        &mut self,
        file: FileId,
        edge: &StatedEdge,
        own: &FxHashMap<Position, LocalSymbol>,
    ) -> Option<LedTo> {
        let mut symbols = Vec::with_capacity(edge.targets.len());
        for target in &edge.targets {
            symbols.push(match target {
                StatedTarget::Own(at) => SymbolRef { file, symbol: *own.get(at)? },
                StatedTarget::Symbol(number) => self.symbol(*number)?,
                StatedTarget::File(number) => {
                    let path = self.stated.paths.get(*number as usize)?;
                    let found = self.program.stated_file(path)?;
                    return (edge.targets.len() == 1).then_some(LedTo::File(found));
                }
            });
        }
        symbols.sort_unstable();
        symbols.dedup();
        (!symbols.is_empty()).then_some(LedTo::Symbols(symbols))
    }

    fn symbol(&mut self, number: u32) -> Option<SymbolRef> {
        if let Some(known) = self.known.get(&number) {
            return *known;
        }
        let found = self.stated.symbols.get(number as usize).and_then(|one| self.named(one));
        self.known.insert(number, found);
        found
    }

    /// The symbol of these names, if there are as many as there were.
    fn named(&self, wanted: &StatedSymbol) -> Option<SymbolRef> {
        let program = self.program;
        let file = program.stated_file(&wanted.path)?;
        let names: Vec<Name> = wanted.names.iter().map(|name| program.named(name)).collect();
        // Functions of another file may change alone: these names are what this depends on.
        names.iter().for_each(|name| program.record_bound(*name));
        let unit = program.unit(file)?;
        let symbols = &unit.facts.symbols;
        let has_names = |symbol: &Symbol| {
            let mut next = Some(symbol);
            let fits = names.iter().rev().all(|name| {
                let Some(symbol) = next else { return false };
                next = symbol.container.get().and_then(|place| symbols.get(place));
                unit.name(symbol.name) == *name
            });
            fits && next.is_none()
        };
        let found: Vec<usize> =
            (0..symbols.len()).filter(|place| has_names(&symbols[*place])).collect();
        let place = found.get(wanted.number as usize)?;
        let symbol = LocalSymbol::at(*place);
        (found.len() == wanted.count as usize).then_some(SymbolRef { file, symbol })
    }
}

fn lead_to_file(kind: SiteKind, site: &mut Resolution, file: FileId) {
    if !matches!(kind, SiteKind::Call | SiteKind::Construct) {
        *site =
            Resolution { verdict: Verdict::Resolved, step: Step::Scip, target: Target::File(file) };
    }
}

/// Gives a reference the stated targets. An inference that says more than the statement stays: the
/// function behind a variable, the constructor of a type.
fn lead_to(
    program: &Program<'_>,
    kind: SiteKind,
    site: &mut Resolution,
    holder: Option<&mut Resolution>,
    to: &[SymbolRef],
) {
    let mut to = to.to_vec();
    if let Some(holder) = holder {
        let held = holder.targets().to_vec();
        if held.iter().any(|symbol| to.contains(symbol)) {
            holder.step = Step::Scip;
            to.retain(|symbol| !held.contains(symbol));
        }
    }
    let is_call = matches!(kind, SiteKind::Call | SiteKind::Construct);
    let is_same = site.targets() == to.as_slice();
    if to.is_empty() || (is_call && !is_same && to.iter().all(|one| is_value(program, *one))) {
        return;
    }
    let makes_it = |own: &SymbolRef| {
        program.symbol(*own).kind == SymbolKind::Constructor
            && to.contains(&program.container_or_own(*own))
    };
    if is_call && !site.targets().is_empty() && site.targets().iter().all(makes_it) {
        (site.verdict, site.step) = (Verdict::Resolved, Step::Scip);
        return;
    }
    let target = match to[..] {
        [only] => Target::Symbol(only),
        _ => Target::Candidates(to.into()),
    };
    *site = Resolution { verdict: Verdict::Resolved, step: Step::Scip, target };
}

/// True for a variable or field that is no function itself.
fn is_value(program: &Program<'_>, symbol: SymbolRef) -> bool {
    let symbol = program.symbol(symbol);
    let is_value =
        matches!(symbol.kind, SymbolKind::Variable | SymbolKind::Constant | SymbolKind::Field);
    is_value && symbol.flags & flags::FUNCTION_VALUE == 0
}
