//! What a path means where a build may choose.

use smallvec::SmallVec;

/// What a path means: the first, and those of which a build may take one in its place.
pub(super) type Found<T> = SmallVec<[T; 1]>;
