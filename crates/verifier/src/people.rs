//! Acts of people and timelines on a run.

use materia_contract::{
    AgentsChosen, ApprovalDenied, ApprovalRequested, BudgetChanged, Condition, Do, Event,
    MessageReceived, Mode, ModeChanged, Pace, SocketFinished, TimelineReached, TurnRequested,
};

use crate::owed::{Obligation, Starting};
use crate::parts::Waiting;
use crate::state::Life;
use crate::state::{Consent, Rounds, Verifier};
use crate::traces::Traces;
use crate::trail::Trail;
use crate::{Checked, hold};

impl Verifier {
    /// A person asks for a turn; what is said becomes a payload.
    pub(crate) fn requested(&mut self, event: &Event, data: &TurnRequested) -> Checked {
        let chart = self.chart()?;
        let node = self.here(&chart, event)?;
        hold!(
            self,
            data.message.is_some() == data.payload_id.is_some(),
            "a message becomes a payload, and nothing else does"
        );
        // A turn without consent must not start in another way (D56).
        let asked = self.nodes[node].consent.as_ref().filter(|it| it.answer != Some(true));
        let allowed = asked.is_none() || self.takes(&chart, node).is_empty();
        hold!(self, allowed, "`{}` waits for consent, and nobody gave it", chart.name(node));
        if let Some(id) = data.payload_id {
            self.is_own_id(id)?;
            let trail = Trail::default();
            let payload = Waiting { id, ts: event.ts, way: None, tick: false, trail };
            self.owed.push(Obligation::Attached { node, payload });
        }
        self.requests.push_back((node, data.payload_id));
        self.decision.requested = (self.decision.requested.0 + 1, self.seq);
        Ok(())
    }

    pub(crate) fn spoken(&mut self, event: &Event, data: &MessageReceived) -> Checked {
        let chart = self.chart()?;
        let node = self.here(&chart, event)?;
        self.is_own_id(data.payload_id)?;
        let (id, trail) = (data.payload_id, Trail::default());
        let payload = Waiting { id, ts: event.ts, way: None, tick: false, trail };
        self.owed.push(Obligation::Attached { node, payload });
        if self.life != Life::Running {
            // Nothing follows in a run that waits.
            self.decision.part = crate::state::Part::Rest;
        }
        Ok(())
    }

    /// A person finishes a multi-turn node: its last result counts.
    pub(crate) fn finished(&mut self, event: &Event, data: &SocketFinished) -> Checked {
        let chart = self.chart()?;
        let node = self.here(&chart, event)?;
        let Some(result) = self.paused.remove(&node) else {
            return Err(self.objection("the socket does not wait for a person"));
        };
        hold!(self, result.turn == Some(data.turn), "its last turn is another one");
        self.crossing = result.trail.clone();
        self.passed = None;
        let verdict = result.verdict;
        self.last = result;
        self.owed.push(Obligation::Leave { node, turn: Some(data.turn), verdict, element: true });
        Ok(())
    }

    pub(crate) fn reached(&mut self, data: &TimelineReached) -> Checked {
        hold!(
            self,
            data.index == self.timeline && data.index < self.beginning.timeline,
            "entry {} of the timeline is not the next one",
            data.index
        );
        self.timeline = self.timeline.saturating_add(1);
        self.decision.reached = self.decision.reached.saturating_add(1);
        if let Do::Trigger { node, .. }
        | Do::Approve { node, .. }
        | Do::Deny { node, .. }
        | Do::NodeBudget { node, .. }
        | Do::Say { node: Some(node), .. }
        | Do::Continue { node: Some(node) } = &data.act
        {
            let chart = self.chart()?;
            self.place(&chart, node)?;
        }
        Ok(())
    }

    pub(crate) fn mode_changed(&mut self, event: &Event, data: &ModeChanged) -> Checked {
        let known =
            ["person", "timeline", "resume", "skip", "stop"].contains(&data.reason.as_str());
        hold!(self, known && event.node.is_none(), "nothing before it asks for that mode");
        hold!(self, self.changes(data.value), "the mode is what it was");
        self.decision.modes = (self.decision.modes.0 + 1, self.seq);
        match data.value {
            Mode::Global(mode) => self.global = mode,
            Mode::Pace(pace) => {
                self.pace = pace;
                if pace == Pace::Auto {
                    // Every count of alike turns begins anew (D23).
                    self.stalled = None;
                    for node in &mut self.nodes {
                        node.traces = Traces::default();
                        node.rounds = Rounds::default();
                    }
                    for region in &mut self.loops {
                        region.rounds = Rounds::default();
                    }
                }
            }
        }
        Ok(())
    }

    /// A question is asked where nothing but the answer is missing, about what would be taken.
    pub(crate) fn asked(&mut self, event: &Event, data: &ApprovalRequested) -> Checked {
        let chart = self.chart()?;
        let node = self.here(&chart, event)?;
        let name = chart.name(node);
        hold!(self, chart.node(node).approval.is_some(), "`{name}` needs nobody's consent");
        hold!(self, self.pace == Pace::Auto, "nothing starts by itself that could be asked about");
        self.runs_unasked(&chart, node)?;
        hold!(self, self.has_room(&chart, node), "`{name}` could not run with consent either");
        hold!(self, !self.is_spent(&chart, node, true), "`{name}` could not pay for a turn");
        hold!(
            self,
            self.would_take(&chart, node, &data.payloads),
            "`{name}` would take other payloads than it asks about"
        );
        let again = self.nodes[node].consent.as_ref().is_some_and(|old| old.hash == data.hash);
        hold!(self, !again, "that was asked already");
        let (hash, payloads) = (data.hash.clone(), data.payloads.clone());
        self.nodes[node].consent = Some(Consent { hash, payloads, answer: None });
        Ok(())
    }

    /// An answer is to the newest question of the node.
    pub(crate) fn answered(&mut self, event: &Event, hash: &str, yes: bool) -> Checked {
        let chart = self.chart()?;
        let node = self.here(&chart, event)?;
        let asked = self.nodes[node].consent.as_ref().filter(|asked| asked.answer != Some(true));
        hold!(self, asked.is_some_and(|asked| asked.hash == hash), "nobody asked for that");
        self.decision.answered = (self.decision.answered.0 + 1, self.seq);
        if let Some(consent) = &mut self.nodes[node].consent {
            consent.answer = Some(yes);
        }
        Ok(())
    }

    /// A refusal keeps the inputs, or the runtime answers the turn that was asked about (D56).
    pub(crate) fn denied(&mut self, event: &Event, data: &ApprovalDenied) -> Checked {
        self.answered(event, &data.hash, false)?;
        if !data.route {
            return Ok(());
        }
        let chart = self.chart()?;
        let node = self.here(&chart, event)?;
        let (name, plan) = (chart.name(node), chart.node(node));
        let way = plan.edges.iter().any(|edge| edge.when == Condition::NotSatisfied);
        hold!(self, way, "`{name}` has no way for work that is not content");
        let asked = self.nodes[node].consent.take().map(|it| it.payloads).unwrap_or_default();
        hold!(
            self,
            self.would_take(&chart, node, &asked),
            "`{name}` would take other payloads than it asked about"
        );
        let takes = self.takes(&chart, node);
        let takes: Vec<_> = takes.iter().map(|one| (one.ts, one.id)).collect();
        let refused = Some(data.reason.clone().unwrap_or_default());
        self.owed.push(Obligation::Start(Starting { node, takes, refused, ..Starting::default() }));
        Ok(())
    }

    /// Others answer the agent nodes; nothing follows from that in the same decision.
    pub(crate) fn agents_chosen(&mut self, data: &AgentsChosen) -> Checked {
        let chart = self.chart()?;
        for id in data.agents.keys() {
            self.place(&chart, id)?;
        }
        hold!(self, self.agents != data.agents, "the same answer as before");
        self.agents.clone_from(&data.agents);
        self.decision.part = crate::state::Part::Rest;
        self.decision.only_agents = true;
        Ok(())
    }

    pub(crate) fn budget_changed(&mut self, event: &Event, data: &BudgetChanged) -> Checked {
        let chart = self.chart()?;
        hold!(
            self,
            data.budget.is_some() != data.node_budgets.is_some()
                && data.node_budgets.is_some() == event.node.is_some(),
            "it is the run's budget or that of the socket it names"
        );
        if let Some(budget) = data.budget {
            (self.budget, self.warned) = (budget, [false; 3]);
        }
        if let Some(budgets) = data.node_budgets {
            let node = self.here(&chart, event)?;
            let node = &mut self.nodes[node];
            (node.budgets, node.blocked) = (Some(budgets), false);
        }
        if self.life != Life::Running {
            // Nothing follows in a run that waits.
            self.decision.part = crate::state::Part::Rest;
        }
        Ok(())
    }
}
