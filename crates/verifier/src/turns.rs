//! Ends of turns: each turn ends once, and its end matches its output.

use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{
    Behavior, ErrorCode, Event, EventBody, FailureClass, InterruptReason, Parse, TurnCompleted,
    TurnFailed, TurnInterrupted,
};
use serde_json::Value;

use crate::owed::{Obligation, Paid, Patch};
use crate::read::{Reading, state_in};
use crate::shorten::beginning;
use crate::state::Life;
use crate::state::{Caught, Held, Last, Started, Verifier, Why};
use crate::timers::micros;
use crate::wiring::Wiring;
use crate::{Checked, hold};

/// The wait before the first further try after a failure that may pass; each next is twice as long.
const FIRST_WAIT_MS: u64 = 2_000;
const WAIT_MS_MAX: u64 = 120_000;

/// The longest wait that a provider may ask for.
const ASKED_WAIT_MS_MAX: u64 = 3_600_000;

impl Verifier {
    /// A turn is no longer in flight.
    fn ends(
        &mut self,
        chart: &Wiring,
        event: &Event,
        numbers: (u64, u32, u32),
    ) -> Checked<Started> {
        let (turn, visit, attempt) = numbers;
        let Some(started) = self.turns.remove(&turn) else {
            return Err(self.objection(format!("turn {turn} is not in flight")));
        };
        let name = chart.name(started.node);
        hold!(self, event.node.as_ref() == Some(name), "turn {turn} runs at `{name}`");
        hold!(
            self,
            (started.visit, started.attempt) == (visit, attempt),
            "turn {turn} is visit {}, attempt {}",
            started.visit,
            started.attempt
        );
        let at = &mut self.nodes[started.node];
        at.in_flight = at.in_flight.saturating_sub(1);
        let took = event.ts.saturating_sub(started.since);
        at.spent.micros = at.spent.micros.saturating_add(took);
        Ok(started)
    }

    /// Reported ends come in the order in which their turns started (D7).
    fn reported(&mut self, turn: u64, completed: bool) -> Checked {
        let before = self.decision.ends.last().map_or(0, |(turn, _, _)| *turn);
        hold!(self, turn > before, "turns that end at one instant end in the order they started");
        self.decision.ends.push((turn, self.seq, completed));
        Ok(())
    }

    pub(crate) fn completed(
        &mut self,
        event: &Event,
        data: &TurnCompleted,
        by_runtime: bool,
    ) -> Checked {
        let chart = self.chart()?;
        if !by_runtime {
            self.reported(data.turn, true)?;
        }
        let started = self.ends(&chart, event, (data.turn, data.visit, data.attempt))?;
        let node = started.node;
        self.leaves_files(data.turn, &data.report, None, by_runtime)?;
        self.whole_belongs(&chart, node, &data.report)?;
        let reading = if by_runtime {
            self.answered_by_runtime(&chart, node, data)?
        } else {
            self.read(&chart, node, &data.report, data.object)?
        };
        let Reading { verdict, items, merged, assigned, ignored, object, context } = reading;
        let context_holds = self.redacted || data.context == context;
        hold!(self, context_holds, "its streams do not end as its `context` says");
        hold!(self, data.satisfied == verdict, "its output says otherwise about `satisfied`");
        let found = data.work_items.as_deref().map(Vec::as_slice);
        hold!(self, found == items.as_deref(), "its output has other work items");
        self.spend(node, &data.report);
        if let Some(items) = &data.work_items {
            self.nodes[node].produced = Some(Arc::clone(items));
        }
        let at = &mut self.nodes[node];
        at.completed = at.completed.saturating_add(1);
        if chart.may_fail {
            self.nodes[node].done = Some((data.turn, started.clone()));
        }
        self.keep_last(data, started, object);
        self.trace(&chart, node, data);
        self.owes_what_follows(&chart, node, data);
        if !merged.is_empty() || !assigned.is_empty() {
            let turn = data.turn;
            self.owed.push(Obligation::Patch(Box::new(Patch { node, turn, merged, assigned })));
        }
        for fields in ignored.into_iter().rev() {
            self.owed.push(Obligation::Ignored { node, turn: data.turn, fields });
        }
        Ok(())
    }

    fn keep_last(&mut self, data: &TurnCompleted, started: Started, object: Option<Value>) {
        let own_json = object.is_some();
        // Its text as it stands in the output; where the output says it otherwise, as it is rendered.
        let span = data.object_text();
        let rendered = || object.as_ref().map(|object| object.to_string().into());
        let text_of_object: Option<Arc<str>> = span.map(Arc::from).or_else(rendered);
        let json = object.map(Arc::new).or_else(|| self.last.json.take());
        self.crossing = started.trail.clone();
        self.passed = None;
        self.last = Last {
            turn: Some(data.turn),
            item: started.about,
            trail: started.trail,
            text: Some(data.report.output.as_str().into()),
            json,
            own_json,
            object: text_of_object,
            artifacts: data
                .report
                .artifacts
                .iter()
                .map(|one| (one.kind.clone(), beginning(&one.content)))
                .collect(),
            verdict: data.satisfied,
        };
    }

    fn trace(&mut self, chart: &Wiring, node: usize, data: &TurnCompleted) {
        let iteration = self.nodes[node].foreach.as_ref();
        let goes_on =
            iteration.is_some_and(|it| (it.index as usize).saturating_add(1) < it.items.len());
        if chart.nodes[node].cyclic && !goes_on {
            let item = self.loop_item(chart, node).map(|(id, _)| id);
            let json = self.last.json.as_deref().filter(|_| self.last.own_json);
            self.nodes[node].traces.note(item, data, json);
        }
    }

    fn owes_what_follows(&mut self, chart: &Wiring, node: usize, data: &TurnCompleted) {
        if chart.node(node).multi_turn {
            // It goes on only when a person says so.
            self.paused.insert(node, self.last.clone());
        } else {
            let (turn, verdict) = (Some(data.turn), data.satisfied);
            self.owed.push(Obligation::Leave { node, turn, verdict, element: true });
        }
        if chart.nodes[node].cyclic {
            self.owed.push(Obligation::Watch { node });
        }
    }

    /// The runtime answers a turn that lacks what it requires, or that a person refused.
    pub(crate) fn answer(
        &mut self,
        turn: u64,
        says: &str,
        refused: bool,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let what = if refused {
            "the runtime's own answer, since a person refused the turn"
        } else {
            "the runtime's own answer, since something required is missing"
        };
        let Some(event) = event else { return Err(self.due(what, None)) };
        let EventBody::TurnCompleted(data) = &event.body else {
            return Err(self.due(what, Some(event)));
        };
        hold!(self, data.turn == turn, "the runtime answers turn {turn} first");
        let answer: Option<Value> = serde_json::from_str(&data.report.output).ok();
        let context = answer.as_ref().and_then(|answer| answer.get("context")?.as_str());
        let told = context.is_some_and(|context| {
            if refused && !says.is_empty() { context == says } else { context.contains(says) }
        });
        hold!(self, self.redacted || told, "the answer does not say `{says}`");
        self.completed(event, data, true)?;
        self.decision.not_asked += u32::from(!refused);
        Ok(Paid::Yes)
    }

    fn answered_by_runtime(
        &self,
        chart: &Wiring,
        node: usize,
        data: &TurnCompleted,
    ) -> Checked<Reading> {
        let output = if self.redacted { data.report.json_text() } else { &data.report.output };
        let object: Option<Value> = serde_json::from_str(output).ok();
        let no = if self.redacted {
            data.satisfied == Some(false)
        } else {
            object.as_ref().and_then(|object| object.get("satisfied")) == Some(&false.into())
        };
        hold!(self, no, "the runtime's own answer is `satisfied: false`");
        let parsed = chart.node(node).parse == Parse::Json;
        let span = parsed.then_some((0, output.len()));
        hold!(self, data.object == span, "the runtime's own answer is all of its output");
        Ok(Reading {
            verdict: Some(false),
            items: chart.node(node).generator.then(Vec::new),
            object: object.filter(|_| parsed),
            ..Reading::default()
        })
    }

    pub(crate) fn failed(&mut self, event: &Event, data: &TurnFailed) -> Checked {
        let chart = self.chart()?;
        self.reported(data.turn, false)?;
        let turn = self.ends(&chart, event, (data.turn, data.visit, data.attempt))?;
        let node = turn.node;
        self.leaves_files(data.turn, &data.report, Some(data.code), false)?;
        self.whole_belongs(&chart, node, &data.report)?;
        self.spend(node, &data.report);
        if data.code == ErrorCode::ContractError && self.keeps_contract(&chart, node, &data.report)
        {
            self.decision.kept_contract = Some(event.seq);
        }
        let repairs = data.code == ErrorCode::ContractError
            && matches!(chart.node(node).behavior, Behavior::Agent { .. })
            && turn.repairs < chart.plan.limits.max_repairs;
        hold!(
            self,
            data.repair == repairs,
            "an agent that breaks its contract is asked again as often as the limits say, and nobody else"
        );
        let lost = data.code == ErrorCode::ProviderFailed
            && data.report.class == Some(FailureClass::SessionLost)
            && turn.session.is_some()
            && !turn.afresh;
        hold!(
            self,
            data.session_lost == lost,
            "a turn whose session is gone begins anew once, and no other"
        );
        if lost {
            hold!(self, data.retry_at.is_none(), "it waits for nothing");
            self.holds(Held { started: data.turn, turn, why: Why::Lost, released: true });
            return Ok(());
        }
        let why = match (repairs, self.retries(&chart, data, &turn)?) {
            (true, _) => Why::Rejected,
            (false, Some(wait)) => {
                let at = data.retry_at.unwrap_or_default();
                self.owed.push(Obligation::Retry { node, turn: data.turn, at, wait });
                Why::Passing
            }
            (false, None) => {
                self.fails_for_good(&chart, &turn, data);
                Why::Failed
            }
        };
        self.holds(Held { started: data.turn, turn, why, released: repairs });
        Ok(())
    }

    /// A turn is not tried again: the run fails, or the failure leads on (D61). What a utility has put out
    /// for the variables counts all the same (D49).
    fn fails_for_good(&mut self, chart: &Wiring, turn: &Started, data: &TurnFailed) {
        let (node, plan) = (turn.node, chart.node(turn.node));
        let of_program = matches!(data.code, ErrorCode::UtilityFailed | ErrorCode::UtilityTimeout);
        let caught =
            of_program || matches!(data.code, ErrorCode::ContractError | ErrorCode::ProviderFailed);
        if caught && plan.on_failure.is_some() {
            self.crossing = turn.trail.clone();
            self.passed = None;
            self.last.item = turn.about;
            let (code, message) = (data.code, data.message.clone());
            self.caught = Some(Caught { turn: data.turn, code, message });
            self.owed.push(Obligation::LeadsOn { node, turn: data.turn });
        } else {
            self.owed.push(Obligation::Failing { code: data.code, socket: node, way: None });
        }
        let reads = plan.parse == Parse::Json && plan.verdict.is_none();
        if !(of_program && reads && chart.is_utility(node)) {
            return;
        }
        let Some((merged, ignored)) = state_in(data.report.json_text()) else { return };
        if !merged.is_empty() {
            let (turn, assigned) = (data.turn, indexmap::IndexMap::new());
            self.owed.push(Obligation::Patch(Box::new(Patch { node, turn, merged, assigned })));
        }
        for fields in ignored.into_iter().rev() {
            self.owed.push(Obligation::Ignored { node, turn: data.turn, fields });
        }
    }

    pub(crate) fn holds(&mut self, held: Held) {
        let at = &mut self.nodes[held.turn.node];
        at.held = at.held.saturating_add(1);
        self.held.push(held);
    }

    /// After how long a failed turn is tried again: as its failure and its place in the row ask for.
    fn retries(
        &mut self,
        chart: &Wiring,
        data: &TurnFailed,
        turn: &Started,
    ) -> Checked<Option<Micros>> {
        if let ErrorCode::UtilityFailed | ErrorCode::UtilityTimeout = data.code {
            return self.retries_of_utility(chart, data, turn);
        }
        let class = data.report.class.filter(|class| class.retries());
        let asked = data.report.retry_after_ms;
        let may = data.code == ErrorCode::ProviderFailed
            && turn.retries < chart.plan.limits.max_retries
            && asked.is_none_or(|asked| asked <= ASKED_WAIT_MS_MAX);
        if class.as_ref().is_none_or(|_| !may) {
            hold!(self, data.retry_at.is_none(), "such a failure is not tried again by itself");
            return Ok(None);
        }
        let Some(at) = data.retry_at else {
            return Err(self.objection("such a failure is tried again by itself"));
        };
        let own = FIRST_WAIT_MS.saturating_mul(1 << turn.retries.min(16)).min(WAIT_MS_MAX);
        let wait = match asked {
            Some(asked) => asked.max(own),
            None => own,
        };
        self.taken_at(at.saturating_sub(micros(wait)));
        Ok(Some(micros(wait)))
    }

    /// A utility is tried again as often as its author says, and as late (D62).
    fn retries_of_utility(
        &mut self,
        chart: &Wiring,
        data: &TurnFailed,
        turn: &Started,
    ) -> Checked<Option<Micros>> {
        let retries = chart.node(turn.node).retries.filter(|retries| turn.retries < retries.max);
        let due = retries.map(|retries| micros(retries.delay_ms));
        hold!(
            self,
            due.is_some() == data.retry_at.is_some(),
            "a utility is tried again as often as its `retries` say"
        );
        if let (Some(wait), Some(at)) = (due, data.retry_at) {
            self.taken_at(at.saturating_sub(wait));
        }
        Ok(due)
    }

    pub(crate) fn interrupted(&mut self, event: &Event, data: &TurnInterrupted) -> Checked {
        let chart = self.chart()?;
        if data.reason == InterruptReason::RunFailed {
            self.owed.push(Obligation::NoList);
        }
        if matches!(data.reason, InterruptReason::Trust | InterruptReason::Workspace)
            && let Some(turn) = self.turns.get(&data.turn)
        {
            self.decision.withheld.push((data.turn, turn.node, event.seq));
        }
        self.interrupt(&chart, event, data)
    }

    pub(crate) fn interrupt(
        &mut self,
        chart: &Wiring,
        event: &Event,
        data: &TurnInterrupted,
    ) -> Checked {
        let first = self.turns.keys().next().copied();
        hold!(
            self,
            first == Some(data.turn),
            "turns are interrupted in the order in which they started"
        );
        let turn = self.ends(chart, event, (data.turn, data.visit, data.attempt))?;
        self.interrupts_files(data)?;
        if let Some(entry) = &turn.script {
            let position = self.script.entry(entry.key.clone()).or_default();
            position.returned.insert(entry.index);
        }
        let why = Why::Interrupted;
        self.holds(Held { started: data.turn, turn, why, released: false });
        Ok(())
    }

    /// The run fails: whatever is in flight is interrupted, then it says so.
    pub(crate) fn failing(
        &mut self,
        chart: &Wiring,
        code: ErrorCode,
        socket: usize,
        way: Option<usize>,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let what = "the failure of the run";
        let Some(event) = event else { return Err(self.due(what, None)) };
        if let EventBody::TurnInterrupted(data) = &event.body {
            hold!(self, data.reason == InterruptReason::RunFailed, "the run fails here");
            self.interrupt(chart, event, data)?;
            self.owed.push(Obligation::Failing { code, socket, way });
            return Ok(Paid::Yes);
        }
        let EventBody::RunFailed(data) = &event.body else {
            return Err(self.due(what, Some(event)));
        };
        hold!(self, self.turns.is_empty(), "a failed run has turns in flight");
        hold!(self, data.code == code, "the run fails as `{}`", code.word());
        let (name, edge) = (chart.name(socket), way.map(|way| chart.way_id(way)));
        hold!(self, data.socket.as_ref() == Some(name), "the run fails at `{name}`");
        hold!(self, data.edge_id.as_ref() == edge, "another edge was barred, or none");
        self.barred = way.map(|way| (socket, way));
        self.failed_at = Some(socket);
        self.gave_up = code == ErrorCode::GraphFailed;
        self.life = Life::Failed;
        self.owed.clear();
        Ok(Paid::Yes)
    }
}
