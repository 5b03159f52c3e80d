//! Runs a plan with a list of answers and prints one line for each event.

use indexmap::IndexMap;
use materia_contract::{
    Behavior, Budget, Condition, Decided, Delivery, Do, Edge, EdgeId, ErrorCode, Event, EventBody,
    Exit, Foreach, GlobalMode, Guard, JOURNAL_VERSION_OF_PROJECT, Limits, Loop, Node, NodeId,
    Offered, Pace, Parse, Plan, Routing, RunCreated, RunId, RunPlace, Test, TurnOutput,
};
use materia_kernel::{
    Decision, Divergence, Effect, Input, Phase, Recomputation, Report, Run, TurnOutcome,
    outstanding, step, take,
};
use serde_json::Value;

/// An agent node that answers JSON.
pub(crate) fn agent() -> Node {
    let prompt = "Do it.".to_owned();
    let origin = "materia.json#/materia/m/prompt".to_owned();
    let behavior = Behavior::Agent { prompt, origin, tools: None, model: None, provider: None };
    Node { parse: Parse::Json, ..Node::new("m", behavior) }
}

/// A utility node that answers JSON.
pub(crate) fn utility() -> Node {
    let command = vec!["true".into()];
    Node { behavior: Behavior::Utility { command, params: serde_json::Map::new() }, ..agent() }
}

pub(crate) trait NodeExt: Sized {
    fn edge(self, when: Condition, to: &str) -> Self;
    fn bounded(self, bound: u32) -> Self;
    fn only_where(self, path: &str, test: Test) -> Self;
    fn assign(self, target: &str, source: &str) -> Self;
    fn each(self, items: &str) -> Self;
    fn text(self) -> Self;
    fn all(self) -> Self;
    fn generator(self) -> Self;
    fn advances(self, when: Condition) -> Self;
}

impl NodeExt for Node {
    fn edge(mut self, when: Condition, to: &str) -> Self {
        let fails = to == "fail";
        let to = (to != "end" && !fails).then(|| NodeId::new(to));
        self.edges.push(Edge {
            id: EdgeId::new(""),
            when,
            guard: None,
            to,
            fails,
            max_traversals: None,
            delivery: Delivery::default(),
        });
        self
    }

    fn bounded(mut self, bound: u32) -> Self {
        self.edges.last_mut().unwrap().max_traversals = Some(bound);
        self
    }

    fn only_where(mut self, path: &str, test: Test) -> Self {
        let guard = Guard { path: path.parse().unwrap(), test };
        self.edges.last_mut().unwrap().guard = Some(guard);
        self
    }

    fn assign(mut self, target: &str, source: &str) -> Self {
        self.assign.insert(target.into(), source.parse().unwrap());
        self
    }

    fn each(mut self, items: &str) -> Self {
        self.foreach = Some(Foreach {
            items: items.parse().unwrap(),
            alias: "entry".into(),
            cursor: "entryIndex".into(),
        });
        self
    }

    fn text(mut self) -> Self {
        self.parse = Parse::Text;
        self
    }

    fn generator(mut self) -> Self {
        self.generator = true;
        self.assign("workItems", "$.workItems")
    }

    fn advances(mut self, when: Condition) -> Self {
        self.advance = Some(when);
        self
    }

    fn all(mut self) -> Self {
        self.routing = Routing::All;
        self
    }
}

/// A plan of these nodes; the first is the entry. Edge ids are `FROM->TO`, numbered where needed.
pub(crate) fn plan<const N: usize>(nodes: [(&str, Node); N]) -> Plan {
    let entry = NodeId::new(nodes[0].0);
    let nodes = nodes.into_iter().map(|(id, mut node)| {
        let mut seen: IndexMap<String, u32> = IndexMap::new();
        for edge in &mut node.edges {
            let to = edge.target();
            let name = format!("{id}->{to}");
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            edge.id = EdgeId::new(if *count == 1 { name } else { format!("{name}#{count}") });
        }
        (NodeId::new(id), node)
    });
    Plan {
        loadout: "test".into(),
        entry,
        nodes: nodes.collect(),
        loops: IndexMap::new(),
        limits: Limits::default(),
        budget: Budget::default(),
        doc_root: "docs".into(),
    }
}

/// The plan with a loop over these members, inside all loops that already hold them.
pub(crate) fn looped(
    mut plan: Plan,
    name: &str,
    members: &[&str],
    consumes: Option<&str>,
    exits: &[(&str, Condition, &str)],
) -> Plan {
    let exits = exits.iter().map(|(from, condition, to)| {
        let id = format!("{from}:{}", condition.word());
        Exit {
            edge_id: EdgeId::new(format!("loop-exit:{name}:{id}")),
            id,
            from: NodeId::new(from),
            condition: *condition,
            to: (!["end", "fail"].contains(to)).then(|| NodeId::new(to)),
            fails: *to == "fail",
        }
    });
    let region = Loop {
        members: members.iter().map(NodeId::new).collect(),
        consumes: consumes.map(NodeId::new),
        items: None,
        cursor: "workItemIndex".into(),
        exits: exits.collect(),
    };
    for member in members {
        plan.nodes[*member].loops.push(name.to_owned());
    }
    plan.loops.insert(name.to_owned(), region);
    plan
}

pub(crate) fn created(plan: Plan) -> RunCreated {
    RunCreated {
        request: "please".into(),
        plan_hash: plan.hash(),
        plan,
        cwd: "{workspace}".into(),
        run_dir: "{runDir}".into(),
        pace: Pace::Auto,
        global_mode: GlobalMode::Implementation,
        virtual_time: true,
        script: None,
        agents: materia_contract::Answerers::default(),
        from_cast_id: None,
        fork: None,
        timeline: 0,
        link: None,
        state: serde_json::Map::new(),
        key: None,
        workspace: None,
        approved: None,
        journal_version: JOURNAL_VERSION_OF_PROJECT,
    }
}

/// How a turn ends: an output, or `!` and what went wrong.
pub(crate) fn outcome(answer: &str) -> TurnOutcome {
    match answer.strip_prefix('!') {
        None => TurnOutcome::Ended(TurnOutput { output: answer.into(), ..TurnOutput::default() }),
        Some(message) => TurnOutcome::Faulted {
            code: ErrorCode::UtilityFailed,
            message: message.into(),
            report: TurnOutput::default(),
        },
    }
}

/// Runs a plan; the oldest turn in flight always ends next, with the next answer.
pub(crate) fn run(created: RunCreated, answers: &[&str]) -> (Run, Vec<Event>) {
    let mut run = Run::new(RunId::new("r"));
    let mut now = 1_000_000;
    let mut events = step(&mut run, now, Input::Create(created.into())).unwrap();
    let mut answers = answers.iter();
    while *run.phase() == Phase::Running {
        let Some(Effect::StartTurn(turn)) = outstanding(&run).next() else { break };
        let Some(answer) = answers.next() else { break };
        now += 1_000;
        let input = Input::report(turn, outcome(answer));
        events.extend(step(&mut run, now, input).unwrap());
    }
    assert_eq!(answers.next(), None, "an answer was left over");
    (run, events)
}

/// The story of a plan and its answers.
pub(crate) fn play(plan: Plan, answers: &[&str]) -> String {
    tell(&run(created(plan), answers).1)
}

/// One line for each event worth telling.
pub(crate) fn tell(events: &[Event]) -> String {
    events.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(event: &Event) -> String {
    let node = event.node.as_ref().map_or("", NodeId::as_str);
    match &event.body {
        EventBody::RunCreated(_) => "created".into(),
        EventBody::RunResumed(_) => "resumed".into(),
        EventBody::RunWaiting(data) => {
            format!("waiting: {}", serde_json::to_value(data.reason).unwrap().as_str().unwrap())
        }
        EventBody::RunCompleted(_) => "completed".into(),
        EventBody::RunFailed(data) => format!("failed {}: {}", data.code.word(), data.message),
        EventBody::RunAborted(_) => "aborted".into(),
        EventBody::TurnStarted(data) => {
            let item = data.item.as_ref().map(|item| format!(" on {item}")).unwrap_or_default();
            format!("{node} {}.{} started{item}", data.visit, data.attempt)
        }
        EventBody::TurnCompleted(data) => {
            format!("{node} {}.{} completed", data.visit, data.attempt)
        }
        EventBody::TurnFailed(data) => {
            format!("{node} {}.{} failed: {}", data.visit, data.attempt, data.message)
        }
        EventBody::TurnInterrupted(data) => {
            format!("{node} {}.{} interrupted", data.visit, data.attempt)
        }
        EventBody::RouteSelected(data) => format!("{node} routes to {}", data.to),
        EventBody::HandoffSent(data) => format!("sent over {}", data.edge_id),
        EventBody::PayloadDelivered(_) => format!("delivered to {node}"),
        EventBody::PayloadConsumed(_) => format!("consumed by {node}"),
        EventBody::StatePatched(data) => {
            let merged = serde_json::to_string(&data.merged).unwrap();
            format!("patched {merged} {}", serde_json::to_string(&data.assigned).unwrap())
        }
        EventBody::OutputFieldsIgnored(data) => format!("ignored {}", data.fields.join(", ")),
        EventBody::CursorAdvanced(data) => {
            format!("{} at {} of {}", data.cursor, data.index, data.count)
        }
        EventBody::LoopEntered(data) => {
            let count = data.count.map_or("no list".to_owned(), |count| format!("{count} items"));
            format!("entered {} ({}): {count}", data.region, data.entry)
        }
        EventBody::LoopExhausted(data) => format!("{} exhausted, to {}", data.region, data.to),
        EventBody::FollowUpCaptured(data) => {
            format!("follow-up for {}: {}", data.target, data.reason)
        }
        EventBody::BudgetWarned(data) => format!("warned: {} of {}", data.spent, data.limit),
        EventBody::BudgetChanged(_) => "budget changed".into(),
        EventBody::NodeBlocked(data) => format!("{node} blocked: {}", data.reason),
        EventBody::ModeChanged(data) => format!("mode {:?} ({})", data.value, data.reason),
        EventBody::RunRevived(_) => "revived".into(),
        EventBody::MessageReceived(data) => format!("{node} was told: {}", data.text),
        EventBody::SocketFinished(_) => format!("{node} finished"),
        EventBody::WorkspacePublishing(_) => "publishing".to_owned(),
        EventBody::WorkspacePublished(data) => format!("published {}", data.branch),
        EventBody::StorageMeasured(data) => format!("keeps {} MB", data.used_mb),
        EventBody::AgentsChosen(data) => format!("{} agents chosen", data.agents.len()),
        EventBody::PayloadSuperseded(data) => format!("{node} superseded over {}", data.edge_id),
        EventBody::PayloadDropped(data) => {
            format!("{node} dropped over {}: {:?}", data.edge_id, data.reason)
        }
        EventBody::PayloadDeduplicated(data) => format!("{node} deduplicated {}", data.edge_id),
        EventBody::PayloadFiltered(data) => format!("{node} filtered {}", data.edge_id),
        EventBody::TimerSet(data) => format!("{node} timer {:?}", data.timer),
        EventBody::TimerFired(data) => format!("{node} fired {:?}", data.timer),
        EventBody::TurnRequested(data) => format!("{node} requested: {:?}", data.message),
        EventBody::ApprovalRequested(_) => format!("{node} asks for approval"),
        EventBody::ApprovalGiven(_) => format!("{node} approved"),
        EventBody::ApprovalDenied(_) => format!("{node} denied"),
        EventBody::ItemSkipped(data) => format!("{node} skipped {} of {}", data.item, data.region),
        EventBody::TimelineReached(data) => format!("timeline {}", data.index),
    }
}

/// The input object that the last started turn of a node got.
pub(crate) fn input_of(events: &[Event], node: &str) -> Value {
    let found = events.iter().rev().find_map(|event| match &event.body {
        EventBody::TurnStarted(data) if event.node.as_ref().unwrap().as_str() == node => {
            data.input.as_ref()?.at_hand().map(|whole| Value::clone(whole))
        }
        _ => None,
    });
    found.expect("the node had a turn with an input")
}

/// The prompt that the last started turn of a node got.
pub(crate) fn prompt_of(events: &[Event], node: &str) -> String {
    let found = events.iter().rev().find_map(|event| match &event.body {
        EventBody::TurnStarted(data) if event.node.as_ref().unwrap().as_str() == node => {
            data.prompt.clone()
        }
        _ => None,
    });
    found.expect("the node had a turn with a prompt")
}

/// A run of a plan, and the instant it is at.
pub(crate) struct Play {
    pub(crate) run: Run,
    pub(crate) now: i64,
}

impl Play {
    pub(crate) fn of(plan: Plan) -> Self {
        let mut run = Run::new(RunId::new("r"));
        step(&mut run, 1_000, Input::Create(created(plan).into())).unwrap();
        Self { run, now: 1_000 }
    }

    pub(crate) fn take(&mut self, input: Input) -> Vec<Event> {
        self.now += 1_000;
        step(&mut self.run, self.now, input).unwrap()
    }

    pub(crate) fn turns(&self) -> Vec<u64> {
        let turn = |effect| match effect {
            Effect::StartTurn(turn) => Some(turn),
            Effect::WakeAt(_) | Effect::Publish => None,
        };
        outstanding(&self.run).filter_map(turn).collect()
    }

    /// The oldest turn in flight ends so.
    pub(crate) fn end(&mut self, answer: &str) -> String {
        let turn = self.turns()[0];
        tell(&self.take(Input::report(turn, outcome(answer))))
    }

    /// Every turn in flight ends so, at one instant.
    pub(crate) fn end_all(&mut self, answer: &str) -> String {
        let turns = self.turns().into_iter();
        let reports = turns.map(|turn| Report { turn, outcome: outcome(answer) }).collect();
        tell(&self.take(Input::reports(reports)))
    }

    pub(crate) fn act(&mut self, act: Do) -> String {
        tell(&self.take(Input::act(act)))
    }

    /// Tries to do something that the run does not take, and gives back why.
    pub(crate) fn refused(&mut self, act: Do) -> String {
        let refusal = materia_kernel::decide(&self.run, self.run.ts(), Input::act(act));
        refusal.expect_err("it was taken").to_string()
    }

    pub(crate) fn offer(&mut self, edge: &str, message: &str) -> String {
        let payload = Offered { message: Some(message.into()), ..Offered::default() };
        self.act(Do::Offer { edge: edge.into(), payload })
    }

    pub(crate) fn resume(&mut self) -> String {
        let input = Input::taken_up(Do::Resume { pace: None }, RunPlace::named());
        tell(&self.take(input))
    }
}

/// A decision as a journal keeps it.
pub(crate) type Kept = (Decided, Vec<Event>);

/// Takes an input and keeps what was decided.
pub(crate) fn keep(run: &mut Run, now: i64, input: Input) -> Kept {
    let Decision { input, ticks, events } = take(run, now, input).unwrap();
    (Decided { ticks, ..Decided::now(now, input) }, events)
}

/// Takes the decisions of a journal again, from the texts that are kept of them.
pub(crate) fn recomputed(id: &str, journal: &[Kept]) -> Result<Recomputation, Divergence> {
    let mut again = Recomputation::new(RunId::new(id));
    for (decided, events) in journal {
        let decided = Decided::read(&decided.text()).unwrap();
        let read_back = |event: &Event| {
            let body = EventBody::parse(event.body.type_name(), &event.body.data_json()).unwrap();
            Event { body, ..event.clone() }
        };
        let events: Vec<Event> = events.iter().map(read_back).collect();
        again.next(&decided, &events)?;
    }
    Ok(again)
}
