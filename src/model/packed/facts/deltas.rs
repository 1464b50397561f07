//! Values that are encoded as deltas to those of the item before.

use crate::Position;
use crate::facts::ids::Run;
use crate::packed::Pass;

/// Values of the previous item, for delta encoding.
#[derive(Default)]
pub(super) struct DeltaState {
    pub(super) scope: u32,
    pub(super) other_scope: u32,
    pub(super) symbol: u32,
    pub(super) expr: u32,
    pub(super) other_expr: u32,
    pub(super) list: u32,
    pub(super) binding: u32,
    pub(super) line: u32,
    pub(super) byte: u32,
    pub(super) number: u32,
}

/// Run of a vector in which most runs are consecutive.
pub(super) fn run<P: Pass>(pass: &mut P, run: Run, end: &mut u32) -> Option<Run> {
    let len = pass.small(run.len())?;
    // The start of an empty run is irrelevant, but round trips must be exact.
    let start = if len == 0 { pass.small(run.start())? } else { pass.near(run.start(), *end)? };
    if len > 0 {
        *end = start.checked_add(len)?;
    }
    Run::new(start, len)
}

pub(super) fn position<P: Pass>(pass: &mut P, at: Position, line: u32) -> Option<Position> {
    Some(Position { line: pass.near(at.line, line)?, column: pass.small(at.column)? })
}
