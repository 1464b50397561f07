//! Client side: tool sets that forward calls to one upstream (`runtime_proxy`) or to several
//! (`federation`).

#[cfg(feature = "federation")]
pub(super) mod federation;
pub(super) mod runtime_proxy;
pub(super) mod upstream;
