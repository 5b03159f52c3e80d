//! A cast that has run as a conformance case, so that an accident becomes a test.
//!
//! Before it is given out it is played in memory: a case that would not pass is none.

use std::sync::Arc;

use indexmap::IndexMap;
use materia_contract::case::{Case, Step};
use materia_contract::script::Script;
use materia_contract::{
    Answerers, CastReport, CastStatus, Do, GlobalMode, JOURNAL_VERSION_OF_PROJECT, Pace,
    RunCreated, RunId, WaitReason, number,
};
use materia_engine::{NoObserver, Runner};
use materia_runners::{Runners, ScriptedRunner};
use serde_json::{Map, Value, json};

use super::config::Fitting;
use super::{Recorded, config, read};
use crate::project::{Found, Project};
use crate::proof::play::{Acts, Played, play};
use crate::text::sanitize;
use crate::{Failure, Result};

/// How much of a request stands in the name of a case.
const NAME_CHARS_MAX: usize = 80;

/// Makes a case of a cast. A cast that cannot become one is refused with every reason. With `own_config` the case has
/// the configuration that makes the graph of the cast, if there is one.
pub fn of(project: &Project, found: &Found, own_config: bool) -> Result<Case> {
    let id = &found.id;
    let mut obstacles = Vec::new();
    let mut parts = vec![part(project, found, &mut obstacles)?];
    // A cast that continues from another one needs that first.
    while let Some(from) = parts.last().and_then(Part::continues) {
        let Ok(found) = project.find(&from) else {
            obstacles.push(format!("it continues from cast `{from}`, which is not there"));
            break;
        };
        parts.push(part(project, &found, &mut obstacles)?);
    }
    parts.reverse();
    let case = case(project, &parts, own_config)?;
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

/// A cast of a case.
struct Part {
    recorded: Recorded,
    report: CastReport,
    script: Script,
    /// How it rested before each further command.
    before: Vec<CastReport>,
}

impl Part {
    /// The cast from which it continues. The events of a fork begin with those that it shares.
    fn continues(&self) -> Option<RunId> {
        let created = &self.recorded.created;
        let from = created.from_cast_id.as_deref().filter(|_| created.fork.is_none());
        from.map(RunId::new)
    }
}

/// Reads a cast and plays it again; adds the reasons why it cannot be a part of a case.
fn part(project: &Project, found: &Found, obstacles: &mut Vec<String>) -> Result<Part> {
    let id = &found.id;
    let folders = project.folders(&found.root, id);
    let report = materia_engine::report(found.journal(), id, &folders)?;
    let recorded = read(found.journal(), id)?;
    let mut found = recorded.obstacles.clone();
    found.extend(beginning(&recorded.created, &report));
    let mut script = recorded.script();
    if found.is_empty() {
        materia_kernel::order_timeline(&mut script.timeline);
        found.extend(materia_runners::faults(&script, &recorded.created.plan));
    }
    let mut before = Vec::new();
    if found.is_empty() {
        let then = recorded.acts.then.clone();
        let played = again(id, recorded.created.clone(), &script, then)?;
        found
            .extend(played.refused.map(|why| format!("played again, a command is refused: {why}")));
        found.extend(differences(&report, &played.report));
        before = played.before;
    }
    obstacles.extend(found);
    Ok(Part { recorded, report, script, before })
}

/// Parts of the beginning and the end of a cast that no case can have.
fn beginning(created: &RunCreated, report: &CastReport) -> Vec<String> {
    let agents = |plan: &materia_contract::Plan| {
        let is_agent = |node: &materia_contract::Node| {
            matches!(node.behavior, materia_contract::Behavior::Agent { .. })
        };
        plan.nodes.values().any(is_agent)
    };
    let waits_for = report.waiting.as_ref().map(|waiting| waiting.reason);
    let known = [
        (report.status == CastStatus::Running, "it has not ended"),
        (
            !created.state.is_empty() && created.fork.is_some(),
            "it is a fork of a cast that continues from another one",
        ),
        (
            created.request.trim().is_empty() && agents(&created.plan),
            "it was asked for nothing, and agents need a request",
        ),
        (
            waits_for == Some(WaitReason::Workspace),
            "it waits because of files of its workspace, which a case does not have",
        ),
    ];
    let found = known.into_iter().filter(|(is, _)| *is);
    found.map(|(_, why)| why.to_owned()).collect()
}

/// Plays a cast again with this script, whose timeline is in order, and with these commands on it at rest.
pub(crate) fn again(
    id: &RunId,
    created: RunCreated,
    script: &Script,
    then: Vec<Do>,
) -> Result<Played> {
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
        approved: None,
        journal_version: JOURNAL_VERSION_OF_PROJECT,
        ..created
    };
    let parts: (Arc<dyn Runner>, _) = (Arc::new(runners), Arc::new(NoObserver) as _);
    let acts = Acts { timeline: script.timeline.clone(), run_for_ms: script.run_for_ms, then };
    play(id, created, parts, acts)
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

/// Expectations of a case about a cast that rests like this.
fn expected(report: &CastReport) -> Map<String, Value> {
    let Value::Object(mut expect) = end(report) else { unreachable!("it is made so") };
    expect.insert("visits".to_owned(), json!(visits(report)));
    expect.insert("state".to_owned(), json!(report.state));
    expect
}

/// The same, after a command that drives the cast.
fn expected_of_driving(report: &CastReport) -> Value {
    let exit = match report.status {
        CastStatus::Completed => 0,
        CastStatus::Waiting | CastStatus::Running => 3,
        CastStatus::Failed | CastStatus::Aborted => 1,
    };
    let mut expect = expected(report);
    expect.insert("exit".to_owned(), json!(exit));
    Value::Object(expect)
}

/// The commands that begin a cast and carry it on, each with what must come out.
fn commands(part: &Part, options: &[String]) -> Vec<Step> {
    let (created, id) = (&part.recorded.created, part.report.cast_id.to_string());
    let mut args = match &created.link {
        Some(link) => {
            let mut args = vec!["link".to_owned()];
            args.extend(link.targets.iter().map(materia_contract::LinkTarget::reference));
            args
        }
        None => vec!["cast".to_owned(), "--loadout".to_owned(), created.plan.loadout.clone()],
    };
    args.extend(["--cast-id".to_owned(), id.clone()]);
    args.extend(part.continues().map(|from| format!("--from={from}")));
    args.extend((created.pace == Pace::Interactive).then(|| "--interactive".to_owned()));
    args.extend((created.global_mode == GlobalMode::Planning).then(|| "--planning".to_owned()));
    args.extend_from_slice(options);
    if !created.request.is_empty() {
        args.extend(["--".to_owned(), created.request.clone()]);
    }
    let step = |args: Vec<String>, expect: Value| Step { args, input: None, expect };
    let mut rests = part.before.iter().chain([&part.report]);
    let mut steps: Vec<Step> =
        rests.next().map(|rest| step(args, expected_of_driving(rest))).into_iter().collect();
    for (act, rest) in part.recorded.acts.then.iter().zip(rests) {
        let mut args = vec![act.name().to_owned(), id.clone()];
        if let Do::Skip { region, reason } = act {
            args.extend(region.clone());
            args.extend(reason.as_ref().map(|reason| format!("--reason={reason}")));
        }
        if let Do::Abort { .. } = act {
            steps.push(step(args, json!({ "exit": 0 })));
            steps.push(step(vec!["show".to_owned(), id.clone()], Value::Object(expected(rest))));
        } else {
            steps.push(step(args, expected_of_driving(rest)));
        }
    }
    steps
}

/// The case of a cast, which is the last of these; each one continues from the one before.
fn case(project: &Project, parts: &[Part], own_config: bool) -> Result<Case> {
    let Some(last) = parts.last() else { unreachable!("a case is made of a cast") };
    let (created, report) = (&last.recorded.created, &last.report);
    let one = parts.len() == 1 && created.link.is_none();
    let fitting = if one && own_config { config::fitting(project, created)? } else { None };
    let (config, mut files, mut options) = match fitting {
        Some(Fitting { config, files, options }) => (config, files, options),
        None if one => {
            config::has_loadout(project, &created.plan.loadout)?;
            let bounds = config::bounds(project, created).unwrap_or_default();
            (None, IndexMap::default(), bounds)
        }
        None => Default::default(),
    };
    let says_where = config.as_ref().is_some_and(|config| config.to_string().contains("workspace"));
    if says_where || parts.iter().any(|part| part.recorded.created.workspace.is_some()) {
        options.insert(0, "--workspace=project".to_owned());
    }
    let mut scripts = parts.iter().map(|part| &part.script);
    let script = scripts.next().map(|script| json!(script));
    let mut steps = commands(&parts[0], &options);
    for (part, script) in parts[1..].iter().zip(scripts) {
        let name = format!("script-{}.json", part.report.cast_id);
        let options: Vec<String> =
            options.iter().cloned().chain([format!("--script={name}")]).collect();
        steps.extend(commands(part, &options));
        files.insert(name, json!(script));
    }
    let first = steps.remove(0);
    let about = sanitize::one_line(&created.request, NAME_CHARS_MAX);
    Ok(Case {
        name: format!("Cast {} of {}: {about}", report.cast_id, created.plan.loadout),
        requirements: Vec::new(),
        config,
        script,
        files,
        git: false,
        args: first.args,
        input: None,
        expect: first.expect,
        then: steps,
    })
}
