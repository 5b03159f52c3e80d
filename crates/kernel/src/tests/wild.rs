//! Random histories: one seed is one graph and its inputs.

use materia_contract::{
    Amount, Approval, Condition, Consume, Delivery, DeliveryMode, Do, EnvelopeKind, ErrorCode,
    Event, FailureClass, Node, NodeBudgets, NodeId, NodeMode, Offered, Overflow, Pace, Plan, RunId,
    RunPlace, Trigger, TurnOutput, TurnUsage, Uuid,
};
use materia_kernel::{
    Acting, Effect, Input, Moment, Phase, Report, Run, TurnOutcome, outstanding, step,
};

use super::play::{NodeExt as _, agent, created, looped, outcome, plan, utility};

const NODES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// `SplitMix64`.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }

    fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

fn delivery(dice: &mut Dice) -> Delivery {
    use DeliveryMode::{Debounce, DropIfBusy, Latest, Queue};
    let mode = dice.pick(&[Queue, Latest, Latest, Debounce, DropIfBusy]);
    Delivery {
        debounce_ms: (mode == Debounce).then_some(3),
        max_buffered: dice.pick(&[1, 2, 3, 100]),
        overflow: dice.pick(&[Overflow::DropNewest, Overflow::DropOldest]),
        ..Delivery::of(mode)
    }
}

fn node(dice: &mut Dice, is_first: bool) -> Node {
    let mut node = if dice.percent(50) { agent() } else { utility() };
    if dice.percent(70) {
        node = node.all();
    }
    for _ in 0..=dice.below(3) {
        let (to, when) = (dice.pick(&NODES), dice.pick(&[Condition::Always, Condition::Satisfied]));
        node = node.edge(when, to);
        node.edges.last_mut().unwrap().delivery = delivery(dice);
    }
    if !is_first && dice.percent(20) {
        node = node.each("state.list");
    }
    node.approval = dice.percent(50).then_some(Approval::Before);
    node.consume = dice.pick(&[Consume::All, Consume::One]);
    node.max_in_flight = dice.pick(&[1, 1, 3]);
    node.mode = dice.pick(&[NodeMode::Auto, NodeMode::Auto, NodeMode::Auto, NodeMode::Interactive]);
    if dice.percent(20) {
        node.trigger = Trigger::Scheduled;
        node.interval_ms = Some(5);
    }
    node.budgets = dice.percent(30).then(|| budgets(dice));
    node
}

fn budgets(dice: &mut Dice) -> NodeBudgets {
    let (turns, time_ms) = (dice.pick(&[None, Some(1), Some(4)]), dice.pick(&[None, Some(6)]));
    let cost = dice.percent(40).then(|| Amount::from(2_u64));
    NodeBudgets { turns, time_ms, cost }
}

fn graph(dice: &mut Dice) -> Plan {
    let mut plan = plan(NODES.map(|name| (name, node(dice, name == "a"))));
    let regions = dice.below(3);
    if regions > 0 {
        plan.nodes["a"] = plan.nodes["a"].clone().generator();
        plan.nodes["c"].advance = Some(Condition::Always);
    }
    plan.limits.max_concurrent_turns = dice.pick(&[1, 3, 64]);
    if regions == 2 {
        plan = looped(plan, "outer", &["b", "c", "d"], Some("a"), &[]);
    }
    if regions > 0 {
        plan = looped(plan, "inner", &["b", "c"], Some("a"), &[("c", Condition::Always, "e")]);
    }
    plan
}

pub(super) struct Wild {
    pub(super) run: Run,
    dice: Dice,
    now: i64,
    plan: Option<Plan>,
    edges: Vec<String>,
}

impl Wild {
    pub(super) fn begin(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
        let plan = graph(&mut dice);
        let edges = plan.nodes.values().flat_map(|node| &node.edges);
        let edges = edges.map(|edge| edge.id.to_string()).collect();
        Self { run: Run::new(RunId::new("wild")), dice, now: 1_000, plan: Some(plan), edges }
    }

    /// The events of the next thing that happens; none where it is refused.
    pub(super) fn go_on(&mut self) -> Vec<Event> {
        let input = match self.plan.take() {
            Some(plan) => Input::Create(created(plan).into()),
            None => self.input(),
        };
        step(&mut self.run, self.now, input).unwrap_or_default()
    }

    fn input(&mut self) -> Input {
        let wake = outstanding(&self.run).find_map(|effect| match effect {
            Effect::WakeAt(at) => Some(at),
            Effect::StartTurn(_) | Effect::Publish => None,
        });
        self.now = match wake.filter(|_| self.dice.percent(40)) {
            Some(at) => self.now.max(at),
            None => self.now + 1_500,
        };
        let resume = || Input::taken_up(Do::Resume { pace: None }, RunPlace::named());
        match (self.run.phase(), self.dice.below(20)) {
            (Phase::Failed(_), roll) if roll < 10 => Input::taken_up(Do::Recast, RunPlace::named()),
            (Phase::Failed(_), _) => Input::act(Do::Revive),
            (Phase::Waiting(_), 0..6) | (_, 0) => resume(),
            (_, 1 | 2) => {
                let (node, budgets) = (self.some_node(), budgets(&mut self.dice));
                Input::act(Do::NodeBudget { node, budgets })
            }
            (_, 3) => Input::Stopped { reports: Vec::new(), message: "stop".into() },
            _ => Input::Moment(self.moment()),
        }
    }

    fn moment(&mut self) -> Moment {
        let turns: Vec<u64> = self.run.turns.keys().copied().collect();
        let turns: Vec<u64> = turns.into_iter().filter(|_| self.dice.percent(60)).collect();
        let reports = turns.into_iter().map(|turn| Report { turn, outcome: self.outcome() });
        let reports = reports.collect();
        let mut acts = Vec::new();
        while self.dice.percent(50) {
            acts.push(Acting::person(self.act()));
        }
        Moment { reports, acts }
    }

    fn outcome(&mut self) -> TurnOutcome {
        if self.dice.percent(15) {
            let class = Some(FailureClass::Transient);
            let report = TurnOutput { class, ..TurnOutput::default() };
            let (code, message) = (ErrorCode::ProviderFailed, "busy".to_owned());
            return TurnOutcome::Faulted { code, message, report };
        }
        let mut outcome = outcome(self.dice.pick(&[
            r#"{"workItems": [{"title": "t", "context": "c"}, {"title": "u", "context": "d"}], "satisfied": true, "state": {"list": [1, 2]}}"#,
            r#"{"workItems": [], "satisfied": false, "state": {"list": [1, 2, 3]}}"#,
            r#"{"workItems": [{"title": "v", "context": "e"}], "satisfied": true}"#,
        ]));
        if let TurnOutcome::Ended(output) = &mut outcome {
            let cost = self.dice.percent(50).then(|| Amount::from(1_u64));
            output.usage = Some(TurnUsage { cost, ..TurnUsage::default() });
        }
        outcome
    }

    fn act(&mut self) -> Do {
        let node = self.some_node();
        let text = |dice: &mut Dice| Some(dice.pick(&["x", "y"]).to_owned());
        match self.dice.below(10) {
            0..4 => {
                let payload = Offered {
                    payload_id: self.dice.percent(10).then(|| Uuid::from_u128(7)),
                    kind: self.dice.percent(10).then_some(EnvelopeKind::Tick),
                    message: text(&mut self.dice),
                    ..Offered::default()
                };
                Do::Offer { edge: self.dice.pick(&self.edges), payload }
            }
            4 => Do::Trigger {
                node,
                message: text(&mut self.dice),
                approve: self.dice.percent(50),
                hash: None,
            },
            5 => Do::trigger(node, None),
            6 | 7 => Do::approve(self.asking().unwrap_or(node)),
            8 => Do::deny(self.asking().unwrap_or(node)),
            _ => Do::Mode { value: self.dice.pick(&[Pace::Auto, Pace::Auto, Pace::Interactive]) },
        }
    }

    fn some_node(&mut self) -> NodeId {
        NodeId::new(self.dice.pick(&NODES))
    }

    /// A node that waits for a person's answer; an act at any other is refused, and all beside it.
    fn asking(&self) -> Option<NodeId> {
        let index = self.run.nodes.iter().position(|node| {
            node.consent.as_ref().is_some_and(|consent| consent.answer != Some(true))
        });
        index.map(|index| self.run.node(index).0.clone())
    }
}
