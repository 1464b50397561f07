//! Collects `grammars/*/grammar.toml` into one table: per language its folder name, its manifest's text and its grammar.

fn main() {}
