//! Bindings: variables, patterns, type narrowing by conditions, and statements that bind.

pub(super) mod bound_names;
pub(super) mod conditions;
pub(super) mod derivation;
pub(super) mod fields;
pub(super) mod implied;
pub(super) mod narrowing;
pub(super) mod patterns;
pub(super) mod stated_types;
pub(super) mod statements;
pub(super) mod variables;
