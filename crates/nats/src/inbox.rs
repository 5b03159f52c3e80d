//! The inbox of a run: a subject of its own in the same stream, so that commands and decisions have one order.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use materia_contract::{BlobHash, Command, CommandId, RunId};
use materia_engine::{AppendError, Epoch, PostError, Posted, Posting, ReadError, moved_on};

use crate::append::Written;
use crate::connection::Fault;
use crate::inner::Inner;
use crate::log::{Log, Waiting};
use crate::message::{Kind, Meta};
use crate::read;

/// The inboxes are listed after this time even if no message was seen.
const LISTED_AFTER: Duration = Duration::from_secs(2);

impl Inner {
    /// Leaves a command, unless one of its id is there or was there.
    pub(crate) async fn post(&self, run: &RunId, command: Command) -> Result<Posting, PostError> {
        let body = command.body_hash();
        let chosen = command.id.clone();
        // One without an id gets one here: a message that is sent twice must be one command.
        let id = chosen
            .clone()
            .unwrap_or_else(|| CommandId::kept(format!("~{}", self.connection.nonce())));
        let mut log = self.fresh(run).await.map_err(ReadError::from)?;
        if chosen.is_some()
            && let Some(known) = known(&log, &id, &body)
        {
            return known;
        }
        if let Some(place) = &log.moved {
            return Err(ReadError::Storage(moved_on(run, place)).into());
        }
        let revives = command.what.revives();
        let command = Command { id: Some(id.clone()), ..command };
        let mut payload =
            serde_json::to_vec(&command).expect("a command is data and always renders");
        let mut blob = None;
        if payload.len() > self.connection.room() {
            let hash = BlobHash::of(&payload);
            self.blobs.put_new(hash, &payload).await.map_err(ReadError::from)?;
            (payload, blob) = (Vec::new(), Some(hash));
        }
        let meta = Meta {
            command: Some(id.clone()),
            body: Some(body.clone()),
            revives,
            blob,
            ..Meta::new(Kind::Command, 0, self.connection.nonce())
        };
        let subject = self.connection.subject("inbox", run.as_str());
        let sent = self.connection.publish_surely(&subject, &meta.headers(), &payload).await;
        sent.map_err(ReadError::from)?;
        self.refresh(run, &mut log).await.map_err(ReadError::from)?;
        // Of two with the same id that were sent at once, the first counts.
        known(&log, &id, &body).unwrap_or(Ok(Posting { id, receipt: None }))
    }

    /// Takes a command back that waits, for the newest lease of its run; says whether it waited.
    pub(crate) async fn withdraw(
        &self,
        run: &RunId,
        epoch: Epoch,
        command: &CommandId,
    ) -> Result<bool, Fault> {
        let mut log = self.fresh(run).await?;
        let id = self.connection.nonce();
        let make = |log: &Log| {
            let waits = log.waiting.iter().any(|one| one.id == *command);
            if log.epoch != epoch.0 || !waits {
                return Err(());
            }
            let command = Some(command.clone());
            Ok(Meta { command, ..standing(log, Kind::Withdrawn, epoch, &id) })
        };
        Ok(matches!(self.write(run, &mut log, Vec::new(), make).await?, Written::At(_)))
    }

    /// Notes where a run goes on; `None` says that it goes on here again.
    pub(crate) async fn move_to(
        &self,
        run: &RunId,
        epoch: Epoch,
        place: Option<String>,
    ) -> Result<(), AppendError> {
        let mut log = self.fresh(run).await?;
        let id = self.connection.nonce();
        let make = |log: &Log| {
            if log.epoch != epoch.0 {
                let (run, newest) = (run.clone(), Epoch(log.epoch));
                return Err(AppendError::Fenced { run, epoch, newest });
            }
            Ok(Meta { body: place.clone(), ..standing(log, Kind::Moved, epoch, &id) })
        };
        match self.write(run, &mut log, Vec::new(), make).await? {
            Written::At(_) => Ok(()),
            Written::Refused(error) => Err(error),
        }
    }

    /// The commands that wait, oldest first.
    pub(crate) async fn commands(&self, run: &RunId) -> Result<Vec<Posted>, ReadError> {
        let waiting = self.fresh(run).await?.waiting.clone();
        let mut posted = Vec::with_capacity(waiting.len());
        for Waiting { sequence, id, body } in waiting {
            let command = self.command(sequence).await?;
            let command = command.map(|command| Command { id: Some(id.clone()), ..command });
            posted.push(Posted { id: Some(id), body, command });
        }
        Ok(posted)
    }

    /// The command in a message.
    async fn command(&self, sequence: u64) -> Result<Result<Command, String>, Fault> {
        let connection = &self.connection;
        let Some(message) = connection.at(&connection.stream, sequence).await? else {
            return Ok(Err("its message is gone".to_owned()));
        };
        let mut payload = message.payload.to_vec();
        if let Some(hash) = Meta::read(&message.headers).and_then(|meta| meta.blob) {
            match self.blobs.read(hash).await {
                Ok(bytes) => payload = bytes,
                Err(fault) => return Ok(Err(fault.to_string())),
            }
        }
        let text = String::from_utf8(payload).map_err(|error| error.to_string());
        Ok(text.and_then(|text| Command::read(&text)))
    }

    /// The runs for which commands wait.
    pub(crate) async fn addressed(&self) -> Result<Vec<RunId>, ReadError> {
        let watched = self.inboxes.get_or_init(|| {
            let (connection, stream) = (&self.connection, self.connection.stream.clone());
            read::changes(connection, stream, connection.subject("inbox", ">"))
        });
        let news = *watched.borrow();
        let empty = || self.empty.lock().unwrap_or_else(PoisonError::into_inner);
        // All inboxes are listed only if a message came. A watcher that was cut off learns of it late.
        if empty().is_some_and(|(before, at)| before == news && at.elapsed() < LISTED_AFTER) {
            return Ok(Vec::new());
        }
        let listed = Instant::now();
        let runs = self.listed_addressed().await?;
        *empty() = runs.is_empty().then_some((news, listed));
        Ok(runs)
    }

    async fn listed_addressed(&self) -> Result<Vec<RunId>, ReadError> {
        let mut runs = Vec::new();
        for (run, count) in self.subjects("inbox").await? {
            // An inbox in which nothing waited has nothing new as long as no message came.
            let quiet = || self.quiet.lock().unwrap_or_else(PoisonError::into_inner);
            if quiet().get(&run) == Some(&count) {
                continue;
            }
            if self.fresh(&run).await?.waiting.is_empty() {
                quiet().insert(run, count);
            } else {
                runs.push(run);
            }
        }
        Ok(runs)
    }
}

/// A message that changes no event: it says how the run stands, as the last message of a run does.
pub(crate) fn standing(log: &Log, kind: Kind, epoch: Epoch, id: &str) -> Meta {
    Meta {
        last: log.last,
        status: log.status,
        verdict: log.verdict,
        created: log.created,
        ..Meta::new(kind, epoch.0, id.to_owned())
    }
}

/// The result of an earlier command with this id, if there was one.
fn known(log: &Log, id: &CommandId, body: &str) -> Option<Result<Posting, PostError>> {
    let receipt = log.receipts.get(id).cloned();
    let waiting = log.waiting.iter().find(|one| one.id == *id);
    let of = match &receipt {
        Some(receipt) => receipt.body.clone(),
        None => waiting?.body.clone(),
    };
    // Without a hash, commands cannot be compared.
    let same = of.is_none_or(|of| of == body);
    let posting = Posting { id: id.clone(), receipt };
    Some(if same { Ok(posting) } else { Err(PostError::OtherBody(id.clone())) })
}
