//! Applies events about turns: in flight, ended, held.

use std::sync::Arc;

use materia_contract::{
    Artifact, Cause, ErrorCode, Event, Timer, TurnCompleted, TurnFailed, TurnInterrupted,
    TurnOutput, TurnStarted, UtilityInput,
};
use serde_json::Value;

use super::{files, node, traces};
use crate::ask::budget::{self, Asks};
use crate::ask::{items, output, utility_input};
use crate::state::{Caught, Held, LastOutput, Run, Turn, TurnWork, Why};

pub(super) fn turn_started(run: &mut Run, event: &Event, data: &TurnStarted) {
    let index = run.index_of(node(event));
    // A further attempt at a turn takes the place of the one before it.
    let before = run.held.of_node(index).find(|(_, held)| held.turn.visit == data.visit);
    let before = before.map(|(ended, _)| ended).and_then(|ended| run.held.take(ended));
    if let Some(held) = before.as_ref().filter(|held| held.why == Why::Passing) {
        // A manual retry does not wait for the timer, and nothing else needs the timer.
        let timer = Timer::Retry { turn: held.started };
        run.timers.retain(|(_, _, set)| *set != timer);
    }
    let work = match (&data.prompt, &data.input) {
        (Some(prompt), _) => TurnWork::Prompt(prompt.as_str().into()),
        (None, Some(input)) => TurnWork::Input(whole(run, index, input, before.as_ref())),
        (None, None) => TurnWork::Prompt("".into()),
    };
    let manual = match &data.cause {
        // The request that it answers is no longer open.
        Cause::Manual => run.requests.take(index).is_some(),
        Cause::Foreach { .. } => run.nodes[index].foreach.as_ref().is_some_and(|it| it.manual),
        Cause::Retry { .. } | Cause::Repair { .. } | Cause::Recast { .. } => {
            before.as_ref().is_some_and(|held| held.turn.manual)
        }
        Cause::Input => false,
    };
    let paid = before.as_ref().is_some_and(|held| budget::asks(run, held) == Asks::Turn);
    let item = items::of_loops(run, index).map(|item| item.id);
    let element = items::element(run, index).map(|item| item.id);
    let begins = match data.cause {
        Cause::Input | Cause::Manual | Cause::Foreach { index: 0 } => true,
        Cause::Foreach { .. }
        | Cause::Retry { .. }
        | Cause::Repair { .. }
        | Cause::Recast { .. } => false,
    };
    if begins && run.wiring().unbounded.contains(&index) {
        run.nodes[index].rounds.begin(item);
    }
    let state = &mut run.nodes[index];
    let resumes = data.session.as_ref().is_some_and(|session| session.resume);
    let (repairs, retries, afresh) = before.as_ref().map_or((0, 0, false), |held| {
        let Held { turn, why, .. } = held;
        let repairs = turn.repairs + u32::from(matches!(why, Why::Rejected(..)));
        (repairs, turn.retries + u32::from(*why == Why::Passing), turn.afresh || *why == Why::Lost)
    });
    let (about, trail, payloads) = if let Some(Held { turn, .. }) = before {
        let turn = *turn;
        (turn.about, turn.trail, turn.payloads)
    } else {
        let taken = std::mem::take(&mut state.taken);
        match &state.foreach {
            Some(it) => (item, it.trail.clone(), it.payloads.clone()),
            None => (item, taken.trail, taken.payloads),
        }
    };
    let payloads = if resumes { payloads } else { Vec::new() };
    // A further attempt may be at an earlier turn than the newest.
    state.visits = state.visits.max(data.visit);
    if let Some(session) = &data.session {
        state.session = Some((session.id, element.or(about)));
    }
    if data.approved.is_some() {
        // Consent is for one turn.
        state.consent = None;
    }
    state.in_flight.0.insert(event.seq);
    // A further attempt is no further turn, unless the author asked for it (D62).
    state.spent.turns += u64::from(data.attempt == 1 || paid);
    run.usage.turns += 1;
    if let Some(entry) = &data.script {
        let position = run.script.entry(entry.key.clone()).or_default();
        position.returned.remove(&entry.index);
        position.next = position.next.max(entry.index + 1);
    }
    run.iterating.remove(&index);
    run.paused.remove(&index);
    let files = files::started(run, data);
    let turn = Turn {
        node: index,
        visit: data.visit,
        attempt: data.attempt,
        item: data.item.clone(),
        item_label: data.item_label.clone(),
        about,
        trail,
        consumed: data.consumed.clone(),
        work,
        layers: data.layers.clone(),
        session: data.session.clone(),
        repairs,
        retries,
        afresh,
        payloads,
        since: event.ts,
        manual,
        global_mode: data.global_mode.unwrap_or(run.global),
        script: data.script.clone(),
        files,
    };
    run.turns.insert(event.seq, Box::new(turn));
    weigh(run, index);
}

/// The object that a utility reads: at hand where it was just decided, else put together from its parts.
fn whole(run: &Run, index: usize, input: &UtilityInput, before: Option<&Held>) -> Arc<Value> {
    if let Some(whole) = input.at_hand() {
        return Arc::clone(whole);
    }
    let Some(parts) = input.parts() else { return Arc::new(Value::Null) };
    if let (Some(_), Some(TurnWork::Input(same))) = (parts.same_as, before.map(|it| &it.turn.work))
    {
        return Arc::clone(same);
    }
    let state = &run.nodes[index];
    let payloads = state.foreach.as_ref().map_or(&state.taken.payloads, |it| &it.payloads);
    Arc::new(utility_input::whole(run, index, &parts.fields, payloads))
}

/// Notes whether a node has spent its own budget, after something that decides it has changed.
pub(super) fn weigh(run: &mut Run, index: usize) {
    if budget::node_exhausted(run, index, Asks::Turn).is_some() {
        run.overspent.insert(index);
    } else {
        run.overspent.remove(&index);
    }
}

fn end_turn(run: &mut Run, started: u64) -> Box<Turn> {
    let turn = run.turns.remove(&started).expect("a turn ends once, after it has started");
    let ts = run.ts;
    let state = &mut run.nodes[turn.node];
    state.in_flight.0.remove(&started);
    state.spent.micros += ts - turn.since;
    weigh(run, turn.node);
    turn
}

fn spend(run: &mut Run, node: usize, report: &TurnOutput) {
    let Some(usage) = report.usage else { return };
    run.usage.tokens = run.usage.tokens.saturating_add(usage.tokens().unwrap_or(0));
    if let Some(cost) = usage.cost {
        run.usage.cost = Some(run.usage.cost.unwrap_or_default().saturating_add(cost));
        let spent = &mut run.nodes[node].spent;
        spent.cost = Some(spent.cost.unwrap_or_default().saturating_add(cost));
        weigh(run, node);
    }
}

pub(super) fn turn_completed(run: &mut Run, data: &TurnCompleted) {
    let turn = end_turn(run, data.turn);
    files::ended(run, &data.report);
    spend(run, turn.node, &data.report);
    run.nodes[turn.node].completed += 1;
    let multi_turn = run.node(turn.node).1.multi_turn;
    let text: Arc<str> = data.report.output.as_str().into();
    // The object alone, whatever the model wrote around it.
    let json = data.object.map(|_| match data.object_text() {
        Some(part) if data.report.whole.is_some() || part.len() < text.len() => Arc::from(part),
        Some(_) | None => Arc::clone(&text),
    });
    let said = data.context.as_ref().map(|context| output::said(data.satisfied, context));
    let json = json.or(said.map(|said| said.to_string().into()));
    if let Some(items) = &data.work_items {
        run.nodes[turn.node].produced = Some(Arc::clone(items));
    }
    let artifacts: Arc<[Artifact]> = if data.report.artifacts.is_empty() {
        Arc::default()
    } else {
        data.report.artifacts.as_slice().into()
    };
    run.last = LastOutput {
        turn: Some(data.turn),
        of: Some((turn.visit, turn.attempt)),
        full: data.report.has_full_output(),
        item: turn.about,
        trail: turn.trail.clone(),
        verdict: data.satisfied,
        own_json: json.is_some(),
        json: json.or_else(|| run.last.json.take()),
        text: Some(text),
        artifacts,
    };
    if run.wiring().may_fail() {
        run.done.insert(turn.node, (data.turn, turn.clone()));
    }
    run.crossing = turn.trail;
    run.passed = None;
    if run.wiring().cyclic.contains(&turn.node) && !items::goes_on(run, turn.node) {
        let item = items::of_loops(run, turn.node).map(|item| item.id);
        traces::remember(&mut run.nodes[turn.node].traces, data.turn, item, &run.last);
    }
    if multi_turn {
        run.paused.insert(turn.node, run.last.clone());
    }
}

pub(super) fn turn_failed(run: &mut Run, event: &Event, data: &TurnFailed) {
    let turn = end_turn(run, data.turn);
    files::ended(run, &data.report);
    spend(run, turn.node, &data.report);
    let why = if data.repair {
        Why::Rejected(event.seq, data.message.clone())
    } else if data.session_lost {
        Why::Lost
    } else if data.retry_at.is_some() {
        Why::Passing
    } else {
        Why::Failed
    };
    if why == Why::Failed && leads_on(run, turn.node, data.code) {
        // The failure of the turn is routed now.
        run.crossing = turn.trail.clone();
        run.passed = None;
        run.last.item = turn.about;
        let message = data.message.clone();
        run.caught = Some(Caught { turn: data.turn, code: data.code, message });
    }
    run.held.hold(event.seq, Held { started: data.turn, turn, why });
    if data.repair || data.session_lost {
        run.held.release(event.seq);
    }
}

/// Whether a turn that failed so leads on instead of ending the run (D61).
fn leads_on(run: &Run, node: usize, code: ErrorCode) -> bool {
    let of_turn = match code {
        ErrorCode::UtilityFailed
        | ErrorCode::UtilityTimeout
        | ErrorCode::ContractError
        | ErrorCode::ProviderFailed => true,
        ErrorCode::ScriptExhausted
        | ErrorCode::EdgeExhausted
        | ErrorCode::NoAdvance
        | ErrorCode::GraphFailed
        | ErrorCode::Workspace
        | ErrorCode::Internal => false,
    };
    of_turn && run.node(node).1.on_failure.is_some()
}

pub(super) fn turn_interrupted(run: &mut Run, event: &Event, data: &TurnInterrupted) {
    let turn = end_turn(run, data.turn);
    files::interrupted(run, &turn, data);
    if let Some(entry) = &turn.script {
        let position = run.script.entry(entry.key.clone()).or_default();
        position.returned.insert(entry.index);
    }
    run.held.hold(event.seq, Held { started: data.turn, turn, why: Why::Interrupted });
}
