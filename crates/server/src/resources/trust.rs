//! Approvals: shows the trust questions, stores the approval, and continues the action that
//! waited.

use std::sync::Arc;

use materia_app::cast::act::{self, Sender, Taken};
use materia_app::cast::prepare::{self, Asked};
use materia_app::trust::Untrusted;
use materia_app::{Failure, RunOptions};
use materia_contract::api::{Approved, StartBody, TrustBody, TrustItem, TrustList};
use materia_contract::{Do, RefusalCode};
use tokio::runtime::Handle;

use crate::driver;
use crate::http::problem::{Answered, Refused};
use crate::projects::pending::{Named, Waiting, Wanted, item};
use crate::projects::{Cast, Served};
use crate::request::{Request, json};
use crate::resources::cast_request;
use crate::state::App;

/// `GET /api/trust`.
pub(crate) fn list(app: &Arc<App>, asked: &Request) -> Answered {
    let mut items = Vec::new();
    for served in app.rooms.meant(asked.query("project"))? {
        let mut found = app.pending.of(&served.id);
        // Include the questions that a cast of the active loadout would ask.
        for item in active(&served) {
            if !found.iter().any(|known| known.hash == item.hash) {
                app.pending.add(item.clone(), Wanted::Start(Box::default()));
                found.push(item);
            }
        }
        items.extend(found);
    }
    Ok(json(&TrustList { items }))
}

/// Trust questions of the active loadout of a project.
fn active(served: &Served) -> Vec<TrustItem> {
    let body = StartBody { no_request: true, ..StartBody::default() };
    let Ok(untrusted) = prepared(served, &body) else { return Vec::new() };
    untrusted.questions().iter().map(|question| item(served, None, question)).collect()
}

fn prepared(served: &Served, body: &StartBody) -> Result<Untrusted<prepare::Beginning>, Refused> {
    let project = &served.project;
    let options = cast_request::options(body);
    let ready = cast_request::ready(project, body)?;
    let approvals = project.profile_dir().map(ToOwned::to_owned);
    let asked = Asked { project, approvals, request: body.request.clone(), options: &options };
    Ok(prepare::cast(&asked, ready)?)
}

/// `POST /api/trust`: approves what was shown under a hash, as it is now, and resumes casts that waited for it.
pub(crate) fn approve(app: &Arc<App>, asked: &Request) -> Answered {
    let body: TrustBody = asked.json()?;
    let gone = || {
        Refused::conflict(
            "nothing waits for approval under this hash: it has changed since, or was approved already; look at it again",
        )
    };
    let Waiting { item, wanted, .. } = app.pending.take(&body.hash).ok_or_else(gone)?;
    let served = app.rooms.only(Some(&item.project))?;
    if let Some(named) = body.project.as_deref()
        && app.rooms.only(Some(named))?.id != served.id
    {
        return Err(gone());
    }
    let mut warnings = Vec::new();
    let approved = match &wanted {
        Wanted::Start(start) => {
            let start = StartBody { no_request: true, ..StartBody::clone(start) };
            prepared(&served, &start)?.approve(&item.hash, &mut warnings)
        }
        Wanted::Do(_) | Wanted::Resume(_) => {
            let cast = cast_of(app, &served, &item).ok_or_else(gone)?;
            let (named, what) = match &wanted {
                Wanted::Resume(named) => (named.clone(), Do::Resume { pace: None }),
                Wanted::Do(what) => (Named::default(), what.clone()),
                Wanted::Start(_) => return Err(gone()),
            };
            let options = RunOptions { provider: named.provider, ..RunOptions::default() };
            let _alone = app.keys.hold_cast_here(&cast.folder());
            let taken = act::take::<Failure>(cast.found(), &options, Sender::PERSON, |_| Ok(what));
            let Ok(Taken::Here(held)) = taken else { return Err(gone()) };
            let (waits, _) = held.prepare(&served.project, &options)?;
            waits.approve(&item.hash, &mut warnings)
        }
    };
    driver::tell(&warnings);
    app.pending.remove(&item.hash);
    if !approved {
        return Err(gone());
    }
    let mut casts = Vec::new();
    if let Wanted::Resume(named) = &wanted
        && let Some(cast) = cast_of(app, &served, &item)
    {
        match resume(app, &cast, named) {
            Ok(()) => casts.push(cast.id.clone()),
            // A further question, which waits now.
            Err(refused) if refused.0.code == RefusalCode::TrustRequired => {}
            Err(refused) => return Err(refused),
        }
    }
    Ok(json(&Approved { hash: item.hash, casts }))
}

fn cast_of(app: &App, served: &Served, item: &TrustItem) -> Option<Cast> {
    let id = item.cast_id.as_ref()?;
    app.rooms.find(Some(&served.id), id.as_str(), &Handle::current()).ok()
}

/// Carries on a cast that a server was driving when it died.
pub(crate) fn resume(app: &Arc<App>, cast: &Cast, named: &Named) -> Result<(), Refused> {
    carry_on(app, cast, Do::Resume { pace: None }, named)
}

/// Applies a command to a cast that no process drives, and continues it.
pub(crate) fn carry_on(
    app: &Arc<App>,
    cast: &Cast,
    what: Do,
    named: &Named,
) -> Result<(), Refused> {
    let options = RunOptions { provider: named.provider.clone(), ..RunOptions::default() };
    let _alone = app.keys.hold_cast_here(&cast.folder());
    match act::take::<Failure>(cast.found(), &options, Sender::PERSON, |_| Ok(what)) {
        Ok(Taken::Here(held)) => {
            driver::carry_on(app, cast, *held, &Wanted::Resume(named.clone()), named).map(drop)
        }
        Ok(Taken::There(_)) => Ok(()),
        Err(unfit) => Err(Refused::conflict(unfit.to_string())),
    }
}
