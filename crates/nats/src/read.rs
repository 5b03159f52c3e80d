//! Reads the records of a run, and follows it.

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
use crate::inner::Inner;
use crate::message::{self, Kind, Meta};
use crate::walk::{Found, Walk};

/// The wait before a lost consumer is made again.
const AGAIN_AFTER: Duration = Duration::from_millis(500);

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
