//! A history as a script for a cast in simulated time, and its replay.

use std::collections::{BTreeMap, BTreeSet};

use materia_contract::script::{Script, UtilityAnswer};
use materia_contract::time::Micros;
use materia_contract::{
    Behavior, Do, Event, EventBody, NextTick, NodeId, Plan, TimelineEntry, TurnOutcome,
};
use materia_kernel::{
    Acting, Input, Moment, Phase, Report, Run, due_schedules, is_idle, order_timeline, take_with,
    timers,
};
use serde_json::{Map, Value};

use super::answers::Given;
use super::step::{self, Step};

/// A turn that a history does not end takes longer than any history.
const NEVER_MS: u64 = 30 * 24 * 3_600_000;

/// How a history ends, as far as a play of it must agree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct End {
    pub(crate) status: String,
    pub(crate) visits: Vec<NodeId>,
    pub(crate) variables: Map<String, Value>,
}

/// The word for where a run stands, with the reason and the node.
pub fn status(run: &Run) -> String {
    match run.phase() {
        Phase::Waiting(waiting) => {
            let node = waiting.node.as_ref().map_or("", NodeId::as_str);
            format!("waiting {} {node}", word(&waiting.reason))
        }
        Phase::Failed(failed) => {
            let socket = failed.socket.as_ref().map_or("", NodeId::as_str);
            format!("failed {} {socket}", failed.code.word())
        }
        other @ (Phase::New | Phase::Running | Phase::Completed | Phase::Aborted) => {
            other.status().word().to_owned()
        }
    }
}

/// A word of the contract as it is written.
pub(crate) fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|it| it.as_str().map(ToOwned::to_owned))
        .unwrap_or_default()
}

fn started(events: &[Event]) -> impl Iterator<Item = (&NodeId, u64)> {
    events.iter().filter_map(|event| match (&event.body, &event.node) {
        (EventBody::TurnStarted(_), Some(node)) => Some((node, event.seq)),
        (_, _) => None,
    })
}

/// One entry of a script, before it is written down.
struct Entry {
    node: NodeId,
    since: u64,
    given: Option<Given>,
}

/// Writes a history down as a script while it is taken.
#[derive(Default)]
pub(crate) struct Recorder {
    script: Script,
    entries: BTreeMap<u64, Entry>,
    visits: Vec<NodeId>,
    /// The instant, in milliseconds since the beginning.
    pub(crate) now: u64,
}

impl Recorder {
    /// Takes notice of turns that started. One that the runtime answered takes nothing of a script.
    pub(crate) fn note(&mut self, run: &Run, events: &[Event]) {
        for (node, turn) in started(events) {
            self.visits.push(node.clone());
            if run.turn(turn).is_some() {
                let entry = Entry { node: node.clone(), since: self.now, given: None };
                self.entries.insert(turn, entry);
            }
        }
    }

    /// A turn ends now with an answer.
    pub(crate) fn ends(&mut self, turn: u64, given: &Given) -> Option<()> {
        let entry = self.entries.get_mut(&turn)?;
        entry.given = Some(given.after(self.now - entry.since));
        Some(())
    }

    /// A person does something now.
    pub(crate) fn acts(&mut self, act: &Do) {
        self.script.timeline.push(TimelineEntry { at_ms: self.now, act: act.clone() });
    }

    /// Whether a person has done something at this instant.
    pub(crate) fn acted_now(&self) -> bool {
        self.script.timeline.last().is_some_and(|entry| entry.at_ms == self.now)
    }

    /// The instant at which a turn started.
    pub(crate) fn since(&self, turn: u64) -> Option<u64> {
        self.entries.get(&turn).map(|entry| entry.since)
    }

    /// Whether a turn started at this instant.
    pub(crate) fn just_started(&self, turn: u64) -> bool {
        self.since(turn) == Some(self.now)
    }

    /// The script, and the nodes of the turns. Answers stand in the order in which turns started, in which a script is read.
    pub(crate) fn finish(mut self, plan: &Plan, cut: bool) -> (Script, Vec<NodeId>) {
        for Entry { node, given, .. } in self.entries.into_values() {
            let agent = matches!(plan.nodes[&node].behavior, Behavior::Agent { .. });
            let never = if agent {
                Given::Agent(Box::default())
            } else {
                Given::Utility(UtilityAnswer::default())
            };
            match given.unwrap_or_else(|| never.after(NEVER_MS)) {
                Given::Agent(answer) => {
                    self.script.turns.entry(node.to_string()).or_default().push(*answer);
                }
                Given::Utility(answer) => {
                    self.script.utilities.entry(node.to_string()).or_default().push(answer);
                }
            }
        }
        self.script.run_for_ms = cut.then_some(self.now);
        (self.script, self.visits)
    }
}

/// The script that plays a history, and how it ends; `None` where the history cannot be taken again.
pub(crate) fn script(plan: &Plan, steps: &[Step], cut: bool) -> Option<(Script, End)> {
    let (mut run, events) = step::begin(plan)?;
    let mut recorder = Recorder::default();
    recorder.note(&run, &events);
    for step in steps {
        match step {
            Step::End(ended) => {
                let alone = step::in_flight(&run).len() == ended.len()
                    && ended.iter().all(|(turn, _)| recorder.just_started(*turn));
                recorder.now += u64::from(!alone);
                for (turn, given) in ended {
                    recorder.ends(*turn, given)?;
                }
            }
            Step::Fire => {
                let due = timers(&run).next()?.0;
                let due = u64::try_from(due).unwrap_or(0).div_ceil(1_000);
                recorder.now = recorder.now.max(due);
            }
            Step::Act(act) => {
                recorder.now += 1;
                recorder.acts(act);
            }
        }
        let at = Micros::try_from(recorder.now).ok()?.saturating_mul(1_000);
        let events = step::apply(&mut run, plan, step, Some(at))?;
        recorder.note(&run, &events);
    }
    let (script, visits) = recorder.finish(plan, cut);
    let status = if cut { "waiting run_for ".to_owned() } else { status(&run) };
    Some((script, End { status, visits, variables: run.variables().clone() }))
}

/// How the turns of a script end, in the order in which they do.
pub fn turn_ends(plan: &Plan, script: &Script) -> Option<Vec<(NodeId, TurnOutcome)>> {
    played(plan, script).map(|(_, ended)| ended)
}

/// Plays a script as a cast in simulated time does, and says how it ends.
pub(crate) fn play(plan: &Plan, script: &Script) -> Option<End> {
    played(plan, script).map(|(end, _)| end)
}

fn played(plan: &Plan, script: &Script) -> Option<(End, Vec<(NodeId, TurnOutcome)>)> {
    let mut timeline = script.timeline.clone();
    order_timeline(&mut timeline);
    let (run, events) = step::begin_with(take_with, plan, u32::try_from(timeline.len()).ok()?)?;
    let mut stage = Play {
        plan,
        script,
        run,
        now: 0,
        agenda: BTreeMap::new(),
        scheduled: BTreeSet::new(),
        used: BTreeMap::new(),
        visits: Vec::new(),
        ended: Vec::new(),
    };
    stage.hear(&events);
    while *stage.run.phase() == Phase::Running {
        stage.step(&timeline)?;
    }
    let Play { run, visits, ended, .. } = stage;
    Some((End { status: status(&run), visits, variables: run.variables().clone() }, ended))
}

struct Play<'a> {
    plan: &'a Plan,
    script: &'a Script,
    run: Run,
    now: Micros,
    agenda: BTreeMap<(Micros, u64), Given>,
    scheduled: BTreeSet<u64>,
    used: BTreeMap<NodeId, usize>,
    visits: Vec<NodeId>,
    ended: Vec<(NodeId, TurnOutcome)>,
}

impl Play<'_> {
    fn hear(&mut self, events: &[Event]) {
        for (node, _) in started(events) {
            self.visits.push(node.clone());
        }
        for turn in step::in_flight(&self.run) {
            if !self.scheduled.insert(turn) {
                continue;
            }
            let Some(found) = self.run.turn(turn) else { continue };
            let node = self.run.node_of(found).0.clone();
            let place = self.used.entry(node.clone()).or_default();
            let given = match self.plan.nodes[&node].behavior {
                Behavior::Agent { .. } => {
                    let list = self.script.turns.get(node.as_str());
                    list.and_then(|list| list.get(*place))
                        .cloned()
                        .map(|answer| Given::Agent(Box::new(answer)))
                }
                Behavior::Utility { .. } => {
                    let list = self.script.utilities.get(node.as_str());
                    list.and_then(|list| list.get(*place)).cloned().map(Given::Utility)
                }
            };
            *place += 1;
            let Some(given) = given else { continue };
            let delay = match &given {
                Given::Agent(answer) => answer.delay_ms,
                Given::Utility(answer) => answer.delay_ms,
            };
            let delay = Micros::try_from(delay.unwrap_or(0)).unwrap_or(0).saturating_mul(1_000);
            self.agenda.insert((self.now + delay, turn), given);
        }
    }

    fn take(&mut self, input: Input) -> Option<()> {
        let due: Vec<NodeId> = due_schedules(&self.run, self.now, &input)
            .into_iter()
            .map(|(node, _)| node.clone())
            .collect();
        let at = self.now + step::SCHEDULE_MICROS;
        let ticks: Vec<NextTick> = due.into_iter().map(|node| NextTick { node, at }).collect();
        let events = take_with(&mut self.run, self.now, &ticks, input).ok()?.events;
        self.hear(&events);
        Some(())
    }

    fn step(&mut self, timeline: &[TimelineEntry]) -> Option<()> {
        let reached = self.run.timeline_reached() as usize;
        let instant = |entry: &TimelineEntry| {
            Micros::try_from(entry.at_ms).unwrap_or(Micros::MAX / 4).saturating_mul(1_000)
        };
        let turn = self.agenda.keys().next().map(|(due, _)| *due);
        let timer = timers(&self.run).next().map(|(at, ..)| at);
        let entry = timeline.get(reached).map(instant);
        let due = [turn, timer, entry].into_iter().flatten().min();
        let deadline = self.script.run_for_ms.and_then(|ms| Micros::try_from(ms).ok());
        if let Some(deadline) = deadline.map(|ms| ms.saturating_mul(1_000))
            && due.is_none_or(|due| due > deadline)
        {
            self.now = deadline.max(self.now);
            return self.take(Input::RunForElapsed);
        }
        if deadline.is_none() && is_idle(&self.run) {
            return self.take(Input::Idle);
        }
        self.now = self.now.max(due?);
        let mut reports: Vec<(NodeId, Report)> = Vec::new();
        while let Some(next) = self.agenda.first_entry()
            && next.key().0 <= self.now
        {
            let ((_, turn), given) = next.remove_entry();
            if let Some(found) = self.run.turn(turn) {
                let id = self.run.node_of(found).0.clone();
                let outcome = given.outcome(&self.plan.nodes[&id]);
                reports.push((id, Report { turn, outcome }));
            }
        }
        reports.sort_by_key(|(_, report)| report.turn);
        self.ended.extend(reports.iter().map(|(id, report)| (id.clone(), report.outcome.clone())));
        let reports = reports.into_iter().map(|(_, report)| report).collect();
        let at_ms = timeline.get(reached).map(|entry| entry.at_ms);
        let together = timeline.get(reached..).unwrap_or_default().iter();
        let together = together.take_while(|it| instant(it) <= self.now && Some(it.at_ms) == at_ms);
        let acts = together.enumerate().map(|(place, entry)| Acting {
            timeline: u32::try_from(reached + place).ok(),
            ..Acting::person(entry.act.clone())
        });
        let acts = acts.collect();
        self.take(Input::Moment(Moment { reports, acts }))
    }
}
