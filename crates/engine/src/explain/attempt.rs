//! Tries acts on a copy of a run: the kernel itself decides whether a node would then start.

use materia_contract::body::Suggested;
use materia_contract::{
    Behavior, Do, Event, EventBody, Node, NodeId, Pace, Parse, Root, TurnOutput,
};
use materia_kernel::{Effect, Input, Phase, Run, TurnOutcome, outstanding, step};
use serde_json::{Map, Value, json};

use crate::session::{Steps, steps};

/// A copy of a run to which things are done, until a node starts.
#[derive(Clone)]
pub(super) struct Attempt<'a> {
    pub(super) run: Run,
    node: &'a NodeId,
    /// Whether a turn of the node has started.
    pub(super) started: bool,
}

/// Who takes what is asked of a run that is not at rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Driven {
    /// The process that drives it.
    Live,
    /// The process that takes it over: the former one has ended, and its turns in flight are lost.
    Gone,
}

impl<'a> Attempt<'a> {
    pub(super) fn of(run: &Run, node: &'a NodeId) -> Self {
        Self { run: run.clone(), node, started: false }
    }

    /// A fork is carried on as it is made, unless it rests.
    pub(super) fn forked(run: &Run, node: &'a NodeId, interactive: bool) -> Self {
        let mut attempt = Self::of(run, node);
        if *run.phase() == Phase::Running {
            let pace = if interactive { Pace::Interactive } else { run.pace() };
            attempt.command(Do::Resume { pace: Some(pace) }, Driven::Gone);
        }
        attempt
    }

    /// Does all of it, in order; `None` where something is refused or a turn does not end well.
    pub(super) fn through(mut self, doings: &[Suggested], mut driven: Driven) -> Option<Self> {
        for doing in doings {
            if self.started {
                break;
            }
            match doing {
                Suggested::Fork { .. } => return None,
                Suggested::Wait { node, .. } => self.end_turn_of(node).then_some(())?,
                Suggested::Do(what) => {
                    self.command(what.clone(), driven).then_some(())?;
                    driven = Driven::Live;
                }
            }
        }
        Some(self)
    }

    /// A command of a person; false if it is refused.
    fn command(&mut self, what: Do, driven: Driven) -> bool {
        if driven == Driven::Live && *self.run.phase() == Phase::Running {
            // The process that drives a run takes the command alone: nothing has to be recovered.
            return self.take(Input::act(what));
        }
        let Steps { before, asked, after } = steps(&self.run, what, None);
        [before, Some(asked), after].into_iter().flatten().all(|input| self.take(input))
    }

    fn take(&mut self, input: Input) -> bool {
        let now = self.run.ts();
        let Ok(events) = step(&mut self.run, now, input) else { return false };
        self.started |= events.iter().any(|event| self.is_start(event));
        true
    }

    fn is_start(&self, event: &Event) -> bool {
        matches!(event.body, EventBody::TurnStarted(_)) && event.node.as_ref() == Some(self.node)
    }

    /// Turns in flight, oldest first and those of the node itself before all others.
    pub(super) fn under_way(&self) -> Vec<(u64, NodeId)> {
        let mut turns: Vec<(u64, NodeId)> = outstanding(&self.run)
            .filter_map(|effect| match effect {
                Effect::StartTurn(turn) => Some(turn),
                Effect::WakeAt(_) | Effect::Publish => None,
            })
            .filter_map(|turn| Some((turn, self.run.node_of(self.run.turn(turn)?).0.clone())))
            .collect();
        turns.sort_by_key(|(_, node)| node != self.node);
        turns
    }

    /// The oldest turn of a node ends well.
    fn end_turn_of(&mut self, node: &NodeId) -> bool {
        match self.under_way().into_iter().find(|(_, at)| at == node) {
            Some((turn, _)) => self.end_turn(turn),
            None => false,
        }
    }

    /// A turn ends with an answer that its node accepts and that leaves the run alive.
    pub(super) fn end_turn(&mut self, turn: u64) -> bool {
        for satisfied in [true, false] {
            let mut ended = self.clone();
            let Some(found) = self.run.turn(turn) else { return false };
            let output = answer(self.run.node_of(found).1, satisfied);
            let output = TurnOutput { output, ..TurnOutput::default() };
            let taken = ended.take(Input::report(turn, TurnOutcome::Ended(output)));
            if taken && (ended.started || is_alive(&ended.run)) {
                *self = ended;
                return true;
            }
        }
        false
    }
}

/// Whether a run can still take commands.
pub(super) fn is_alive(run: &Run) -> bool {
    match run.phase() {
        Phase::Running | Phase::Waiting(_) => true,
        Phase::New | Phase::Completed | Phase::Failed(_) | Phase::Aborted => false,
    }
}

/// An output that keeps the contract of a node.
fn answer(node: &Node, satisfied: bool) -> String {
    if node.parse == Parse::Text {
        return "done".to_owned();
    }
    let mut object = Map::new();
    object.insert("satisfied".into(), satisfied.into());
    object.insert("context".into(), "done".into());
    if node.generator {
        object.insert("workItems".into(), json!([]));
    }
    for path in node.assign.values().filter(|path| path.root == Root::Output) {
        fill(&mut object, &path.steps);
    }
    if let Behavior::Agent { .. } = node.behavior {
        object.remove("state");
    }
    Value::Object(object).to_string()
}

/// Puts something where an `assign` looks for it.
fn fill(object: &mut Map<String, Value>, steps: &[String]) {
    let Some((first, rest)) = steps.split_first() else { return };
    if rest.is_empty() {
        object.entry(first.as_str()).or_insert_with(|| "done".into());
        return;
    }
    let inner = object.entry(first.as_str()).or_insert_with(|| json!({}));
    if let Value::Object(inner) = inner {
        fill(inner, rest);
    }
}
