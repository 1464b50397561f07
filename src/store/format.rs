//! Format of a store: tables and indexes, views, statements, rows, column encodings, the segment,
//! and file names.

pub(super) mod columns;
pub(super) mod error;
pub(super) mod front_coding;
pub(super) mod location;
pub(super) mod ownership;
pub(super) mod rows;
pub(super) mod schema;
pub(super) mod segment;
pub(super) mod sql_value;
pub(super) mod statements;
pub(super) mod term_index;
pub(super) mod views;
