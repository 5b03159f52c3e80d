//! Memory that is used again for every record: what is hashed, and what is rendered.

use std::cell::RefCell;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The most memory that is kept for the next record.
const KEPT_BYTES_MAX: usize = 256 << 10;

/// Does something with that memory, which is empty. It must not be wanted again inside.
pub(crate) fn with_scratch<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.clear();
        let done = work(scratch);
        scratch.clear();
        scratch.shrink_to(KEPT_BYTES_MAX);
        done
    })
}
