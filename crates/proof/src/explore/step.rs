//! Steps of a history: possible next inputs, and the kernel's decisions on them.

use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{
    Do, Event, GlobalMode, JOURNAL_VERSION_OF_PROJECT, NextTick, NodeId, Pace, Plan, RunCreated,
    RunId, Timer,
};
use materia_kernel::{
    Decision, Effect, Input, Now, Phase, Rejection, Report, Run, due_schedules, is_idle,
    outstanding, paused, questions, take_with, timers,
};

use super::answers::{Answers, Given};

/// One step of a history.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Turns end at one instant, in the order in which they started.
    End(Vec<(u64, Arc<Given>)>),
    /// The earliest timers fire.
    Fire,
    /// A person answers.
    Act(Do),
}

/// Limits of the simulated surroundings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// Whether all turns in flight may also end at once.
    pub(crate) together: bool,
    /// How often a scheduled node ticks.
    pub(crate) ticks: u32,
}

/// How long a schedule waits that only a table of time zones knows.
pub(crate) const SCHEDULE_MICROS: Micros = 60_000_000;

/// Decides on an input and applies its events, as [`take_with`] does.
pub type Take = fn(&mut Run, Now, &[NextTick], Input) -> Result<Decision, Rejection>;

/// A run that begins now.
pub(crate) fn begin(plan: &Plan) -> Option<(Run, Vec<Event>)> {
    begin_with(take_with, plan, 0)
}

/// A run that begins now and has a timeline of so many entries.
pub(crate) fn begin_with(decide: Take, plan: &Plan, timeline: u32) -> Option<(Run, Vec<Event>)> {
    let mut run = Run::new(RunId::new("explored"));
    let events = take(decide, &mut run, 0, Input::Create(created(plan, timeline).into()))?;
    Some((run, events))
}

/// The beginning of a run of a plan in simulated time, with a timeline of so many entries.
pub fn created(plan: &Plan, timeline: u32) -> RunCreated {
    RunCreated {
        request: "explore".to_owned(),
        plan_hash: String::new(),
        plan: plan.clone(),
        cwd: "{workspace}".to_owned(),
        run_dir: "{runDir}".to_owned(),
        pace: Pace::Auto,
        global_mode: GlobalMode::Implementation,
        virtual_time: true,
        script: None,
        agents: materia_contract::Answerers::default(),
        from_cast_id: None,
        fork: None,
        link: None,
        state: serde_json::Map::new(),
        timeline,
        key: None,
        workspace: None,
        approved: None,
        journal_version: JOURNAL_VERSION_OF_PROJECT,
    }
}

/// Passes an input to the kernel. A run that only a person can continue rests.
fn take(decide: Take, run: &mut Run, at: Micros, input: Input) -> Option<Vec<Event>> {
    let due: Vec<NodeId> =
        due_schedules(run, at, &input).into_iter().map(|(node, _)| node.clone()).collect();
    let ticks: Vec<NextTick> =
        due.into_iter().map(|node| NextTick { node, at: at + SCHEDULE_MICROS }).collect();
    let mut events = decide(run, at.into(), &ticks, input).ok()?.events;
    if *run.phase() == Phase::Running && is_idle(run) {
        events.extend(decide(run, at.into(), &[], Input::Idle).ok()?.events);
    }
    Some(events)
}

/// The turns in flight, in the order in which they started.
pub(crate) fn in_flight(run: &Run) -> Vec<u64> {
    let turn = |effect| match effect {
        Effect::StartTurn(turn) => Some(turn),
        Effect::Publish | Effect::WakeAt(_) => None,
    };
    outstanding(run).filter_map(turn).collect()
}

/// The step, as an input, at the instant at which it happens.
pub(crate) fn apply(
    run: &mut Run,
    plan: &Plan,
    step: &Step,
    at: Option<Micros>,
) -> Option<Vec<Event>> {
    apply_by(take_with, run, plan, step, at)
}

/// The same with other rules.
pub(crate) fn apply_by(
    decide: Take,
    run: &mut Run,
    plan: &Plan,
    step: &Step,
    at: Option<Micros>,
) -> Option<Vec<Event>> {
    let now = at.unwrap_or(run.instant());
    match step {
        Step::End(ended) => {
            let mut reports = Vec::new();
            for (turn, given) in ended {
                let (id, _) = run.node_of(run.turn(*turn)?);
                reports.push(Report { turn: *turn, outcome: given.outcome(&plan.nodes[id]) });
            }
            take(decide, run, now, Input::reports(reports))
        }
        Step::Fire => {
            let due = timers(run).next()?.0;
            take(decide, run, due.max(now), Input::tick())
        }
        Step::Act(act) => take(decide, run, now, Input::act(act.clone())),
    }
}

/// Whether the earliest timers are ticks of which there have been enough.
pub(crate) fn is_cut(run: &Run, manner: Manner) -> bool {
    let Some((first, ..)) = timers(run).next() else { return false };
    *run.phase() == Phase::Running
        && timers(run)
            .take_while(|(at, ..)| *at == first)
            .any(|(_, _, timer, ticks)| *timer == Timer::Tick && ticks >= manner.ticks)
}

/// All steps that can follow, those first that lead on.
pub(crate) fn steps(run: &Run, plan: &Plan, answers: &Answers, manner: Manner) -> Vec<Step> {
    match run.phase() {
        Phase::Running | Phase::Waiting(_) => {}
        Phase::New | Phase::Completed | Phase::Failed(_) | Phase::Aborted => return Vec::new(),
    }
    // A multi-turn node is finished at once.
    if let Some(node) = paused(run).next() {
        return vec![Step::Act(Do::Continue { node: Some(node.clone()) })];
    }
    let mut steps = Vec::new();
    let turns = in_flight(run);
    let of = |turn: &u64| run.turn(*turn).map(|found| answers.of(run, found, plan));
    let all: Vec<(u64, Vec<Arc<Given>>)> =
        turns.iter().filter_map(|turn| Some((*turn, of(turn)?))).collect();
    for (turn, given) in &all {
        steps.extend(given.iter().map(|one| Step::End(vec![(*turn, Arc::clone(one))])));
    }
    if manner.together && all.len() > 1 {
        steps.extend(combined(&all).into_iter().map(Step::End));
    }
    for question in questions(run).filter(|question| !question.denied) {
        let node = question.node.clone();
        steps.push(Step::Act(Do::approve(node.clone())));
        steps.push(Step::Act(Do::deny(node.clone())));
        steps.push(Step::Act(Do::Deny { node, hash: None, reason: None, route: true }));
    }
    if *run.phase() == Phase::Running && timers(run).next().is_some() && !is_cut(run, manner) {
        steps.push(Step::Fire);
    }
    steps
}

/// Every choice of one answer for each turn.
fn combined(all: &[(u64, Vec<Arc<Given>>)]) -> Vec<Vec<(u64, Arc<Given>)>> {
    all.iter().fold(vec![Vec::new()], |chosen, (turn, given)| {
        let with = |before: &Vec<(u64, Arc<Given>)>, one: &Arc<Given>| {
            let mut more = before.clone();
            more.push((*turn, Arc::clone(one)));
            more
        };
        chosen.iter().flat_map(|before| given.iter().map(move |one| with(before, one))).collect()
    })
}
