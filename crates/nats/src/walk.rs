//! Reads the messages of a subject one after the other: a few from the leader, many through a consumer.

use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::{Ordered, OrderedConfig};
use futures_util::StreamExt as _;

use crate::connection::{Connection, Fault};

/// So many messages are read one by one before a consumer is worth it: to make one, the servers of a cluster must agree on it.
const SINGLY: u32 = 64;

/// How long a consumer may be silent before the leader is asked again.
const SILENT_MAX: Duration = Duration::from_secs(2);

/// A message of a stream.
pub(crate) struct Found {
    pub(crate) sequence: u64,
    pub(crate) subject: String,
    pub(crate) headers: HeaderMap,
    pub(crate) payload: Vec<u8>,
}

/// A place between two messages of a subject of the stream of runs.
pub(crate) struct Walk<'a> {
    connection: &'a Connection,
    subject: String,
    /// The sequence from which it goes on.
    from: u64,
    /// The last sequence that is wanted.
    until: u64,
    /// Whether payloads are left out where that saves something.
    headers_only: bool,
    singly: u32,
    /// Messages in bulk, and the last one that the leader has.
    bulk: Option<(Ordered, u64)>,
}

impl<'a> Walk<'a> {
    /// From a sequence on, over a subject, which may have wildcards.
    pub(crate) fn new(connection: &'a Connection, subject: String, from: u64) -> Self {
        let (until, headers_only, singly, bulk) = (u64::MAX, false, 0, None);
        Self { connection, subject, from, until, headers_only, singly, bulk }
    }

    /// No message behind this sequence.
    pub(crate) fn until(self, until: u64) -> Self {
        Self { until, ..self }
    }

    pub(crate) fn headers_only(self) -> Self {
        Self { headers_only: true, ..self }
    }

    /// The next message; `None` if the leader has no more.
    pub(crate) async fn next(&mut self) -> Result<Option<Found>, Fault> {
        let next = if self.from > self.until { None } else { self.any_next().await? };
        Ok(next.filter(|found| found.sequence <= self.until))
    }

    async fn any_next(&mut self) -> Result<Option<Found>, Fault> {
        if self.bulk.is_none() && self.singly >= SINGLY {
            self.singly = 0;
            self.begin_bulk().await?;
        }
        if let Some(found) = self.next_in_bulk().await {
            self.from = found.sequence + 1;
            return Ok(Some(found));
        }
        self.singly += 1;
        let stream = &self.connection.stream;
        let Some(message) = self.connection.next(stream, &self.subject, self.from).await? else {
            return Ok(None);
        };
        self.from = message.sequence + 1;
        Ok(Some(Found {
            sequence: message.sequence,
            subject: message.subject.to_string(),
            headers: message.headers,
            payload: message.payload.to_vec(),
        }))
    }

    async fn begin_bulk(&mut self) -> Result<(), Fault> {
        let stream = &self.connection.stream;
        let Some(last) = self.connection.last(stream, &self.subject).await? else { return Ok(()) };
        if last.sequence < self.from + u64::from(SINGLY) {
            return Ok(());
        }
        let config = OrderedConfig {
            filter_subject: self.subject.clone(),
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: self.from.max(1) },
            headers_only: self.headers_only,
            ..OrderedConfig::default()
        };
        // Without a consumer it is only slower.
        if let Ok(consumer) = stream.create_consumer(config).await
            && let Ok(messages) = consumer.messages().await
        {
            self.bulk = Some((messages, last.sequence));
        }
        Ok(())
    }

    async fn next_in_bulk(&mut self) -> Option<Found> {
        let (messages, last) = self.bulk.as_mut()?;
        let more = self.from <= *last;
        let next = if more {
            tokio::time::timeout(SILENT_MAX, messages.next()).await.ok().flatten()
        } else {
            None
        };
        let found = next.and_then(Result::ok).and_then(|message| {
            let sequence = message.info().ok()?.stream_sequence;
            let message = message.message;
            Some(Found {
                sequence,
                subject: message.subject.to_string(),
                headers: message.headers.unwrap_or_default(),
                payload: message.payload.to_vec(),
            })
        });
        if found.is_none() {
            self.bulk = None;
        }
        found
    }
}
