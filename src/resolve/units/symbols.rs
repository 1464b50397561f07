//! Sets of symbols that have one name in common.

use cograph_model::graph::SymbolRef;
use smallvec::SmallVec;

/// Symbols of one name in one scope: overloads, or a single one.
pub(crate) type Symbols = SmallVec<[SymbolRef; 2]>;
