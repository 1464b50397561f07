//! Identity of the program: name, version, and hashes of the sources that it was built from.
//!
//! ```text
//! src/{model,grammar,extract,resolve} ─┬─> RULES  a store that other rules made is built again
//! src/*, grammars/*/grammar.toml ──────┴─> BUILD  a runtime of another build is no upstream
//! ```

/// Name of the program, as it introduces itself to peers.
pub const NAME: &str = "cograph";

/// Version of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Hash of the sources that the program was built from, all but those of its command line: two
/// programs of one version are distinguished by this.
pub const BUILD: &str = env!("COGRAPH_BUILD");

/// Hash of the code that makes facts and resolves them: a store that other code has made is not
/// served.
pub const RULES: &str = env!("COGRAPH_RULES");
