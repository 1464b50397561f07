//! Member lookup: bases of a type and their order, and members that a type gains outside of its
//! body.

pub(super) mod aliases;
pub(super) mod derived;
pub(super) mod hierarchy;
pub(super) mod inherent;
pub(super) mod inherited_fields;
pub(super) mod lookup;
pub(super) mod mro;
pub(super) mod opened;
pub(super) mod overrides;
pub(super) mod prototypes;
pub(super) mod receiver;
pub(super) mod structural;
pub(super) mod type_flow;
