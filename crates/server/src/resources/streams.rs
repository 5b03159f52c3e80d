//! Event streams: the events of a cast without gaps or duplicates, and summaries of casts as they
//! change.
//!
//! Events come from the journal, in whichever process the cast runs. Live output of turns is not
//! recorded: it comes as `live`, without an id, and some of it may be lost.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::StatusCode;
use futures_util::StreamExt as _;
use materia_app::Failure;
use materia_app::project::place::Work;
use materia_app::views::event_view::Shown;
use materia_app::views::remote_output::{RemoteOutput, Said, under_way};
use materia_contract::api::{CastSummary, LiveWords};
use materia_contract::{CastStatus, NodeId, Record, RefusalCode, RunId};
use materia_engine::{Clock as _, SystemClock, blocking, off_thread};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, broadcast};
use tokio::time::Instant;

use crate::http::limits::{PIECE_BYTES, STREAM_PULSE, STREAMS_MAX};
use crate::http::problem::{Answered, Refused};
use crate::http::sse::{self, Gone, SseWriter};
use crate::projects::{Cast, FOREIGN_POLL_INTERVAL, Served, ServedProject};
use crate::request::Request;
use crate::resources::events;
use crate::state::App;

/// The least time between two looks for casts that have changed.
const CHANGES_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How far before its last id a stream of summaries begins again: clocks of several processes are not one. A summary
/// that is sent twice does no harm.
const CHANGES_BACK_MICROS: i64 = 5_000_000;

/// Interval at which the live output of turns in another process is polled.
const REMOTE_OUTPUT_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The longest piece of live words.
const LIVE_CHARS_MAX: usize = 8_192;

fn room_for_one(app: &App) -> Result<OwnedSemaphorePermit, Refused> {
    Arc::clone(&app.streams).try_acquire_owned().map_err(|_| {
        Refused::new(
            StatusCode::TOO_MANY_REQUESTS,
            RefusalCode::Limit,
            format!("{STREAMS_MAX} streams are open already; close one"),
        )
    })
}

/// The last event that a reader has seen, as its browser says.
fn last_id(asked: &Request) -> Option<&str> {
    asked
        .headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok())
        .filter(|id| !id.is_empty())
}

/// `GET /api/casts/{id}/stream`.
pub(crate) async fn cast(app: Arc<App>, asked: &Request) -> Answered {
    let cast = asked.cast(&app).await?;
    let after = match last_id(asked) {
        Some(id) => {
            id.parse().map_err(|_| Refused::usage("`Last-Event-ID` is the number of an event"))?
        }
        None => asked.number("from").unwrap_or(1).max(1) - 1,
    };
    let permit = room_for_one(&app)?;
    let following = Following::begin(cast, after).await?;
    let (pen, response) = sse::stream();
    let mut ending = app.ending.subscribe();
    tokio::spawn(async move {
        let _permit = permit;
        tokio::select! {
            _ = following.tell(&pen, Ids::Seq) => {}
            () = pen.left() => {}
            _ = ending.wait_for(|ending| *ending) => {}
        }
    });
    Ok(response)
}

/// Ids of the events in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ids {
    /// Places of events.
    Seq,
    /// None: another kind of event has them.
    None,
}

/// A cast that a client follows.
struct Following {
    cast: Cast,
    shown: Shown,
    after: u64,
    /// The beginnings of turns that are under way there.
    before: Vec<Record>,
}

impl Following {
    /// Behind event `after`; one that is not there yet is waited for.
    async fn begin(cast: Cast, after: u64) -> Result<Self, Refused> {
        let of = cast.clone();
        let (shown, after, before) = off_thread(move || {
            let head = blocking(of.journal()).head(&of.id).map_err(Failure::from)?;
            let newest = head.map_or(0, |head| head.seq);
            if after > newest {
                let detail =
                    format!("cast `{}` has {newest} events; there is no event {after}", of.id);
                return Err(Refused::unknown(detail));
            }
            let shown = Shown::behind(of.journal(), &of.id, of.folders(), after);
            let before = under_way(of.journal(), &of.id, after).map_err(Failure::from)?;
            Ok((shown.map_err(Failure::from)?, after, before))
        })
        .await?;
        Ok(Self { cast, shown, after, before })
    }

    /// The next events as pieces of a stream, up to about the length of one: an event may be large, and the reader slow.
    fn pieces(
        &mut self,
        records: &mut std::vec::IntoIter<Record>,
        remote_output: &mut RemoteOutput,
        ids: Ids,
    ) -> Vec<Bytes> {
        let mut text = String::new();
        for record in records {
            remote_output.note(&record);
            let data = events::shown(&mut self.shown, &self.cast, &record);
            let id = (ids == Ids::Seq).then(|| record.seq.to_string());
            text.push_str(&sse::event("journal", id.as_deref(), &data));
            if text.len() >= PIECE_BYTES {
                break;
            }
        }
        sse::pieces(&text)
    }

    /// Tells every event, and what turns say meanwhile.
    async fn tell(mut self, pen: &SseWriter, ids: Ids) -> Result<(), Gone> {
        let mut tail = self.cast.room.journal.tail(&self.cast.id, self.after);
        let mut live = self.cast.room.live.subscribe();
        let mut pulse = tokio::time::interval_at(Instant::now() + STREAM_PULSE, STREAM_PULSE);
        let mut listen = tokio::time::interval(REMOTE_OUTPUT_POLL_INTERVAL);
        listen.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut renew = tokio::time::interval(FOREIGN_POLL_INTERVAL);
        let folder = PathBuf::from(self.cast.folders().run_dir);
        let mut remote_output = RemoteOutput::live(folder, self.cast.served.project.dir.clone());
        for record in self.before.drain(..) {
            remote_output.note(&record);
        }
        loop {
            tokio::select! {
                biased;
                records = tail.next() => {
                    // An error ends the stream: the reader goes on from its last id.
                    let Some(Ok(records)) = records else { return Ok(()) };
                    // Not on the thread of this task, which would keep the room of large texts for ever.
                    let mut records = records.into_iter();
                    while records.len() > 0 {
                        let pieces;
                        (self, remote_output, records, pieces) = off_thread(move || {
                            let pieces = self.pieces(&mut records, &mut remote_output, ids);
                            (self, remote_output, records, pieces)
                        })
                        .await;
                        pen.write(pieces).await?;
                    }
                }
                said = live.recv() => match said {
                    Ok(said) if said.run == self.cast.id => {
                        pen.write(sse::pieces(&words(&said.node, &said.text))).await?;
                    }
                    Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return Ok(()),
                },
                _ = listen.tick(), if !remote_output.is_empty() => {
                    // The live output of a cast that this server drives arrives directly.
                    if self.cast.room.host.runs().contains(&self.cast.id) {
                        continue;
                    }
                    let (ears, said) = off_thread(move || {
                        let said = remote_output.look();
                        (remote_output, said)
                    })
                    .await;
                    remote_output = ears;
                    for Said { socket, text, .. } in &said {
                        pen.write(sse::pieces(&words(socket, text))).await?;
                    }
                }
                // A journal of another state folder is read as it was: its reader goes on from its last id, in a new look.
                _ = renew.tick() => if self.cast.room.is_outdated() {
                    return Ok(());
                },
                _ = pulse.tick() => pen.write(sse::pieces(sse::PULSE)).await?,
            }
        }
    }
}

/// Words of a turn; of many, how they end.
fn words(socket: &NodeId, text: &str) -> String {
    let surplus = text.chars().count().saturating_sub(LIVE_CHARS_MAX);
    let text: String = text.chars().skip(surplus).collect();
    let live = LiveWords { socket: socket.clone(), kind: "text".to_owned(), text };
    sse::event("live", None, &serde_json::to_string(&live).unwrap_or_default())
}

/// `GET /api/stream`.
pub(crate) async fn changes(app: Arc<App>, asked: &Request) -> Answered {
    let since = last_id(asked).or_else(|| asked.query("from")).map(|id| {
        id.parse::<i64>().map_err(|_| Refused::usage("`from` is none that a stream has named"))
    });
    let since = since.transpose()?;
    let project = asked.query("project").map(str::to_owned);
    app.rooms.meant(project.as_deref())?;
    let wanted = asked.query("cast").map(str::to_owned);
    let followed = match wanted {
        None => None,
        Some(id) => {
            let (looking, project) = (Arc::clone(&app), asked.query("project").map(str::to_owned));
            let cast =
                off_thread(move || looking.rooms.find(project.as_deref(), &id, &Handle::current()));
            let after = asked.number("castFrom").unwrap_or(1).max(1) - 1;
            Some(Following::begin(cast.await?, after).await?)
        }
    };
    let permit = room_for_one(&app)?;
    let (pen, response) = sse::stream();
    let mut ending = app.ending.subscribe();
    tokio::spawn(async move {
        let _permit = permit;
        let watching = Watching { app: Arc::clone(&app), project, seen: HashMap::new() };
        let events = async {
            match followed {
                Some(followed) => followed.tell(&pen, Ids::None).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = watching.tell(&pen, since) => {}
            _ = events => {}
            () = pen.left() => {}
            _ = ending.wait_for(|ending| *ending) => {}
        }
    });
    Ok(response)
}

/// A client that watches all casts of some projects.
struct Watching {
    app: Arc<App>,
    /// The project that was named; otherwise all that are served at a moment.
    project: Option<String>,
    /// Last known status, last event, running flag and worker of each cast.
    seen: HashMap<(String, RunId), (CastStatus, u64, bool, Work)>,
}

impl Watching {
    /// Tells of every cast that changes. Without a place to go on from, every cast that is not at its end comes first.
    async fn tell(mut self, pen: &SseWriter, since: Option<i64>) -> Result<(), Gone> {
        let from = since.map(|since| since - CHANGES_BACK_MICROS);
        let mut first = true;
        let mut pulse = Instant::now();
        loop {
            let now = SystemClock.now();
            let (watching, changed) = off_thread(move || {
                let mut watching = self;
                let changed = watching.look(first, from);
                (watching, changed)
            })
            .await;
            self = watching;
            first = false;
            let id = now.to_string();
            let mut text = String::new();
            for summary in &changed {
                let data = serde_json::to_string(summary).unwrap_or_default();
                text.push_str(&sse::event("cast", Some(&id), &data));
            }
            if text.is_empty() && pulse.elapsed() >= STREAM_PULSE {
                text = format!("id: {id}\n{}", sse::PULSE);
            }
            if !text.is_empty() {
                pulse = Instant::now();
                pen.write(sse::pieces(&text)).await?;
            }
            self.something().await;
        }
    }

    /// Waits until something may have changed.
    async fn something(&self) {
        let rooms = self.app.rooms.open();
        let mut receivers: Vec<_> = rooms.iter().map(|room| room.journal.changed()).collect();
        for receiver in &mut receivers {
            receiver.mark_unchanged();
        }
        tokio::time::sleep(CHANGES_POLL_INTERVAL).await;
        let any = receivers.iter_mut().map(|receiver| Box::pin(receiver.changed()));
        let any: Vec<_> = any.collect();
        if any.is_empty() {
            // A first cast may begin in a project that has none.
            tokio::time::sleep(Duration::from_secs(1)).await;
            return;
        }
        // Whether a process drives a cast is no event, so it is polled.
        let quiet = tokio::time::sleep(Duration::from_secs(2));
        tokio::select! {
            _ = futures_util::future::select_all(any) => {}
            () = quiet => {}
        }
    }

    /// The casts that have changed since the last look. It waits for the disk.
    fn look(&mut self, first: bool, from: Option<i64>) -> Vec<CastSummary> {
        let mut changed = Vec::new();
        for served in self.app.rooms.meant(self.project.as_deref()).unwrap_or_default() {
            for room in self.app.rooms.of(&served, &Handle::current()).unwrap_or_default() {
                self.look_in(&served, &room, (first, from), &mut changed);
            }
        }
        // The oldest first: who reads in order ends with the newest.
        changed.reverse();
        changed
    }

    fn look_in(
        &mut self,
        served: &Arc<Served>,
        room: &Arc<ServedProject>,
        (first, from): (bool, Option<i64>),
        changed: &mut Vec<CastSummary>,
    ) {
        let Ok(list) = blocking(&*room.journal).list() else { return };
        for line in list.lines {
            let id = line.cast_id.clone();
            let rests = line.status.has_ended();
            let key = (served.id.clone(), id.clone());
            let seen = self.seen.get(&key);
            if rests && seen.is_some_and(|(status, ..)| *status == line.status) {
                continue;
            }
            let head = blocking(&*room.journal).head(&id).ok().flatten();
            let Some(head) = head else { continue };
            let driven = !rests && blocking(&*room.journal).is_driven(&id).unwrap_or(false);
            let now = (line.status, head.seq, driven, room.work(&id, line.status));
            if seen == Some(&now) {
                continue;
            }
            self.seen.insert(key, now);
            let known = first
                && match from {
                    Some(from) => head.ts < from,
                    None => rests,
                };
            if known {
                continue;
            }
            let cast = Cast { served: Arc::clone(served), room: Arc::clone(room), id };
            if let Ok((summary, _)) = cast.summary(line) {
                changed.push(summary);
            }
        }
    }
}
