//! What `cograph check` finds, as one kind of thing.

use std::collections::BTreeMap;

use cograph_query::overview::cycles::CyclesResult;
use cograph_query::overview::rules::RulesResult;
use cograph_query::overview::thresholds::Excess;
use cograph_query::references::unused::{Class, UnusedResult};

/// Kind of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Kind {
    /// A rule is broken.
    #[default]
    Rule,
    /// An import is part of a cycle.
    Cycle,
    /// A function or file exceeds a threshold.
    Limit,
    /// A definition is not used.
    Unused,
}

impl Kind {
    pub(super) const ALL: [Kind; 4] = [Self::Rule, Self::Cycle, Self::Limit, Self::Unused];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Cycle => "cycle",
            Self::Limit => "limit",
            Self::Unused => "unused",
        }
    }

    pub(super) fn about(self) -> &'static str {
        match self {
            Self::Rule => "An import breaks a rule of the architecture",
            Self::Cycle => "An import is part of a cycle of imports",
            Self::Limit => "A function or file exceeds a threshold",
            Self::Unused => "Nothing uses a definition",
        }
    }
}

/// A finding.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Finding {
    pub(super) kind: Kind,
    pub(super) path: String,
    pub(super) line: u32,
    pub(super) message: String,
    /// What it is in the baseline: the same after edits elsewhere in the file.
    pub(super) key: String,
    /// Value of a measure, and its threshold.
    pub(super) value: Option<u32>,
    pub(super) threshold: Option<u32>,
}

pub(super) fn of_rules(result: &RulesResult) -> Vec<Finding> {
    let one = |broken: &cograph_query::overview::rules::RuleBreak| Finding {
        kind: Kind::Rule,
        path: broken.from.to_string(),
        line: broken.line,
        message: format!("{}: imports {}: {}", broken.rule, broken.to, broken.reason),
        key: format!("rule {}: {} -> {}", broken.rule, broken.from, broken.to),
        ..Finding::default()
    };
    result.breaks.iter().map(one).collect()
}

pub(super) fn of_cycles(result: &CyclesResult) -> Vec<Finding> {
    let edges = result.cycles.iter().flat_map(|cycle| cycle.edges.iter().map(move |e| (cycle, e)));
    let one = |(cycle, edge): (&cograph_query::overview::cycles::Cycle, _)| {
        let edge: &cograph_query::overview::cycles::ImportEdge = edge;
        let cut = if edge.is_cut { "; cut here" } else { "" };
        Finding {
            kind: Kind::Cycle,
            path: edge.from.to_string(),
            line: edge.places.first().map_or(1, |place| place.line),
            message: format!("imports {} in a cycle of {} files{cut}", edge.to, cycle.files.len()),
            key: format!("cycle: {} -> {}", edge.from, edge.to),
            ..Finding::default()
        }
    };
    edges.map(one).collect()
}

pub(super) fn of_thresholds(excesses: &[Excess]) -> Vec<Finding> {
    let one = |excess: &Excess| {
        let what = excess.name.as_deref().unwrap_or("the file");
        let Excess { path, value, threshold, .. } = excess;
        let measure = excess.measure.word();
        let name = excess.name.as_ref().map_or(String::new(), |name| format!("::{name}"));
        Finding {
            kind: Kind::Limit,
            path: path.to_string(),
            line: excess.line,
            message: format!("{what}: {measure} {value}, more than {threshold}"),
            key: format!("limit {measure}: {path}{name}"),
            value: Some(*value),
            threshold: Some(*threshold),
        }
    };
    excesses.iter().map(one).collect()
}

pub(super) fn of_unused(result: &UnusedResult, classes: &[Class]) -> Vec<Finding> {
    let listed = result.symbols.iter().filter(|one| classes.contains(&one.class));
    let one = |one: &cograph_query::references::unused::UnusedSymbol| {
        let (name, class) = (one.symbol.qualified_name(), one.class.word());
        Finding {
            kind: Kind::Unused,
            path: one.symbol.path.to_string(),
            line: one.symbol.name_at.line,
            message: format!("{} {name}: {class}", one.symbol.kind.word()),
            key: format!("{class}: {}::{name}", one.symbol.path),
            ..Finding::default()
        }
    };
    listed.map(one).collect()
}

/// In order, and each with a key of its own: of several definitions of a name in a file the later
/// ones have a number.
pub(super) fn in_order(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for finding in &mut findings {
        let times = seen.entry(finding.key.clone()).or_default();
        *times += 1;
        if *times > 1 {
            finding.key = format!("{} #{times}", finding.key);
        }
    }
    findings
}
