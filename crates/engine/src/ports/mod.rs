//! Ports: small traits for stores, runners, clocks and observers. Adapters are in `journal` and `runners`.

mod approval;
mod blobs;
pub mod blobs_contract;
mod ended;
mod ending_contract;
mod journal;
pub mod journal_contract;
mod memory;
mod observer;
mod runner;
mod tail;
mod term;
mod weight;

pub use approval::{Approval, Approves, Pinned};
pub use blobs::{BlobError, Blobs, MemoryBlobs, text_of};
pub use ended::{moved_on, refusal_of_ended, status_after};
pub use journal::{
    Answer, AppendError, Batch, Chapter, ClaimError, Cursor, Epoch, Head, Journal, Lease, Lines,
    PAGE_BYTES, Page, PostError, Posted, Posting, ReadError, Receipt, Snapshot, Snapshots,
    line_bytes, record_bytes,
};
pub use memory::MemoryJournal;
pub use observer::{Committed, NoObserver, Observer};
pub use runner::{
    Control, FilesOrder, Keeps, Leaves, Live, Manner, PublishOrder, Runner, Stop, StopSource,
    Tightened, TurnFault, TurnJob, TurnOrder, TurnReport, Work,
};
pub use tail::{Tail, follow};
pub use term::Term;
pub(crate) use weight::nothing;
pub use weight::{Disk, DiskUsage};

/// A boxed future, so that ports can be used behind `dyn`.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
