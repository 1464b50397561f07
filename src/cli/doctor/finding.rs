//! What a check has found.

/// Result of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Passed.
    Good,
    /// Informational; no action needed.
    Note,
    /// Something does not work, or not well.
    Problem,
}

/// Finding of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Finding {
    /// Subject.
    pub(crate) area: String,
    pub(crate) verdict: Verdict,
    pub(crate) text: String,
    /// Suggested fix, if any.
    pub(crate) hint: String,
    /// Numbers for `--json`.
    pub(crate) numbers: Vec<(&'static str, u64)>,
}

impl Finding {
    pub(crate) fn good(area: &str, text: impl Into<String>) -> Self {
        Self {
            area: area.to_owned(),
            verdict: Verdict::Good,
            text: text.into(),
            hint: String::new(),
            numbers: Vec::new(),
        }
    }

    pub(crate) fn note(area: &str, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { verdict: Verdict::Note, hint: hint.into(), ..Self::good(area, text) }
    }

    pub(crate) fn problem(area: &str, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { verdict: Verdict::Problem, hint: hint.into(), ..Self::good(area, text) }
    }

    pub(crate) fn with(mut self, name: &'static str, number: u64) -> Self {
        self.numbers.push((name, number));
        self
    }
}

impl Verdict {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Note => "note",
            Self::Problem => "problem",
        }
    }
}
