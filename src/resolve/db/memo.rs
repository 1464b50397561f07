//! Memo: results of a function by its argument, filled through a shared reference.

use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::hash::Hash;

/// Memo of one function. Values are small or shared: every read is a clone.
#[derive(Debug)]
pub(crate) struct Memo<K, V>(RefCell<FxHashMap<K, V>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.0.borrow().get(key).cloned()
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        self.0.borrow().contains_key(key)
    }

    pub(crate) fn insert(&self, key: K, value: V) {
        self.0.borrow_mut().insert(key, value);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    pub(crate) fn clear(&self) {
        self.0.borrow_mut().clear();
    }
}
