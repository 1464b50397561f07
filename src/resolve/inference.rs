//! What names and expressions mean: name lookup, member lookup, type inference and overload
//! resolution. One recursive concept: each of the four needs the three others.
//!
//! ```text
//!             references, incremental
//!                       │ this file: the modules that others may name
//!                       ▼
//!   calls ──> types ──> members ──> names ──> db
//!     ▲         ▲          ▲          │
//!     └─────────┴──────────┴──────────┘ queries: every call that goes back up
//! ```
//!
//! - `names` asks `members` for a name without a receiver, and `types` whether a test narrows one.
//! - `members` asks `types` for bases, receivers and results, which are expressions, and `calls`
//!   for the types of parameters, by which it knows what overrides what.
//! - `types` asks `calls` for the result of a call, and for what it gives to a closure.
//!
//! Downwards a function is named by its path. What goes upwards, also between files of one folder,
//! is a method of `Db` in `queries`: imports have no circle, and the list is all of the recursion.
//! A recursion ends at `db::in_progress`, at the budget, or at the maximum depth.

mod calls;
mod members;
mod names;
mod queries;
mod types;

pub(super) use calls::{call, extensions, overload, predicates, receivers};
pub(super) use members::{
    aliases, derived, hierarchy, inherent, inherited_fields, lookup, overrides, prototypes,
    receiver, structural, type_flow,
};
pub(super) use names::{
    conditions, definition, linkage, namespaces, outside, placement, scopes, variants, visited,
    wildcard,
};
pub(super) use types::{callee, generics, infer, lists, return_types, symbol_types};
