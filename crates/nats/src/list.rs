//! The list of runs. It is read from the runs themselves: the last message of each says how it stands.

use futures_util::{StreamExt as _, TryStreamExt as _};
use materia_contract::time::wall_time;
use materia_contract::{CastLine, CastStatus, EventBody, RunId};
use materia_engine::{Cursor, Lines, ReadError, line_bytes};

use crate::connection::Fault;
use crate::inner::Inner;
use crate::message::Meta;
use crate::walk::Found;

/// Requests that wait for an answer at one time.
const AT_ONCE: usize = 64;

/// The most characters of a request in the list of runs.
const REQUEST_CHARS_MAX: usize = 2_000;

/// A run in the list.
struct Listed {
    run: RunId,
    created: u64,
    status: CastStatus,
    verdict: Option<bool>,
}

impl Inner {
    /// A page of the list, newest first, of the runs that are older than the one at the cursor.
    pub(crate) async fn lines(
        &self,
        after: Option<&Cursor>,
        bytes: usize,
    ) -> Result<Lines, ReadError> {
        let before = match after {
            None => u64::MAX,
            Some(cursor) => cursor.0.parse().map_err(|_| ReadError::NoSuchPlace)?,
        };
        let subjects = self.subjects("run").await?;
        let looks = subjects.into_iter().map(|(run, _)| self.listed(run));
        let found = futures_util::stream::iter(looks).buffer_unordered(AT_ONCE);
        let all: Vec<Option<Listed>> = found.try_collect().await?;
        let mut all: Vec<Listed> = all.into_iter().flatten().collect();
        all.retain(|one| one.created < before);
        all.sort_by_key(|one| std::cmp::Reverse(one.created));
        let mut page = Lines::default();
        let (mut taken, mut last) = (0, before);
        for one in all {
            if taken >= bytes && !page.lines.is_empty() {
                page.next = Some(Cursor(last.to_string()));
                break;
            }
            last = one.created;
            match self.line_of(&one).await {
                Ok(line) => {
                    taken += line_bytes(&line);
                    page.lines.push(line);
                }
                Err(ReadError::Damaged { what, .. }) => {
                    page.unreadable.push(format!("cast `{}` cannot be listed: {what}", one.run));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(page)
    }

    /// One line of the list.
    pub(crate) async fn line(&self, run: &RunId) -> Result<Option<CastLine>, ReadError> {
        let log = self.fresh(run).await?;
        let Some(created) = log.created else { return Ok(None) };
        let status = log.status.unwrap_or(CastStatus::Running);
        let one = Listed { run: run.clone(), created, status, verdict: log.verdict };
        drop(log);
        self.line_of(&one).await.map(Some)
    }

    /// The runs that have messages of a kind, and how many.
    pub(crate) async fn subjects(&self, kind: &str) -> Result<Vec<(RunId, usize)>, Fault> {
        let connection = &self.connection;
        let prefix = connection.subject(kind, "");
        let all = connection.subjects(&connection.stream, &connection.subject(kind, ">")).await?;
        let run = |subject: &str| RunId::parse(subject.strip_prefix(&prefix)?).ok();
        Ok(all.into_iter().filter_map(|(subject, count)| Some((run(&subject)?, count))).collect())
    }

    /// How a run stands by its last message; `None` if it has not begun.
    async fn listed(&self, run: RunId) -> Result<Option<Listed>, ReadError> {
        let subject = self.connection.subject("run", run.as_str());
        let last = self.connection.last(&self.connection.stream, &subject).await?;
        let meta = last.as_ref().and_then(|last| Meta::read(&last.headers));
        let begun = |meta: &Meta| match (meta.created, meta.first, &last) {
            (Some(created), ..) => Some(created),
            (None, 1, Some(last)) => Some(last.sequence),
            (None, ..) => None,
        };
        if let Some(meta) = meta
            && let Some(created) = begun(&meta)
        {
            let (status, verdict) = (meta.status.unwrap_or(CastStatus::Running), meta.verdict);
            return Ok(Some(Listed { run, created, status, verdict }));
        }
        // The last message is none of ours, or only a mark.
        let log = self.fresh(&run).await?;
        let status = log.status.unwrap_or(CastStatus::Running);
        Ok(log.created.map(|created| Listed { run, created, status, verdict: log.verdict }))
    }

    async fn line_of(&self, one: &Listed) -> Result<CastLine, ReadError> {
        let known = self.known(&one.run);
        if known.line.get().is_none() {
            let begun = self.begun(&one.run, one.created).await?;
            let _ = known.line.set(begun);
        }
        let line = known.line.get().ok_or(ReadError::NoSuchPlace)?.clone();
        let verdict = one.verdict.filter(|_| one.status == CastStatus::Completed);
        Ok(CastLine { status: one.status, verdict, ..line })
    }

    /// The line of a run as it began.
    async fn begun(&self, run: &RunId, created: u64) -> Result<CastLine, ReadError> {
        let damaged =
            |what: String| ReadError::Damaged { place: format!("event 1 of {run}"), what };
        let connection = &self.connection;
        let message = connection.at(&connection.stream, created).await?;
        let message = message.ok_or_else(|| damaged("it is missing".to_owned()))?;
        let meta = Meta::read(&message.headers).filter(|meta| meta.first == 1);
        let meta = meta.ok_or_else(|| damaged("it is another message".to_owned()))?;
        let found = Found {
            sequence: created,
            subject: message.subject.to_string(),
            headers: message.headers,
            payload: message.payload.to_vec(),
        };
        let mut records = self.records(run, &meta, &found).await?;
        records.truncate(1);
        self.blobs.fill(&mut records).await;
        let first = records.pop().ok_or_else(|| damaged("it is missing".to_owned()))?;
        let event = first.event().map_err(|error| damaged(error.to_string()))?;
        let EventBody::RunCreated(created) = event.body else {
            return Err(damaged(format!("it is `{}`", first.kind)));
        };
        let started = created.fork.as_ref().and_then(|fork| fork.started).unwrap_or(first.wall);
        Ok(CastLine {
            cast_id: run.clone(),
            status: CastStatus::Running,
            loadout: created.plan.loadout.clone(),
            request: created.request.chars().take(REQUEST_CHARS_MAX).collect(),
            started_at: wall_time(started),
            from_cast_id: created.from_cast_id.clone(),
            verdict: None,
        })
    }
}
