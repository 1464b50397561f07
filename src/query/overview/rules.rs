//! Rules of architecture: which files may import which. Layers, forbidden imports, independent
//! parts, and exceptions, each with a reason.
//!
//! An import is judged wherever it stands and whatever it is for, except in test code.

use crate::graph::error::QueryError;
use crate::graph::filter::FileFilter;
use crate::graph::lookup::Lookup;
use cograph_model::RepoPath;
use cograph_model::cancel::CancelToken;
use cograph_store::{FileKey, ImportSort, Snapshot};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// What an import may be for to be judged.
const JUDGED: [ImportSort; 3] = [ImportSort::Runtime, ImportSort::Lazy, ImportSort::Types];

/// A rule with its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArchitectureRule {
    /// Name.
    pub name: String,
    /// What is ruled.
    pub content: RuleContent,
}

/// What a rule says. Patterns are directories, files and globs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RuleContent {
    /// Layers, from the top: a part imports from lower layers, not from higher ones, and not from
    /// another part of its own.
    Layers(Vec<Vec<String>>),
    /// The first do not import the second.
    Forbidden(Vec<String>, Vec<String>),
    /// None imports another.
    Independent(Vec<String>),
}

/// Imports that a rule forbids and that are accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleException {
    /// Name of the rule.
    pub rule: String,
    /// Pattern of the files that import.
    pub from: String,
    /// Pattern of the files that are imported.
    pub to: String,
}

/// Import that breaks a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleBreak {
    /// Name of the rule.
    pub rule: String,
    /// The file that imports.
    pub from: RepoPath,
    /// Line of the first such import.
    pub line: u32,
    /// The file that is imported.
    pub to: RepoPath,
    /// How it breaks the rule.
    pub reason: String,
}

/// Result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RulesResult {
    /// By rule, then by path.
    pub breaks: Vec<RuleBreak>,
    /// Patterns that fit no file.
    pub unmatched: Vec<String>,
    /// Positions of the exceptions that accept nothing.
    pub needless: Vec<usize>,
}

/// Finds the imports that break a rule.
pub fn broken_rules(
    snapshot: &Snapshot,
    rules: &[ArchitectureRule],
    exceptions: &[RuleException],
    cancel: &CancelToken,
) -> Result<RulesResult, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let mut edges: Vec<(FileKey, FileKey)> = Vec::new();
    snapshot.visit_file_edges(|edge| {
        if JUDGED.iter().any(|sort| edge.has(*sort)) {
            edges.push((edge.from, edge.to));
        }
        lookup.check().is_ok()
    })?;
    lookup.check()?;
    let files = snapshot.paths()?;
    let mut result = RulesResult::default();
    let mut accepted: Vec<(usize, Accepts)> = Vec::new();
    for (position, exception) in exceptions.iter().enumerate() {
        let from = matching(&lookup, &files, &exception.from, &mut result.unmatched)?;
        let to = matching(&lookup, &files, &exception.to, &mut result.unmatched)?;
        accepted.push((position, Accepts { from, to, is_used: false }));
    }
    for rule in rules {
        lookup.check()?;
        let parts = Parts::of(&lookup, &files, &rule.content, &mut result.unmatched)?;
        for &(from, to) in &edges {
            let Some(reason) = parts.breaks(from, to) else { continue };
            let mut is_accepted = false;
            for (position, accepts) in &mut accepted {
                let fits = exceptions[*position].rule == rule.name
                    && accepts.from.contains(&from)
                    && accepts.to.contains(&to);
                accepts.is_used |= fits;
                is_accepted |= fits;
            }
            if is_accepted {
                continue;
            }
            let imports = snapshot.imports_of(from)?;
            let mut lines = imports
                .iter()
                .filter(|import| import.target == Some(to) && JUDGED.contains(&import.sort))
                .map(|import| import.at.line);
            result.breaks.push(RuleBreak {
                rule: rule.name.clone(),
                from: lookup.place(from)?.path.clone(),
                line: lines.next().unwrap_or(1),
                to: lookup.place(to)?.path.clone(),
                reason,
            });
        }
    }
    let order = |one: &RuleBreak| (one.rule.clone(), one.from.clone(), one.to.clone());
    result.breaks.sort_by_key(order);
    result.unmatched.sort();
    result.unmatched.dedup();
    let needless = accepted.iter().filter(|(_, accepts)| !accepts.is_used);
    result.needless = needless.map(|(position, _)| *position).collect();
    Ok(result)
}

type Files = BTreeSet<FileKey>;

/// Files of both ends of an exception.
struct Accepts {
    from: Files,
    to: Files,
    is_used: bool,
}

fn matching(
    lookup: &Lookup<'_>,
    files: &[(FileKey, String)],
    pattern: &str,
    unmatched: &mut Vec<String>,
) -> Result<Files, QueryError> {
    let filter = FileFilter::new(lookup, Some(pattern), None)?;
    let mut found = Files::default();
    for (key, _) in files {
        if lookup.of_file(*key, |mark| filter.admits(mark))? {
            found.insert(*key);
        }
    }
    if found.is_empty() {
        unmatched.push(pattern.to_owned());
    }
    Ok(found)
}

/// Files of a rule by its parts.
struct Parts<'r> {
    rule: &'r RuleContent,
    /// Layer and number of the part, and its pattern; of the first pattern that fits.
    of: FxHashMap<FileKey, (usize, usize, &'r str)>,
    /// Files of the second list of a forbidden import.
    to: FxHashMap<FileKey, &'r str>,
}

impl<'r> Parts<'r> {
    fn of(
        lookup: &Lookup<'_>,
        files: &[(FileKey, String)],
        rule: &'r RuleContent,
        unmatched: &mut Vec<String>,
    ) -> Result<Self, QueryError> {
        let mut parts = Self { rule, of: FxHashMap::default(), to: FxHashMap::default() };
        let mut enter = |layer: usize, number: usize, pattern: &'r str| {
            for key in matching(lookup, files, pattern, unmatched)? {
                parts.of.entry(key).or_insert((layer, number, pattern));
            }
            Ok::<(), QueryError>(())
        };
        match rule {
            RuleContent::Layers(layers) => {
                for (layer, patterns) in layers.iter().enumerate() {
                    for (number, pattern) in patterns.iter().enumerate() {
                        enter(layer, number, pattern)?;
                    }
                }
            }
            RuleContent::Independent(patterns) => {
                for (number, pattern) in patterns.iter().enumerate() {
                    enter(0, number, pattern)?;
                }
            }
            RuleContent::Forbidden(from, to) => {
                for pattern in from {
                    enter(0, 0, pattern)?;
                }
                for pattern in to {
                    for key in matching(lookup, files, pattern, unmatched)? {
                        parts.to.entry(key).or_insert(pattern);
                    }
                }
            }
        }
        Ok(parts)
    }

    /// Why an import breaks the rule; none if it does not.
    fn breaks(&self, from: FileKey, to: FileKey) -> Option<String> {
        let &(layer, number, importer) = self.of.get(&from)?;
        if let RuleContent::Forbidden(..) = self.rule {
            let imported = self.to.get(&to)?;
            return Some(format!("{importer} must not import {imported}"));
        }
        let &(other_layer, other_number, imported) = self.of.get(&to)?;
        if layer == other_layer && number != other_number {
            return Some(format!("{importer} and {imported} must not import each other"));
        }
        (layer > other_layer).then(|| format!("{importer} is below {imported}"))
    }
}
