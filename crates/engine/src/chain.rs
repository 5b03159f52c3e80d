//! The chain of hashes of a run, along the pages that are read.

use materia_contract::{ChainHash, Record, RunId};

use crate::Page;

/// A record that is not the one that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// Its index in the page.
    pub nth: usize,
    /// The event that should be there.
    pub seq: u64,
    /// The fault.
    pub what: String,
}

/// A place in the chain, up to which everything was checked.
#[derive(Debug, Clone, Copy)]
pub struct Chain {
    seq: u64,
    head: ChainHash,
}

impl Chain {
    /// Begins before the first event of a run.
    #[must_use]
    pub fn of(run: &RunId) -> Self {
        Self::behind(0, ChainHash::origin(run))
    }

    /// Begins behind the event at `seq` with this hash.
    #[must_use]
    pub fn behind(seq: u64, head: ChainHash) -> Self {
        Self { seq, head }
    }

    /// The last event that was checked.
    pub(crate) fn seq(&self) -> u64 {
        self.seq
    }

    /// Checks the next page. Where its hashes are [derived](Page::derived), only the last one of each decision is computed
    /// again: it rests on the others.
    pub fn check(&mut self, page: &Page) -> Result<(), Broken> {
        let begun = *self;
        for (nth, record) in page.records.iter().enumerate() {
            let seq = self.seq + 1;
            if record.seq != seq {
                let what = format!("event {seq} is missing; the next one there is {}", record.seq);
                return Err(Broken { nth, seq, what });
            }
            let goes_on = page.records.get(nth + 1).is_some_and(|next| next.input.is_none());
            if !(page.derived && goes_on) && record.hash_after(self.head) != record.hash {
                return Err(begun.first_misfit(&page.records[..=nth]));
            }
            (self.seq, self.head) = (seq, record.hash);
        }
        Ok(())
    }

    /// The first record whose hash does not fit, which the last of these does not.
    fn first_misfit(self, records: &[Record]) -> Broken {
        let mut head = self.head;
        let misfit = |record: &Record| {
            let before = std::mem::replace(&mut head, record.hash);
            record.hash_after(before) != record.hash
        };
        let nth = records.iter().position(misfit).unwrap_or(records.len() - 1);
        let record = &records[nth];
        let what = format!("the hash of this `{}` event does not fit its content", record.kind);
        Broken { nth, seq: record.seq, what }
    }
}
