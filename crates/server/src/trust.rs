//! What has to be approved before it runs, as questions that wait for somebody.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::http::Response;
use materia_app::act::{self, Taken};
use materia_app::prepare::{self, Asked};
use materia_app::trust::{Question, Runs, Trusted, Untrusted};
use materia_app::{Failure, RunOptions};
use materia_contract::api::{Approved, StartBody, TrustBody, TrustItem, TrustList};
use materia_contract::{Do, RunId};
use tokio::runtime::Handle;

use crate::carry::{self, Named};
use crate::problem::Refused;
use crate::request::{Request, json};
use crate::rooms::{Cast, Served};
use crate::state::App;
use crate::wanted;

/// Questions that wait at the most; the oldest go.
const WAITING_MAX: usize = 1_000;

/// What somebody wanted who was asked to approve something first.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    /// To begin a cast.
    Start(Box<StartBody>),
    /// To do something to one.
    Do(Do),
    /// It was driven by a server that died, and waits to go on by itself.
    Resume(Named),
}

/// Questions that wait for somebody.
#[derive(Default)]
pub(crate) struct Pending {
    waiting: Mutex<HashMap<String, Waiting>>,
}

#[derive(Clone)]
struct Waiting {
    item: TrustItem,
    wanted: Wanted,
    number: u64,
}

impl Pending {
    fn add(&self, item: TrustItem, wanted: Wanted) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let number = waiting.values().map(|it| it.number).max().unwrap_or(0) + 1;
        if waiting.len() >= WAITING_MAX {
            let oldest = waiting.iter().min_by_key(|(_, it)| it.number);
            if let Some(oldest) = oldest.map(|(hash, _)| hash.clone()) {
                waiting.remove(&oldest);
            }
        }
        waiting.insert(item.hash.clone(), Waiting { item, wanted, number });
    }

    /// The questions of a project.
    fn of(&self, project: &str) -> Vec<TrustItem> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<&Waiting> =
            waiting.values().filter(|it| it.item.project == project).collect();
        found.sort_by_key(|it| it.number);
        found.into_iter().map(|it| it.item.clone()).collect()
    }

    /// The question that a cast waits for that would go on by itself.
    pub(crate) fn of_cast(&self, project: &str, id: &RunId) -> Option<TrustItem> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let found = waiting.values().find(|it| {
            it.item.project == project
                && it.item.cast_id.as_ref() == Some(id)
                && matches!(it.wanted, Wanted::Resume(_))
        });
        found.map(|it| it.item.clone())
    }

    fn take(&self, hash: &str) -> Option<Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
    }

    fn remove(&self, hash: &str) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(hash);
    }
}

/// Lets something pass of which everything was approved; otherwise its questions wait for somebody.
pub(crate) fn settle<T: Runs>(
    app: &App,
    served: &Served,
    cast: Option<&Cast>,
    untrusted: Untrusted<T>,
    wanted: Wanted,
    warnings: &mut Vec<String>,
) -> Result<Trusted<T>, Refused> {
    let items: Vec<TrustItem> = untrusted
        .questions()
        .iter()
        .map(|question| item(served, cast.map(|cast| &cast.id), question))
        .collect();
    for item in &items {
        app.pending.add(item.clone(), wanted.clone());
    }
    if !items.is_empty() {
        return Err(Refused::trust(items));
    }
    untrusted.settle(|_| Err(Refused::trust(Vec::new())), warnings)
}

fn item(served: &Served, cast: Option<&RunId>, question: &Question) -> TrustItem {
    TrustItem {
        project: served.id.clone(),
        hash: question.hash.clone(),
        cast_id: cast.cloned(),
        text: format!("{}\n{}", question.subject(), question.whole()),
        question: serde_json::to_value(question).unwrap_or_default(),
    }
}

/// `GET /api/trust`.
pub(crate) fn list(app: &Arc<App>, asked: &Request) -> Result<Response<Body>, Refused> {
    let mut items = Vec::new();
    for served in app.rooms.meant(asked.query("project"))? {
        let mut found = app.pending.of(&served.id);
        // What would be asked first, should somebody cast what is active.
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

/// What has to be approved before the active loadout of a project is cast.
fn active(served: &Served) -> Vec<TrustItem> {
    let body = StartBody { no_request: true, ..StartBody::default() };
    let Ok(untrusted) = prepared(served, &body) else { return Vec::new() };
    untrusted.questions().iter().map(|question| item(served, None, question)).collect()
}

fn prepared(served: &Served, body: &StartBody) -> Result<Untrusted<prepare::Beginning>, Refused> {
    let project = &served.project;
    let options = wanted::options(body);
    let ready = wanted::ready(project, body)?;
    let approvals = project.profile_dir().map(ToOwned::to_owned);
    let asked = Asked { project, approvals, request: body.request.clone(), options: &options };
    Ok(prepare::cast(&asked, ready)?)
}

/// `POST /api/trust`: approves what was shown under a hash, as it is now, and carries on casts that waited for it.
pub(crate) fn approve(app: &Arc<App>, body: &TrustBody) -> Result<Response<Body>, Refused> {
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
            let taken = act::take::<Failure>(cast.found(), &options, None, |_| Ok(what));
            let Ok(Taken::Here(held)) = taken else { return Err(gone()) };
            let (waits, _) = held.prepare(&served.project, &options)?;
            waits.approve(&item.hash, &mut warnings)
        }
    };
    carry::tell(&warnings);
    if !approved {
        app.pending.remove(&item.hash);
        return Err(gone());
    }
    app.pending.remove(&item.hash);
    let mut casts = Vec::new();
    if let Wanted::Resume(named) = &wanted
        && let Some(cast) = cast_of(app, &served, &item)
    {
        match resume(app, &cast, named) {
            Ok(()) => casts.push(cast.id.clone()),
            // A further question, which waits now.
            Err(refused) if refused.0.code == crate::problem::TRUST_REQUIRED => {}
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

/// Does something to a cast that nobody drives, and carries it on.
pub(crate) fn carry_on(
    app: &Arc<App>,
    cast: &Cast,
    what: Do,
    named: &Named,
) -> Result<(), Refused> {
    let options = RunOptions { provider: named.provider.clone(), ..RunOptions::default() };
    match act::take::<Failure>(cast.found(), &options, None, |_| Ok(what)) {
        Ok(Taken::Here(held)) => {
            carry::carry_on(app, cast, *held, Wanted::Resume(named.clone()), named).map(drop)
        }
        Ok(Taken::There(_)) => Ok(()),
        Err(unfit) => Err(Refused::conflict(unfit.to_string())),
    }
}
