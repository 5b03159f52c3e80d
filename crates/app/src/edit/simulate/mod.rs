//! Walking through a loadout without running anything: a person says how each turn ends, and the kernel says what
//! follows. It is the kernel itself, so a walk goes where a cast would go.
//!
//! People's part is taken for granted: approvals are given and conversations finished. Time is simulated.

mod answer;
mod explored;
mod history;

use std::collections::BTreeMap;

use materia_contract::api::{Choice, Walk, WalkAsk, WalkRoute, WalkStep};
use materia_contract::case::Case;
use materia_contract::script::Script;
use materia_contract::time::Micros;
use materia_contract::{
    Answerers, Behavior, CastStatus, Do, Event, EventBody, GlobalMode, Input,
    JOURNAL_VERSION_OF_PROJECT, NodeId, Pace, Plan, RunCreated, RunId, TurnStarted, path_tokens,
};
use materia_kernel::{
    Effect, Phase, Run, due_schedules, is_idle, outstanding, paused, questions, take_with,
};
use serde_json::{Map, Value, json};

pub use explored::choices_of;
pub use history::choices;

/// How many turns a walk may have.
pub const STEPS_MAX: usize = 2_000;
/// How often simulated time may move on, and people agree, in all.
const TICKS_MAX: usize = 5_000;

/// A walk under way.
struct Walking<'a> {
    plan: &'a Plan,
    run: Run,
    now: Micros,
    ticks: usize,
    /// Turns under way, by the event that began them.
    under_way: BTreeMap<u64, Box<TurnStarted>>,
    /// The step of each turn, so that taken edges are recorded there.
    step_of: BTreeMap<u64, usize>,
    nodes: BTreeMap<u64, NodeId>,
    /// The sockets of all turns, attempts included, in the order in which they started.
    started: Vec<NodeId>,
    steps: Vec<WalkStep>,
    message: Option<String>,
}

/// Goes as far as the choices lead.
pub fn walk(plan: &Plan, request: &str, choices: &[Choice]) -> Walk {
    let (walking, script) = walked(plan, request, choices);
    walking.told(request, &script)
}

fn walked<'a>(plan: &'a Plan, request: &str, choices: &[Choice]) -> (Walking<'a>, Script) {
    let mut walking = Walking::new(plan);
    walking.begin(request);
    let mut script = Script::default();
    for (number, choice) in choices.iter().enumerate() {
        if walking.steps.len() >= STEPS_MAX {
            walking.message = Some(format!("a walk has at most {STEPS_MAX} turns"));
            break;
        }
        let Some(turn) = walking.turn_at(&choice.socket) else {
            let place = number + 1;
            let socket = &choice.socket;
            walking.message = Some(format!(
                "choice {place} is for `{socket}`, where no turn is under way then; it and what follows were not taken"
            ));
            break;
        };
        let node = &plan.nodes[&choice.socket];
        if matches!(node.behavior, Behavior::Agent { .. }) {
            let list = script.turns.entry(choice.socket.to_string()).or_default();
            list.push(answer::scripted(&choice.socket, node, choice));
        }
        let outcome = answer::outcome(&choice.socket, node, choice);
        walking.end(turn, choice, Input::report(turn, outcome));
    }
    (walking, script)
}

impl<'a> Walking<'a> {
    fn new(plan: &'a Plan) -> Self {
        let id = RunId::parse("walk").expect("it is an id");
        Self {
            plan,
            run: Run::new(id),
            now: 0,
            ticks: 0,
            under_way: BTreeMap::new(),
            step_of: BTreeMap::new(),
            nodes: BTreeMap::new(),
            started: Vec::new(),
            steps: Vec::new(),
            message: None,
        }
    }

    fn begin(&mut self, request: &str) {
        let created = RunCreated {
            request: request.to_owned(),
            plan_hash: self.plan.hash(),
            plan: self.plan.clone(),
            cwd: path_tokens::WORKSPACE.to_owned(),
            run_dir: path_tokens::RUN_DIR.to_owned(),
            pace: Pace::Auto,
            global_mode: GlobalMode::Implementation,
            virtual_time: true,
            script: None,
            agents: Answerers::default(),
            fork: None,
            timeline: 0,
            from_cast_id: None,
            link: None,
            state: Map::new(),
            key: None,
            workspace: None,
            approved: None,
            journal_version: JOURNAL_VERSION_OF_PROJECT,
        };
        self.take(Input::Create(created.into()));
        self.settle();
    }

    /// The oldest turn under way at a socket.
    fn turn_at(&self, socket: &NodeId) -> Option<u64> {
        self.nodes.iter().find(|(_, node)| *node == socket).map(|(turn, _)| *turn)
    }

    fn end(&mut self, turn: u64, choice: &Choice, input: Input) {
        if let (Some(started), Some(node)) = (self.under_way.get(&turn), self.nodes.get(&turn)) {
            self.step_of.insert(turn, self.steps.len());
            self.steps.push(step(self.plan, node, started, Some(choice)));
        }
        self.take(input);
        self.settle();
    }

    /// Takes an input, and notes what followed.
    fn take(&mut self, input: Input) {
        let ticks: Vec<_> = due_schedules(&self.run, self.now, &input)
            .into_iter()
            .filter_map(|(node, cron)| {
                let at = cron.schedule().ok()?.after(self.now)?;
                Some(materia_contract::NextTick { node: node.clone(), at })
            })
            .collect();
        match take_with(&mut self.run, self.now, &ticks, input) {
            Ok(decision) => {
                for event in decision.events {
                    self.note(event);
                }
            }
            Err(rejection) => self.message = Some(rejection.to_string()),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "turns and ways are all that a walk shows")]
    fn note(&mut self, event: Event) {
        let Event { seq, node, body, .. } = event;
        match body {
            EventBody::TurnStarted(started) => {
                if let Some(node) = node {
                    self.started.push(node.clone());
                    self.nodes.insert(seq, node);
                }
                self.under_way.insert(seq, started);
            }
            EventBody::TurnCompleted(data) => {
                if !self.step_of.contains_key(&data.turn)
                    && let (Some(started), Some(node)) = (self.under_way.get(&data.turn), &node)
                {
                    // The runtime answered it.
                    self.step_of.insert(data.turn, self.steps.len());
                    self.steps.push(step(self.plan, node, started, None));
                }
                self.over(data.turn);
            }
            EventBody::TurnFailed(data) => self.over(data.turn),
            EventBody::TurnInterrupted(data) => self.over(data.turn),
            EventBody::RouteSelected(data) => {
                let last = self.steps.len().checked_sub(1);
                let step = data.turn.and_then(|turn| self.step_of.get(&turn).copied()).or(last);
                let exit =
                    data.edge_id.as_ref().is_some_and(|id| id.as_str().starts_with("loop-exit:"));
                if let Some(step) = step.and_then(|step| self.steps.get_mut(step)) {
                    step.routes.push(WalkRoute { edge: data.edge_id, to: data.to, exit });
                }
            }
            _ => {}
        }
    }

    fn over(&mut self, turn: u64) {
        self.under_way.remove(&turn);
        self.nodes.remove(&turn);
    }

    /// Lets time pass and people agree until a choice is needed or nothing is left.
    fn settle(&mut self) {
        while self.under_way.is_empty() && self.message.is_none() && self.ticks < TICKS_MAX {
            self.ticks += 1;
            let wake = outstanding(&self.run).find_map(|effect| match effect {
                Effect::WakeAt(at) => Some(at),
                Effect::StartTurn(_) | Effect::Publish => None,
            });
            let asked = questions(&self.run).find(|asked| !asked.denied).map(|it| it.node.clone());
            let talks = paused(&self.run).next().cloned();
            if let Some(node) = talks {
                self.take(Input::act(Do::Continue { node: Some(node) }));
            } else if let Some(node) = asked {
                self.agree(node);
            } else if let (Some(at), Phase::Running) = (wake, self.run.phase()) {
                self.now = self.now.max(at);
                self.take(Input::tick());
            } else if *self.run.phase() == Phase::Running && is_idle(&self.run) {
                // Only a person could start what is left.
                self.take(Input::Idle);
            } else {
                return;
            }
        }
    }

    fn agree(&mut self, node: NodeId) {
        self.take(Input::act(Do::approve(node)));
        if matches!(self.run.phase(), Phase::Waiting(_)) {
            self.take(Input::act(Do::Resume { pace: None }));
        }
    }

    fn told(self, request: &str, script: &Script) -> Walk {
        let asks = self.under_way.iter().filter_map(|(turn, started)| {
            let socket = self.nodes.get(turn)?.clone();
            let node = &self.plan.nodes[&socket];
            Some(WalkAsk {
                materia: node.materia.clone(),
                visit: started.visit,
                item: started.item.clone(),
                item_label: started.item_label.clone(),
                outcomes: answer::ends(node),
                socket,
            })
        });
        let (status, why) = match self.run.phase() {
            Phase::New | Phase::Running => (CastStatus::Running, None),
            Phase::Waiting(waiting) => (CastStatus::Waiting, Some(waiting.message.clone())),
            Phase::Completed => (CastStatus::Completed, None),
            Phase::Failed(failed) => (CastStatus::Failed, Some(failed.message.clone())),
            Phase::Aborted => (CastStatus::Aborted, None),
        };
        let asks: Vec<WalkAsk> = asks.collect();
        let script = serde_json::to_value(script).unwrap_or_default();
        let case = self.case(request, &script, status);
        Walk {
            asks,
            status,
            message: self.message.or(why),
            script,
            case,
            steps: self.steps,
            findings: Vec::new(),
        }
    }

    /// The walk as a conformance case; the caller adds the configuration.
    fn case(&self, request: &str, script: &Value, status: CastStatus) -> Value {
        let visits: Vec<&str> = self.steps.iter().map(|step| step.socket.as_str()).collect();
        let request = if request.is_empty() { "go" } else { request };
        let loadout = &self.plan.loadout;
        let case = Case {
            name: format!("A walk through {loadout}."),
            // A default requirement, the order in which a result is read; the author of the case replaces it.
            requirements: vec!["G12".to_owned()],
            config: None,
            script: Some(script.clone()),
            files: indexmap::IndexMap::new(),
            git: false,
            args: ["cast", "--loadout", loadout.as_str(), "--cast-id", "c1", request]
                .map(str::to_owned)
                .to_vec(),
            input: None,
            expect: json!({ "status": status, "visits": visits }),
            then: Vec::new(),
        };
        serde_json::to_value(case).unwrap_or_default()
    }
}

fn step(plan: &Plan, socket: &NodeId, started: &TurnStarted, choice: Option<&Choice>) -> WalkStep {
    WalkStep {
        socket: socket.clone(),
        materia: plan.nodes[socket].materia.clone(),
        visit: started.visit,
        item: started.item.clone(),
        item_label: started.item_label.clone(),
        outcome: choice.map(|choice| choice.outcome),
        routes: Vec::new(),
    }
}
