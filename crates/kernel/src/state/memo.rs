//! Cached results that follow from the state.

use std::sync::{Arc, OnceLock};

/// A result that is kept until something that goes into it changes. It is no part of the state: two
/// runs are the same whether they have asked for it yet or not, and a snapshot leaves it out.
#[derive(Debug, Clone)]
pub(crate) struct Memo<T>(OnceLock<Arc<T>>);

impl<T> Memo<T> {
    pub(crate) fn get_or(&self, make: impl FnOnce() -> T) -> &Arc<T> {
        self.0.get_or_init(|| Arc::new(make()))
    }

    /// Something that it rests on has changed.
    pub(crate) fn forget(&mut self) {
        self.0.take();
    }
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> PartialEq for Memo<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
