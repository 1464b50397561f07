//! Client side: tool sets that forward calls to one upstream (`thin`) or to several (`federation`).

pub(super) mod federation;
pub(super) mod thin;
pub(super) mod upstream;
