//! Reads the records of a run, and follows it.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::stream::Stream;
use futures_util::StreamExt as _;
use materia_contract::{Record, RunId};
use materia_engine::{Page, ReadError, record_bytes};
use tokio::sync::watch;

use crate::connection::{Connection, Fault};
use crate::journal::Inner;
use crate::message::{self, Kind, Meta};
use crate::walk::{Found, Walk};

/// The wait before a lost consumer is made again.
const AGAIN_AFTER: Duration = Duration::from_millis(500);

/// Places that are remembered of one run.
const PLACES_MAX: usize = 1_024;

/// Where some decisions of a run are: their first event, and their message.
#[derive(Debug, Default)]
pub(crate) struct Places(BTreeMap<u64, u64>);

impl Places {
    /// The last place that is known to be at an event or before it.
    fn before(&self, seq: u64) -> (u64, u64) {
        self.0.range(..=seq).next_back().map_or((1, 1), |(first, at)| (*first, *at))
    }

    fn note(&mut self, first: u64, at: u64) {
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

impl Inner {
    /// A page of records behind a place.
    pub(crate) async fn page(
        &self,
        run: &RunId,
        after: u64,
        bytes: usize,
    ) -> Result<Page, ReadError> {
        let known = self.known(run);
        let places = || known.places.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut next, from) = places().before(after.saturating_add(1));
        let subject = self.connection.subject("run", run.as_str());
        let mut walk = Walk::new(&self.connection, subject, from);
        let mut page = Page::default();
        let mut taken = 0;
        while let Some(found) = walk.next().await? {
            let Some(meta) = Meta::read(&found.headers).filter(|it| it.kind == Kind::Decision)
            else {
                continue;
            };
            if meta.first != next {
                continue;
            }
            let last = meta.last.map_or(meta.first, |last| last.seq);
            places().note(meta.first, found.sequence);
            next = last + 1;
            if last <= after {
                continue;
            }
            let mut records = self.records(run, &meta, &found).await?;
            records.retain(|record| record.seq > after);
            let fits = |record: &Record| {
                let full = taken >= bytes && taken > 0;
                taken += record_bytes(record);
                !full
            };
            let count = records.iter().map(fits).take_while(|fits| *fits).count();
            let full = count < records.len() || taken >= bytes;
            records.truncate(count);
            self.blobs.fill(&mut records).await;
            page.records.append(&mut records);
            if full {
                return Ok(page);
            }
        }
        page.end = true;
        Ok(page)
    }

    /// The records of a decision, without the texts that are kept apart from them.
    pub(crate) async fn records(
        &self,
        run: &RunId,
        meta: &Meta,
        found: &Found,
    ) -> Result<Vec<Record>, ReadError> {
        let place = || format!("event {} of {run}", meta.first);
        let damaged = |what: String| ReadError::Damaged { place: place(), what };
        let payload = match meta.blob {
            None => None,
            Some(hash) => Some(self.blobs.read(hash).await.map_err(|it| damaged(it.to_string()))?),
        };
        let records = message::records(payload.as_deref().unwrap_or(&found.payload));
        let records = records.map_err(damaged)?;
        let (first, last) = (records.first(), records.last());
        let fits = first.is_some_and(|record| record.seq == meta.first)
            && last.map(|record| (record.seq, record.hash))
                == meta.last.map(|it| (it.seq, it.hash))
            && records.windows(2).all(|pair| pair[0].seq + 1 == pair[1].seq);
        if fits { Ok(records) } else { Err(damaged("its headers name other events".to_owned())) }
    }
}

/// Changes whenever there may be more on a subject.
pub(crate) fn changes(
    connection: &Arc<Connection>,
    stream: Stream,
    subject: String,
) -> watch::Receiver<u64> {
    let (tell, told) = watch::channel(0);
    drop(connection.run(async move {
        let begun = tell.clone();
        tokio::select! {
            () = begun.closed() => {}
            () = watch_subject(&stream, &subject, &tell) => {}
        }
    }));
    told
}

async fn watch_subject(stream: &Stream, subject: &str, tell: &watch::Sender<u64>) {
    loop {
        if let Err(what) = watch_once(stream, subject, tell).await {
            tracing::debug!(subject, %what, "no longer followed");
        }
        tokio::time::sleep(AGAIN_AFTER).await;
    }
}

async fn watch_once(
    stream: &Stream,
    subject: &str,
    tell: &watch::Sender<u64>,
) -> Result<(), Fault> {
    let refused = |error: String| Fault::Refused(error);
    let config = OrderedConfig {
        filter_subject: subject.to_owned(),
        deliver_policy: DeliverPolicy::New,
        headers_only: true,
        ..OrderedConfig::default()
    };
    let consumer = stream.create_consumer(config).await;
    let consumer = consumer.map_err(|error| refused(error.to_string()))?;
    let messages = consumer.messages().await;
    let mut messages = messages.map_err(|error| refused(error.to_string()))?;
    // Messages may have come before there was a consumer.
    tell.send_modify(|times| *times += 1);
    while let Some(message) = messages.next().await {
        message.map_err(|error| refused(error.to_string()))?;
        tell.send_modify(|times| *times += 1);
    }
    Ok(())
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
