//! A cast that has run as a conformance case, so that an accident becomes a test.
//!
//! Before it is given out it is played in memory: a case that would not pass is none.

use std::sync::Arc;

use indexmap::IndexMap;
use materia_contract::case::Case;
use materia_contract::script::Script;
use materia_contract::{
    Answerers, CastReport, CastStatus, GlobalMode, JOURNAL_VERSION_OF_PROJECT, Pace, RunCreated,
    RunId, number,
};
use materia_engine::{NoObserver, Runner};
use materia_runners::{Runners, ScriptedRunner};
use serde_json::{Map, Value, json};

use super::{Recorded, config, read};
use crate::failure::Failure;
use crate::play::{Played, play};
use crate::project::{Found, Project};
use crate::sanitize;

/// How much of a request stands in the name of a case.
const NAME_CHARS_MAX: usize = 80;

/// Makes a case of a cast. A cast that cannot become one is refused with every reason.
pub fn of(project: &Project, found: &Found) -> Result<Case, Failure> {
    let id = &found.id;
    let folders = project.folders(&found.root, id);
    let report = materia_engine::report(found.journal(), id, &folders)?;
    let recorded = read(found.journal(), id)?;
    let mut obstacles = recorded.obstacles.clone();
    obstacles.extend(beginning(&recorded.created, &report));
    let mut script = recorded.script();
    if obstacles.is_empty() {
        materia_kernel::order_timeline(&mut script.timeline);
        obstacles.extend(materia_runners::faults(&script, &recorded.created.plan));
    }
    if obstacles.is_empty() {
        let played = again(id, recorded.created.clone(), &script)?;
        obstacles.extend(differences(&report, &played.report));
    }
    let case = case(project, &recorded, &script, &report)?;
    let text = serde_json::to_string(&case).unwrap_or_default();
    obstacles.extend(number::too_wide(&text).map(|wide| format!("it holds {wide}")));
    if obstacles.is_empty() {
        return Ok(case);
    }
    let told = obstacles.iter().map(|why| format!("\n- {}", sanitize::one_line(why, 1_000)));
    Err(Failure::resolution(format!(
        "cast `{id}` cannot become a case:{}",
        told.collect::<String>()
    )))
}

/// Parts of the beginning of a cast that cannot be typed again.
fn beginning(created: &RunCreated, report: &CastReport) -> Vec<String> {
    let agents = |plan: &materia_contract::Plan| {
        let is_agent = |node: &materia_contract::Node| {
            matches!(node.behavior, materia_contract::Behavior::Agent { .. })
        };
        plan.nodes.values().any(is_agent)
    };
    let known = [
        (report.status == CastStatus::Running, "it has not ended"),
        (
            // The events of a fork begin with those that it shares.
            !created.state.is_empty() || (created.from_cast_id.is_some() && created.fork.is_none()),
            "it continues from another cast, which a case does not have",
        ),
        (
            created.request.trim().is_empty() && agents(&created.plan),
            "it was asked for nothing, and agents need a request",
        ),
    ];
    let found = known.into_iter().filter(|(is, _)| *is);
    found.map(|(_, why)| why.to_owned()).collect()
}

/// Plays a cast again with this script, whose timeline is in order.
pub(crate) fn again(id: &RunId, created: RunCreated, script: &Script) -> Result<Played, Failure> {
    let scripted: Arc<dyn Runner> = Arc::new(ScriptedRunner::new(script.clone()));
    let runners = Runners {
        utility: Arc::clone(&scripted),
        scripted: Some(scripted),
        mock: None,
        agent: None,
    };
    let created = RunCreated {
        script: Some(materia_runners::bind(script, "script.json", &created.plan)),
        agents: Answerers::default(),
        fork: None,
        key: None,
        journal_version: JOURNAL_VERSION_OF_PROJECT,
        ..created
    };
    let parts: (Arc<dyn Runner>, _) = (Arc::new(runners), Arc::new(NoObserver) as _);
    play(id, created, parts, script.timeline.clone(), script.run_for_ms)
}

/// In what a cast that is played again differs from the one that ran.
fn differences(ran: &CastReport, played: &CastReport) -> Vec<String> {
    let mut found = Vec::new();
    let mut differs = |what: &str, ran: String, played: String| {
        if ran != played {
            found.push(format!("played again, its {what} differ: {ran} became {played}"));
        }
    };
    differs("visits", visits(ran).join(" "), visits(played).join(" "));
    differs("ends", end(ran).to_string(), end(played).to_string());
    differs("variables", json!(ran.state).to_string(), json!(played.state).to_string());
    found
}

fn visits(report: &CastReport) -> Vec<String> {
    report.visits.iter().map(|visit| visit.socket.to_string()).collect()
}

/// How a cast ended, as a case expects it.
pub(crate) fn end(report: &CastReport) -> Value {
    let mut end = Map::new();
    end.insert("status".to_owned(), json!(report.status));
    if let Some(error) = &report.error {
        end.insert("error".to_owned(), json!({ "code": error.code }));
    }
    if let Some(waiting) = &report.waiting {
        let mut told = json!({ "reason": waiting.reason });
        if let Some(node) = &waiting.node {
            told["node"] = json!(node);
        }
        end.insert("waiting".to_owned(), told);
    }
    Value::Object(end)
}

fn case(
    project: &Project,
    recorded: &Recorded,
    script: &Script,
    report: &CastReport,
) -> Result<Case, Failure> {
    let created = &recorded.created;
    let linked = created.link.is_some();
    let fitting = if linked { None } else { config::fitting(project, created)? };
    let (config, files, bounds) = match fitting {
        Some(fitting) => (Some(fitting.config), fitting.files, fitting.bounds),
        None if linked => Default::default(),
        None => {
            config::has_loadout(project, &created.plan.loadout)?;
            (None, IndexMap::default(), config::bounds(project, created).unwrap_or_default())
        }
    };
    let mut args = match &created.link {
        Some(link) => {
            let mut args = vec!["link".to_owned()];
            args.extend(link.targets.iter().map(materia_contract::LinkTarget::reference));
            args
        }
        None => vec!["cast".to_owned(), "--loadout".to_owned(), created.plan.loadout.clone()],
    };
    args.extend(["--cast-id".to_owned(), report.cast_id.to_string()]);
    args.extend((created.pace == Pace::Interactive).then(|| "--interactive".to_owned()));
    args.extend((created.global_mode == GlobalMode::Planning).then(|| "--planning".to_owned()));
    let says_where = config.as_ref().is_some_and(|config| config.to_string().contains("workspace"));
    if created.workspace.is_some() || says_where {
        args.push("--workspace=project".to_owned());
    }
    args.extend(bounds);
    if !created.request.is_empty() {
        args.extend(["--".to_owned(), created.request.clone()]);
    }
    let Value::Object(mut expect) = end(report) else { unreachable!("it is made so") };
    let exit = match report.status {
        CastStatus::Completed => 0,
        CastStatus::Waiting | CastStatus::Running => 3,
        CastStatus::Failed | CastStatus::Aborted => 1,
    };
    expect.insert("exit".to_owned(), json!(exit));
    expect.insert("visits".to_owned(), json!(visits(report)));
    expect.insert("state".to_owned(), json!(report.state));
    let about = sanitize::one_line(&created.request, NAME_CHARS_MAX);
    Ok(Case {
        name: format!("Cast {} of {}: {about}", report.cast_id, created.plan.loadout),
        requirements: Vec::new(),
        config,
        script: Some(json!(script)),
        files,
        git: false,
        args,
        input: None,
        expect: Value::Object(expect),
        then: Vec::new(),
    })
}
