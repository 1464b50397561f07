//! Member lookup: bases of a type and their order, and members that a type gains outside of its
//! body.

pub(crate) mod aliases;
pub(crate) mod derived;
pub(crate) mod hierarchy;
pub(crate) mod inherent;
pub(crate) mod inherited_fields;
pub(crate) mod lookup;
pub(super) mod mro;
pub(super) mod opened;
pub(crate) mod overrides;
pub(crate) mod prototypes;
pub(crate) mod receiver;
pub(crate) mod statics;
pub(crate) mod structural;
pub(crate) mod type_flow;
