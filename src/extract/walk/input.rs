//! File that is visited: nothing in it changes during the traversal.

use crate::budget::Limits;
use crate::preprocess::edits::Made;
use crate::walk::context::Embedded;
use crate::walk::lister::Lister;
use cograph_grammar::Language;

/// File that is visited. Nothing here changes during the traversal.
pub(crate) struct Input<'t> {
    pub(crate) language: &'static Language,
    pub(crate) source: &'t [u8],
    /// Source as text if it is valid UTF-8: its parts need no validation then.
    pub(crate) text: Option<&'t str>,
    pub(crate) embedded: Embedded<'t>,
    /// Definitions created by macros, in order.
    pub(crate) made: &'t [Made],
    pub(crate) lister: Lister<'t>,
    pub(crate) limits: Limits,
    /// True if the tree may have error or missing nodes.
    pub(crate) has_errors: bool,
    /// True if references are stored: false for languages of the structure tier.
    pub(crate) stores_sites: bool,
}
