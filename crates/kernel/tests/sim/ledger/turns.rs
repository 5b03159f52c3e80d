//! Every turn has a reason to run, is allowed to, and ends once.

use materia_contract::time::Micros;
use materia_contract::{
    Amount, Cause, Consume, Control, Event, EventBody, NodeId, NodeMode, Pace, Trigger,
    TurnStarted, TurnUsage, Uuid,
};

use super::{Ledger, here};
use crate::sometimes::Sometimes;

/// A turn in flight.
#[derive(Debug, Clone)]
pub(crate) struct Started {
    pub(crate) node: NodeId,
    visit: u32,
    attempt: u32,
    since: Micros,
    /// Whether a person began it.
    manual: bool,
    consumed: Vec<Uuid>,
}

/// How a turn ended.
#[derive(Debug, Clone)]
pub(super) enum End {
    Completed,
    /// It may be tried again, with this it was started.
    Again {
        turn: Started,
        repair: bool,
        taken_up: bool,
    },
}

/// What was spent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    turns: u64,
    attempts: u64,
    tokens: u64,
    micros: Micros,
    cost: Option<Amount>,
}

impl Spent {
    fn add(&mut self, usage: Option<TurnUsage>) {
        let Some(usage) = usage else { return };
        self.tokens += usage.input_tokens.unwrap_or(0) + usage.output_tokens.unwrap_or(0);
        if let Some(cost) = usage.cost {
            self.cost = Some(self.cost.unwrap_or_default().saturating_add(cost));
        }
    }
}

impl Ledger {
    pub(super) fn turn_event(&mut self, event: &Event, seen: &mut Sometimes) {
        match &event.body {
            EventBody::TurnRequested(_) => self.at(here(event)).requests += 1,
            EventBody::CursorAdvanced(data) if data.region.is_none() => {
                let node = here(event).clone();
                let state = self.at(&node);
                if state.iterates.is_none() {
                    assert_eq!(data.index, 0, "a `foreach` begins at its first element");
                    // Whoever asked for the node is why it is entered.
                    let manual = state.requests > 0;
                    state.requests -= u32::from(manual);
                    state.iterates = Some(manual);
                    if !manual {
                        self.runs_by_itself(&node);
                    }
                }
                if data.exhausted {
                    if data.count == 0 {
                        seen.note("foreach over nothing");
                    }
                    self.at(&node).iterates = None;
                }
            }
            EventBody::TurnStarted(data) => self.started(event, data, seen),
            EventBody::TurnCompleted(data) => {
                let turn = self.end(data.turn, here(event), event.ts);
                self.spend(&turn.node, data.report.usage);
                self.at(&turn.node).completed += 1;
                self.ended.insert(data.turn, End::Completed);
            }
            EventBody::TurnFailed(data) => {
                let turn = self.end(data.turn, here(event), event.ts);
                self.spend(&turn.node, data.report.usage);
                seen.note(&format!("turn failed as {}", data.code.word()));
                let end = End::Again { turn, repair: data.repair, taken_up: false };
                self.ended.insert(data.turn, end);
            }
            EventBody::TurnInterrupted(data) => {
                let turn = self.end(data.turn, here(event), event.ts);
                seen.note(&format!("interrupted by {:?}", data.reason));
                let end = End::Again { turn, repair: false, taken_up: false };
                self.ended.insert(data.turn, end);
            }
            _ => {}
        }
    }

    fn end(&mut self, started: u64, node: &NodeId, ts: Micros) -> Started {
        let turn = self.turns.remove(&started).expect("a turn ends once, after it has started");
        assert_eq!(turn.node, *node, "a turn ends where it started");
        self.at(node).spent.micros += ts - turn.since;
        turn
    }

    fn spend(&mut self, node: &NodeId, usage: Option<TurnUsage>) {
        self.spent.add(usage);
        self.at(node).spent.add(usage);
    }

    fn started(&mut self, event: &Event, data: &TurnStarted, seen: &mut Sometimes) {
        let node = here(event).clone();
        let plan = self.plan_of(&node).clone();
        let taken = std::mem::take(&mut self.taken);
        assert!(self.in_flight(&node) < plan.max_in_flight as usize, "{node} is full");
        let most = self.plan.limits.max_concurrent_turns as usize;
        assert!(self.turns.len() < most, "the run is full");
        assert!(self.run_may_spend(), "the run has spent its budget");
        let mode = data.global_mode.unwrap_or(self.began_as);
        assert_eq!(mode, self.global, "a turn is told the global mode");
        assert!(data.prompt.is_some() != data.input.is_some(), "a prompt or an input");
        seen.note(match data.cause {
            Cause::Input => "turn by input",
            Cause::Manual => "turn by hand",
            Cause::Foreach { .. } => "turn of a foreach",
            Cause::Retry { .. } => "turn again after an interruption",
            Cause::Repair { .. } => "turn again after a broken contract",
            Cause::Recast { .. } => "turn again after a failure",
        });
        let manual = match &data.cause {
            Cause::Input => {
                self.runs_by_itself(&node);
                self.consented(&node, data);
                self.took(&node, data, &taken, false);
                self.in_order(&taken);
                false
            }
            Cause::Manual => {
                let requests = &mut self.at(&node).requests;
                assert!(*requests > 0, "somebody asked for it");
                *requests -= 1;
                self.took(&node, data, &taken, true);
                if self.pace == Pace::Interactive {
                    seen.note("turn by hand in INTERACTIVE");
                }
                true
            }
            Cause::Foreach { index } => {
                let manual = self.nodes[&node].iterates.expect("it iterates");
                assert!(manual || self.pace == Pace::Auto, "INTERACTIVE starts nothing");
                if *index == 0 && !manual {
                    self.consented(&node, data);
                }
                manual
            }
            Cause::Retry { turn } | Cause::Repair { turn } | Cause::Recast { turn } => {
                assert!(taken.is_empty(), "a further attempt takes nothing more");
                self.taken_up(*turn, &node, data, seen)
            }
        };
        let first = data.attempt == 1;
        assert!(self.node_may_spend(&node, first), "{node} has spent its budget");
        let state = self.at(&node);
        if first {
            state.visits += 1;
            state.spent.turns += 1;
        }
        assert_eq!(data.visit, if first { state.visits } else { data.visit }, "visits are counted");
        self.spent.attempts += 1;
        let (visit, attempt, since) = (data.visit, data.attempt, event.ts);
        let turn = Started { node, visit, attempt, since, manual, consumed: data.consumed.clone() };
        self.turns.insert(event.seq, turn);
    }

    /// The conditions that no person can stand in for (X18, D17).
    pub(super) fn runs_by_itself(&self, node: &NodeId) {
        let plan = self.plan_of(node);
        assert_eq!(self.pace, Pace::Auto, "INTERACTIVE starts nothing");
        assert_eq!(plan.mode, NodeMode::Auto, "{node} is interactive");
        assert_ne!(plan.control, Some(Control::Manual), "{node} is under manual control");
        assert_ne!(plan.trigger, Trigger::ManualOnly, "only a person starts {node}");
        for needed in &plan.depends_on {
            assert!(self.nodes[needed].completed > 0, "{node} depends on {needed}");
        }
    }

    /// Whether a turn of a node ended without a result and was not tried again.
    pub(super) fn holds(&self, node: &NodeId) -> bool {
        self.ended.values().any(|end| match end {
            End::Completed => false,
            End::Again { turn, taken_up, .. } => turn.node == *node && !taken_up,
        })
    }

    /// A person consented to exactly this turn, where one must.
    fn consented(&mut self, node: &NodeId, data: &TurnStarted) {
        if self.plan_of(node).approval.is_some() {
            let hash = data.approved.clone().expect("a person consented");
            let consented = self.consents.remove(&(node.clone(), hash.clone()));
            assert!(consented, "{node}: consent is for one turn");
            let asked = &self.nodes[node].asked[&hash];
            assert_eq!(*asked, data.consumed, "consent is for exactly these payloads");
        } else {
            assert_eq!(data.approved, None, "nobody was asked");
        }
    }

    /// What a new turn took is what was there, in order.
    fn took(&self, node: &NodeId, data: &TurnStarted, taken: &[Uuid], manual: bool) {
        assert_eq!(data.consumed, taken, "what it consumed went into it");
        let plan = self.plan_of(node);
        let ordered = taken.is_sorted_by_key(|id| (self.came_at(*id), *id));
        // Which of several that have one id was taken cannot be told.
        let again = taken.iter().any(|id| self.payloads[id].len() > 1);
        assert!(ordered || again, "payloads are taken in order (X22)");
        let left = self.eligible(node);
        match plan.consume {
            Consume::All => assert!(left.is_empty(), "all that waits at {node} is taken: {left:?}"),
            Consume::One => {
                let ticks = taken.iter().filter(|id| self.is_tick(**id)).count();
                assert!(taken.len() - ticks <= 1 && ticks <= 1, "one is taken");
            }
        }
        if plan.trigger == Trigger::Scheduled && !manual {
            let tick = taken.iter().any(|id| self.is_tick(*id));
            assert!(tick, "{node} runs when a tick is due");
        } else {
            assert!(manual || !taken.is_empty(), "{node} runs because something arrived");
        }
    }

    /// Of nodes that run at one instant, the one with the older input starts first (X22).
    fn in_order(&mut self, taken: &[Uuid]) {
        if taken.iter().any(|id| self.payloads[id].len() > 1) {
            return;
        }
        let oldest = taken.first().map(|id| (self.came_at(*id), *id));
        assert!(self.oldest_taken <= oldest, "nodes start in the order of their inputs");
        self.oldest_taken = oldest;
    }

    /// A further attempt follows one that may be tried again, with the same inputs.
    fn taken_up(
        &mut self,
        before: u64,
        node: &NodeId,
        data: &TurnStarted,
        seen: &mut Sometimes,
    ) -> bool {
        let end = self.ended.get_mut(&before).expect("the attempt before has ended");
        let End::Again { turn, repair, taken_up } = end else {
            panic!("turn {before} came to a result and is not tried again")
        };
        assert!(!*taken_up, "an attempt is followed by one");
        *taken_up = true;
        assert_eq!(turn.node, *node);
        assert_eq!((turn.visit, turn.attempt + 1), (data.visit, data.attempt));
        assert_eq!(turn.consumed, data.consumed, "the same inputs");
        assert_eq!(*repair, matches!(data.cause, Cause::Repair { .. }));
        let manual = turn.manual;
        assert!(manual || self.pace == Pace::Auto, "INTERACTIVE starts nothing");
        if self.pace == Pace::Interactive {
            seen.note("further attempt by hand in INTERACTIVE");
        }
        manual
    }

    pub(super) fn run_may_spend(&self) -> bool {
        let (budget, spent) = (self.budget, self.spent);
        budget.max_turns.is_none_or(|most| spent.attempts < most)
            && budget.max_tokens.is_none_or(|most| spent.tokens < most)
            && budget.max_cost.zip(spent.cost).is_none_or(|(most, cost)| cost < most)
    }

    /// Whether a node may start a turn, as far as its own budget goes. A further attempt is no
    /// further turn.
    pub(super) fn node_may_spend(&self, node: &NodeId, new_turn: bool) -> bool {
        let state = &self.nodes[node];
        let Some(budgets) = state.budgets.or(self.plan_of(node).budgets) else { return true };
        let spent = state.spent;
        let millis = u64::try_from(spent.micros / 1_000).unwrap();
        (!new_turn || budgets.turns.is_none_or(|most| spent.turns < most))
            && budgets.time_ms.is_none_or(|most| millis < most)
            && budgets.cost.zip(spent.cost).is_none_or(|(most, cost)| cost < most)
    }
}
