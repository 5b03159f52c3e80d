//! Generated runs: graphs with every feature of a node, and histories in which turns end in any order, people act,
//! and time passes.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use materia_contract::{
    Amount, Approval, Behavior, Budget, ChainHash, Condition, Consume, Control, Decided, DedupeBy,
    Delivery, DeliveryMode, Do, Edge, EdgeId, ErrorCode, Event, Foreach, GlobalMode,
    JOURNAL_VERSION_OF_PROJECT, Limits, Loop, Node, NodeBudgets, NodeId, NodeMode, Offered,
    OnInterrupt, Overflow, Pace, Parse, Plan, Record, Routing, RunCreated, RunId, Trigger,
    TurnOutput, TurnUsage,
};
use materia_kernel::{
    Decision, Effect, Input, Moment, Phase, Report, Run, TurnOutcome, is_idle, outstanding, take,
};

/// Numbers that look like chance and are the same for the same seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    /// True once in `times`.
    pub(super) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let place = self.below(from.len() as u64);
        from[usize::try_from(place).unwrap()]
    }
}

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

fn edge(dice: &mut Dice, from: &str, to: &str, nth: usize) -> Edge {
    let modes = [
        DeliveryMode::Queue,
        DeliveryMode::Queue,
        DeliveryMode::Latest,
        DeliveryMode::Debounce,
        DeliveryMode::DropIfBusy,
    ];
    let mode = dice.pick(&modes);
    let mut delivery = Delivery::of(mode);
    if mode == DeliveryMode::Debounce {
        delivery.debounce_ms = Some(20);
    }
    if dice.one_in(5) {
        delivery.max_buffered = 1;
        delivery.overflow = dice.pick(&[Overflow::DropNewest, Overflow::DropOldest]);
    }
    if dice.one_in(6) {
        delivery.dedupe_by = DedupeBy::ContentHash;
    }
    let conditions = [Condition::Always, Condition::Satisfied, Condition::NotSatisfied];
    Edge {
        id: EdgeId::new(format!("{from}->{to}#{nth}")),
        when: dice.pick(&conditions),
        guard: None,
        to: (to != "end").then(|| NodeId::new(to)),
        fails: false,
        max_traversals: dice.one_in(4).then(|| 1 + u32::try_from(dice.below(2)).unwrap()),
        delivery,
    }
}

fn node(dice: &mut Dice, name: &str, count: usize) -> Node {
    let utility =
        || Behavior::Utility { command: vec!["x".into()], params: serde_json::Map::new() };
    let agent = || Behavior::Agent {
        prompt: "Do it.".into(),
        origin: String::new(),
        tools: None,
        model: None,
        provider: None,
    };
    let behavior = if dice.one_in(2) { utility() } else { agent() };
    let mut node = Node { parse: Parse::Json, ..Node::new("m", behavior) };
    if dice.one_in(5) {
        node.parse = Parse::Text;
    }
    node.routing = dice.pick(&[Routing::First, Routing::All]);
    for nth in 0..dice.below(3) {
        let to = if dice.one_in(5) { "end" } else { dice.pick(&NAMES[..count]) };
        node.edges.push(edge(dice, name, to, usize::try_from(nth).unwrap()));
    }
    node.max_in_flight = dice.pick(&[1, 1, 2]);
    node.consume = dice.pick(&[Consume::All, Consume::All, Consume::One]);
    node.mode = if dice.one_in(8) { NodeMode::Interactive } else { NodeMode::Auto };
    node.control = dice.pick(&[None, None, None, Some(Control::Automatic), Some(Control::Manual)]);
    node.trigger = match dice.below(10) {
        0 => Trigger::ManualOnly,
        1 => Trigger::Scheduled,
        _ => Trigger::OnAnyInput,
    };
    node.interval_ms = (node.trigger == Trigger::Scheduled).then_some(50);
    node.approval = dice.one_in(5).then_some(Approval::Before);
    if dice.one_in(5) {
        node.depends_on.push(NodeId::new(dice.pick(&NAMES[..count])));
    }
    if dice.one_in(4) {
        node.budgets = Some(NodeBudgets {
            turns: dice.one_in(2).then(|| 1 + dice.below(2)),
            time_ms: dice.one_in(3).then_some(15),
            cost: dice.one_in(3).then_some(Amount::from_millionths(1_000_000)),
        });
    }
    node.on_interrupt = dice.pick(&[OnInterrupt::Retry, OnInterrupt::Retry, OnInterrupt::Ask]);
    node.multi_turn = dice.one_in(10);
    if dice.one_in(8) {
        let items = "state.list".parse().unwrap();
        node.foreach = Some(Foreach { items, alias: "entry".into(), cursor: "at".into() });
    }
    if dice.one_in(12) {
        node.requires.push("state.needed".parse().unwrap());
    }
    node
}

/// A graph of three to five nodes; sometimes the first makes work items and two others loop.
fn plan(dice: &mut Dice) -> Plan {
    let count = 3 + usize::try_from(dice.below(3)).unwrap();
    let mut nodes: IndexMap<NodeId, Node> =
        NAMES[..count].iter().map(|name| (NodeId::new(name), node(dice, name, count))).collect();
    let mut loops = IndexMap::new();
    if dice.one_in(4) {
        (nodes["a"].generator, nodes["a"].parse, nodes["a"].foreach) = (true, Parse::Json, None);
        nodes["c"].advance = Some(Condition::Always);
        for member in ["b", "c"] {
            nodes[member].loops.push("work".to_owned());
        }
        let region = Loop {
            members: vec![NodeId::new("b"), NodeId::new("c")],
            consumes: Some(NodeId::new("a")),
            items: None,
            cursor: "workItemIndex".into(),
            exits: Vec::new(),
        };
        loops.insert("work".to_owned(), region);
    }
    let max_concurrent_turns = dice.pick(&[1, 2, 64, 64]);
    let max_turns = dice.one_in(4).then(|| 2 + dice.below(4));
    let max_tokens = dice.one_in(8).then_some(10);
    Plan {
        loadout: "simulated".into(),
        entry: NodeId::new("a"),
        nodes,
        loops,
        limits: Limits { max_concurrent_turns, ..Limits::default() },
        budget: Budget { max_turns, max_tokens, ..Budget::default() },
        doc_root: "docs".into(),
    }
}

fn created(dice: &mut Dice) -> RunCreated {
    let plan = plan(dice);
    RunCreated {
        request: "go".into(),
        plan_hash: plan.hash(),
        plan,
        cwd: "{workspace}".into(),
        run_dir: "{runDir}".into(),
        pace: if dice.one_in(8) { Pace::Interactive } else { Pace::Auto },
        global_mode: GlobalMode::Implementation,
        virtual_time: true,
        script: None,
        agents: materia_contract::Answerers::default(),
        from_cast_id: None,
        fork: None,
        link: None,
        state: serde_json::Map::new(),
        timeline: 0,
        key: None,
        workspace: None,
        approved: None,
        journal_version: JOURNAL_VERSION_OF_PROJECT,
    }
}

const ANSWERS: [&str; 6] = [
    r#"{"satisfied": true, "workItems": [{"title": "t", "context": "c"}]}"#,
    r#"{"satisfied": false, "context": "no", "workItems": []}"#,
    r#"{"satisfied": true, "state": {"list": [1, 2], "needed": 1}, "workItems": []}"#,
    r#"{"satisfied": false, "state": {"list": []}, "workItems": []}"#,
    r#"{"satisfied": true, "workItems": []}"#,
    "no object",
];

pub(super) fn turns(run: &Run) -> Vec<u64> {
    outstanding(run)
        .filter_map(|effect| match effect {
            Effect::StartTurn(turn) => Some(turn),
            Effect::WakeAt(_) | Effect::Publish => None,
        })
        .collect()
}

fn report(dice: &mut Dice, turn: u64) -> Report {
    let usage = TurnUsage {
        input_tokens: Some(3),
        output_tokens: Some(1),
        cost: Some(Amount::from_millionths(500_000)),
    };
    // Something of its own in each answer, so that not every cycle looks like a stall.
    let broken = dice.one_in(10);
    let text = if broken { ANSWERS[5] } else { dice.pick(&ANSWERS[..5]) };
    let output = text.replacen('{', &format!(r#"{{"n": {turn}, "#), usize::from(!dice.one_in(3)));
    let answer = TurnOutput { output, usage: Some(usage), ..TurnOutput::default() };
    let outcome = if dice.one_in(25) {
        let (code, message) = (ErrorCode::UtilityFailed, "it broke".to_owned());
        TurnOutcome::Faulted { code, message, report: TurnOutput::default() }
    } else {
        TurnOutcome::Ended(answer)
    };
    Report { turn, outcome }
}

/// The next act of a person, or none.
fn person(dice: &mut Dice, run: &Run) -> Input {
    let plan = &run.created().unwrap().plan;
    let place = usize::try_from(dice.below(plan.nodes.len() as u64)).unwrap();
    let (name, node) = plan.nodes.get_index(place).unwrap();
    let (name, edges) = (name.clone(), &node.edges);
    match dice.below(14) {
        0 | 1 => Input::act(Do::trigger(name, dice.one_in(2).then(|| "x".into()))),
        2 => Input::act(Do::approve(name)),
        3 => Input::act(Do::deny(name)),
        4 => Input::act(Do::Mode { value: dice.pick(&[Pace::Auto, Pace::Interactive]) }),
        5 => match edges.first() {
            Some(edge) => {
                let payload = Offered { message: Some("offered".into()), ..Offered::default() };
                Input::act(Do::Offer { edge: edge.id.to_string(), payload })
            }
            None => Input::tick(),
        },
        6 => Input::Stopped { reports: Vec::new(), message: "stopped".into() },
        7 | 8 => Input::resume(None),
        9 => {
            let budget = Budget { max_turns: Some(dice.below(12)), ..Budget::default() };
            Input::act(Do::Budget { budget })
        }
        10 => {
            let budgets = NodeBudgets { turns: Some(dice.below(4)), ..NodeBudgets::default() };
            Input::act(Do::NodeBudget { node: name, budgets })
        }
        11 => Input::act(Do::Say { node: Some(name), text: "more".into() }),
        12 => Input::act(Do::Continue { node: None }),
        _ => {
            let abort = || Input::act(Do::Abort { reason: None });
            dice.one_in(3).then(abort).unwrap_or(Input::recast())
        }
    }
}

/// Events of a generated run.
pub(super) struct History {
    pub(super) events: Vec<Event>,
    /// The same as a journal keeps it.
    pub(super) records: Vec<Record>,
    /// The same, decision by decision.
    pub(super) decisions: Vec<(Decided, Vec<Event>)>,
    /// The last event of each decision.
    pub(super) ends: BTreeSet<u64>,
}

impl History {
    /// Takes an input; what does not fit changes nothing.
    fn take(&mut self, run: &mut Run, now: i64, input: Input) {
        let Ok(Decision { input, ticks, events }) = take(run, now, input) else { return };
        let decided = Decided { ticks, ..Decided::now(now, input) };
        let head = self.records.last().map_or(ChainHash::origin(run.id()), |record| record.hash);
        self.records.extend(Record::seal_decision(decided.text(), &events, head));
        if !events.is_empty() {
            self.decisions.push((decided, events.clone()));
        }
        self.events.extend(events);
        self.ends.insert(run.seq());
    }
}

/// A run of at most `moves` inputs behind its creation.
pub(super) fn history(seed: u64, moves: u64) -> History {
    let mut dice = Dice::new(seed);
    let mut run = Run::new(RunId::new("simulated"));
    let mut now = 1_000_000;
    let mut history = History {
        events: Vec::new(),
        records: Vec::new(),
        decisions: Vec::new(),
        ends: BTreeSet::new(),
    };
    history.take(&mut run, now, Input::Create(created(&mut dice).into()));
    for _ in 0..moves {
        now += i64::try_from(dice.below(12)).unwrap() * 1_000;
        let flying = turns(&run);
        let input = if matches!(run.phase(), Phase::Failed(_)) && dice.one_in(3) {
            Input::act(Do::Revive)
        } else if !flying.is_empty() && !dice.one_in(4) {
            let mut reports = vec![report(&mut dice, flying[flying.len() - 1])];
            if dice.one_in(4) && flying.len() > 1 {
                reports.insert(0, report(&mut dice, flying[0]));
            }
            Input::Moment(Moment { reports, acts: Vec::new() })
        } else if *run.phase() == Phase::Running && is_idle(&run) {
            Input::Idle
        } else if dice.one_in(3) && *run.phase() == Phase::Running {
            now += 30_000;
            Input::tick()
        } else {
            person(&mut dice, &run)
        };
        history.take(&mut run, now, input);
    }
    history
}
