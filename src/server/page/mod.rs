//! Questions of the page, and its written file.

pub(crate) mod find;
pub(crate) mod kept;
pub(crate) mod map;
pub(crate) mod matrix;
pub(crate) mod neighbourhood;
mod packed;
pub(crate) mod questions;
pub(crate) mod written;
