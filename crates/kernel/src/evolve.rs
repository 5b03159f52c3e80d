use std::sync::Arc;

use materia_contract::{
    CursorAdvanced, EnvelopeKind, Event, EventBody, HandoffSent, NodeId, OutputSelector, Parse,
    PayloadConsumed, PayloadDelivered, RouteSelected, Routing, RunCreated, StatePatched,
    TurnCompleted, TurnInterrupted, TurnOutput, TurnStarted, TurnUsage, derived_id,
};

use crate::lookup::{self, Scope};
use crate::state::{Held, Iteration, LastOutput, NodeState, Payload, Turn, TurnWork};
use crate::{Phase, Run, output};

/// Applies one fact. Total, and the only code that changes a [`Run`].
///
/// # Panics
///
/// If the event cannot stand at this place of this run's journal: a gap in the numbering, or a
/// name that is not in the plan. Readers check the hash chain first, so that only a bug can do it.
pub fn evolve(run: &mut Run, event: &Event) {
    assert_eq!(event.seq, run.seq + 1, "events come without gaps");
    run.seq = event.seq;
    run.ts = event.ts;
    match &event.body {
        EventBody::RunCreated(data) => created(run, data),
        EventBody::RunResumed(data) => {
            run.cwd.clone_from(&data.cwd);
            run.run_dir.clone_from(&data.run_dir);
            run.phase = Phase::Running;
        }
        EventBody::RunWaiting(data) => run.phase = Phase::Waiting(data.clone()),
        EventBody::RunCompleted(_) => run.phase = Phase::Completed,
        EventBody::RunFailed(data) => run.phase = Phase::Failed(data.clone()),
        EventBody::RunAborted(_) => run.phase = Phase::Aborted,
        EventBody::TurnStarted(data) => turn_started(run, event, data),
        EventBody::TurnCompleted(data) => turn_completed(run, data),
        EventBody::TurnFailed(data) => {
            end_turn(run, data.turn);
            spend(run, &data.report);
        }
        EventBody::TurnInterrupted(data) => turn_interrupted(run, data),
        EventBody::RouteSelected(data) => route_selected(run, node(event), data),
        EventBody::HandoffSent(data) => handoff_sent(run, event, data),
        EventBody::PayloadDelivered(data) => delivered(run, node(event), data),
        EventBody::PayloadConsumed(data) => consumed(run, node(event), data),
        EventBody::StatePatched(data) => patched(run, data),
        EventBody::CursorAdvanced(data) => cursor_advanced(run, node(event), data),
        // A fact for whoever reads the journal; nothing follows from it.
        EventBody::OutputFieldsIgnored(_) => {}
    }
}

fn node(event: &Event) -> &NodeId {
    event.node.as_ref().expect("events about nodes name one")
}

fn created(run: &mut Run, data: &RunCreated) {
    run.cwd.clone_from(&data.cwd);
    run.run_dir.clone_from(&data.run_dir);
    run.phase = Phase::Running;
    run.created_at = run.ts;
    run.nodes = vec![NodeState::default(); data.plan.nodes.len()];
    run.created = Some(Arc::new(data.clone()));
    let entry = run.index_of(&data.plan.entry);
    run.path.push(entry);
    let request = run.request_payload();
    run.nodes[entry].queue.push_back(request);
}

impl Run {
    /// The payload that starts a run: what the person asked for.
    pub(crate) fn request_payload(&self) -> Payload {
        let created = self.created.as_ref().expect("the run was created");
        Payload {
            id: derived_id(&self.id, 1),
            kind: EnvelopeKind::User,
            from: None,
            edge: None,
            ts: self.ts,
            text: created.request.as_str().into(),
            selector: OutputSelector::MessageFinal,
            verdict: None,
        }
    }
}

fn turn_started(run: &mut Run, event: &Event, data: &TurnStarted) {
    let index = run.index_of(node(event));
    let work = match (&data.prompt, &data.input) {
        (Some(prompt), _) => TurnWork::Prompt(prompt.as_str().into()),
        (None, Some(input)) => TurnWork::Input(Arc::clone(input)),
        (None, None) => TurnWork::Prompt("".into()),
    };
    let state = &mut run.nodes[index];
    state.visits = data.visit;
    state.in_flight += 1;
    run.usage.turns += 1;
    if let Some(entry) = &data.script {
        let position = run.script.entry(entry.key.clone()).or_default();
        position.returned.remove(&entry.index);
        position.next = position.next.max(entry.index + 1);
    }
    run.held.retain(|held| {
        !(held.turn.node == index
            && held.turn.visit == data.visit
            && held.turn.attempt < data.attempt)
    });
    let turn = Turn {
        node: index,
        visit: data.visit,
        attempt: data.attempt,
        item: data.item.clone(),
        consumed: data.consumed.clone(),
        work,
        script: data.script.clone(),
    };
    run.turns.insert(event.seq, turn);
}

fn end_turn(run: &mut Run, started: u64) -> Turn {
    let turn = run.turns.remove(&started).expect("a turn ends once, after it has started");
    run.nodes[turn.node].in_flight -= 1;
    turn
}

fn spend(run: &mut Run, report: &TurnOutput) {
    let Some(TurnUsage { input_tokens, output_tokens, cost }) = report.usage else { return };
    run.usage.tokens += input_tokens.unwrap_or(0) + output_tokens.unwrap_or(0);
    if let Some(cost) = cost {
        run.usage.cost = Some(run.usage.cost.unwrap_or(0.0) + cost);
    }
}

fn turn_completed(run: &mut Run, data: &TurnCompleted) {
    let turn = end_turn(run, data.turn);
    spend(run, &data.report);
    let text: Arc<str> = data.report.output.as_str().into();
    let json = run.node(turn.node).1.parse == Parse::Json;
    run.last = LastOutput {
        verdict: data.satisfied,
        json: if json { Some(Arc::clone(&text)) } else { run.last.json.take() },
        text: Some(text),
    };
}

fn turn_interrupted(run: &mut Run, data: &TurnInterrupted) {
    let turn = end_turn(run, data.turn);
    if let Some(entry) = &turn.script {
        let position = run.script.entry(entry.key.clone()).or_default();
        position.returned.insert(entry.index);
    }
    run.held.push(Held { started: data.turn, turn });
}

fn route_selected(run: &mut Run, from: &NodeId, data: &RouteSelected) {
    let Some(edge_id) = &data.edge_id else { return };
    let from = &run.plan().nodes[from];
    let edge = from.edges.iter().find(|edge| edge.id == *edge_id).expect("routes follow the plan");
    let bounded = edge.max_traversals.is_some();
    let first = from.routing == Routing::First;
    let target = edge.to.as_ref().map(|to| run.index_of(to));
    if bounded {
        *run.traversals.entry(edge_id.clone()).or_default() += 1;
    }
    let (true, Some(target)) = (first, target) else { return };
    match run.path.iter().position(|entered| *entered == target) {
        Some(place) => {
            run.path.truncate(place + 1);
            run.cycles += u32::from(!bounded);
        }
        None => run.path.push(target),
    }
}

fn handoff_sent(run: &mut Run, event: &Event, data: &HandoffSent) {
    let selector = run.plan().nodes[node(event)].output_selector;
    // A node that ran nothing (an empty `foreach`) has nothing to say.
    let (text, verdict) = match data.turn {
        Some(_) => (run.last.text.clone().unwrap_or_default(), run.last.verdict),
        None => ("".into(), None),
    };
    let payload = Payload {
        id: data.payload_id,
        kind: data.kind,
        from: event.node.clone(),
        edge: Some(data.edge_id.clone()),
        ts: event.ts,
        text,
        selector,
        verdict,
    };
    let to = run.index_of(&data.to);
    run.nodes[to].queue.push_back(payload);
}

fn delivered(run: &mut Run, at: &NodeId, data: &PayloadDelivered) {
    let index = run.index_of(at);
    let before = run.oldest_input(index);
    let state = &mut run.nodes[index];
    let place = state.queue.iter().position(|payload| payload.id == data.payload_id);
    let payload = place.and_then(|place| state.queue.remove(place));
    state.inputs.push_back(payload.expect("a payload is sent before it is delivered"));
    run.reindex(index, before);
}

fn consumed(run: &mut Run, at: &NodeId, data: &PayloadConsumed) {
    let index = run.index_of(at);
    let before = run.oldest_input(index);
    let state = &mut run.nodes[index];
    let place = state.inputs.iter().position(|payload| payload.id == data.payload_id);
    let payload = place.and_then(|place| state.inputs.remove(place));
    let payload = payload.expect("a payload is delivered before it is consumed");
    if let Some(iteration) = &mut state.foreach {
        iteration.payloads.push(payload);
    }
    run.reindex(index, before);
}

fn patched(run: &mut Run, data: &StatePatched) {
    for (name, value) in &data.merged {
        run.variables.insert(name.clone(), value.clone());
    }
    for (target, value) in &data.assigned {
        lookup::assign(&mut run.variables, target, value.clone());
    }
}

fn cursor_advanced(run: &mut Run, at: &NodeId, data: &CursorAdvanced) {
    let index = run.index_of(at);
    if data.exhausted {
        run.nodes[index].foreach = None;
    } else if let Some(iteration) = &mut run.nodes[index].foreach {
        iteration.index = data.index;
    } else {
        let scope = Scope::of(run);
        let foreach = run.node(index).1.foreach.as_ref().expect("only a foreach has this cursor");
        let items = output::list_at(&scope, &foreach.items).unwrap_or_default();
        run.nodes[index].foreach =
            Some(Iteration { items: Arc::new(items), index: 0, payloads: Vec::new() });
    }
}
