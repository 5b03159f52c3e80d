//! What a run owes, kept from its events alone by rules written down a second time.
//!
//! Nothing here looks into the kernel's state. A rule is checked at the event that could break it, or
//! where a decision ends if events of one decision may pass through what no decision may end in.

mod payloads;
mod timers;
mod turns;

use std::collections::{BTreeMap, BTreeSet};

use materia_contract::time::Micros;
use materia_contract::{
    Budget, Control, EdgeId, Event, EventBody, GlobalMode, Mode, Node, NodeBudgets, NodeId,
    NodeMode, OnInterrupt, Pace, Plan, RunWaiting, Timer, Trigger, Uuid, WaitReason,
};
use materia_kernel::Effect;

use crate::sometimes::Sometimes;

pub(crate) use payloads::Stage;
pub(crate) use turns::Started;

/// The model of a run.
pub(crate) struct Ledger {
    pub(crate) plan: Plan,
    seq: u64,
    ts: Micros,
    created_at: Micros,
    began_as: GlobalMode,
    pub(crate) pace: Pace,
    pub(crate) global: GlobalMode,
    pub(crate) life: Life,
    /// Why it waits, if it does.
    pub(crate) waits_for: Option<WaitReason>,
    pub(crate) payloads: BTreeMap<Uuid, Vec<payloads::Occurrence>>,
    pub(crate) turns: BTreeMap<u64, Started>,
    /// Turns that came to an end, by their place.
    ended: BTreeMap<u64, turns::End>,
    nodes: BTreeMap<NodeId, AtNode>,
    pub(crate) timers: BTreeMap<(NodeId, String), Micros>,
    edges: BTreeMap<EdgeId, OnEdge>,
    budget: Budget,
    spent: turns::Spent,
    /// Payloads that turned into the inputs of the turn about to start.
    taken: Vec<Uuid>,
    consents: BTreeSet<(NodeId, String)>,
    /// The oldest input of the turn that started last at this instant.
    oldest_taken: Option<(Micros, Uuid)>,
}

/// What is known of a node.
#[derive(Default)]
struct AtNode {
    completed: u32,
    visits: u32,
    requests: u32,
    /// Whether a person began the `foreach` under way.
    iterates: Option<bool>,
    spent: turns::Spent,
    budgets: Option<NodeBudgets>,
    asked: BTreeMap<String, Vec<Uuid>>,
}

/// What is known of an edge.
#[derive(Default)]
struct OnEdge {
    /// Payloads accepted, with their instants, newest last.
    accepted: Vec<(Uuid, Micros)>,
}

/// Where a run is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    New,
    Running,
    Waiting,
    Completed,
    Failed,
    Aborted,
}

impl Ledger {
    pub(crate) fn new(plan: Plan) -> Self {
        let nodes = plan.nodes.keys().map(|id| (id.clone(), AtNode::default())).collect();
        Self {
            budget: plan.budget,
            plan,
            seq: 0,
            ts: Micros::MIN,
            created_at: 0,
            began_as: GlobalMode::Implementation,
            pace: Pace::Auto,
            global: GlobalMode::Implementation,
            life: Life::New,
            waits_for: None,
            payloads: BTreeMap::new(),
            turns: BTreeMap::new(),
            ended: BTreeMap::new(),
            nodes,
            timers: BTreeMap::new(),
            edges: BTreeMap::new(),
            spent: turns::Spent::default(),
            taken: Vec::new(),
            consents: BTreeSet::new(),
            oldest_taken: None,
        }
    }

    /// Takes in one event and holds it to the rules.
    pub(crate) fn see(&mut self, event: &Event, seen: &mut Sometimes) {
        seen.note(event.body.type_name());
        assert_eq!(event.seq, self.seq + 1, "numbers have no gap");
        assert!(event.ts > self.ts, "logical time strictly increases");
        let expected = event.wall.max(if self.seq == 0 { Micros::MIN } else { self.ts + 1 });
        assert_eq!(event.ts, expected, "logical time is the clock's, or the next instant (D5)");
        (self.seq, self.ts) = (event.seq, event.ts);
        self.live_through(event, seen);
        match &event.body {
            EventBody::RunCreated(data) => {
                (self.pace, self.global) = (data.pace, data.global_mode);
                self.began_as = data.global_mode;
                self.created_at = event.ts;
                let id = materia_contract::derived_id(&crate::world::run_id(), 1);
                self.arises(id, None, &data.plan.entry, event.ts);
            }
            EventBody::ModeChanged(data) => {
                match data.value {
                    Mode::Pace(pace) => self.pace = pace,
                    Mode::Global(mode) => self.global = mode,
                }
                seen.note(&format!("mode {:?} by {}", data.value, data.reason));
            }
            EventBody::BudgetChanged(data) => {
                if let Some(budget) = data.budget {
                    self.budget = budget;
                }
                if let (Some(node), Some(budgets)) = (&event.node, data.node_budgets) {
                    self.at(node).budgets = Some(budgets);
                }
            }
            EventBody::NodeBlocked(_) => {
                let node = here(event);
                let may = self.node_may_spend(node, true);
                assert!(!may, "{node} is blocked though it has not spent its budget");
                let state = &self.nodes[node];
                let asked = state.requests > 0 || state.iterates.is_some() || self.holds(node);
                let wants = asked || !self.eligible(node).is_empty();
                assert!(wants, "{node} is blocked though it has nothing to do");
            }
            EventBody::ApprovalRequested(data) => {
                let node = here(event).clone();
                self.runs_by_itself(&node);
                assert!(self.has_room(&node), "{node} could not run with consent either");
                assert!(self.node_may_spend(&node, true), "{node} could not pay for it");
                assert!(self.would_take(&node, &data.payloads), "{node} asks for what it would do");
                let asked = &mut self.at(&node).asked;
                if !asked.is_empty() {
                    seen.note("approval asked for again");
                }
                asked.insert(data.hash.clone(), data.payloads.clone());
            }
            EventBody::ApprovalGiven(data) => {
                let node = here(event).clone();
                assert!(self.at(&node).asked.contains_key(&data.hash), "consent was asked for");
                self.consents.insert((node, data.hash.clone()));
            }
            EventBody::ApprovalDenied(data) => {
                assert!(self.at(here(event)).asked.contains_key(&data.hash), "it was asked for");
            }
            _ => {}
        }
        let starts = matches!(
            event.body,
            EventBody::PayloadDelivered(_)
                | EventBody::PayloadConsumed(_)
                | EventBody::TurnStarted(_)
        );
        if !starts {
            // Something else happened, which may let a node run that could not before.
            self.oldest_taken = None;
        }
        self.payload_event(event, seen);
        self.turn_event(event, seen);
        self.timer_event(event, seen);
    }

    fn live_through(&mut self, event: &Event, seen: &mut Sometimes) {
        let was = self.life;
        match (was, &event.body) {
            (Life::New, EventBody::RunCreated(_))
            | (Life::Failed, EventBody::RunRevived(_))
            | (Life::Waiting, EventBody::RunResumed(_)) => self.life = Life::Running,
            (Life::New, other) => panic!("{} before the beginning", other.type_name()),
            (Life::Completed | Life::Aborted, other) => {
                panic!("{} after the end ({was:?})", other.type_name())
            }
            (Life::Failed, EventBody::RunResumed(data)) => {
                assert!(data.recast, "a failed run goes on only where its turn is tried again");
                self.life = Life::Running;
            }
            (Life::Failed, other) => panic!("{} after the run has failed", other.type_name()),
            (Life::Waiting, EventBody::RunAborted(_)) => self.life = Life::Aborted,
            (Life::Waiting, EventBody::BudgetChanged(_)) => {}
            (Life::Waiting, other) => panic!("{} while the run waits", other.type_name()),
            (Life::Running, EventBody::RunWaiting(data)) => {
                self.life = Life::Waiting;
                self.waits_for = Some(data.reason);
                seen.note(&format!("waiting for {:?}", data.reason));
                assert!(self.turns.is_empty(), "a run that waits has nothing in flight");
                self.waits_truly(data);
            }
            (Life::Running, EventBody::RunCompleted(_)) => {
                self.life = Life::Completed;
                self.is_complete();
            }
            (Life::Running, EventBody::RunFailed(data)) => {
                self.life = Life::Failed;
                seen.note(&format!("failed as {}", data.code.word()));
                assert!(self.turns.is_empty(), "a failed run has nothing in flight");
            }
            (Life::Running, EventBody::RunAborted(_)) => {
                self.life = Life::Aborted;
                assert!(self.turns.is_empty(), "an aborted run has nothing in flight");
            }
            (Life::Running, _) => {}
        }
    }

    /// What a run says it waits for is what holds it (D38).
    fn waits_truly(&self, data: &RunWaiting) {
        let node = || data.node.as_ref().expect("it names the node that is concerned");
        match data.reason {
            // A person may stop a run at any pace.
            WaitReason::Interactive if data.message == crate::world::STOPPED => {}
            WaitReason::Interactive | WaitReason::Stall => {
                assert_eq!(self.pace, Pace::Interactive, "{data:?}");
            }
            WaitReason::Approval => {
                let plan = self.plan_of(node());
                if plan.on_interrupt != OnInterrupt::Ask {
                    assert!(plan.approval.is_some(), "{data:?}");
                    let mut asked = self.nodes[node()].asked.values();
                    let open = asked.any(|payloads| self.would_take(node(), payloads));
                    assert!(open, "it asks for what it would do: {data:?}");
                }
            }
            WaitReason::MultiTurn => assert!(self.plan_of(node()).multi_turn, "{data:?}"),
            WaitReason::Budget => {
                let node_may =
                    data.node.as_ref().is_none_or(|node| self.node_may_spend(node, true));
                assert!(!self.run_may_spend() || !node_may, "{data:?}");
            }
            WaitReason::Manual => {
                let (id, plan) = (node(), self.plan_of(node()));
                let by_hand = plan.mode == NodeMode::Interactive
                    || plan.control == Some(Control::Manual)
                    || plan.trigger == Trigger::ManualOnly
                    || plan.depends_on.iter().any(|needed| self.nodes[needed].completed == 0);
                assert!(by_hand, "{data:?}");
                assert!(!self.eligible(id).is_empty(), "something waits there: {data:?}");
            }
            WaitReason::RunFor => {}
        }
    }

    /// What must hold of a run that says it is complete (D38).
    fn is_complete(&self) {
        assert_eq!(self.pace, Pace::Auto, "only a run in AUTO completes");
        assert!(self.turns.is_empty(), "a complete run has nothing in flight");
        assert!(self.timers.is_empty(), "a complete run waits for no instant: {:?}", self.timers);
        for (id, occurrences) in &self.payloads {
            for one in occurrences {
                assert_eq!(one.stage, Stage::Ended, "{id} still waits: {one:?}");
            }
        }
        for (id, node) in &self.nodes {
            assert_eq!(node.requests, 0, "{id} was asked for and has not run");
            assert_eq!(node.iterates, None, "{id} has elements left");
        }
    }

    /// What must hold where a decision ends at the instant `now`.
    pub(crate) fn rest(&self, now: Micros, moment: bool, owed: impl Iterator<Item = Effect>) {
        assert!(self.taken.is_empty(), "what was consumed went into a turn");
        self.edges_keep_their_bounds();
        if moment && self.life == Life::Running {
            let due = self.timers.iter().find(|(_, at)| **at <= now);
            assert_eq!(due, None, "every timer that is due at {now} has fired");
        }
        let first = self.timers.values().min().map(|at| Effect::WakeAt(*at));
        let expected: Vec<Effect> =
            self.turns.keys().map(|turn| Effect::StartTurn(*turn)).chain(first).collect();
        assert_eq!(owed.collect::<Vec<_>>(), expected, "what is outstanding");
    }

    fn at(&mut self, node: &NodeId) -> &mut AtNode {
        self.nodes.get_mut(node).expect("events name nodes of the plan")
    }

    fn plan_of(&self, node: &NodeId) -> &Node {
        &self.plan.nodes[node]
    }

    /// Whether a node could have one more turn in flight.
    fn has_room(&self, node: &NodeId) -> bool {
        self.in_flight(node) < self.plan_of(node).max_in_flight as usize
    }

    /// Turns in flight at a node.
    pub(crate) fn in_flight(&self, node: &NodeId) -> usize {
        self.turns.values().filter(|turn| turn.node == *node).count()
    }

    /// Turns that ended at some time.
    pub(crate) fn ended_turns(&self) -> Vec<u64> {
        self.ended.keys().copied().collect()
    }
}

/// The node that an event is about.
fn here(event: &Event) -> &NodeId {
    event.node.as_ref().expect("events about nodes name one")
}

/// A timer's name.
fn timer_name(timer: &Timer) -> String {
    match timer {
        Timer::Debounce { edge_id } => format!("debounce {edge_id}"),
        Timer::Tick => "tick".to_owned(),
        Timer::Retry { turn } => format!("retry {turn}"),
    }
}
