//! Ids of facts: positions, and ranges of positions, in the vectors of one `FileFacts`.

/// Declares an id type: a position in one of the vectors of `FileFacts`.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// Null id.
            pub const NONE: $name = $name(u32::MAX);

            /// Returns the position, except for the null id.
            #[inline]
            pub fn get(self) -> Option<usize> {
                (self.0 != u32::MAX).then_some(self.0 as usize)
            }

            /// True unless it is the null id.
            #[inline]
            pub fn is_some(self) -> bool {
                self.0 != u32::MAX
            }

            /// Creates the id of a position.
            #[inline]
            pub fn at(position: usize) -> Self {
                Self(u32::try_from(position).expect("a file is limited to far fewer than 2^32 \
                    facts"))
            }
        }
    )+};
}

ids! {
    /// Name in the file's name table.
    NameId,
    /// Scope.
    ScopeId,
    /// Symbol of this file.
    LocalSymbol,
    /// Clauses of a symbol.
    ClausesId,
    /// Binding.
    BindingId,
    /// Import.
    ImportId,
    /// Expression.
    ExprId,
    /// Site.
    SiteId,
}

/// Range of consecutive entries in one of the vectors. Packed, because most expressions and all
/// symbols have one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C, packed)]
pub struct Run {
    start: u32,
    len: Short,
}

impl Run {
    /// No entries.
    pub const EMPTY: Self = Self { start: 0, len: Short([0; 3]) };

    /// Run of the entries at these positions.
    #[inline]
    pub fn of(positions: std::ops::Range<usize>) -> Self {
        let number = |count: usize| u32::try_from(count).ok();
        number(positions.start)
            .zip(number(positions.len()))
            .and_then(|(start, len)| Self::new(start, len))
            .expect("a file is limited to far fewer facts")
    }

    /// Run of the entries from a position on; none if there are more than a file has.
    #[inline]
    pub fn new(start: u32, len: u32) -> Option<Self> {
        Some(Self { start, len: Short::of(len)? })
    }

    /// First entry.
    #[inline]
    pub fn start(self) -> u32 {
        self.start
    }

    /// Number of entries.
    #[inline]
    pub fn len(self) -> u32 {
        self.len.number()
    }

    /// True without entries.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The last entry.
    #[inline]
    pub fn last(self) -> Self {
        let all = self.range();
        Self::of(all.end.saturating_sub(1).max(all.start)..all.end)
    }

    /// The same entries at another place.
    #[inline]
    pub fn moved_to(self, start: u32) -> Self {
        Self { start, ..self }
    }

    /// Range of positions.
    #[inline]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len()) as usize
    }
}

/// Number below 2^24, in three bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Short([u8; 3]);

impl Short {
    /// In place of the null id.
    pub(super) const NONE: Self = Self([0xff; 3]);

    #[inline]
    pub(super) const fn of(number: u32) -> Option<Self> {
        match number.to_le_bytes() {
            [first, second, third, 0] => Some(Self([first, second, third])),
            _ => None,
        }
    }

    #[inline]
    pub(super) const fn number(self) -> u32 {
        let [first, second, third] = self.0;
        u32::from_le_bytes([first, second, third, 0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_keeps_its_start_and_its_length_up_to_their_largest() {
        for (start, len) in [(0, 0), (7, 0), (0, 3), (u32::MAX, (1 << 24) - 1)] {
            let run = Run::new(start, len).expect("it has fewer than 2^24 entries");
            assert_eq!((run.start(), run.len(), run.is_empty()), (start, len, len == 0));
        }
        assert_eq!(Run::new(0, 1 << 24), None);
        assert_eq!(Run::of(4..9), Run::new(4, 5).expect("short"));
        assert_eq!((Run::of(4..9).range(), Run::of(4..9).last().range()), (4..9, 8..9));
        assert!(Run::EMPTY.last().is_empty());
    }
}
