//! Appends a decision, a mark, or another message to a run.

use materia_contract::{BlobHash, RunId};
use materia_engine::{AppendError, Batch, Epoch, refusal_of_ended, status_after};

use crate::connection::{Fault, Published};
use crate::inner::Inner;
use crate::log::Log;
use crate::message::{self, Kind, LastEvent, Meta};

/// Result of an append that went through, or why it must not.
pub(crate) enum Written<E> {
    At(u64),
    Refused(E),
}

impl From<Fault> for AppendError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Full(what) => Self::Full(what),
            Fault::Lost(_) | Fault::Refused(_) => Self::Storage(fault.to_string()),
        }
    }
}

impl Inner {
    /// Adds the records and the receipt of a batch; `even_moved` to a run that was copied to another journal, too.
    pub(crate) async fn append(&self, batch: &Batch, even_moved: bool) -> Result<(), AppendError> {
        let refusal = |log: &Log, batch: &Batch| refusal(log, batch, even_moved);
        if let Some(fault) = misplaced(batch) {
            return Err(AppendError::Storage(fault));
        }
        let payload = message::render(&batch.records).map_err(AppendError::Storage)?;
        let mut log = self.log(&batch.run).await;
        // The cached end of the run may be stale: read it from the leader before refusing.
        if refusal(&log, batch).is_some() {
            self.refresh(&batch.run, &mut log).await?;
        }
        let id = match (batch.records.last(), &batch.receipt) {
            (Some(last), _) => last.hash.to_string(),
            (None, Some(receipt)) => format!("answer-{}", receipt.command),
            (None, None) => return refusal(&log, batch).map_or(Ok(()), Err),
        };
        let status = batch.records.iter().rev().find_map(|record| status_after(&record.kind));
        let make = |log: &Log| {
            if let Some(error) = refusal(log, batch) {
                return Err(error);
            }
            let last = batch.records.last();
            let last = last.map(|it| LastEvent { seq: it.seq, ts: it.ts, hash: it.hash });
            Ok(Meta {
                first: batch.records.first().map_or(0, |record| record.seq),
                last: last.or(log.last),
                status: status.or(log.status),
                verdict: if status.is_some() { batch.verdict } else { log.verdict },
                ends: status.and_then(refusal_of_ended).is_some(),
                created: log.created,
                receipt: batch.receipt.clone(),
                ..Meta::new(Kind::Decision, batch.epoch.0, id.clone())
            })
        };
        match self.write(&batch.run, &mut log, payload, make).await? {
            Written::At(_) => Ok(()),
            Written::Refused(error) => Err(error),
        }
    }

    /// Appends a message behind the last one of its run. `make` makes it for the run as it stands, or refuses.
    ///
    /// Without an answer it is sent again with the same expectation, so it is stored once at most. After a refusal
    /// the messages since are read from the leader; if ours is among them, it is stored.
    pub(crate) async fn write<E>(
        &self,
        run: &RunId,
        log: &mut Log,
        mut payload: Vec<u8>,
        make: impl Fn(&Log) -> Result<Meta, E>,
    ) -> Result<Written<E>, Fault> {
        let subject = self.connection.subject("run", run.as_str());
        let mut blob = None;
        if payload.len() > self.connection.room() {
            let hash = BlobHash::of(&payload);
            self.blobs.put_new(hash, &payload).await?;
            (payload, blob) = (Vec::new(), Some(hash));
        }
        let mut patience = self.connection.patience();
        loop {
            let meta = match make(log) {
                Ok(meta) => Meta { blob, ..meta },
                Err(error) => return Ok(Written::Refused(error)),
            };
            let expected = log.run_last;
            let sent = (subject.clone(), meta.headers(), payload.clone());
            match self.connection.publish(sent.0, sent.1, sent.2, Some(expected)).await? {
                Published::At(sequence) => {
                    log.wrote(sequence, &meta);
                    return Ok(Written::At(sequence));
                }
                Published::Late => {
                    if let Some(at) = self.refresh_for(run, log, Some(&meta)).await? {
                        return Ok(Written::At(at));
                    }
                }
                Published::Unknown(what) => patience.again(what).await?,
            }
        }
    }
}

/// Why a batch does not fit a run, if it does not.
fn refusal(log: &Log, batch: &Batch, even_moved: bool) -> Option<AppendError> {
    let run = || batch.run.clone();
    if log.epoch != batch.epoch.0 {
        return Some(AppendError::Fenced {
            run: run(),
            epoch: batch.epoch,
            newest: Epoch(log.epoch),
        });
    }
    if let Some(place) = log.moved.as_ref().filter(|_| !even_moved) {
        return Some(AppendError::moved(&batch.run, place));
    }
    if let Some(receipt) = &batch.receipt
        && log.receipts.contains_key(&receipt.command)
    {
        let what = format!("command {} has been answered before", receipt.command);
        return Some(AppendError::Storage(what));
    }
    let actual = log.place();
    let conflict = || AppendError::Conflict { run: run(), expected: batch.after, actual };
    (actual != batch.after).then(conflict)
}

/// Only a bug can number records wrongly; it must not get into the journal.
fn misplaced(batch: &Batch) -> Option<String> {
    let places = batch.after + 1..;
    let wrong = batch.records.iter().zip(places).find(|(record, place)| record.seq != *place)?;
    Some(format!("event {} of cast `{}` came at place {}", wrong.0.seq, batch.run, wrong.1))
}
