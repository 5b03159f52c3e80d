//! The projects that the server serves, and their agents.

use std::path::Path;
use std::sync::Arc;

use axum::http::StatusCode;
use materia_app::project::health;
use materia_app::{Failure, cast::agents as fleets};
use materia_contract::api::{AddProject, ProjectItem, Projects};
use tokio::runtime::Handle;

use crate::http::problem::{Answered, Refused};
use crate::projects::{Served, served_folders};
use crate::request::{Request, json, json_as};
use crate::state::App;

/// `GET /api/projects`.
#[expect(clippy::unnecessary_wraps, reason = "all handlers have one type")]
pub(crate) fn list(app: &Arc<App>, _: &Request) -> Answered {
    let item = |served: &Arc<Served>| {
        let opened = app.rooms.of(served, &Handle::current());
        let listed = opened.and_then(|rooms| {
            rooms.iter().try_for_each(|room| {
                let lines = materia_engine::wait(room.journal.runs(None, 1));
                lines.map(drop).map_err(|error| Failure::from(error).into())
            })
        });
        let problem = listed.err().map(|refused: Refused| refused.0.detail.clone());
        ProjectItem { problem, ..served.item() }
    };
    Ok(json(&Projects { items: app.rooms.projects().iter().map(item).collect() }))
}

/// `DELETE /api/projects/{project}`.
pub(crate) fn remove(app: &Arc<App>, asked: &Request) -> Answered {
    let removed = app.rooms.remove(asked.part("project"))?;
    note(app)?;
    Ok(json(&removed.item()))
}

/// Writes down which folders are served.
fn note(app: &App) -> Result<(), Refused> {
    app.remembered.note(&app.rooms).map_err(|error| {
        Failure::storage(format!("the state folder cannot be written: {error}")).into()
    })
}

/// `POST /api/projects`.
pub(crate) fn add(app: &Arc<App>, asked: &Request) -> Answered {
    let body: AddProject = asked.json()?;
    let dir = Path::new(&body.dir);
    if !dir.is_absolute() {
        return Err(Refused::usage("a project is named by its absolute path"));
    }
    served_folders::check(dir)?;
    let served = app.rooms.add((app.settings.open)(dir)?)?;
    note(app)?;
    Ok(json_as(StatusCode::CREATED, &served.item()))
}

/// `GET /api/agents`.
pub(crate) async fn agents(app: Arc<App>, asked: &Request) -> Answered {
    let served = app.rooms.only(asked.query("project"))?;
    let (loaded, _) = materia_compiler::load(&served.project.sources);
    let mut warnings = Vec::new();
    let wishes = health::wishes(&served.project.gate(), &loaded, &mut warnings);
    let fleet = fleets::fleet(&loaded, None);
    let (health, _) = health::examine(&app.settings.supervisor, &fleet, &wishes).await;
    Ok(json(&health))
}
