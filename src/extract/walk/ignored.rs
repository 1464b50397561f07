//! Names that bind nothing.

use crate::facts::builder::Builder;
use crate::walk::input::Input;
use cograph_model::facts::NameId;

pub(crate) fn is_ignored(input: &Input<'_>, facts: &Builder, name: NameId) -> bool {
    is_ignored_text(input, facts.text(name))
}

pub(crate) fn is_ignored_text(input: &Input<'_>, text: &str) -> bool {
    text.is_empty() || input.language.manifest.names.ignored.iter().any(|ignored| ignored == text)
}
