//! Encoding of a file's resolution. Files are identified by persistent keys, not by positions.

use rustc_hash::FxHashMap;

use super::{Pass, Reader, Writer};
use crate::facts::{LocalSymbol, SiteId};
use crate::graph::{FileId, FileKey, FileResolution, Relation, Resolution, SymbolRef, Target};
use crate::{RelationKind, Step, Verdict};

/// Encodes a resolution. `key_of` returns a file's key.
pub fn write(writer: &mut Writer, found: &FileResolution, key_of: &impl Fn(FileId) -> FileKey) {
    let mut files = Writing { key_of, sets: FxHashMap::default() };
    pass_over(writer, found, &mut files).expect("writing does not fail");
}

/// Decodes a resolution. `position` returns the file of a key; decoding fails if it does not exist
/// any more.
pub fn read(
    reader: &mut Reader<'_>,
    position: &impl Fn(FileKey) -> Option<FileId>,
) -> Option<FileResolution> {
    pass_over(reader, &FileResolution::default(), &mut Reading { position, sets: Vec::new() })
}

/// File keys, and candidate sets written before.
trait Files {
    fn number(&self, file: FileId) -> u32;
    fn file(&self, number: u32) -> Option<FileId>;
    /// Returns the number of a set, and whether it was written before.
    fn set(&mut self, symbols: &[SymbolRef]) -> (u64, bool);
    fn known(&self, set: u64) -> Option<&[SymbolRef]>;
    fn learn(&mut self, symbols: &[SymbolRef]);
}

struct Writing<'f, F> {
    key_of: &'f F,
    sets: FxHashMap<Box<[SymbolRef]>, u64>,
}

impl<F: Fn(FileId) -> FileKey> Files for Writing<'_, F> {
    fn number(&self, file: FileId) -> u32 {
        (self.key_of)(file).0
    }

    fn file(&self, _number: u32) -> Option<FileId> {
        Some(FileId(0))
    }

    fn set(&mut self, symbols: &[SymbolRef]) -> (u64, bool) {
        if let Some(&set) = self.sets.get(symbols) {
            return (set, true);
        }
        let next = self.sets.len() as u64;
        self.sets.insert(symbols.into(), next);
        (next, false)
    }

    fn known(&self, _set: u64) -> Option<&[SymbolRef]> {
        Some(&[])
    }

    fn learn(&mut self, _symbols: &[SymbolRef]) {}
}

struct Reading<'f, F> {
    position: &'f F,
    sets: Vec<Box<[SymbolRef]>>,
}

impl<F: Fn(FileKey) -> Option<FileId>> Files for Reading<'_, F> {
    fn number(&self, _file: FileId) -> u32 {
        0
    }

    fn file(&self, number: u32) -> Option<FileId> {
        (self.position)(FileKey(number))
    }

    fn set(&mut self, _symbols: &[SymbolRef]) -> (u64, bool) {
        (0, true)
    }

    fn known(&self, set: u64) -> Option<&[SymbolRef]> {
        self.sets.get(usize::try_from(set).ok()?).map(|set| &**set)
    }

    fn learn(&mut self, symbols: &[SymbolRef]) {
        self.sets.push(symbols.into());
    }
}

const NO_FILE: FileId = FileId(0);
const NO_SYMBOL: SymbolRef = SymbolRef { file: NO_FILE, symbol: LocalSymbol::NONE };
const NO_RELATION: Relation =
    Relation { kind: RelationKind::ALL[0], from: NO_SYMBOL, to: NO_SYMBOL };
const NO_RESOLUTION: Resolution =
    Resolution { verdict: Verdict::Unresolved, step: Step::Fault, target: Target::None };

fn pass_over<P: Pass>(
    pass: &mut P,
    found: &FileResolution,
    files: &mut impl Files,
) -> Option<FileResolution> {
    let mut before = 0;
    Some(FileResolution {
        sites: pass.list(&found.sites, &NO_RESOLUTION, |pass, item| {
            resolution(pass, item, files, &mut before)
        })?,
        holders: pass.list(
            &found.holders,
            &(SiteId::NONE, NO_RESOLUTION),
            |pass, (site, holder)| {
                Some((SiteId(pass.id(site.0)?), resolution(pass, holder, files, &mut before)?))
            },
        )?,
        imports: pass.list(&found.imports, &None, |pass, target| {
            let found = pass.flag(target.is_some())?;
            Some(if found {
                Some(file(pass, target.unwrap_or(NO_FILE), files, &mut before)?)
            } else {
                None
            })
        })?,
        relations: pass.list(&found.relations, &NO_RELATION, |pass, relation| {
            Some(Relation {
                kind: pass.one_of(relation.kind, RelationKind::ALL)?,
                from: symbol(pass, relation.from, files, &mut before)?,
                to: symbol(pass, relation.to, files, &mut before)?,
            })
        })?,
        containers: pass.list(
            &found.containers,
            &(LocalSymbol::NONE, NO_SYMBOL),
            |pass, (member, ty)| {
                Some((LocalSymbol(pass.id(member.0)?), symbol(pass, *ty, files, &mut before)?))
            },
        )?,
    })
}

fn file<P: Pass>(
    pass: &mut P,
    file: FileId,
    files: &impl Files,
    before: &mut u32,
) -> Option<FileId> {
    let number = pass.near(files.number(file), *before)?;
    *before = number;
    files.file(number)
}

fn symbol<P: Pass>(
    pass: &mut P,
    symbol: SymbolRef,
    files: &impl Files,
    before: &mut u32,
) -> Option<SymbolRef> {
    Some(SymbolRef {
        file: file(pass, symbol.file, files, before)?,
        symbol: LocalSymbol(pass.id(symbol.symbol.0)?),
    })
}

/// Number of kinds of targets.
const KINDS: u64 = 5;

fn resolution<P: Pass>(
    pass: &mut P,
    found: &Resolution,
    files: &mut impl Files,
    before: &mut u32,
) -> Option<Resolution> {
    let kind = match &found.target {
        Target::None => 0,
        Target::Symbol(_) => 1,
        Target::Candidates(_) => 2,
        Target::External(_) => 3,
        Target::File(_) => 4,
    };
    let verdicts = Verdict::ALL.len() as u64;
    let head = pass.number((found.step as u64 * verdicts + found.verdict as u64) * KINDS + kind)?;
    let verdict = *Verdict::ALL.get((head / KINDS % verdicts) as usize)?;
    let step = *Step::ALL.get(usize::try_from(head / KINDS / verdicts).ok()?)?;
    let target = match (head % KINDS, &found.target) {
        (0, _) => Target::None,
        (1, Target::Symbol(target)) => Target::Symbol(symbol(pass, *target, files, before)?),
        (1, _) => Target::Symbol(symbol(pass, NO_SYMBOL, files, before)?),
        (2, Target::Candidates(symbols)) => {
            Target::Candidates(candidates(pass, symbols, files, before)?)
        }
        (2, _) => Target::Candidates(candidates(pass, &[], files, before)?),
        (3, Target::External(name)) => Target::External(pass.word(name)?),
        (3, _) => Target::External(pass.word("")?),
        (_, Target::File(target)) => Target::File(file(pass, *target, files, before)?),
        _ => Target::File(file(pass, NO_FILE, files, before)?),
    };
    Some(Resolution { verdict, step, target })
}

/// Many sites of a file have the same candidates: each set is written once.
fn candidates<P: Pass>(
    pass: &mut P,
    symbols: &[SymbolRef],
    files: &mut impl Files,
    before: &mut u32,
) -> Option<Box<[SymbolRef]>> {
    let (set, is_known) = files.set(symbols);
    let set = pass.number(if is_known { set + 1 } else { 0 })?;
    if set > 0 {
        return files.known(set - 1).map(Box::from);
    }
    let mut near = *before;
    let symbols =
        pass.list(symbols, &NO_SYMBOL, |pass, item| symbol(pass, *item, files, &mut near))?;
    *before = near;
    // An encoder's list is empty here, and the set is known.
    files.learn(&symbols);
    Some(symbols.into())
}
