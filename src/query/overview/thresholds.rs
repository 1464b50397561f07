//! Thresholds of complexity and size, and what exceeds them.

use crate::graph::error::QueryError;
use crate::graph::lookup::Lookup;
use cograph_grammar::{self as grammar, Tier};
use cograph_model::cancel::CancelToken;
use cograph_model::facts::flags;
use cograph_model::{RepoPath, SymbolKind};
use cograph_store::{Snapshot, SymbolRow};

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Measure {
    /// Paths through a body.
    Cyclomatic,
    /// Decisions, weighted by what is around them.
    Cognitive,
    /// Depth of control structures.
    Nesting,
    /// Lines of a function.
    Lines,
    /// Lines of a file.
    FileLines,
}

impl Measure {
    /// Every measure.
    pub const ALL: [Measure; 5] =
        [Self::Cyclomatic, Self::Cognitive, Self::Nesting, Self::Lines, Self::FileLines];

    /// Word for settings and responses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cyclomatic => "cyclomatic",
            Self::Cognitive => "cognitive",
            Self::Nesting => "nesting",
            Self::Lines => "lines",
            Self::FileLines => "file-lines",
        }
    }
}

/// Something above a threshold.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Excess {
    /// File.
    pub path: RepoPath,
    /// Line of the name; 1 for a file.
    pub line: u32,
    /// Qualified name of the function; none for a file.
    pub name: Option<String>,
    /// What is measured.
    pub measure: Measure,
    /// Its value.
    pub value: u32,
    /// The threshold.
    pub threshold: u32,
}

/// Finds what exceeds a threshold, by path and line: functions and files of programming languages
/// that are neither tests nor generated.
pub fn exceeding(
    snapshot: &Snapshot,
    thresholds: &[(Measure, u32)],
    cancel: &CancelToken,
) -> Result<Vec<Excess>, QueryError> {
    let lookup = Lookup::new(snapshot, cancel)?;
    let mut found = Vec::new();
    if thresholds.is_empty() {
        return Ok(found);
    }
    for file in snapshot.files()? {
        lookup.check()?;
        let tier = grammar::tier_of(lookup.language(file.language));
        let is_code = tier.is_some_and(|tier| tier != Tier::Structure);
        if file.test || file.generated || file.skipped.is_some() || !is_code {
            continue;
        }
        for &(measure, threshold) in thresholds {
            if measure == Measure::FileLines && file.lines > threshold {
                let (path, value) = (file.path.clone(), file.lines);
                found.push(Excess { path, line: 1, name: None, measure, value, threshold });
            }
        }
        for symbol in snapshot.symbols_of(&file)? {
            for &(measure, threshold) in thresholds {
                let value = value(&symbol, measure).filter(|value| *value > threshold);
                if let Some(value) = value {
                    let info = lookup.info(&symbol)?;
                    let (path, line) = (info.path.clone(), info.name_at.line);
                    let name = Some(info.qualified_name());
                    found.push(Excess { path, line, name, measure, value, threshold });
                }
            }
        }
    }
    found.sort();
    Ok(found)
}

fn value(symbol: &SymbolRow, measure: Measure) -> Option<u32> {
    if symbol.flags & flags::TEST != 0 {
        return None;
    }
    let is_function = symbol.kind.is_callable() && symbol.kind != SymbolKind::Macro;
    match measure {
        Measure::Cyclomatic => Some(symbol.complexity?.cyclomatic),
        Measure::Cognitive => Some(symbol.complexity?.cognitive),
        Measure::Nesting => Some(symbol.complexity?.nesting),
        Measure::Lines if is_function => {
            Some(symbol.extent.end.line - symbol.extent.start.line + 1)
        }
        Measure::Lines | Measure::FileLines => None,
    }
}
