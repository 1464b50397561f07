//! The client side: calls that are passed on to other processes, one or several.

pub(super) mod federation;
pub(super) mod thin;
pub(super) mod upstream;
