//! Leases: a key for each driven run in a bucket whose keys lapse, and a mark in the run that fences.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::HeaderMap;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use materia_contract::RunId;
use materia_engine::{ClaimError, Epoch, Lease, Term};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::append::Written;
use crate::connection::{Connection, Fault, Published, StreamMessage};
use crate::host::host_name;
use crate::inbox::standing;
use crate::inner::Inner;
use crate::log::Log;
use crate::message::{Home, Kind, Meta};

/// The header with which a key is removed.
pub(crate) const OPERATION: &str = "KV-Operation";

/// How long a process that gives a run up waits until the server has heard of it.
const GIVE_UP_WITHIN: Duration = Duration::from_secs(1);

/// Requests that wait for an answer at one time.
const AT_ONCE: usize = 64;

/// Who holds a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    /// Tells one claim from every other.
    nonce: String,
    pid: u32,
    host: String,
    /// The name of the worker, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worker: Option<String>,
}

/// The driver of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driver {
    /// The name of the worker; `None` for a process that is none.
    pub worker: Option<String>,
}

impl From<Holder> for Driver {
    fn from(holder: Holder) -> Self {
        Self { worker: holder.worker }
    }
}

pub(crate) fn failed(run: &RunId, fault: &Fault) -> ClaimError {
    ClaimError::Storage { run: run.clone(), what: fault.to_string() }
}

/// The process that holds the lease of a run, if one does.
pub(crate) async fn holder(connection: &Connection, run: &RunId) -> Result<Option<Holder>, Fault> {
    let key = connection.lease_key(run.as_str());
    let last = connection.last(&connection.leases, &key).await?;
    Ok(last.as_ref().and_then(held_in))
}

/// The runs that are driven now.
pub(crate) async fn held(connection: &Connection) -> Result<Vec<RunId>, Fault> {
    let keys = connection.subjects(&connection.leases, &connection.lease_key(">")).await?;
    let prefix = connection.lease_key("");
    let run = |(key, _): (String, usize)| RunId::parse(key.strip_prefix(&prefix)?).ok();
    let leases = revisions(connection, keys.into_iter().filter_map(run).collect()).await?;
    let mut runs: Vec<RunId> =
        leases.into_iter().filter_map(|(run, lease)| lease.map(|_| run)).collect();
    runs.sort();
    Ok(runs)
}

/// The leases of some runs, in their order: the revision of each, which changes when it is renewed; `None` for a run
/// that nobody drives.
pub(crate) async fn revisions(
    connection: &Connection,
    runs: Vec<RunId>,
) -> Result<Vec<(RunId, Option<u64>)>, Fault> {
    let look = async |run: RunId| {
        let key = connection.lease_key(run.as_str());
        let last = connection.last(&connection.leases, &key).await?;
        let held = last.filter(|last| held_in(last).is_some());
        Ok::<_, Fault>((run, held.map(|held| held.sequence)))
    };
    stream::iter(runs).map(look).buffered(AT_ONCE).try_collect().await
}

fn held_in(message: &StreamMessage) -> Option<Holder> {
    serde_json::from_slice(&message.payload).ok()
}

/// Makes the caller the only one who may drive a run.
pub(crate) async fn claim(inner: &Arc<Inner>, run: &RunId) -> Result<Lease, ClaimError> {
    if run.as_str().ends_with('.') {
        let source = io::Error::other("its name ends with a dot, which no subject may");
        return Err(ClaimError::Io { run: run.clone(), source });
    }
    let failed = |fault: Fault| failed(run, &fault);
    let connection = &inner.connection;
    let nonce = connection.nonce();
    let host = host_name();
    let worker = connection.worker.get().cloned();
    let holder = Holder { nonce: nonce.clone(), pid: std::process::id(), host, worker };
    let mut key = Key {
        connection: Arc::clone(connection),
        name: connection.lease_key(run.as_str()),
        holder,
        revision: 0,
    };
    // The server counts from the moment at which it stores the key, which is later.
    let begun = Instant::now();
    if let Some(other) = key.take().await.map_err(failed)? {
        let pid = (other.host == key.holder.host).then_some(other.pid);
        return Err(ClaimError::Held { run: run.clone(), pid });
    }
    let (tell, lost) = watch::channel(false);
    let (renewed, term) = watch::channel(begun + connection.lease);
    let (free, freed) = std::sync::mpsc::channel();
    let (stop, stopped) = tokio::sync::oneshot::channel();
    connection.held.send_modify(|held| *held += 1);
    drop(connection.run(async move {
        let _gone = Gone(Arc::clone(&key.connection));
        tokio::select! {
            // The sender goes with the lease, and says nothing.
            _ = stopped => {}
            () = key.renew(begun, &renewed) => {
                let _ = tell.send(true);
                return;
            }
        }
        key.remove().await;
        let _ = free.send(());
    }));
    let mut held =
        Held { stop: Some(stop), freed: Some(freed), connection: Arc::clone(connection) };
    // The mark of a long run takes time; the key is renewed meanwhile.
    let epoch = match mark(inner, run, &nonce).await {
        Ok(epoch) => epoch,
        Err(fault) => {
            // This is the thread that removes the key.
            held.freed = None;
            return Err(failed(fault));
        }
    };
    tracing::debug!(cast = %run, %epoch, "claimed");
    let lease = Lease::new(epoch, std::sync::Mutex::new(held)).until(lost);
    // Nobody takes the run of a process that works alone.
    Ok(if connection.options.yields { lease.within(Term::of(term)) } else { lease })
}

/// Appends a mark to a run; its sequence is the epoch.
async fn mark(inner: &Inner, run: &RunId, nonce: &str) -> Result<Epoch, Fault> {
    let mut log = inner.fresh(run).await?;
    let folder = inner.connection.options.folder.as_deref();
    let make = |log: &Log| {
        let begins = log.created.is_none();
        let home = folder.filter(|_| begins).map(Home::here);
        let mark = standing(log, Kind::Mark, Epoch(log.epoch), nonce);
        Ok::<_, std::convert::Infallible>(Meta { home, ..mark })
    };
    match inner.write(run, &mut log, Vec::new(), make).await? {
        Written::At(sequence) => Ok(Epoch(sequence)),
        Written::Refused(never) => match never {},
    }
}

/// The key of a run in the bucket.
struct Key {
    connection: Arc<Connection>,
    name: String,
    holder: Holder,
    /// The sequence of the key as we have written it.
    revision: u64,
}

impl Key {
    async fn put(&self, expected: u64) -> Result<Published, Fault> {
        let value =
            serde_json::to_vec(&self.holder).map_err(|error| Fault::Refused(error.to_string()))?;
        self.connection.publish(self.name.clone(), HeaderMap::new(), value, Some(expected)).await
    }

    /// Takes the key, unless another holds it; that one is returned.
    async fn take(&mut self) -> Result<Option<Holder>, Fault> {
        let mut patience = self.connection.patience();
        let mut expected = 0;
        loop {
            let last = match self.put(expected).await? {
                Published::At(revision) => {
                    self.revision = revision;
                    return Ok(None);
                }
                Published::Late => {
                    self.connection.last(&self.connection.leases, &self.name).await?
                }
                Published::Unknown(what) => {
                    patience.again(what).await?;
                    continue;
                }
            };
            expected = last.as_ref().map_or(0, |last| last.sequence);
            match last.as_ref().and_then(held_in) {
                Some(holder) if holder == self.holder => {
                    self.revision = expected;
                    return Ok(None);
                }
                Some(other) => return Ok(Some(other)),
                // It was removed, or has just lapsed.
                None => {}
            }
        }
    }

    /// Renews the key, which was stored after `begun`, again and again; returns when the lease is lost.
    async fn renew(&mut self, begun: Instant, told: &watch::Sender<Instant>) {
        let lease = self.connection.lease;
        let options = &self.connection.options;
        // Who works alone waits for its server as long as for any answer: nobody takes its run meanwhile.
        let limit =
            if options.yields { lease * 2 / 3 } else { options.patience.max(lease * 2 / 3) };
        let mut renewed = begun;
        loop {
            tokio::time::sleep_until((renewed + lease / 3).into()).await;
            let mut begun = Instant::now();
            loop {
                if renewed.elapsed() >= limit {
                    tracing::warn!(key = self.name, "the lease could not be renewed");
                    return;
                }
                let left = limit.saturating_sub(renewed.elapsed());
                match tokio::time::timeout(left, self.put(self.revision)).await {
                    Ok(Ok(Published::At(revision))) => {
                        self.revision = revision;
                        break;
                    }
                    Ok(Ok(Published::Late)) => {
                        if self.found().await == Some(false) {
                            return;
                        }
                        // An earlier attempt may have stored it, nobody knows when: it is renewed from there.
                    }
                    Ok(Ok(Published::Unknown(_)) | Err(_)) | Err(_) => {}
                }
                tokio::time::sleep(crate::connection::REPEAT_AFTER).await;
                begun = Instant::now();
            }
            renewed = begun;
            told.send_replace(begun + lease);
        }
    }

    /// Whether the key is ours after a refusal; `None` if it is not known, or has lapsed and can be taken again.
    async fn found(&mut self) -> Option<bool> {
        let last = self.connection.leases.get_last_raw_message_by_subject(&self.name).await;
        match last {
            Ok(last) => {
                self.revision = last.sequence;
                Some(held_in(&last).is_some_and(|holder| holder == self.holder))
            }
            Err(error) => {
                use async_nats::jetstream::stream::LastRawMessageErrorKind::NoMessageFound;
                if error.kind() == NoMessageFound {
                    self.revision = 0;
                }
                None
            }
        }
    }

    async fn remove(&self) {
        let mut headers = HeaderMap::new();
        headers.insert(OPERATION, "DEL");
        let expected = Some(self.revision);
        let _ = self.connection.publish(self.name.clone(), headers, Vec::new(), expected).await;
    }
}

/// Dropped when a lease is held no more.
struct Gone(Arc<Connection>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.held.send_modify(|held| *held -= 1);
    }
}

/// Waits shortly until others can see that no run is held here.
pub(crate) async fn all_given_up(connection: &Connection) {
    let mut held = connection.held.subscribe();
    let none = held.wait_for(|held| *held == 0);
    // Without the server, they lapse by themselves.
    let _ = tokio::time::timeout(GIVE_UP_WITHIN, none).await;
}

/// While it lives, the lease is renewed. It then waits shortly until others can see that the run is free, where that keeps
/// no other task waiting.
struct Held {
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    /// Says that the key is removed; `None` where nobody waits for that.
    freed: Option<std::sync::mpsc::Receiver<()>>,
    connection: Arc<Connection>,
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.stop.take());
        if self.connection.is_shared() {
            return;
        }
        if self.connection.client.connection_state() == async_nats::connection::State::Connected
            && let Some(freed) = &self.freed
        {
            let _ = freed.recv_timeout(GIVE_UP_WITHIN);
        }
    }
}
