//! Start, rest, resumption and end of a run (D38).

use std::sync::Arc;

use materia_contract::{
    Control, Event, EventBody, Node, NodeMode, OnInterrupt, Pace, RunCreated, RunId, RunResumed,
    RunRevived, RunWaiting, Trigger, Uuid, WaitReason, derived_id, path_tokens,
};

use crate::owed::{Obligation, Outcome};
use crate::parts::Waiting;
use crate::state::Life;
use crate::state::Part;
use crate::state::{AtLoop, AtNode, Beginning, Decision, Last, OnWay, Spent, Verifier, Why};
use crate::trail::Trail;
use crate::wiring::Wiring;
use crate::{Checked, hold};

impl Verifier {
    /// For a new run; `run.created` gives the plan.
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            redacted: false,
            seq: 0,
            ts: 0,
            instant: None,
            chart: None,
            beginning: Beginning::default(),
            pace: Pace::Auto,
            global: materia_contract::GlobalMode::default(),
            agents: materia_contract::Answerers::default(),
            life: Life::New,
            refusing: false,
            waits_for: None,
            stalled: None,
            variables: serde_json::Map::new(),
            last: Last::default(),
            nodes: Vec::new(),
            ways: Vec::new(),
            loops: Vec::new(),
            timers: std::collections::BTreeSet::new(),
            turns: std::collections::BTreeMap::new(),
            held: Vec::new(),
            ready: std::collections::BTreeSet::new(),
            iterating: std::collections::BTreeSet::new(),
            requests: std::collections::VecDeque::new(),
            timeline: 0,
            paused: std::collections::BTreeMap::new(),
            storage: None,
            budget: materia_contract::Budget::default(),
            warned: [false; 3],
            spent: Spent::default(),
            crossing: Trail::default(),
            passed: None,
            caught: None,
            script: std::collections::BTreeMap::new(),
            barred: None,
            failed_at: None,
            gave_up: false,
            owed: Vec::new(),
            files: None,
            decision: Decision::new(),
        }
    }

    /// The same for a run whose texts were replaced by their length.
    pub fn of_redacted(run: RunId) -> Self {
        Self { redacted: true, ..Self::new(run) }
    }

    /// The run is created: its request is the first payload, and its scheduled nodes get their ticks.
    pub(crate) fn created(&mut self, event: &Event, data: &RunCreated) -> Checked {
        hold!(self, self.life == Life::New, "the run exists already");
        hold!(self, event.node.is_none(), "a run is created, no socket");
        hold!(
            self,
            self.redacted || data.plan.hash() == data.plan_hash,
            "its plan is not the one that its hash names"
        );
        self.names_its_folders(&data.cwd, &data.run_dir)?;
        self.begins_with_files(data)?;
        let chart = Wiring::of(&data.plan).map_err(|what| self.objection(what))?;
        self.life = Life::Running;
        self.decision.part = Part::Ends;
        let schemas = data.plan.nodes.values().map(|node| node.answer_schema().map(Arc::new));
        self.nodes = schemas.map(|schema| AtNode { schema, ..AtNode::default() }).collect();
        self.ways = (0..chart.ways.len()).map(|_| OnWay::default()).collect();
        self.loops = (0..chart.regions.len()).map(|_| AtLoop::default()).collect();
        (self.pace, self.global) = (data.pace, data.global_mode);
        self.agents.clone_from(&data.agents);
        (self.budget, self.variables) = (data.plan.budget, data.state.clone());
        self.beginning = Beginning {
            at: event.ts,
            global: data.global_mode,
            script: data.script.clone(),
            timeline: data.timeline,
            simulated: data.virtual_time,
            forked_at: data.fork.as_ref().map(|fork| fork.seq),
            written_by: data.fork.as_ref().map_or_else(Vec::new, |fork| fork.written_by.clone()),
        };
        for node in chart.scheduled.iter().rev() {
            self.owed.push(Obligation::Tick { node: *node });
        }
        for region in chart.nodes[chart.entry].loops.iter().rev() {
            self.owed.push(Obligation::Enter { region: *region });
        }
        let id = derived_id(self.writer(1), 1);
        let trail = Trail::default().up_to(chart.coming(chart.entry, None), None);
        let payload = Waiting { id, ts: event.ts, way: None, tick: false, trail };
        self.owed.push(Obligation::Attached { node: chart.entry, payload });
        self.chart = Some(Arc::new(chart));
        Ok(())
    }

    /// Checks that the event is allowed in the present phase of the run.
    pub(crate) fn lives_through(&mut self, event: &Event) -> Checked {
        let kind = event.body.type_name();
        match (self.life, &event.body) {
            (Life::Running, _)
            | (
                Life::Waiting,
                EventBody::RunResumed(_)
                | EventBody::BudgetChanged(_)
                | EventBody::StorageMeasured(_)
                | EventBody::AgentsChosen(_)
                | EventBody::MessageReceived(_)
                | EventBody::ItemSkipped(_)
                | EventBody::RunAborted(_),
            )
            | (
                Life::Failed,
                EventBody::RunResumed(_)
                | EventBody::RunRevived(_)
                | EventBody::ItemSkipped(_)
                | EventBody::AgentsChosen(_),
            ) => {}
            // A message to a waiting run is attached, and no other event follows.
            (Life::Waiting, EventBody::PayloadDelivered(_))
                if matches!(self.owed.last(), Some(Obligation::Attached { .. })) => {}
            (Life::New, _) => {
                return Err(self.objection(format!("`{kind}` before the run was created")));
            }
            (Life::Completed, _) => {
                return Err(self.objection(format!("`{kind}` after the run has completed")));
            }
            (Life::Aborted, _) => {
                return Err(self.objection(format!("`{kind}` after the run was aborted")));
            }
            (Life::Failed, _) => {
                return Err(self.objection(format!("`{kind}` after the run has failed")));
            }
            (Life::Waiting, _) => {
                return Err(self.objection(format!("`{kind}` while the run waits for a person")));
            }
        }
        if let EventBody::RunAborted(_) = event.body {
            hold!(self, self.turns.is_empty(), "an aborted run has turns in flight");
            self.life = Life::Aborted;
        }
        Ok(())
    }

    /// Events name the folders of a run and do not say where they are.
    fn names_its_folders(&self, cwd: &str, run_dir: &str) -> Checked {
        let named = cwd == path_tokens::WORKSPACE && run_dir == path_tokens::RUN_DIR;
        hold!(self, named, "it says where its folders are");
        Ok(())
    }

    pub(crate) fn resumed(&mut self, data: &RunResumed) -> Checked {
        let failed = self.life == Life::Failed;
        hold!(
            self,
            failed == data.recast,
            "what has failed is tried again where a run goes on that failed, and nowhere else"
        );
        hold!(self, self.turns.is_empty(), "turns are still in flight that nobody knows of");
        if failed {
            let one = self.held.iter().any(|held| held.why == Why::Failed);
            hold!(self, one, "no turn has failed that could be tried again");
        }
        self.names_its_folders(&data.cwd, &data.run_dir)?;
        self.resumes_files(data)?;
        self.goes_back();
        self.life = Life::Running;
        for held in &mut self.held {
            held.released |= data.recast || held.why == Why::Interrupted;
        }
        Ok(())
    }

    /// A person gives further allowance: the way that was barred is taken.
    pub(crate) fn revived(&mut self, data: &RunRevived) -> Checked {
        let chart = self.chart()?;
        let Some((node, way)) = self.barred.filter(|_| self.life == Life::Failed) else {
            return Err(self.objection("nothing is exhausted that could be revived"));
        };
        hold!(
            self,
            data.edge_id.as_ref() == Some(chart.way_id(way)),
            "another edge was exhausted: `{}`",
            chart.way_id(way)
        );
        (self.life, self.barred) = (Life::Running, None);
        self.crossing.forgive();
        for held in &mut self.held {
            held.released |= held.why == Why::Interrupted;
        }
        let bound = chart.edge(way).and_then(|edge| edge.max_traversals).unwrap_or(0);
        let allowance = &mut self.ways[way].traversed.allowance;
        *allowance = allowance.saturating_add(bound);
        if let (true, Some(caught)) = (chart.is_on_failure(way), &self.caught) {
            self.owed.push(Obligation::LeadsOn { node, turn: caught.turn });
            return Ok(());
        }
        let ran = self.passed != Some(node);
        let (turn, verdict) = if ran { (self.last.turn, self.last.verdict) } else { (None, None) };
        let result = Outcome { node, turn, verdict };
        self.owed.push(Obligation::Routes { result, ways: None, from: Some(way) });
        Ok(())
    }

    /// Checks that the run waits for the reason that it gives.
    pub(crate) fn waits(&mut self, data: &RunWaiting) -> Checked {
        let chart = self.chart()?;
        hold!(self, self.turns.is_empty(), "a run that waits has turns in flight");
        let node = data.node.as_ref().map(|node| self.place(&chart, node)).transpose()?;
        let named = || node.ok_or_else(|| self.objection("it does not say which socket waits"));
        let truly = match data.reason {
            WaitReason::RunFor => true,
            WaitReason::Interactive => {
                if self.pace == Pace::Auto {
                    // Only a person can stop a run that would go on by itself.
                    self.decision.stopped = Some(self.seq);
                }
                true
            }
            WaitReason::Trust => {
                let node = named()?;
                self.decision.distrusts = Some((self.seq, node));
                self.decision.withheld.iter().any(|(_, of, _)| *of == node)
            }
            WaitReason::Workspace => self.waits_for_workspace(node),
            WaitReason::Stall => self.pace == Pace::Interactive && node == self.stalled,
            WaitReason::MultiTurn => self.paused.contains_key(&named()?),
            WaitReason::Budget => {
                self.run_is_spent() || node.is_some_and(|node| self.is_spent(&chart, node, true))
            }
            WaitReason::Approval => self.waits_for_consent(&chart, named()?),
            WaitReason::Manual => {
                let node = named()?;
                let by_hand = !runs_by_itself(chart.node(node)) || !self.depends(&chart, node);
                by_hand && self.oldest_input(&chart, node).is_some()
            }
        };
        hold!(self, truly, "what it says it waits for does not hold it: {}", data.message);
        (self.life, self.waits_for) = (Life::Waiting, Some(data.reason));
        Ok(())
    }

    fn waits_for_consent(&self, chart: &Wiring, node: usize) -> bool {
        if chart.node(node).on_interrupt == OnInterrupt::Ask && self.nodes[node].held > 0 {
            return true;
        }
        let asked = self.nodes[node].consent.as_ref();
        let open = asked.filter(|asked| asked.answer != Some(true));
        open.is_some_and(|asked| self.would_take(chart, node, &asked.payloads))
    }

    /// Checks a run that completes.
    pub(crate) fn is_complete(&mut self) -> Checked {
        self.has_nothing_left()?;
        hold!(self, self.has_published(), "its branch was not published");
        self.life = Life::Completed;
        Ok(())
    }

    /// Checks a run that publishes its branch.
    pub(crate) fn may_publish(&mut self) -> Checked {
        self.has_nothing_left()?;
        self.publishes()
    }

    fn has_nothing_left(&self) -> Checked {
        let chart = self.chart()?;
        hold!(self, self.pace == Pace::Auto, "only a run in AUTO completes");
        hold!(self, self.turns.is_empty(), "a complete run has turns in flight");
        hold!(self, self.timers.is_empty(), "a complete run waits for an instant");
        hold!(self, self.timeline >= self.beginning.timeline, "its timeline has entries left");
        if let Some(node) = self.ready.first() {
            let node = chart.name(*node);
            return Err(self.objection(format!("inputs still wait at `{node}`")));
        }
        hold!(self, self.requests.is_empty(), "a turn was asked for and has not run");
        hold!(self, self.held.is_empty(), "a turn is to be tried again");
        hold!(self, self.paused.is_empty(), "a socket waits for a person");
        let iterates = self.nodes.iter().any(|node| node.foreach.is_some());
        hold!(self, !iterates, "a `foreach` has elements left");
        Ok(())
    }

    /// Whether everything that a node depends on has completed a turn.
    pub(crate) fn depends(&self, chart: &Wiring, node: usize) -> bool {
        chart.nodes[node].depends_on.iter().all(|needed| self.nodes[*needed].completed > 0)
    }

    /// Whether the turns of a node that were given consent would take just these payloads now.
    pub(crate) fn would_take(&self, chart: &Wiring, node: usize, payloads: &[Uuid]) -> bool {
        let plan = chart.node(node);
        if plan.trigger == Trigger::Scheduled && !self.nodes[node].tick_owed {
            return false;
        }
        let takes = self.takes(chart, node);
        !takes.is_empty() && takes.iter().map(|one| one.id).eq(payloads.iter().copied())
    }
}

/// Whether the scheduler may start a node, as the plan says (D17).
pub(crate) fn runs_by_itself(node: &Node) -> bool {
    let mode = match node.control {
        None => node.mode,
        Some(Control::Automatic) => NodeMode::Auto,
        Some(Control::Manual) => NodeMode::Interactive,
    };
    mode == NodeMode::Auto && node.trigger != Trigger::ManualOnly
}
