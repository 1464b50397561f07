//! Lines that name the origin of what follows: an upstream, or a member of a workspace.

/// Prefix of such a line.
pub(crate) const HEADING: &str = "== ";
/// Escaped form of that prefix in the text below.
const SHOWN: &str = "\\u{3d}= ";

/// Text with the lines escaped that look like an origin.
pub(crate) fn escaped(text: &str) -> String {
    let lines = text.lines().map(|line| {
        line.strip_prefix(HEADING).map_or_else(|| line.to_owned(), |rest| format!("{SHOWN}{rest}"))
    });
    lines.collect::<Vec<_>>().join("\n")
}
