//! Matching brackets of a token list.

use super::tokens::{Kind, Token};

/// Marks a bracket without a match.
const NONE: u32 = u32::MAX;

/// Closing tokens of all brackets of a source.
pub(super) struct Brackets {
    /// Closing token of each opening token.
    close: Vec<u32>,
}

impl Brackets {
    /// Matches the brackets of a source. Brackets with a directive between them, and mismatched
    /// ones, have no match.
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

    /// Returns the closing token of an opening one.
    pub(super) fn close(&self, open: usize) -> Option<usize> {
        self.close.get(open).copied().filter(|close| *close != NONE).map(|close| close as usize)
    }
}
