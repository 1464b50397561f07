//! What answers and errors are made of, rows of one snapshot, and steps in the call graph, shared
//! by several questions.

pub(crate) mod answer;
pub(super) mod calls;
pub(crate) mod components;
pub(crate) mod content;
pub(crate) mod error;
pub(super) mod filter;
pub(super) mod function_values;
pub(super) mod having;
pub(super) mod lookup;
pub(super) mod unread;
