//! Answers of the page that depend on nothing but a generation and are asked for again and again: a
//! map is laid out once for each.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use cograph_index::IdleCache;
use cograph_query::QueryError;
use cograph_store::Identity;

/// Time after the last use until an answer is dropped.
const IDLE: Duration = Duration::from_secs(120);
/// Maximum number of answers.
pub(crate) const MAX_KEPT: usize = 8;

/// Answers of one type.
pub(super) struct KeptAnswers<T>(LazyLock<IdleCache<(Identity, String), Arc<T>>>);

impl<T: Send + Sync + 'static> KeptAnswers<T> {
    pub(super) const fn new() -> Self {
        Self(LazyLock::new(|| IdleCache::new("page-idle", IDLE)))
    }

    /// The answer to a question about a generation, which `key` names with all its arguments.
    pub(super) fn of(
        &self,
        generation: Identity,
        key: String,
        make: impl FnOnce() -> Result<T, QueryError>,
    ) -> Result<Arc<T>, QueryError> {
        let key = (generation, key);
        if self.0.touch(&key)
            && let Some(known) = self.0.with(&key, |known| Arc::clone(known))
        {
            return Ok(known);
        }
        let made = Arc::new(make()?);
        if self.0.each(|_, _| ()).len() < MAX_KEPT {
            self.0.put(&key, Arc::clone(&made));
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_made_once_for_each_generation_and_an_error_is_not_kept() {
        static KEPT: KeptAnswers<u32> = KeptAnswers::new();
        let of = |generation, key: &str, answer| {
            KEPT.of(Identity { uid: 1, generation }, key.to_owned(), || answer)
        };
        assert!(of(1, "a", Err(QueryError::Cancelled)).is_err());
        assert_eq!(*of(1, "a", Ok(1)).expect("made"), 1);
        assert_eq!(*of(1, "a", Ok(2)).expect("kept"), 1);
        assert_eq!(*of(1, "b", Ok(3)).expect("another question"), 3);
        assert_eq!(*of(2, "a", Ok(4)).expect("another generation"), 4);
        (0..20).for_each(|at| drop(of(3, &at.to_string(), Ok(at))));
        assert_eq!(KEPT.0.each(|_, _| ()).len(), MAX_KEPT);
    }
}
