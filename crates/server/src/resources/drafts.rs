//! Endpoints of the editor: drafts, diffs, simulation, links and trials of utilities.

use std::sync::Arc;

use axum::http::{StatusCode, header};
use materia_app::edit::drafts::{Drafts, NotKept};
use materia_app::{edit::simulate, edit::try_utility, project, text::grid};
use materia_compiler::link::{self, Invocation};
use materia_contract::api::{
    Choices, DiffBody, DraftBody, DraftKept, Drafts as DraftList, LinkBody, LinkView, TrustItem,
    TryBody, Walk, WalkBody,
};
use materia_contract::{CastStatus, Event, EventBody, RefusalCode};
use materia_engine::{PAGE_BYTES, blocking, off_thread};
use serde_json::{Value, json as data};

use crate::driver;
use crate::http::problem::{Answered, Refused};
use crate::projects::Served;
use crate::projects::pending;
use crate::request::{Request, json};
use crate::state::App;

fn drafts_of(app: &App, asked: &Request) -> Result<Drafts, Refused> {
    let served = app.rooms.only(asked.query("project"))?;
    Ok(Drafts::of(&served.project)?)
}

/// `GET /api/drafts`.
pub(crate) fn drafts(app: &Arc<App>, asked: &Request) -> Answered {
    Ok(json(&DraftList { items: drafts_of(app, asked)?.list()? }))
}

/// `GET /api/drafts/{id}`.
pub(crate) fn draft(app: &Arc<App>, asked: &Request) -> Answered {
    let found = drafts_of(app, asked)?.get(asked.part("id"))?;
    let none = || Refused::unknown("there is no such draft; GET /api/drafts lists them");
    Ok(json(&found.ok_or_else(none)?))
}

/// `PUT /api/drafts/{id}`.
pub(crate) fn keep(app: &Arc<App>, asked: &Request) -> Answered {
    let body: DraftBody = asked.json()?;
    let version = version(asked)?;
    kept(drafts_of(app, asked)?.keep(asked.part("id"), version, body))
}

/// `DELETE /api/drafts/{id}`.
pub(crate) fn throw_away(app: &Arc<App>, asked: &Request) -> Answered {
    let version = version(asked)?;
    kept(drafts_of(app, asked)?.drop(asked.part("id"), version))
}

fn kept(result: Result<DraftKept, NotKept>) -> Answered {
    match result {
        Ok(kept) => Ok(json(&kept)),
        Err(NotKept::Failed(failure)) => Err(failure.into()),
        Err(NotKept::Changed(theirs)) => {
            let detail = "this draft was saved elsewhere since you read it; nothing was changed";
            Err(Refused::new(StatusCode::PRECONDITION_FAILED, RefusalCode::Resolution, detail)
                .with("theirs", serde_json::to_value(theirs).unwrap_or_default()))
        }
    }
}

/// The version that a draft is believed to have.
fn version(asked: &Request) -> Result<u64, Refused> {
    let named = asked.headers.get(header::IF_MATCH).and_then(|value| value.to_str().ok());
    let version = named.and_then(|text| text.trim_matches('"').parse().ok());
    version.ok_or_else(|| {
        let detail = "`If-Match` names the version that the draft had; 0 where there was none";
        Refused::new(StatusCode::PRECONDITION_REQUIRED, RefusalCode::Usage, detail)
    })
}

/// `POST /api/diff`.
pub(crate) fn diff(_: &Arc<App>, asked: &Request) -> Answered {
    let DiffBody { from, to } = asked.json()?;
    let found = materia_compiler::diff(&from, &to);
    Ok(json(&found.map_err(|error| {
        Refused::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            RefusalCode::Configuration,
            error.to_string(),
        )
    })?))
}

/// `POST /api/simulate`.
pub(crate) fn simulate(app: &Arc<App>, asked: &Request) -> Answered {
    let body: WalkBody = asked.json()?;
    let served = app.rooms.only(body.project.as_deref())?;
    let checked = served.project.compile_given(&body.files, Some(&body.loadout));
    let findings = checked.findings;
    let plan = checked.made.filter(|_| !project::has_errors(&findings)).map(|made| made.plan);
    let Some(plan) = plan else {
        let message = Some("the loadout has errors; nothing can be walked".to_owned());
        let (script, case) = (Value::Null, Value::Null);
        let (steps, asks, status) = (Vec::new(), Vec::new(), CastStatus::Failed);
        return Ok(json(&Walk { steps, asks, status, message, script, case, findings }));
    };
    let mut walk = simulate::walk(&plan, &body.request, &body.choices);
    let config = &checked.loaded.config;
    walk.case["config"] = data!({
        "loadouts": { body.loadout.as_str(): config.loadouts.get(&body.loadout) },
        "materia": config.materia,
    });
    Ok(json(&Walk { findings, ..walk }))
}

/// `GET /api/casts/{id}/choices`.
pub(crate) fn choices(app: &Arc<App>, asked: &Request) -> Answered {
    let cast = asked.cast_here(app)?;
    let mut events: Vec<Event> = Vec::new();
    let mut seq = 0;
    loop {
        let page = blocking(cast.journal())
            .read(&cast.id, seq, PAGE_BYTES)
            .map_err(materia_app::Failure::from)?;
        for record in &page.records {
            seq = record.seq;
            let wanted = record.kind.starts_with("turn.") || record.kind == "run.created";
            events.extend(record.event().ok().filter(|_| wanted));
        }
        if page.end || events.len() > 3 * simulate::STEPS_MAX {
            break;
        }
    }
    let Some(EventBody::RunCreated(created)) = events.first().map(|event| event.body.clone())
    else {
        return Err(Refused::unknown(format!("cast `{}` has no beginning", cast.id)));
    };
    let choices = simulate::choices(&created.plan, &events);
    Ok(json(&Choices { loadout: created.plan.loadout.clone(), choices }))
}

/// `POST /api/link`.
pub(crate) fn linked(app: &Arc<App>, asked: &Request) -> Answered {
    let body: LinkBody = asked.json()?;
    let served = app.rooms.only(body.project.as_deref())?;
    let (loaded, mut findings) = materia_compiler::load_given(&served.project.sources, &body.files);
    let asked = Invocation {
        from: None,
        targets: body.parts,
        delimited: true,
        prompt: vec!["look".to_owned()],
    };
    let (linked, more) = link::link(&loaded, &asked);
    findings.extend(more);
    let ok = !project::has_errors(&findings);
    let linked = linked.filter(|_| ok);
    let loadout = linked.as_ref().and_then(|linked| link::document(&loaded, linked));
    let plan = linked.map(|linked| linked.compiled.plan);
    let graph = plan.as_ref().map(grid::data);
    Ok(json(&LinkView { ok, findings, graph, plan, loadout }))
}

/// `POST /api/utilities/try`.
pub(crate) async fn tried(app: Arc<App>, asked: &Request) -> Answered {
    let TryBody { project, materia, input, consent } = asked.json()?;
    let served = app.rooms.only(project.as_deref())?;
    let place = Arc::clone(&served);
    let trial = off_thread(move || agreed(&place, &materia, consent.as_deref())).await?;
    let supervisor = app.settings.supervisor.clone();
    let run = trial.run(&served.project, supervisor, input);
    let ending = || Refused::conflict("the server ends, and the trial with it");
    Ok(json(&app.unless_ending(run).await.ok_or_else(ending)??))
}

/// A trial that was agreed to; otherwise what would have to be.
fn agreed(
    served: &Served,
    materia: &str,
    consent: Option<&str>,
) -> Result<materia_app::trust::Trusted<try_utility::UtilityTrial>, Refused> {
    let trial = try_utility::prepare(&served.project, materia)?;
    let mut warnings = Vec::new();
    let asked: Vec<TrustItem> =
        trial.questions().iter().map(|question| pending::item(served, None, question)).collect();
    let trial = if asked.is_empty() {
        if consent != Some(trial.what().hash().as_str()) {
            let told = trial.what().told();
            let item = TrustItem {
                project: served.id.clone(),
                hash: trial.what().hash(),
                cast_id: None,
                text: told.join("\n"),
                runs: told,
                question: Value::Null,
            };
            return Err(Refused::trust(vec![item]));
        }
        trial.settle(|_| Err(Refused::trust(Vec::new())), &mut warnings)?
    } else {
        // The question about the project's configuration showed the program, too.
        let agreed = asked.iter().all(|item| consent == Some(item.hash.as_str()));
        if !agreed {
            return Err(Refused::trust(asked));
        }
        trial.settle(|_| Ok::<(), Refused>(()), &mut warnings)?
    };
    driver::tell(&warnings);
    Ok(trial)
}
