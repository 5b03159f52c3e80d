//! The recorded answers of a cast, played against the loadout of today: where the routes part, and which turns would be
//! asked that the cast never answered. Nothing is written, and no program is started.

mod answers;
mod route;
mod text;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use materia_compiler::link::Invocation;
use materia_contract::body::{Parting, PartingKind, RouteEnd, TurnName, Unanswered, WhatIfBody};
use materia_contract::script::Script;
use materia_contract::{
    Answerers, Budget, CastReport, CastStatus, Event, EventBody, JOURNAL_VERSION_OF_PROJECT,
    LinkTarget, Plan, RunCreated, RunId, ScriptBinding, TimelineEntry,
};
use materia_engine::{Journal, blocking};

use crate::cast::prepare;
use crate::project::{Found, Project};
use crate::proof::play::play;
use crate::proof::recorded::{self, Recorded};
use crate::text::sanitize;
use crate::{Failure, Result};
use answers::Answers;
use route::{Compared, Reader, Step};
pub use text::told;

/// How much longer than the whole cast a turn without an answer stays open.
const BEYOND: Duration = Duration::from_secs(1);

/// Plays the answers of a cast against a loadout of today, its own where none is named.
pub fn whatif(project: &Project, found: &Found, loadout: Option<&str>) -> Result<WhatIfBody> {
    let (journal, id) = (found.journal(), &found.id);
    let report = materia_engine::report(journal, id, &project.folders(&found.root, id))?;
    let recorded = recorded::read(journal, id)?;
    let mut obstacles = recorded.obstacles.clone();
    if report.status == CastStatus::Running {
        obstacles.push("it has not ended".to_owned());
    }
    if !obstacles.is_empty() {
        return Err(cannot(id, &obstacles));
    }
    let plan = todays(project, &recorded.created, loadout)?;
    let was = Route { steps: read(journal, id)?, end: end(&report) };
    // A cast that does not take its own route again, for files outside the journal for example, says nothing of a change.
    let own = again(id, &recorded, recorded.created.plan.clone())?;
    let (compared, parting) = was.against(&own);
    if let Some(parting) = parting {
        let why = format!("on its own graph its route already differs: {}", text::short(&parting));
        return Err(cannot(id, &[why]));
    }
    let same_plan = plan == recorded.created.plan;
    let (today, compared, parting) = if same_plan {
        (own, compared, None)
    } else {
        let today = again(id, &recorded, plan.clone())?;
        let (compared, parting) = was.against(&today);
        (today, compared, parting)
    };
    Ok(WhatIfBody {
        cast_id: id.clone(),
        loadout: plan.loadout.clone(),
        same: parting.is_none(),
        matched: compared.matched,
        parting,
        unanswered: today.unanswered(&plan),
        unreached: compared.unreached,
        recorded_end: was.end,
        today_end: Some(today.route.end).filter(|_| today.open.is_empty()),
        not_given: today.not_given,
    })
}

fn cannot(id: &RunId, obstacles: &[String]) -> Failure {
    let told = obstacles.iter().map(|why| format!("\n- {}", sanitize::one_line(why, 1_000)));
    Failure::resolution(format!("cast `{id}` cannot be played again:{}", told.collect::<String>()))
}

/// The plan of today, as it would be kept. A bound of the cast that the configuration does not have may come from the
/// command line: it holds again.
fn todays(project: &Project, created: &RunCreated, loadout: Option<&str>) -> Result<Plan> {
    let plan = match (&created.link, loadout) {
        (Some(link), None) => {
            let asked = Invocation {
                from: None,
                targets: link.targets.iter().map(LinkTarget::reference).collect(),
                delimited: true,
                prompt: vec![created.request.clone()],
            };
            prepare::link(project, asked)?.ready()?.compiled.plan
        }
        (_, loadout) => {
            let name = loadout.unwrap_or(&created.plan.loadout);
            project.compile(Some(name)).sound()?.1.plan
        }
    };
    let (own, was) = (plan.budget, created.plan.budget);
    let budget = Budget {
        max_tokens: own.max_tokens.or(was.max_tokens),
        max_cost: own.max_cost.or(was.max_cost),
        max_turns: own.max_turns.or(was.max_turns),
        ..own
    };
    let plan = Plan { budget, ..plan };
    Ok(project.places().kept(RunCreated { plan, ..created.clone() }).plan)
}

/// The turns of a cast and its end.
struct Route {
    steps: Vec<Step>,
    end: RouteEnd,
}

/// A route that was played.
struct Today {
    route: Route,
    /// The turns without an answer, by their `turn.started`.
    open: BTreeSet<u64>,
    not_given: Vec<String>,
}

impl Route {
    fn against(&self, today: &Today) -> (Compared, Option<Parting>) {
        let mut compared = route::compare(&self.steps, &today.route.steps);
        let ends_differ = today.open.is_empty() && self.end != today.route.end;
        let kind = PartingKind::End;
        let end = Parting { kind, turn: None, seq: None, recorded: None, today: None };
        let parting = compared.parting.take().or_else(|| ends_differ.then_some(end));
        (compared, parting)
    }
}

impl Today {
    fn unanswered(&self, plan: &Plan) -> Vec<Unanswered> {
        let names: HashMap<u64, &TurnName> =
            self.route.steps.iter().map(|step| (step.seq, &step.name)).collect();
        let open = self.route.steps.iter().filter(|step| self.open.contains(&step.seq));
        open.map(|step| {
            let node = plan.nodes.get(&step.name.socket);
            let after = step.after.and_then(|turn| names.get(&turn));
            Unanswered {
                turn: step.name.clone(),
                materia: node.map(|node| node.materia.clone()).unwrap_or_default(),
                after: after.map(|name| (*name).clone()),
            }
        })
        .collect()
    }
}

/// Plays the answers of a cast on a plan.
fn again(id: &RunId, recorded: &Recorded, plan: Plan) -> Result<Today> {
    let mut not_given = Vec::new();
    let mut acts = recorded.acts.clone();
    acts.timeline.retain(|entry| match missing(entry, &plan) {
        None => true,
        Some(why) => {
            not_given.push(why);
            false
        }
    });
    materia_kernel::order_timeline(&mut acts.timeline);
    let keys = plan.nodes.keys().map(|node| (node.clone(), node.to_string())).collect();
    let created = RunCreated {
        plan_hash: plan.hash(),
        plan,
        script: Some(ScriptBinding { path: "answers".to_owned(), keys }),
        agents: Answerers::default(),
        fork: None,
        key: None,
        approved: None,
        journal_version: JOURNAL_VERSION_OF_PROJECT,
        ..recorded.created.clone()
    };
    let answers = Arc::new(Answers::new(recorded, BEYOND));
    let played = play(id, created, answers::parts(&answers), acts)?;
    not_given.extend(played.refused);
    let open = answers.unanswered();
    let mut reader = Reader::default();
    let counts = |event: &&Event| !matches!(&event.body, EventBody::TurnFailed(data) if open.contains(&data.turn));
    played.events.iter().take_while(counts).for_each(|event| reader.see(event));
    let route = Route { steps: reader.finish(), end: end(&played.report) };
    Ok(Today { route, open, not_given })
}

/// Why an act of a person cannot be given on this plan.
fn missing(entry: &TimelineEntry, plan: &Plan) -> Option<String> {
    let alone = Script { timeline: vec![entry.clone()], ..Script::default() };
    let fault = materia_runners::faults(&alone, plan).into_iter().next()?;
    let why = fault.split_once(": ").map_or(fault.as_str(), |(_, why)| why);
    Some(format!("`{}` at {} ms: {why}", entry.act.name(), entry.at_ms))
}

fn read(journal: &dyn Journal, id: &RunId) -> Result<Vec<Step>> {
    let mut reader = Reader::default();
    for record in blocking(journal).behind(id, 0) {
        reader.see(&record?.event()?);
    }
    Ok(reader.finish())
}

fn end(report: &CastReport) -> RouteEnd {
    let waiting = report.waiting.as_ref();
    RouteEnd {
        status: report.status,
        error: report.error.as_ref().map(|error| error.code),
        waiting: waiting.map(|waiting| waiting.reason),
        node: waiting.and_then(|waiting| waiting.node.clone()),
    }
}
