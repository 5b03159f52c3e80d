//! Claims one run of the list and drives it until it rests.

use std::sync::Arc;

use materia_contract::{Do, GoOnFrom};
use materia_engine::{
    ClaimError, DriveError, EngineError, Journal as _, Lease, Leave, Leaving, LoadedRun,
    load_to_drive, off_thread,
};
use materia_kernel::Phase;
use materia_nats::{InTodo, NatsJournal, Todo};
use materia_safe_fs::Temporary;
use tokio::sync::watch;

use super::{Place, Taker, files};
use crate::cast::act::{Going, Held, Sender};
use crate::cast::drive::{Drive, Start};
use crate::cast::prepare::GoingOn;
use crate::project::{self, Found};
use crate::{Failure, RunOptions};

/// The file of a script in its folder.
const SCRIPT_FILE: &str = "script.json";

/// The result for a run of the list.
pub(super) enum Came {
    /// It rests, or nothing is left to do: it leaves the list.
    OffTheList(String),
    /// It stays on the list, for another worker.
    HandedOver,
    /// Another process drives it.
    Elsewhere,
    /// It cannot be driven here.
    LeftAlone(String),
}

/// Drives a run until it rests, is handed over, or cannot be driven.
pub(super) async fn take(
    place: Place,
    entry: InTodo,
    leaving: watch::Receiver<Leave>,
    taker: Taker,
) -> Came {
    let InTodo { run, todo, .. } = &entry;
    let Some(todo) = todo.clone() else { return Came::Elsewhere };
    // A claim writes to the run, also where an entry names one that never began.
    match place.journal.head(run).await {
        Ok(Some(_)) => {}
        Ok(None) => return Came::LeftAlone("the space has no such cast".to_owned()),
        Err(error) => return Came::LeftAlone(error.to_string()),
    }
    let lease = match place.journal.claim(run).await {
        Ok(lease) => lease,
        Err(ClaimError::Held { .. }) => return Came::Elsewhere,
        Err(error) => return Came::LeftAlone(error.to_string()),
    };
    let (reading, wanted) = (Arc::clone(&place.journal), run.clone());
    let loaded = match off_thread(move || load_to_drive(&*reading, &wanted)).await {
        Ok(loaded) => loaded,
        Err(error) => return Came::LeftAlone(error.to_string()),
    };
    let done = match place.journal.receipt(run, &todo.command).await {
        Ok(receipt) => receipt.is_some(),
        Err(error) => return Came::LeftAlone(error.to_string()),
    };
    let running = *loaded.run().phase() == Phase::Running;
    // The command acts once. A run whose worker died after that is only taken up again.
    let (what, sender) = match (done, running) {
        (true, false) => return Came::OffTheList(status(loaded.run().phase())),
        (true, true) => (Do::Resume { pace: None }, Sender::PERSON),
        (false, _) => {
            let name = Some(todo.command.clone());
            (todo.what.clone(), Sender { name, actor: todo.actor.clone() })
        }
    };
    let go_on = if done { GoOnFrom::Usual } else { todo.go_on };
    (place.say)(&format!("cast `{run}`: runs here"));
    let preparing = place.clone();
    let prepare = move || prepared(&preparing, &todo, lease, loaded, (what, sender));
    let drive = match off_thread(prepare).await {
        Ok(drive) => Drive { leave: Leaving(Some(leaving)), go_on, ..drive },
        Err(failure) => return Came::LeftAlone(failure.to_string()),
    };
    let under_way = drive.among(&place.host);
    drop(taker);
    let rested = match under_way {
        Ok(under_way) => under_way.rested().await,
        Err(failure) => return Came::LeftAlone(failure.to_string()),
    };
    place.files.forget(run);
    match rested {
        Ok(phase) => Came::OffTheList(status(&phase)),
        Err(EngineError::HandedOver(_)) => Came::HandedOver,
        Err(EngineError::Lost(_)) => {
            (place.say)(&format!("cast `{run}`: its lease was lost, and its turns were ended"));
            Came::Elsewhere
        }
        Err(EngineError::Claim(ClaimError::Held { .. })) => Came::Elsewhere,
        Err(EngineError::Answered(_)) => Came::OffTheList("nothing was left to do".to_owned()),
        Err(EngineError::Drive(DriveError::Rejected(why))) => {
            Came::OffTheList(format!("refused: {why}"))
        }
        Err(error) => Came::LeftAlone(error.to_string()),
    }
}

fn status(phase: &Phase) -> String {
    format!("rests ({})", phase.status().word())
}

/// Prepares a run that is held, as a front end does. The space was trusted when the worker started, so nothing is
/// asked, and nothing is remembered as approved.
fn prepared(
    place: &Place,
    todo: &Todo,
    lease: Lease,
    loaded: LoadedRun,
    (what, sender): (Do, Sender),
) -> Result<Drive, Failure> {
    let Place { project, journal, root, views, supervisor, say, .. } = place;
    let id = loaded.run().id().clone();
    let project = &match &todo.workspace {
        Some(below) => project.with_stand_in(&id, below)?,
        None => project.clone(),
    };
    project::refuse_taken_name(root, &id)?;
    let found = Found { root: root.clone(), journal: journal.clone(), id: id.clone() };
    let held = Held::of(found, lease, loaded, what, sender);
    files::place(project, journal, todo, &|words| say(&format!("cast `{id}`: {words}")))?;
    // The script is read while the run is prepared; the file is not needed afterwards.
    let script = todo.script.as_deref().map(|hash| script(journal, hash)).transpose()?;
    let options = RunOptions {
        provider: todo.provider.clone(),
        script: script.as_ref().map(|folder| folder.path().join(SCRIPT_FILE)),
        ..RunOptions::default()
    };
    let (going_on, rest) = held.prepare(project, &options)?;
    let mut warnings = Vec::new();
    let going_on = going_on.of_trusted_space(&todo.approved, &mut warnings)?;
    let agents = going_on.answerers(supervisor)?;
    let agents = Some(agents).filter(|now| *now != rest.before);
    going_on.ready(&mut warnings)?;
    files::refuse_other_utilities(project, todo)?;
    let plan = going_on.created().plan.clone();
    let (GoingOn { prepared, loaded, .. }, cleared) = going_on.release();
    let Going { found, lease, loaded, command } = rest.go_on(loaded)?;
    let start = Start::CarryOn(lease, Box::new(loaded), Box::new(command));
    let drive = Drive::new(project, found, (prepared, cleared), plan, supervisor.clone(), start)?;
    for warning in &warnings {
        say(&format!("cast `{id}`: {warning}"));
    }
    // If this fails, the next replay completes the files beside the journal.
    let _ = views.catch_up(&**journal, &id);
    Ok(Drive { agents, ..drive })
}

/// A folder with the script of a run, which came as a blob.
fn script(journal: &NatsJournal, hash: &str) -> Result<Temporary, Failure> {
    let bytes = files::blob_of(journal, hash);
    let bytes = bytes.map_err(|error| Failure::storage(format!("its script: {error}")))?;
    let unwritten = |error: std::io::Error| Failure::storage(format!("its script: {error}"));
    let folder = Temporary::new("script").map_err(unwritten)?;
    folder.folder().write_new(SCRIPT_FILE, &bytes).map_err(unwritten)?;
    Ok(folder)
}
