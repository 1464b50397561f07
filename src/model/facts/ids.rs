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

/// Range of consecutive entries in one of the vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Run {
    start: u32,
    len: u32,
}

impl Run {
    /// No entries.
    pub const EMPTY: Self = Self { start: 0, len: 0 };

    /// Run of the entries at these positions.
    #[inline]
    pub fn of(positions: std::ops::Range<usize>) -> Self {
        let number = |count: usize| u32::try_from(count).ok();
        number(positions.start)
            .zip(number(positions.len()))
            .and_then(|(start, len)| Self::new(start, len))
            .expect("a file is limited to far fewer facts")
    }

    /// Run of the entries from a position on; none beyond the last position.
    #[inline]
    pub fn new(start: u32, len: u32) -> Option<Self> {
        start.checked_add(len).map(|_| Self { start, len })
    }

    /// First entry.
    #[inline]
    pub fn start(self) -> u32 {
        self.start
    }

    /// Number of entries.
    #[inline]
    pub fn len(self) -> u32 {
        self.len
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_a_start_and_a_length() {
        for (start, len) in [(0, 0), (7, 0), (0, 3), (u32::MAX - 3, 3)] {
            let run = Run::new(start, len).expect("it ends before the last position");
            assert_eq!((run.start(), run.len(), run.is_empty()), (start, len, len == 0));
        }
        assert_eq!(Run::new(u32::MAX, 1), None);
        assert_eq!(Run::of(4..9), Run::new(4, 5).expect("short"));
        assert_eq!((Run::of(4..9).range(), Run::of(4..9).last().range()), (4..9, 8..9));
        assert!(Run::EMPTY.last().is_empty());
    }
}
