//! References and calls, in the order of their targets.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::schema;
use super::symbols::Package;
use super::tables::{Destination, Rows};
use super::texts::{NONE, Texts};
use crate::export::ExportError;
use crate::names::{SymbolNames, package_of};
use cograph_model::{SiteKind, Step, Verdict};
use cograph_store::{FileKey, NameKey, SiteKey, SiteRow, SiteTarget, Snapshot, SymbolKey};

/// Reference that is to be sorted.
#[derive(Clone, Copy)]
struct Reference {
    /// Number of the target's SCIP symbol; `NONE` for none.
    target: u32,
    place: u32,
    line: u32,
    column: u32,
    target_id: Option<SymbolKey>,
    source_id: Option<SymbolKey>,
    name: NameKey,
    kind: SiteKind,
    verdict: Verdict,
    step: Step,
}

/// Names outside, as files of one directory and language write them.
#[derive(Default)]
struct Outside {
    directory: String,
    language: String,
    /// Numbers of their SCIP symbols by name, and whether it is built in.
    numbers: FxHashMap<(NameKey, bool), u32>,
}

/// References of a repository.
pub(crate) struct References<'r, 's> {
    snapshot: &'r Snapshot,
    names: &'r mut SymbolNames<'s>,
    texts: Texts,
    references: Vec<Reference>,
    outside: Outside,
    /// References by the number of a SCIP symbol outside.
    uses: FxHashMap<u32, u64>,
}

impl<'r, 's> References<'r, 's> {
    pub(crate) fn new(
        snapshot: &'r Snapshot,
        names: &'r mut SymbolNames<'s>,
        texts: Texts,
    ) -> Self {
        let (references, uses) = (Vec::new(), FxHashMap::default());
        Self { snapshot, names, texts, references, outside: Outside::default(), uses }
    }

    /// Reads the references of all files, in the order of their places.
    pub(crate) fn read(&mut self) -> Result<(), ExportError> {
        for place in 0..self.names.files.len() {
            let file = &self.names.files[place];
            if file.skipped.is_some() || file.sites == 0 {
                continue;
            }
            let sites = self.snapshot.sites_of(file)?;
            let files = self.snapshot.site_files_of(file)?.into_iter().collect();
            for site in &sites {
                self.site(place, site, &files)?;
            }
        }
        Ok(())
    }

    /// Keeps the references of a site. `files` has those that sites refer to as a whole.
    fn site(
        &mut self,
        place: usize,
        site: &SiteRow,
        files: &FxHashMap<SiteKey, FileKey>,
    ) -> Result<(), ExportError> {
        let mut reference = Reference {
            target: NONE,
            place: place as u32,
            line: site.at.line,
            column: site.at.column,
            target_id: None,
            source_id: site.enclosing,
            name: site.name,
            kind: site.kind,
            verdict: site.verdict,
            step: site.step,
        };
        let has_targets = matches!(site.verdict, Verdict::Resolved | Verdict::Likely);
        let mut to_symbol = |texts: &Texts, target: SymbolKey| {
            let (target, target_id) = (texts.symbol(target), Some(target));
            self.references.push(Reference { target, target_id, ..reference });
        };
        match site.target {
            SiteTarget::Symbol(target) if has_targets => to_symbol(&self.texts, target),
            SiteTarget::Candidates(_) if has_targets => {
                let targets = self.snapshot.targets(site)?;
                for target in &targets {
                    to_symbol(&self.texts, *target);
                }
                if targets.is_empty() {
                    self.references.push(reference);
                }
            }
            SiteTarget::External(name) => {
                let number = self.number_outside(place, name, site.step == Step::Builtin)?;
                *self.uses.entry(number).or_default() += 1;
                reference.target = number;
                self.references.push(reference);
            }
            SiteTarget::None => {
                let whole = files.get(&site.key).and_then(|file| self.names.place(*file));
                reference.target = whole.map_or(NONE, |place| self.texts.file(place));
                self.references.push(reference);
            }
            _ => self.references.push(reference),
        }
        Ok(())
    }

    /// Number of a name outside, as a file writes it.
    fn number_outside(
        &mut self,
        place: usize,
        name: NameKey,
        is_builtin: bool,
    ) -> Result<u32, ExportError> {
        let (directory, language) =
            (self.names.files[place].path.directory(), self.names.language(place));
        if self.outside.directory != directory || self.outside.language != language {
            let (directory, language) = (directory.to_owned(), language.to_owned());
            self.outside = Outside { directory, language, numbers: FxHashMap::default() };
        }
        if let Some(known) = self.outside.numbers.get(&(name, is_builtin)) {
            return Ok(*known);
        }
        let text = self.snapshot.name(name)?;
        let (symbol, _) = self.names.outside(place, &text, is_builtin);
        let number = self.texts.outside(symbol);
        self.outside.numbers.insert((name, is_builtin), number);
        Ok(number)
    }

    /// Writes what was read; the files are not finished. Returns their tables, and the references
    /// by package outside.
    pub(crate) fn write(
        self,
        destination: &Destination<'_>,
    ) -> Result<(Vec<Rows>, BTreeMap<Package, u64>), ExportError> {
        let Self { snapshot, names, texts, mut references, uses, .. } = self;
        let ranks = texts.ranks(references.iter().map(|reference| reference.target));
        // They are in the order of places, which stays where the target is one.
        references.sort_by_key(|reference| ranks.of(reference.target));
        let mut rows = Rows::create(&schema::REFERENCES, destination)?;
        let mut calls = Rows::create(&schema::CALLS, destination)?;
        let mut known: FxHashMap<NameKey, String> = FxHashMap::default();
        let repository = destination.repository;
        for reference in &references {
            let path = names.files[reference.place as usize].path.as_str();
            let name = match known.entry(reference.name) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(snapshot.name(reference.name)?),
            };
            let target = texts.text(reference.target);
            rows.add(&[
                repository.into(),
                target.into(),
                reference.target_id.map(|key| key.0).into(),
                reference.source_id.map(|key| key.0).into(),
                path.into(),
                reference.line.into(),
                reference.column.into(),
                reference.kind.word().into(),
                name.as_str().into(),
                reference.verdict.word().into(),
                reference.step.word().into(),
            ])?;
            let is_call = matches!(reference.kind, SiteKind::Call | SiteKind::Construct);
            if let Some(callee) = target.filter(|_| is_call) {
                let source = reference.source_id.and_then(|key| texts.text(texts.symbol(key)));
                calls.add(&[
                    repository.into(),
                    callee.into(),
                    reference.target_id.map(|key| key.0).into(),
                    source.into(),
                    reference.source_id.map(|key| key.0).into(),
                    path.into(),
                    reference.line.into(),
                    reference.verdict.word().into(),
                ])?;
            }
        }
        let mut used: BTreeMap<Package, u64> = BTreeMap::new();
        let mut uses: Vec<(u32, u64)> = uses.into_iter().collect();
        uses.sort_unstable();
        for (number, references) in uses {
            let package = package_of(texts.text(number).unwrap_or_default());
            *used.entry(package).or_default() += references;
        }
        Ok((vec![rows, calls], used))
    }
}
