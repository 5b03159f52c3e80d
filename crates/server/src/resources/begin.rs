//! Beginning casts: of a loadout or of a link, each under its key once.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::http::StatusCode;
use materia_app::cast::drive::{Drive, Start};
use materia_app::cast::prepare::{self, Asked, Beginning};
use materia_app::{Failure, Found};
use materia_contract::api::{CastSummary, StartBody};
use materia_contract::{RefusalCode, RunCreated, RunId, StartKey};
use materia_engine::{blocking, off_thread};
use tokio::runtime::Handle;

use crate::driver::{self, Goes, UnderWay};
use crate::http::problem::{Answered, Refused};
use crate::projects::keys::Known;
use crate::projects::pending::{self, Named, Wanted};
use crate::projects::{Cast, Served, ServedProject};
use crate::request::{Request, json_as};
use crate::resources::cast_request::{options, ready};
use crate::state::App;

/// How often another id is made up where one is taken.
const TRIES_MAX: u32 = 8;

/// Where the key of what begins a cast counts: projects may share a folder of casts.
pub(crate) const ANYWHERE: &str = "";

/// `POST /api/casts`.
pub(crate) async fn start(app: Arc<App>, asked: &Request) -> Answered {
    let body: StartBody = asked.json()?;
    refuse_hooks(&app, &body)?;
    let key = StartKey { key: asked.key()?, body: asked.body_hash()? };
    begin_once(app, body, key).await
}

/// Begins a cast, once for its key.
pub(crate) async fn begin_once(app: Arc<App>, body: StartBody, key: StartKey) -> Answered {
    let served = app.rooms.only(body.project.as_deref())?;
    let _held = app.keys.hold(ANYWHERE.as_ref(), &key.key).await;
    match known(&app, &served, &key).await? {
        Some(Known::Began(id, _)) => return answer(app, served, id).await,
        Some(Known::Refused(problem, _)) => return Err(Refused(problem)),
        None => {}
    }
    let (door, place) = (Arc::clone(&app), Arc::clone(&served));
    let named = key.clone();
    let made = off_thread(move || begin(&door, &place, &body, &named)).await;
    let result = match made {
        Ok((room, id, goes)) => {
            let began = match goes {
                Goes::Here(under_way) => began_durably(&app, &room, &id, under_way).await,
                // It is stored before it is handed over.
                Goes::ToWorkers(_) => Ok(()),
            };
            began.map(|()| {
                app.keys.began(&room.root, &id, &key);
                id
            })
        }
        Err(refused) => Err(refused.unprocessable()),
    };
    match result {
        Ok(id) => {
            app.counts.started.fetch_add(1, Ordering::Relaxed);
            answer(app, served, id).await
        }
        Err(refused) => {
            keep_refusal(&app, &served, &key, &refused).await?;
            Err(refused)
        }
    }
}

/// A refusal is the answer to its key from now on, unless it may pass: what is approved or mended then begins.
pub(crate) async fn keep_refusal(
    app: &Arc<App>,
    served: &Arc<Served>,
    key: &StartKey,
    refused: &Refused,
) -> Result<(), Refused> {
    let lasts =
        matches!(refused.0.status, 409 | 422) && refused.0.code != RefusalCode::TrustRequired;
    if !lasts {
        return Ok(());
    }
    let (app, place) = (Arc::clone(app), served.project.dir.clone());
    let (key, problem) = (key.clone(), refused.0.clone());
    let kept = off_thread(move || app.keys.refused(&place, &key, &problem)).await;
    kept.map_err(|error| {
        Failure::storage(format!("the state folder cannot be written: {error}")).into()
    })
}

/// The answer where a key was used for something else.
pub(crate) fn other_body() -> Refused {
    let detail =
        "this `Idempotency-Key` was used for another request; give this one a key of its own";
    Refused::new(StatusCode::UNPROCESSABLE_ENTITY, RefusalCode::Usage, detail)
}

/// Files on this machine come in with no request, but for tests.
fn refuse_hooks(app: &App, body: &StartBody) -> Result<(), Refused> {
    let hooks = [
        ("script", body.script.is_some()),
        ("record", body.record.is_some()),
        ("replay", body.replay.is_some()),
        ("virtualTime", body.virtual_time),
    ];
    let named = hooks.iter().find(|(_, named)| *named).filter(|_| !app.settings.test_hooks);
    match named {
        None => Ok(()),
        Some((name, _)) => Err(Refused::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            RefusalCode::Usage,
            format!(
                "`{name}` is not an option of this request: the server starts stored loadouts by name; use `materia cast --detach` for it"
            ),
        )),
    }
}

/// The earlier answer for this key. Refused if the key belongs to another request.
pub(crate) async fn known(
    app: &Arc<App>,
    served: &Arc<Served>,
    key: &StartKey,
) -> Result<Option<Known>, Refused> {
    let (app, served, wanted) = (Arc::clone(app), Arc::clone(served), key.clone());
    let known = off_thread(move || look_up(&app, &served, &wanted)).await?;
    if let Some(Known::Began(_, of) | Known::Refused(_, of)) = &known
        && *of != key.body
    {
        return Err(other_body());
    }
    Ok(known)
}

fn look_up(app: &App, served: &Served, key: &StartKey) -> Result<Option<Known>, Refused> {
    let rooms = app.rooms.of(served, &Handle::current())?;
    let journals: Vec<(&std::path::Path, &dyn materia_engine::Journal)> = rooms
        .iter()
        .map(|room| (room.root.as_path(), &*room.journal as &dyn materia_engine::Journal))
        .collect();
    let known = app.keys.known(&served.project.dir, &journals, &key.key);
    known.map_err(|error| Failure::from(error).into())
}

/// Prepares a cast and drives it. It waits for the disk.
fn begin(
    app: &Arc<App>,
    served: &Arc<Served>,
    body: &StartBody,
    key: &StartKey,
) -> Result<(Arc<ServedProject>, RunId, Goes), Refused> {
    let project = &served.project;
    let options = options(body);
    let mut tries = 0;
    loop {
        let asked = Asked {
            project,
            approvals: project.profile_dir().map(ToOwned::to_owned),
            request: body.request.clone(),
            options: &options,
        };
        let beginning = prepare::cast(&asked, ready(project, body)?)?;
        let mut warnings = Vec::new();
        let wanted = Wanted::Start(Box::new(body.clone()));
        let beginning =
            pending::settle(&app.pending, served, None, beginning, &wanted, &mut warnings)?;
        let supervisor = app.settings.supervisor.clone();
        let agents = beginning.answerers(&supervisor)?;
        drop(beginning.open(&mut warnings)?);
        driver::tell(&warnings);
        let missing = || Failure::storage("the journal is not there any more");
        let (casts, id) = (beginning.root.clone(), beginning.id.clone());
        let room = app.rooms.room(served, &casts, &Handle::current())?.ok_or_else(missing)?;
        let taken = blocking(&*room.journal).head(&id).map_err(Failure::from)?.is_some();
        if taken && options.cast_id.is_none() && tries < TRIES_MAX {
            // Two casts of one instant were given one name.
            tries += 1;
            continue;
        }
        if taken {
            return Err(Failure::resolution(format!("there is a cast `{id}` already")).into());
        }
        let created = RunCreated { key: Some(key.clone()), ..beginning.created(agents)? };
        let (Beginning { prepared, .. }, cleared) = beginning.release();
        let plan = created.plan.clone();
        let cast = Found { root: casts, journal: Arc::clone(&room.journal), id: id.clone() };
        let start = Start::Begin(Box::new(created));
        let drive = Drive::new(project, cast, (prepared, cleared), plan, supervisor, start)?;
        let named = Named { provider: body.provider.clone(), ..Named::default() };
        let goes = driver::go(app, (served, &room), drive, &named)?;
        return Ok((room, id, goes));
    }
}

/// Waits until the first event of a cast is durable.
async fn began_durably(
    app: &Arc<App>,
    room: &Arc<ServedProject>,
    id: &RunId,
    mut under_way: UnderWay,
) -> Result<(), Refused> {
    let mut changed = room.journal.changed();
    loop {
        // Before the look, so that nothing falls between the two.
        changed.mark_unchanged();
        let head = room.journal.head(id).await.map_err(Failure::from)?;
        if head.is_some() {
            return Ok(());
        }
        let ended = under_way.borrow_and_update().clone();
        if let Some(ended) = ended {
            let _ = app.ledger.remove(&room.root, id);
            let why = ended.err().unwrap_or_else(|| "it ended before it began".to_owned());
            return Err(Failure::storage(format!("the cast could not begin: {why}")).into());
        }
        tokio::select! {
            _ = changed.changed() => {}
            Ok(()) = under_way.changed() => {}
        }
    }
}

async fn answer(app: Arc<App>, served: Arc<Served>, id: RunId) -> Answered {
    let summary = off_thread(move || {
        let cast = app.rooms.find(Some(&served.id), id.as_str(), &Handle::current())?;
        summary(&cast)
    });
    Ok(json_as(StatusCode::CREATED, &summary.await?))
}

/// A cast in short.
pub(crate) fn summary(cast: &Cast) -> Result<CastSummary, Refused> {
    let gone = || Refused::unknown(format!("there is no cast `{}` here", cast.id));
    let line = blocking(cast.journal()).line(&cast.id).map_err(Failure::from)?.ok_or_else(gone)?;
    Ok(cast.summary(line)?.0)
}
