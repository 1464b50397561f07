//! Bad input costs what is bad and nothing else: every file is accounted for, every error says what
//! was attempted on which path, and the index that was there before is still there.

mod budget;
mod cache;
mod circles;
mod damage;
mod endless;
mod files;
mod mutations;
mod program;
mod projects;
mod races;
mod roots;
mod rules;
pub(crate) mod setup;
mod stuck;
mod terminal;
