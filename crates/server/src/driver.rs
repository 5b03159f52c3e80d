//! Runs casts in this process after they were prepared.

use std::sync::Arc;

use materia_app::RunOptions;
use materia_app::cast::act::{Going, Held};
use materia_app::cast::drive::{Drive, Start};
use materia_app::cast::prepare::GoingOn;
use materia_app::cast::worker::{self, Handed, Needs};
use materia_app::project::place::NatsJournal;
use materia_contract::RunId;
use materia_engine::off_thread;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::http::problem::Refused;
use crate::projects::driven_casts::Entry;
use crate::projects::pending::{self, Named, Wanted};
use crate::projects::{Cast, Served, ServedProject};
use crate::state::App;

/// A cast that goes on here. It changes once, when the cast has come to rest or broken off: then it says how.
pub(crate) type UnderWay = watch::Receiver<Option<Result<(), String>>>;

/// Where a cast goes on.
pub(crate) enum Goes {
    /// In this process.
    Here(UnderWay),
    /// At a worker, when one has taken it.
    ToWorkers(Handed),
}

/// Carries on a cast that is held. It waits for the disk.
pub(crate) fn carry_on(
    app: &Arc<App>,
    cast: &Cast,
    held: Held,
    wanted: &Wanted,
    named: &Named,
) -> Result<Goes, Refused> {
    let project = &cast.served.project;
    let options = RunOptions { provider: named.provider.clone(), ..RunOptions::default() };
    let (going_on, rest) = held.prepare(project, &options)?;
    let mut warnings = Vec::new();
    let going_on =
        pending::settle(&app.pending, &cast.served, Some(cast), going_on, wanted, &mut warnings)?;
    let supervisor = app.settings.supervisor.clone();
    let agents = going_on.answerers(&supervisor)?;
    let agents = Some(agents).filter(|now| *now != rest.before);
    going_on.go_on(&mut warnings)?;
    let plan = going_on.created().plan.clone();
    let (GoingOn { prepared, loaded, .. }, cleared) = going_on.release();
    if !cast.room.journal.is_remote() {
        // Before a fork is written: whatever dies in between, the next server carries it on.
        note(app, (&cast.served, &cast.room), &cast.id, named)?;
    }
    let Going { found, lease, loaded, command } = match rest.go_on(loaded) {
        Ok(going) => going,
        Err(failure) => {
            let _ = app.ledger.remove(&cast.room.root, &cast.id);
            return Err(failure.into());
        }
    };
    let start = Start::CarryOn(lease, Box::new(loaded), Box::new(command));
    let drive = Drive::new(project, found, (prepared, cleared), plan, supervisor, start)?;
    let drive = Drive { agents, go_on: named.go_on, ..drive };
    tell(&warnings);
    go(app, (&cast.served, &cast.room), drive, named)
}

/// Logs the warnings: a server has no terminal that a person reads.
pub(crate) fn tell(warnings: &[String]) {
    for warning in warnings {
        tracing::warn!(warning, "while a cast was prepared");
    }
}

/// Drives a run in its room, or hands it to the workers of its space. It waits for the disk, not for the run.
pub(crate) fn go(
    app: &Arc<App>,
    (served, room): (&Served, &Arc<ServedProject>),
    drive: Drive,
    named: &Named,
) -> Result<Goes, Refused> {
    if let Some(journal) = room.journal.remote() {
        return hand_over((served, room), journal, drive, named).map(Goes::ToWorkers);
    }
    let id = drive.id.clone();
    if drive.goes_on() {
        // Files beside the journal that cannot be mended now are mended by the next replay.
        let _ = room.views.catch_up(&*room.journal, &id);
    } else {
        note(app, (served, room), &id, named)?;
    }
    let driven = match drive.among(&room.host) {
        Ok(driven) => driven,
        Err(failure) => {
            let _ = app.ledger.remove(&room.root, &id);
            return Err(failure.into());
        }
    };
    let (done, under_way) = watch::channel(None);
    let (app, room) = (Arc::clone(app), Arc::clone(room));
    Handle::current().spawn(async move {
        // In a task of its own: one that panics ends no other.
        let rested = tokio::spawn(driven.rested()).await;
        let ended = match rested {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        at_rest(app, room, id, ended.is_ok()).await;
        done.send_replace(Some(ended));
    });
    Ok(Goes::Here(under_way))
}

/// Notes that a cast is driven here.
fn note(
    app: &App,
    (served, room): (&Served, &ServedProject),
    id: &RunId,
    named: &Named,
) -> Result<(), Refused> {
    let entry = Entry {
        project: served.project.dir.clone(),
        root: room.root.clone(),
        cast_id: id.clone(),
        deaths: 0,
        provider: named.provider.clone(),
    };
    app.ledger.add(entry).map_err(|error| {
        let what = format!("the state folder cannot be written: {error}");
        Refused::from(materia_app::Failure::storage(what))
    })
}

/// Puts in order what a cast leaves behind that is driven no more.
async fn at_rest(app: Arc<App>, room: Arc<ServedProject>, id: RunId, in_order: bool) {
    let tidy = move || {
        if let Err(problem) = room.views.flush() {
            tracing::warn!(%problem, "the files beside the journal are not complete");
        }
        // One that broke off stays noted: the next server carries it on.
        if in_order && let Err(error) = app.ledger.remove(&room.root, &id) {
            tracing::warn!(%error, "the state folder cannot be written");
        }
    };
    off_thread(tidy).await;
}

/// Hands a prepared cast to the workers of its space. It waits for the server.
fn hand_over(
    (served, room): (&Served, &Arc<ServedProject>),
    journal: &NatsJournal,
    mut drive: Drive,
    named: &Named,
) -> Result<Handed, Refused> {
    let (id, needs) = (drive.id.clone(), Needs::of(&served.project, &mut drive));
    let command = Handle::current().block_on(drive.leave(room.views.clone()))?;
    let provider = named.provider.as_deref();
    Ok(worker::hand_over(&served.project, journal, &id, (command, provider), needs)?)
}
