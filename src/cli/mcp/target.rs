//! Targets of `--upstream` as they are given.

/// Target: the runtime of this user.
pub(crate) const AUTO: &str = "auto";

/// Splits `NAME=TARGET`. In a path the sign may occur after the first slash only.
pub(crate) fn named(text: &str) -> Option<(&str, &str)> {
    text.split_once('=').filter(|(name, _)| !name.contains(['/', ':', '.']))
}
