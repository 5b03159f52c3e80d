//! Workspace of a cast: shows, merges or drops it (W8).

use std::sync::Arc;

use axum::http::StatusCode;
use materia_app::{Failure, cast::workspace as works, views as view};
use materia_contract::api::{DropBody, WorkspaceActed};
use materia_contract::{CastStatus, RefusalCode, RunCreated};
use materia_engine::blocking;

use crate::http::problem::{Answered, Refused};
use crate::projects::Cast;
use crate::request::{Request, json};
use crate::resources::acts::refuse_foreign;
use crate::state::App;

/// `GET /api/casts/{id}/workspace`.
pub(crate) fn workspace(app: &Arc<App>, asked: &Request) -> Answered {
    let cast = asked.cast_here(app)?;
    let (created, _) = begun(&cast)?;
    Ok(json(&works::report(&cast.served.project, &cast.id, &created)?))
}

/// `GET /api/casts/{id}/workspace/diff`.
pub(crate) fn diff(app: &Arc<App>, asked: &Request) -> Answered {
    let cast = asked.cast_here(app)?;
    let (created, _) = begun(&cast)?;
    let turn = asked.number("turn").map(|seq| view::trees(cast.journal(), &cast.id, seq));
    let trees = turn.transpose()?;
    let between = trees.as_ref().map(|(from, to)| (from.as_str(), to.as_str()));
    Ok(json(&works::diff(&cast.served.project, &cast.id, &created, between)?))
}

/// `POST /api/casts/{id}/workspace/apply`.
pub(crate) fn apply(app: &Arc<App>, asked: &Request) -> Answered {
    let cast = asked.cast_here(app)?;
    refuse_foreign(&cast)?;
    let _alone = app.keys.hold_cast_here(&cast.folder());
    let (created, _) = begun(&cast)?;
    let message = works::apply(&cast.served.project, &cast.id, &created)?;
    acted(&cast, &created, message)
}

/// `POST /api/casts/{id}/workspace/drop`.
pub(crate) fn discard(app: &Arc<App>, asked: &Request) -> Answered {
    let DropBody { confirm } = asked.json()?;
    let cast = asked.cast_here(app)?;
    refuse_foreign(&cast)?;
    if !confirm {
        let detail =
            "nothing was removed: `confirm: true` says that workspace, branch and refs may go";
        return Err(Refused::new(StatusCode::UNPROCESSABLE_ENTITY, RefusalCode::Usage, detail));
    }
    let _alone = app.keys.hold_cast_here(&cast.folder());
    if blocking(cast.journal()).is_driven(&cast.id).map_err(Failure::from)? {
        return Err(Refused::conflict(format!("cast `{}` is under way", cast.id)));
    }
    let (created, status) = begun(&cast)?;
    works::discard(&cast.served.project, &cast.id, &created, status)?;
    let message = format!("removed the workspace, branch and refs of `{}`", cast.id);
    acted(&cast, &created, message)
}

fn acted(cast: &Cast, created: &RunCreated, message: String) -> Answered {
    let workspace = works::report(&cast.served.project, &cast.id, created)?;
    Ok(json(&WorkspaceActed { message, workspace }))
}

/// How a cast began, and how it stands.
fn begun(cast: &Cast) -> Result<(RunCreated, CastStatus), Refused> {
    let (run, _) = materia_engine::load(cast.journal(), &cast.id).map_err(Failure::from)?;
    let created = run.created().cloned();
    let missing = || Failure::storage(format!("cast `{}` has no beginning", cast.id));
    Ok((created.ok_or_else(missing)?, run.phase().status()))
}
