//! Commands of people and programs on a cast, in whichever process it runs; each key acts once.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Response, StatusCode};
use materia_app::cast::act::{self, Forking, Sender, Taken, Unfit, step};
use materia_app::cast::host::Submitted;
use materia_app::views::next_steps::NextSteps;
use materia_app::{Failure, RunOptions, project::cast_id};
use materia_contract::api::{Acted, DriveBody, ForkBody};
use materia_contract::{
    Actor, Answer, Command, CommandId, Do, Event, EventBody, GoOnFrom, OpenQuestion, Receipt,
    RefusalCode, RunId, StartKey,
};
use materia_engine::{Journal, PAGE_BYTES, PostError, blocking, off_thread, refusal_of_ended};
use materia_kernel::Run;
use serde_json::Value;
use tokio::runtime::Handle;

use crate::driver::{self, Goes, UnderWay};
use crate::http::limits::ACT_WAIT_MAX;
use crate::http::problem::{Answered, Refused};
use crate::projects::Cast;
use crate::projects::keys::Known;
use crate::projects::pending::{Named, Wanted};
use crate::request::{Request, json, json_as};
use crate::resources::begin;
use crate::resources::trust;
use crate::state::App;

/// Interval at which the receipt of a command is polled on NATS: a lost connection notifies of nothing.
const REMOTE_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The answer where a command waits for a worker.
const NO_WORKER: &str = "the cast waits: no worker is there that can run it";

/// The field of a `resume` that asks for the files that the last event names.
const PUT_BACK: &str = "putBack";

/// How long an act waits for its answer once the server ends.
const ENDING_WAIT: Duration = Duration::from_secs(1);

/// `POST /api/casts/{id}/commands`.
pub(crate) async fn act(app: Arc<App>, asked: &Request) -> Answered {
    let body: Value = asked.json()?;
    let key = asked.key()?;
    app.counts.acts.fetch_add(1, Ordering::Relaxed);
    let cast = asked.cast(&app).await?;
    if body.get("do").and_then(Value::as_str) == Some("fork") {
        return fork(app, asked, cast, key).await;
    }
    let _held = app.keys.hold(&cast.folder(), &key).await;
    let receipt = cast.room.journal.receipt(&cast.id, &key).await.map_err(Failure::from)?;
    let what = choice(&body)?;
    if let Some(receipt) = receipt {
        if what.is_whole() && !is_of(&receipt, &what.command(None, &key)?) {
            return Err(begin::other_body());
        }
        return answered(&cast, &receipt).await;
    }
    loop {
        // The first request takes a cast at rest; the others follow one after the other.
        let alone = app.keys.hold_cast(&cast.folder()).await;
        if cast.room.journal.is_driven(&cast.id).await.map_err(Failure::from)? {
            drop(alone);
            if what.go_on() != GoOnFrom::Usual {
                return Err(Refused::conflict(format!(
                    "cast `{}` is under way; files are put back when a cast that rests goes on",
                    cast.id
                )));
            }
            match submit(&app, &cast, &what, &key).await? {
                Some(answer) => return Ok(answer),
                // No process drives it any more.
                None => continue,
            }
        }
        let (acting, found) = (Arc::clone(&app), cast.clone());
        let (wanted, name) = (what.clone(), key.clone());
        let done = off_thread(move || take(&acting, &found, &wanted, &name)).await?;
        drop(alone);
        return match done {
            // Another process was quicker, and drives it.
            Done::Told => continue,
            Done::Goes(Goes::Here(under_way)) => settled(&cast, &key, Some(under_way)).await,
            Done::Goes(Goes::ToWorkers(handed)) if handed.takers.is_empty() => {
                let message = Some(NO_WORKER.to_owned());
                let acted = Acted { message, ..acted(Vec::new(), true) };
                Ok(json_as(StatusCode::ACCEPTED, &acted))
            }
            Done::Noted | Done::Goes(Goes::ToWorkers(_)) => settled(&cast, &key, None).await,
        };
    }
}

/// Command of a request; the cast fills in fields that the request left out.
#[derive(Debug, Clone)]
struct Choice {
    body: Value,
}

/// Reads the command of a request; an error if it is not valid.
fn choice(body: &Value) -> Result<Choice, Refused> {
    let choice = Choice { body: body.clone() };
    if choice.is_whole() {
        // Faults of the command are reported before the cast is read.
        choice.command(None, &CommandId::kept("x"))?;
    }
    Ok(choice)
}

impl Choice {
    fn word(&self) -> &str {
        self.body.get("do").and_then(Value::as_str).unwrap_or_default()
    }

    /// The sender named in the request, otherwise `person`.
    fn sender(&self, key: &CommandId) -> Sender {
        let named = self.body.get("actor").and_then(Value::as_str);
        let actor = named.map_or_else(Actor::person, Actor::named);
        Sender { name: Some(key.clone()), actor }
    }

    /// The files from which a cast in a workspace goes on.
    fn go_on(&self) -> GoOnFrom {
        let put_back = self.word() == "resume" && self.body.get(PUT_BACK) == Some(&true.into());
        if put_back { GoOnFrom::PutBack } else { GoOnFrom::Usual }
    }

    /// Whether nothing was left to the cast.
    fn is_whole(&self) -> bool {
        self.body.get("node").is_some() || !matches!(self.word(), "approve" | "deny")
    }

    /// The command under its name; what was left out is the only socket that asks.
    fn command(&self, run: Option<&Run>, key: &CommandId) -> Result<Command, Refused> {
        let mut body = self.body.clone();
        if let (false, Some(run)) = (self.is_whole(), run)
            && let Do::Approve { node, .. } = step::approve(run, None, None)?
        {
            body["node"] = Value::String(node.to_string());
        }
        if let Some(fields) = body.as_object_mut() {
            // The key is the name of a command that comes over HTTP.
            fields.remove("id");
            // It is no part of the command: the process that resumes the cast handles the files.
            if self.word() == "resume" && fields.get(PUT_BACK).is_some_and(Value::is_boolean) {
                fields.remove(PUT_BACK);
            }
        }
        let text = body.to_string();
        let command = Command::read(&text).map_err(|error| {
            let detail =
                format!("this is no command: {error}; schemas/command.schema.json describes them");
            Refused::new(StatusCode::UNPROCESSABLE_ENTITY, RefusalCode::Usage, detail)
        })?;
        if let Do::Crash | Do::Offer { .. } = command.what {
            let detail =
                format!("`{}` is for scripts, and no act of a person", command.what.name());
            return Err(Refused::new(StatusCode::UNPROCESSABLE_ENTITY, RefusalCode::Usage, detail));
        }
        Ok(Command { id: Some(key.clone()), ..command })
    }
}

/// Whether a receipt belongs to this command.
fn is_of(receipt: &Receipt, command: &Command) -> bool {
    let Some(body) = &receipt.body else { return true };
    let told = Command { what: step::where_driven(command.what.clone()), ..command.clone() };
    *body == command.body_hash() || *body == told.body_hash()
}

fn acted(events: Vec<u64>, waits: bool) -> Acted {
    Acted { events, cast_id: None, waits, questions: Vec::new(), message: None }
}

async fn answered(cast: &Cast, receipt: &Receipt) -> Answered {
    match &receipt.answer {
        Answer::Done { first, last } if first <= last => {
            let questions = asked_in(cast, *first, *last).await?;
            Ok(json(&Acted { questions, ..acted(vec![*first, *last], false) }))
        }
        Answer::Done { .. } => Ok(json(&acted(Vec::new(), false))),
        Answer::Refused { reason } => Err(Refused::conflict(reason.clone())),
    }
}

/// The questions that some events ask a person. A message can change a question that was just answered.
async fn asked_in(cast: &Cast, first: u64, last: u64) -> Result<Vec<OpenQuestion>, Refused> {
    let mut found: Vec<OpenQuestion> = Vec::new();
    let mut after = first - 1;
    while after < last {
        let read = cast.room.journal.read(&cast.id, after, PAGE_BYTES).await;
        let page = read.map_err(Failure::from)?;
        let Some(newest) = page.records.last().map(|record| record.seq) else { break };
        for record in page.records.iter().filter(|it| it.seq <= last) {
            if let Ok(Event {
                node: Some(socket), body: EventBody::ApprovalRequested(asked), ..
            }) = record.event()
            {
                found.retain(|it| it.socket != socket);
                let hash = asked.hash;
                found.push(OpenQuestion { socket, hash, denied: false, reason: None });
            }
        }
        after = newest;
    }
    Ok(found)
}

/// Sends a command to the process that drives the cast, this one or another, and waits for the receipt. `None` if no
/// process drives it any more.
async fn submit(
    app: &App,
    cast: &Cast,
    what: &Choice,
    key: &CommandId,
) -> Result<Option<Response<Body>>, Refused> {
    let (looked, chosen, name) = (cast.clone(), what.clone(), key.clone());
    let command = off_thread(move || {
        let whole = chosen.is_whole();
        let run = (!whole).then(|| materia_engine::load(looked.journal(), &looked.id));
        let run = run.transpose().map_err(Failure::from)?;
        chosen.command(run.as_ref().map(|(run, _)| run), &name)
    });
    let command = command.await?;
    let command = Command { what: step::where_driven(command.what.clone()), ..command };
    if let Do::Recast | Do::Revive = command.what
        && !has_ended(cast).await?
    {
        return Err(Refused::conflict(format!("cast `{}` is under way", cast.id)));
    }
    let submitted = cast.room.host.submit(&cast.id, &command, ACT_WAIT_MAX);
    let submitted = match app.unless_ending(submitted).await {
        Some(submitted) => submitted,
        // The command may be written down by then; a driver in this process takes it before it ends.
        None => cast.room.host.submit(&cast.id, &command, ENDING_WAIT).await,
    };
    match submitted {
        Ok(Submitted::Answered(receipt)) => answered(cast, &receipt).await.map(Some),
        Ok(Submitted::Waits(_)) => {
            Ok(Some(json_as(StatusCode::ACCEPTED, &acted(Vec::new(), true))))
        }
        Ok(Submitted::Undriven) => Ok(None),
        Err(PostError::OtherBody(_)) => Err(begin::other_body()),
        Err(PostError::Read(error)) => Err(Failure::from(error).into()),
    }
}

/// Whether a cast has ended, although the process that drove it still holds its lease.
async fn has_ended(cast: &Cast) -> Result<bool, Refused> {
    let line = cast.room.journal.line(&cast.id).await.map_err(Failure::from)?;
    Ok(line.and_then(|line| refusal_of_ended(line.status)).is_some())
}

/// Result of a command on a cast that no process was running.
enum Done {
    /// Another process drives it and got the command.
    Told,
    /// The command was applied; nothing had to start.
    Noted,
    /// It goes on.
    Goes(Goes),
}

/// Applies a command to a cast that no process drives. It blocks on the disk.
fn take(app: &Arc<App>, cast: &Cast, what: &Choice, key: &CommandId) -> Result<Done, Refused> {
    let options = RunOptions::default();
    refuse_foreign(cast)?;
    let supervisor = &app.settings.supervisor;
    let choose = |run: &Run| Ok::<Do, Chosen>(what.command(Some(run), key)?.what);
    match act::take(cast.found(), &options, what.sender(key), choose) {
        Ok(Taken::There(_)) => Ok(Done::Told),
        // An act that would start a turn needs a driver; no process but this server drives the cast.
        Ok(Taken::Here(held)) if step::carries_on(&held.what) || held.starts_something() => {
            let wanted = Wanted::Do(held.what.clone());
            let named = Named { go_on: what.go_on(), ..Named::default() };
            driver::carry_on(app, cast, *held, &wanted, &named).map(Done::Goes)
        }
        Ok(Taken::Here(held)) => {
            held.note(&cast.served.project, supervisor)?;
            Ok(Done::Noted)
        }
        Err(Unfit::Stands { run, why }) => {
            // Under this key that is the answer from now on.
            let command = what.command(Some(&run), key)?;
            act::refuse(&cast.served.project, &cast.found(), command, supervisor)?;
            let next = serde_json::to_value(NextSteps::of(&run).onward()).unwrap_or_default();
            Err(Refused::conflict(format!("cast `{}`: {why}", cast.id)).with("next", next))
        }
        Err(Unfit::Other(Chosen(refused))) => Err(*refused),
    }
}

/// Why nothing was chosen.
struct Chosen(Box<Refused>);

impl From<Failure> for Chosen {
    fn from(failure: Failure) -> Self {
        Self(Box::new(failure.into()))
    }
}

impl From<Refused> for Chosen {
    fn from(refused: Refused) -> Self {
        Self(Box::new(refused))
    }
}

pub(crate) fn refuse_foreign(cast: &Cast) -> Result<(), Refused> {
    if cast.room.journal.is_foreign() {
        return Err(Failure::trust(
            "the journal of this cast was not begun here by your materia: it can be looked at. `materia resume ID --trust-journal` vouches for it",
        )
        .into());
    }
    Ok(())
}

/// Waits for the receipt of what was done under a key.
async fn settled(cast: &Cast, key: &CommandId, mut under_way: Option<UnderWay>) -> Answered {
    let begun = tokio::time::Instant::now();
    let mut written = cast.room.journal.changed();
    loop {
        written.mark_unchanged();
        let receipt = cast.room.journal.receipt(&cast.id, key).await.map_err(Failure::from)?;
        if let Some(receipt) = receipt {
            return answered(cast, &receipt).await;
        }
        let ended = under_way.as_mut().and_then(|it| it.borrow_and_update().clone());
        if let Some(Err(why)) = ended {
            return Err(Refused::conflict(format!("cast `{}`: {why}", cast.id)));
        }
        if begun.elapsed() >= ACT_WAIT_MAX {
            return Ok(json_as(StatusCode::ACCEPTED, &acted(Vec::new(), true)));
        }
        let rest = ACT_WAIT_MAX.saturating_sub(begun.elapsed());
        let patience = if cast.room.journal.is_remote() { REMOTE_POLL_INTERVAL } else { rest };
        tokio::select! {
            () = tokio::time::sleep(patience) => {}
            Ok(()) = written.changed() => {}
            Some(Ok(())) = async { Some(under_way.as_mut()?.changed().await) } => {}
        }
    }
}

/// A new cast that shares the history of another.
async fn fork(app: Arc<App>, asked: &Request, cast: Cast, key: CommandId) -> Answered {
    let body: ForkBody = asked.json()?;
    let key = StartKey { key, body: asked.body_hash()? };
    let _held = app.keys.hold(begin::ANYWHERE.as_ref(), &key.key).await;
    match begin::known(&app, &cast.served, &key).await? {
        Some(Known::Began(id, _)) => {
            let (room, fork) = (Arc::clone(&cast.room), id.clone());
            let at = off_thread(move || forked_at(&*room.journal, &fork)).await?;
            return Ok(json(&forked(id, at)));
        }
        Some(Known::Refused(problem, _)) => return Err(Refused(problem)),
        None => {}
    }
    let (forking, from, named) = (Arc::clone(&app), cast.clone(), key.clone());
    let made = off_thread(move || make_fork(&forking, &from, &body, named)).await;
    let (id, at) = match made {
        Ok(made) => made,
        Err(refused) => {
            begin::keep_refusal(&app, &cast.served, &key, &refused).await?;
            return Err(refused);
        }
    };
    app.keys.began(&cast.room.root, &id, &key);
    Ok(json(&forked(id, at)))
}

fn forked(id: RunId, at: u64) -> Acted {
    Acted { cast_id: Some(id), ..acted(vec![1, at], false) }
}

/// The last event that a fork shares with its original.
fn forked_at(journal: &dyn Journal, id: &RunId) -> Result<u64, Refused> {
    let run = materia_engine::load_at(journal, id, 1).map_err(Failure::from)?;
    let fork = run.created().and_then(|created| created.fork.as_ref());
    fork.map(|fork| fork.seq).ok_or_else(|| Refused::conflict(format!("cast `{id}` is no fork")))
}

fn make_fork(
    app: &Arc<App>,
    cast: &Cast,
    body: &ForkBody,
    key: StartKey,
) -> Result<(RunId, u64), Refused> {
    refuse_foreign(cast)?;
    let at = body.at.map_or_else(|| act::fork_place(&cast.found()), Ok)?;
    let id = match &body.cast_id {
        Some(text) => cast_id::chosen(text)?,
        None => cast_id::fresh(),
    };
    match act::fork(cast.found(), at, &id, body.interactive, Some(key)) {
        Ok(Forking::Rests) => Ok((id, at)),
        Ok(Forking::GoesOn(held)) => {
            let fork = Cast { id: id.clone(), ..cast.clone() };
            let wanted = Wanted::Do(Do::Resume { pace: None });
            driver::carry_on(app, &fork, *held, &wanted, &Named::default())?;
            Ok((id, at))
        }
        Err(unfit) => Err(Refused::conflict(unfit.to_string())),
    }
}

/// `POST /api/casts/{id}/drive`: a cast that the command line prepared, and that is trusted, goes on here.
pub(crate) async fn drive(app: Arc<App>, asked: &Request) -> Answered {
    let body: DriveBody = asked.json()?;
    let what = body.what.clone().unwrap_or(Do::Resume { pace: None });
    if !matches!(what, Do::Resume { .. } | Do::Recast | Do::Revive) {
        let detail = format!("a cast is handed over to be resumed; `{}` is an act", what.name());
        return Err(Refused::new(StatusCode::UNPROCESSABLE_ENTITY, RefusalCode::Usage, detail));
    }
    let missing: Vec<&str> = body
        .needs
        .iter()
        .map(String::as_str)
        .filter(|name| std::env::var_os(name).is_none_or(|value| value.is_empty()))
        .collect();
    if !missing.is_empty() {
        return Err(Refused::conflict(format!(
            "the server's environment lacks {}, which an agent of this cast needs: stop the server (`materia stop`) and start it where that is set",
            missing.join(", ")
        )));
    }
    let id = asked.part("id").to_owned();
    let taking = Arc::clone(&app);
    let summary = off_thread(move || {
        let served = taking.rooms.only(body.project.as_deref())?;
        let cast = taking.rooms.find(Some(&served.id), &id, &Handle::current())?;
        let named = Named { provider: body.provider.clone(), ..Named::default() };
        let driven = blocking(cast.journal()).is_driven(&cast.id).map_err(Failure::from)?;
        if !driven {
            trust::carry_on(&taking, &cast, what, &named)?;
        }
        begin::summary(&cast)
    });
    Ok(json_as(StatusCode::ACCEPTED, &summary.await?))
}
