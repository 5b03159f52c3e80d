//! Ports: small traits for stores, runners, clocks and observers. Adapters are in `journal` and `runners`.

mod approval;
mod blobs;
pub mod blobs_contract;
mod ended;
mod ending_contract;
mod errors;
mod journal;
pub mod journal_contract;
mod lease;
mod memory;
mod observer;
mod order;
mod runner;
mod tail;
mod term;
mod weight;

pub use approval::{Approval, Approves, Pinned};
pub use blobs::{BlobError, Blobs, MemoryBlobs, text_of};
pub use ended::{moved_on, refusal_of_ended, status_after};
pub use errors::{AppendError, ReadError};
pub use journal::{
    Answer, Batch, Chapter, Cursor, Head, Journal, Lines, PAGE_BYTES, PostError, Posted, Posting,
    Receipt, Snapshot, Snapshots, line_bytes, record_bytes,
};
pub use lease::{ClaimError, Epoch, Lease};
pub use memory::MemoryJournal;
pub use observer::{Committed, NoObserver, Observer};
pub use order::{FilesOrder, Keeps, Leaves, Manner, PublishOrder, TurnOrder, Work};
pub use runner::{
    Control, Live, Runner, Stop, StopSource, Tightened, TurnFault, TurnJob, TurnReport,
};
pub use tail::{Page, Tail, follow};
pub use term::Term;
pub(crate) use weight::nothing;
pub use weight::{Disk, DiskUsage};

/// A boxed future, so that ports can be used behind `dyn`.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
