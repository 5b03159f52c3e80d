//! Workers of casts on NATS: their list, and casts that are handed to them (M5, M11).

use std::sync::Arc;

use materia_app::project::place::NatsJournal;
use materia_app::{Failure, Project};
use materia_contract::RunId;
use materia_contract::api::{SpaceItem, Workers};
use materia_contract::body::WorkerBody;
use materia_engine::{Journal as _, ReadError, wait};

use crate::http::problem::Answered;
use crate::projects::Served;
use crate::request::{Request, json};
use crate::state::App;

/// `GET /api/workers`.
pub(crate) fn workers(app: &Arc<App>, asked: &Request) -> Answered {
    let served = app.rooms.meant(asked.query("project"))?;
    let items = served.iter().filter_map(|served| item(served)).collect();
    Ok(json(&Workers { items }))
}

fn item(served: &Served) -> Option<SpaceItem> {
    let options = served.project.nats_options().ok().flatten()?;
    let space = options.space.as_str().to_owned();
    let journal = options.shown();
    let words = ["materia", "worker", "--journal", &journal, "--space", &space];
    let start = words.into_iter().chain(["--trust-space", &space]).map(str::to_owned).collect();
    let (workers, waiting, problem) = match found(&served.project) {
        Ok((workers, waiting)) => (workers, waiting, None),
        Err(failure) => (Vec::new(), Vec::new(), Some(failure.to_string())),
    };
    Some(SpaceItem { project: served.id.clone(), space, start, workers, waiting, problem })
}

fn found(project: &Project) -> Result<(Vec<WorkerBody>, Vec<RunId>), Failure> {
    let Some(journal) = project.existing_remote()? else { return Ok((Vec::new(), Vec::new())) };
    Ok((wait(journal.workers())?, waiting(&journal)?))
}

/// The runs on the list of the workers that none drives.
fn waiting(journal: &NatsJournal) -> Result<Vec<RunId>, ReadError> {
    let runs = wait(journal.waiting())?.into_iter();
    // An entry of a cast that has ended goes at the next look of a worker.
    let lasts = |run: &RunId| {
        let line = wait(journal.line(run)).ok().flatten();
        line.is_some_and(|it| !it.status.has_ended())
    };
    Ok(runs.filter(lasts).collect())
}
