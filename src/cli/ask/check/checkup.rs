//! What a check has found, against the baseline.

use super::baseline::{Baseline, Outdated};
use super::finding::Finding;

/// What was found, against the baseline.
pub(super) struct Checkup {
    pub(super) findings: Vec<Finding>,
    pub(super) baseline: Baseline,
    pub(super) outdated: Vec<Outdated>,
    /// Exceptions that accept nothing.
    pub(super) needless: Vec<String>,
}

impl Checkup {
    /// Each finding, and whether it is new.
    pub(super) fn judged(&self) -> impl Iterator<Item = (&Finding, bool)> {
        self.findings.iter().map(|finding| (finding, !self.baseline.knows(finding)))
    }

    pub(super) fn new_findings(&self) -> impl Iterator<Item = &Finding> {
        self.judged().filter(|(_, is_new)| *is_new).map(|(finding, _)| finding)
    }
}
