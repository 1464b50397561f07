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
    /// First entry.
    pub start: u32,
    /// Number of entries.
    pub len: u32,
}

impl Run {
    /// No entries.
    pub const EMPTY: Self = Self { start: 0, len: 0 };

    /// Range of positions.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}
