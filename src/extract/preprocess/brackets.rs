//! Which tokens close the brackets that others open.

use super::tokens::{Kind, Token};

/// Stands for the lack of a token.
const NONE: u32 = u32::MAX;

/// The closing tokens of all brackets of a source.
pub(super) struct Brackets {
    /// For each token that opens, the one that closes it.
    close: Vec<u32>,
}

impl Brackets {
    /// Those of a source. Brackets with a directive between them, and those of the wrong sort, are
    /// not closed.
    pub(super) fn of(tokens: &[Token]) -> Self {
        let mut close = vec![NONE; tokens.len()];
        // Each open bracket, and whether a directive follows it.
        let mut open: Vec<(usize, u8, bool)> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::Mark(b'(') => open.push((at, b')', false)),
                Kind::Mark(b'[') => open.push((at, b']', false)),
                Kind::Mark(b'{') => open.push((at, b'}', false)),
                Kind::Mark(mark @ (b')' | b']' | b'}')) => {
                    let Some((start, wanted, cut)) = open.pop() else { continue };
                    if wanted == mark && !cut {
                        close[start] = u32::try_from(at).unwrap_or(NONE);
                    }
                    if let Some(outer) = open.last_mut() {
                        outer.2 |= cut;
                    }
                }
                Kind::Directive => {
                    if let Some(innermost) = open.last_mut() {
                        innermost.2 = true;
                    }
                }
                _ => {}
            }
        }
        Self { close }
    }

    /// The token that closes what a token opens.
    pub(super) fn close(&self, open: usize) -> Option<usize> {
        self.close.get(open).copied().filter(|close| *close != NONE).map(|close| close as usize)
    }
}
