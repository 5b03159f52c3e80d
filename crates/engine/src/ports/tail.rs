use futures_util::stream::{self, Stream};
use materia_contract::Record;
use tokio::sync::watch;

use super::errors::ReadError;

/// Records of a run that follow one another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// The records; none where the run has no more.
    pub records: Vec<Record>,
    /// Whether the run had no more when they were read. Where it is false there may be more.
    pub end: bool,
    /// Whether the hash of each event that is not the last of its decision was computed from its content and the hash before
    /// it when it was read.
    pub derived: bool,
}

/// Records as they become durable, a page at a time. No page is empty.
pub type Tail = std::pin::Pin<Box<dyn Stream<Item = Result<Vec<Record>, ReadError>> + Send>>;

/// A tail for a store that can be read, and that says when there may be more to read.
///
/// `changed` is looked at before each read, so that nothing falls between the two. It may wake for nothing.
pub fn follow<R>(
    after: u64,
    changed: watch::Receiver<u64>,
    read: impl Fn(u64) -> R + Send + 'static,
) -> Tail
where
    R: Future<Output = Result<Page, ReadError>> + Send + 'static,
{
    let begun = Some(Following { after, changed, read, at_end: false });
    Box::pin(stream::unfold(begun, |following| async {
        let mut following = following?;
        match following.next().await {
            Ok(records) => Some((Ok(records), Some(following))),
            // The stream ends after an error; to continue, the caller follows again from the last record.
            Err(error) => Some((Err(error), None)),
        }
    }))
}

struct Following<F> {
    after: u64,
    changed: watch::Receiver<u64>,
    read: F,
    /// Whether nothing was left when it was last read.
    at_end: bool,
}

impl<F, R> Following<F>
where
    F: Fn(u64) -> R,
    R: Future<Output = Result<Page, ReadError>>,
{
    async fn next(&mut self) -> Result<Vec<Record>, ReadError> {
        loop {
            if self.at_end && self.changed.changed().await.is_err() {
                // The store was dropped, so this process appends no more records.
                std::future::pending::<()>().await;
            }
            self.changed.mark_unchanged();
            let Page { records, end, .. } = (self.read)(self.after).await?;
            self.at_end = end;
            if let Some(last) = records.last() {
                self.after = last.seq;
                return Ok(records);
            }
        }
    }
}
