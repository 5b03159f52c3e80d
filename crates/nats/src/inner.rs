//! Facts that are remembered of the runs of a space, and how they are brought up to date.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use materia_contract::{CastLine, RunId};
use materia_engine::ReadError;
use tokio::sync::{OwnedMutexGuard, watch};

use crate::blobs::ObjectBlobs;
use crate::connection::{Connection, Fault};
use crate::log::Log;
use crate::message::Meta;
use crate::walk::Walk;

/// Runs of which something is remembered.
const KNOWN_MAX: usize = 4_096;

/// Places that are remembered of one run.
const PLACES_MAX: usize = 1_024;

/// The state of the tasks on the thread of the connection.
pub(crate) struct Inner {
    pub(crate) connection: Arc<Connection>,
    pub(crate) blobs: ObjectBlobs,
    pub(crate) known: Mutex<HashMap<RunId, Arc<Known>>>,
    /// The messages of inboxes in which nothing waited.
    pub(crate) quiet: Mutex<HashMap<RunId, usize>>,
    /// Changes whenever there may be more in any inbox; begun by the first who asks.
    pub(crate) inboxes: OnceLock<watch::Receiver<u64>>,
    /// When no command waited for any run, and the changes of inboxes then.
    pub(crate) empty: Mutex<Option<(u64, Instant)>>,
}

/// Facts that are remembered of a run.
#[derive(Default)]
pub(crate) struct Known {
    log: Arc<tokio::sync::Mutex<Log>>,
    pub(crate) places: Mutex<Places>,
    /// Its line in the list, as it began.
    pub(crate) line: OnceLock<CastLine>,
}

impl From<Fault> for ReadError {
    fn from(fault: Fault) -> Self {
        Self::Storage(fault.to_string())
    }
}

impl Inner {
    /// Facts that are remembered of a run.
    pub(crate) fn known(&self, run: &RunId) -> Arc<Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN_MAX {
            known.retain(|_, one| Arc::strong_count(one) > 1);
        }
        Arc::clone(known.entry(run.clone()).or_default())
    }

    /// How a run stands as far as it is known here.
    pub(crate) async fn log(&self, run: &RunId) -> OwnedMutexGuard<Log> {
        Arc::clone(&self.known(run).log).lock_owned().await
    }

    /// How a run stands now.
    pub(crate) async fn fresh(&self, run: &RunId) -> Result<OwnedMutexGuard<Log>, Fault> {
        let mut log = self.log(run).await;
        self.refresh(run, &mut log).await?;
        Ok(log)
    }

    /// Reads what is new of a run and its inbox.
    pub(crate) async fn refresh(&self, run: &RunId, log: &mut Log) -> Result<(), Fault> {
        self.refresh_for(run, log, None).await.map(drop)
    }

    /// The same; returns where a message of ours is that was stored behind the messages known before.
    pub(crate) async fn refresh_for(
        &self,
        run: &RunId,
        log: &mut Log,
        ours: Option<&Meta>,
    ) -> Result<Option<u64>, Fault> {
        let of_run = self.connection.subject("run", run.as_str());
        let (before, mut at) = (log.run_last, None);
        // Messages of the run up to there are known already: most were written here.
        if before > log.upto {
            let inbox = self.connection.subject("inbox", run.as_str());
            let walk = Walk::new(&self.connection, inbox, log.upto + 1).headers_only();
            let mut walk = walk.until(before);
            while let Some(found) = walk.next().await? {
                log.take(found.sequence, false, Meta::read(&found.headers).as_ref());
            }
            log.reach_run();
        }
        let subject = self.connection.subject("*", run.as_str());
        let mut walk = Walk::new(&self.connection, subject, log.upto + 1).headers_only();
        while let Some(found) = walk.next().await? {
            let meta = Meta::read(&found.headers);
            let is_of_run = found.subject == of_run;
            let is_ours = || ours.zip(meta.as_ref()).is_some_and(|(ours, it)| ours.is(it));
            if is_of_run && is_ours() {
                at = Some(found.sequence);
            }
            log.take(found.sequence, is_of_run, meta.as_ref());
        }
        Ok(at)
    }
}

/// Where some decisions of a run are: their first event, and their message.
#[derive(Debug, Default)]
pub(crate) struct Places(BTreeMap<u64, u64>);

impl Places {
    /// The last place that is known to be at an event or before it.
    pub(crate) fn before(&self, seq: u64) -> (u64, u64) {
        self.0.range(..=seq).next_back().map_or((1, 1), |(first, at)| (*first, *at))
    }

    pub(crate) fn note(&mut self, first: u64, at: u64) {
        if self.0.len() >= PLACES_MAX {
            // Every second one is enough to begin near any place.
            let mut keep = false;
            self.0.retain(|_, _| {
                keep = !keep;
                keep
            });
        }
        self.0.insert(first, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_at_or_before_an_event_is_found() {
        let mut places = Places::default();
        assert_eq!(places.before(7), (1, 1));
        for first in 1..=5_000_u64 {
            places.note(first * 2 - 1, first * 10);
        }
        assert!(places.0.len() <= PLACES_MAX);
        for seq in [1, 2, 500, 9_999, 20_000] {
            let (first, at) = places.before(seq);
            assert!(first <= seq && at == (first + 1) * 5, "{seq}: {first} {at}");
        }
    }
}
