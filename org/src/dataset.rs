//! The tables of many repositories: where they are, which files they have, and how these are read.

pub(crate) mod files;
pub(crate) mod location;
pub(crate) mod manifest;
mod reader;
mod reads;
pub(crate) mod table;

pub(crate) use location::Location;
pub(crate) use reader::{Fault, FileError, Opened};
