//! Column encodings: several values packed into one integer, and signatures without the symbol's
//! name.

use std::borrow::Cow;

use cograph_model::{SiteKind, Step, SymbolKind, Verdict, Visibility};

/// Bit that makes the number of an inode eight bytes in a row.
const WIDE: u64 = 1 << 62;

/// Column `file.inode`. Rows have one length on all machines, so that a new stamp of a file leaves
/// the pages of a published store as they are.
pub(crate) fn inode_column(inode: u64) -> i64 {
    i64::from_ne_bytes((inode ^ WIDE).to_ne_bytes())
}

/// Inode number in this column.
pub(crate) fn inode_of(stored: i64) -> u64 {
    bits(stored) ^ WIDE
}

/// Packed column `symbol.traits`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Traits {
    /// Visibility.
    pub(crate) visibility: Visibility,
    /// Kind.
    pub(crate) kind: SymbolKind,
    /// Flags, see `model::facts::flags`.
    pub(crate) flags: u32,
}

/// SQLite's integers are signed; unsigned 64-bit values are stored with the same bits.
pub(crate) fn bits(stored: i64) -> u64 {
    u64::from_ne_bytes(stored.to_ne_bytes())
}

impl Traits {
    /// Packs the value.
    pub(crate) fn pack(self) -> u32 {
        u32::from(self.visibility as u8) | u32::from(self.kind as u8) << 2 | self.flags << 7
    }

    /// Unpacks a value; none if it is invalid.
    pub(crate) fn unpack(number: u32) -> Option<Self> {
        Some(Self {
            visibility: Visibility::from_number((number & 3) as u8)?,
            kind: SymbolKind::from_number((number >> 2 & 31) as u8)?,
            flags: number >> 7,
        })
    }
}

/// Packed column `site.mark`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mark {
    /// Verdict: certainty of the target.
    pub(crate) verdict: Verdict,
    /// Kind.
    pub(crate) kind: SiteKind,
    /// Step that decided the verdict.
    pub(crate) step: Step,
    /// Line.
    pub(crate) line: u32,
}

impl Mark {
    /// Packs the value.
    pub(crate) fn pack(self) -> i64 {
        i64::from(self.verdict as u8)
            | i64::from(self.kind as u8) << 3
            | i64::from(self.step as u8) << 7
            | i64::from(self.line) << 12
    }

    /// Unpacks a value; none if it is invalid.
    pub(crate) fn unpack(number: i64) -> Option<Self> {
        Some(Self {
            verdict: Verdict::from_number((number & 7) as u8)?,
            kind: SiteKind::from_number((number >> 3 & 15) as u8)?,
            step: Step::from_number((number >> 7 & 31) as u8)?,
            line: u32::try_from(number >> 12).ok()?,
        })
    }
}

/// Placeholder for the symbol's name in a packed signature.
const NAME: char = '\u{1}';
/// Prefix of an unpacked signature.
const WHOLE: char = '\u{2}';

/// Replaces the symbol's name, which nearly every signature contains.
pub(crate) fn pack_signature<'s>(signature: &'s str, name: &str) -> Cow<'s, str> {
    if signature.contains(NAME) || signature.starts_with(WHOLE) {
        return Cow::Owned(format!("{WHOLE}{signature}"));
    }
    if name.len() > 1
        && let Some(at) = memchr::memmem::find(signature.as_bytes(), name.as_bytes())
    {
        let (before, after) = (&signature[..at], &signature[at + name.len()..]);
        return Cow::Owned([before, NAME.encode_utf8(&mut [0; 4]), after].concat());
    }
    Cow::Borrowed(signature)
}

/// Restores the signature. The views do the same in SQL.
pub(crate) fn unpack_signature(packed: &str, name: &str) -> Box<str> {
    if let Some(whole) = packed.strip_prefix(WHOLE) {
        return whole.into();
    }
    match packed.split_once(NAME) {
        Some((before, after)) => [before, name, after].concat().into(),
        None => packed.into(),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::format::views::SIGNATURE;

    #[test]
    fn packed_numbers_have_room_for_every_value() {
        for &kind in SymbolKind::ALL {
            for &visibility in Visibility::ALL {
                let traits = Traits { visibility, kind, flags: u32::MAX >> 7 };
                assert_eq!(Traits::unpack(traits.pack()), Some(traits));
            }
        }
        for &kind in SiteKind::ALL {
            for &step in Step::ALL {
                for &verdict in Verdict::ALL {
                    let mark = Mark { verdict, kind, step, line: u32::MAX };
                    assert_eq!(Mark::unpack(mark.pack()), Some(mark));
                }
            }
        }
        assert_eq!(
            (Mark::unpack(7), Mark::unpack(-1), Traits::unpack(u32::MAX)),
            (None, None, None)
        );
    }

    #[test]
    fn signatures_come_out_as_they_were() {
        let connection = Connection::open_in_memory().expect("memory is available");
        let view =
            format!("SELECT {SIGNATURE} FROM (SELECT ?1 AS signature) s, (SELECT ?2 AS text) n");
        for (signature, name, packed) in [
            ("def run(self)", "run", "def \u{1}(self)"),
            ("run run", "run", "\u{1} run"),
            ("x = 1", "x", "x = 1"),
            ("", "name", ""),
            ("lambda", "", "lambda"),
            ("a\u{1}b name", "name", "\u{2}a\u{1}b name"),
            ("\u{2}name", "name", "\u{2}\u{2}name"),
            ("n\u{1}\u{2}", "n\u{1}\u{2}", "\u{2}n\u{1}\u{2}"),
        ] {
            assert_eq!(pack_signature(signature, name), packed);
            assert_eq!(&*unpack_signature(packed, name), signature);
            let seen: String =
                connection.query_row(&view, [packed, name], |row| row.get(0)).expect("a value");
            assert_eq!(seen, signature, "in the view");
        }
    }
}
