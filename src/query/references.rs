//! `references`: all references to a symbol by kind and file, with overriding and implementing
//! symbols.

mod answer;
pub mod crossing;
pub mod evidence;
mod listing;
pub mod navigate;
pub mod outside;
pub mod unused;

pub use answer::{FileReferences, Reference, ReferencesParams, ReferencesResult, Related};
pub use listing::{references, references_all};
