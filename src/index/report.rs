//! Statistics of a store, reported at the end of a run.

use rustc_hash::FxHashMap;

use cograph_grammar as grammar;
use cograph_model::{LanguageId, SkipReason, Verdict};
use cograph_store::{FileKey, LanguageKey, Snapshot, StoreError};

/// Statistics of a repository.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Files found by the walk.
    pub files: u64,
    /// Files with facts.
    pub indexed: u64,
    /// Files with facts and with problems.
    pub partly: u64,
    /// Incomplete regions in all files.
    pub problems: u64,
    /// Size of the files with facts, in bytes.
    pub bytes: u64,
    /// One entry per language with files, by id.
    pub languages: Vec<LanguageReport>,
    /// Files without facts by reason; only reasons that occur.
    pub skipped: Vec<(SkipReason, u64)>,
}

/// Statistics of a language.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LanguageReport {
    /// The language.
    pub language: LanguageId,
    /// Files with facts.
    pub files: u64,
    /// Symbols.
    pub symbols: u64,
    /// References of all kinds.
    pub references: u64,
    /// References by verdict, in the order of `Verdict::ALL`.
    pub verdicts: [u64; Verdict::ALL.len()],
    /// Incomplete regions.
    pub problems: u64,
}

impl Report {
    /// Computes the statistics of a store.
    pub fn of(snapshot: &Snapshot) -> Result<Self, StoreError> {
        let mut problems: FxHashMap<FileKey, u64> = FxHashMap::default();
        for row in snapshot.problems()? {
            *problems.entry(row.file).or_default() += 1;
        }
        let names = snapshot.languages()?;
        let by_key: FxHashMap<LanguageKey, LanguageId> = names
            .into_iter()
            .filter_map(|(key, name)| Some((key, grammar::id_of(&name)?)))
            .collect();
        let mut report = Self::default();
        for file in snapshot.files()? {
            report.files += 1;
            if let Some(reason) = file.skipped {
                report.count_skipped(reason);
                continue;
            }
            let problems = problems.get(&file.key).copied().unwrap_or(0);
            report.indexed += 1;
            report.bytes += file.size;
            report.problems += problems;
            report.partly += u64::from(problems > 0);
            let Some(&language) = file.language.as_ref().and_then(|key| by_key.get(key)) else {
                continue;
            };
            let numbers = report.language(language);
            numbers.files += 1;
            numbers.symbols += u64::from(file.symbols);
            numbers.references += u64::from(file.sites);
            numbers.problems += problems;
            for (sum, count) in numbers.verdicts.iter_mut().zip(file.verdicts) {
                *sum += u64::from(count);
            }
        }
        report.languages.sort_by_key(|numbers| numbers.language);
        report.skipped.sort();
        Ok(report)
    }

    /// Symbols of all languages.
    pub fn symbols(&self) -> u64 {
        self.languages.iter().map(|numbers| numbers.symbols).sum()
    }

    /// References of all languages.
    pub fn references(&self) -> u64 {
        self.languages.iter().map(|numbers| numbers.references).sum()
    }

    fn language(&mut self, language: LanguageId) -> &mut LanguageReport {
        let position =
            self.languages.iter().position(|numbers| numbers.language == language).unwrap_or_else(
                || {
                    let verdicts = [0; Verdict::ALL.len()];
                    self.languages.push(LanguageReport {
                        language,
                        files: 0,
                        symbols: 0,
                        references: 0,
                        verdicts,
                        problems: 0,
                    });
                    self.languages.len() - 1
                },
            );
        &mut self.languages[position]
    }

    fn count_skipped(&mut self, reason: SkipReason) {
        match self.skipped.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, count)) => *count += 1,
            None => self.skipped.push((reason, 1)),
        }
    }
}
