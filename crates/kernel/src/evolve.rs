use std::sync::Arc;

use materia_contract::{
    BudgetChanged, CursorAdvanced, EnvelopeKind, Event, EventBody, FollowUpCaptured, HandoffSent,
    LoopEntered, MessageReceived, ModeChanged, NodeId, OutputSelector, Pace, Parse,
    PayloadConsumed, PayloadDelivered, RouteSelected, Routing, RunCreated, RunRevived,
    StatePatched, TurnCompleted, TurnFailed, TurnInterrupted, TurnOutput, TurnStarted, TurnUsage,
    derived_id,
};

use crate::lookup::{self, Scope};
use crate::state::{
    FollowUps, Held, Iteration, LastOutput, LoopState, NodeState, Payload, Stall, Traversed, Turn,
    TurnWork, Why,
};
use crate::{Phase, Run, items, output, stall, work};

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
            for held in &mut run.held {
                held.released |= held.why == Why::Interrupted || data.recast;
            }
        }
        EventBody::RunWaiting(data) => run.phase = Phase::Waiting(data.clone()),
        EventBody::RunCompleted(_) => run.phase = Phase::Completed,
        EventBody::RunFailed(data) => run.phase = Phase::Failed(data.clone()),
        EventBody::RunAborted(_) => run.phase = Phase::Aborted,
        EventBody::TurnStarted(data) => turn_started(run, event, data),
        EventBody::TurnCompleted(data) => turn_completed(run, data),
        EventBody::TurnFailed(data) => turn_failed(run, event, data),
        EventBody::TurnInterrupted(data) => turn_interrupted(run, data),
        EventBody::RouteSelected(data) => route_selected(run, node(event), data),
        EventBody::HandoffSent(data) => handoff_sent(run, event, data),
        EventBody::PayloadDelivered(data) => delivered(run, node(event), data),
        EventBody::PayloadConsumed(data) => consumed(run, node(event), data),
        EventBody::StatePatched(data) => patched(run, data),
        EventBody::CursorAdvanced(data) => match &data.region {
            Some(region) => loop_advanced(run, region, data.index),
            None => cursor_advanced(run, node(event), data),
        },
        EventBody::LoopEntered(data) => loop_entered(run, event.seq, data),
        EventBody::FollowUpCaptured(data) => follow_up(run, event, data),
        EventBody::BudgetWarned(data) => {
            run.warned.insert(data.bound);
        }
        EventBody::BudgetChanged(data) => budget_changed(run, event, data),
        EventBody::NodeBlocked(_) => {
            let index = run.index_of(node(event));
            run.nodes[index].blocked = true;
        }
        EventBody::ModeChanged(data) => mode_changed(run, event, data),
        EventBody::RunRevived(data) => revived(run, data),
        EventBody::MessageReceived(data) => message_received(run, event, data),
        EventBody::SocketFinished(_) => {
            let index = run.index_of(node(event));
            if let Some(result) = run.paused.remove(&index) {
                run.last = result;
            }
        }
        // Facts for whoever reads the journal; what they lead to is its own event.
        EventBody::OutputFieldsIgnored(_) | EventBody::LoopExhausted(_) => {}
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
    run.loops = vec![LoopState::default(); data.plan.loops.len()];
    run.variables.clone_from(&data.state);
    run.budget = data.plan.budget;
    run.pace = data.pace;
    run.cyclic = stall::on_cycles(&data.plan);
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
            json: None,
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
    // A further attempt at a turn takes the place of the one before it.
    let before = run.held.iter().position(|held| {
        held.turn.node == index && held.turn.visit == data.visit && held.turn.attempt < data.attempt
    });
    let before = before.map(|place| run.held.remove(place));
    let repairs = before
        .map_or(0, |held| held.turn.repairs + u32::from(matches!(held.why, Why::Rejected(..))));
    let item = items::current(run, index).map(|item| item.id);
    let state = &mut run.nodes[index];
    state.visits = data.visit;
    if let Some(session) = &data.session {
        state.session = Some((session.id, item));
    }
    state.in_flight += 1;
    state.spent.turns += 1;
    run.usage.turns += 1;
    if let Some(entry) = &data.script {
        let position = run.script.entry(entry.key.clone()).or_default();
        position.returned.remove(&entry.index);
        position.next = position.next.max(entry.index + 1);
    }
    run.iterating.remove(&index);
    run.paused.remove(&index);
    let turn = Turn {
        node: index,
        visit: data.visit,
        attempt: data.attempt,
        item: data.item.clone(),
        consumed: data.consumed.clone(),
        work,
        layers: data.layers.clone(),
        session: data.session.clone(),
        repairs,
        since: event.ts,
        script: data.script.clone(),
    };
    run.turns.insert(event.seq, turn);
}

fn end_turn(run: &mut Run, started: u64) -> Turn {
    let turn = run.turns.remove(&started).expect("a turn ends once, after it has started");
    let ts = run.ts;
    let state = &mut run.nodes[turn.node];
    state.in_flight -= 1;
    state.spent.micros += ts - turn.since;
    turn
}

fn budget_changed(run: &mut Run, event: &Event, data: &BudgetChanged) {
    if let Some(budget) = data.budget {
        run.budget = budget;
        run.warned.clear();
    }
    if let (Some(node), Some(budgets)) = (&event.node, data.node_budgets) {
        let index = run.index_of(node);
        run.nodes[index].budgets = Some(budgets);
        run.nodes[index].blocked = false;
    }
}

/// Switching to AUTO begins every count of alike outputs anew (D23).
fn mode_changed(run: &mut Run, event: &Event, data: &ModeChanged) {
    run.pace = data.value;
    match (data.value, &event.node) {
        (Pace::Auto, _) => {
            run.stalled = None;
            for state in &mut run.nodes {
                state.outputs.clear();
            }
        }
        (Pace::Interactive, Some(node)) => {
            let message = stall::message(node, &data.evidence);
            run.stalled = Some(Stall { node: node.clone(), message });
        }
        (Pace::Interactive, None) => {}
    }
}

fn spend(run: &mut Run, node: usize, report: &TurnOutput) {
    let Some(TurnUsage { input_tokens, output_tokens, cost }) = report.usage else { return };
    run.usage.tokens += input_tokens.unwrap_or(0) + output_tokens.unwrap_or(0);
    if let Some(cost) = cost {
        run.usage.cost = Some(run.usage.cost.unwrap_or(0.0) + cost);
        let spent = &mut run.nodes[node].spent;
        spent.cost = Some(spent.cost.unwrap_or(0.0) + cost);
    }
}

fn turn_completed(run: &mut Run, data: &TurnCompleted) {
    let turn = end_turn(run, data.turn);
    spend(run, turn.node, &data.report);
    let item = items::current(run, turn.node).map(|item| item.id);
    let node = run.node(turn.node).1;
    let text: Arc<str> = data.report.output.as_str().into();
    // The object alone, whatever the model wrote around it.
    let json = (node.parse == Parse::Json)
        .then(|| output::object_text(node, &text).map_or_else(|| Arc::clone(&text), Arc::from));
    let multi_turn = node.multi_turn;
    if node.generator {
        let items = json.as_deref().map(output::items_in).unwrap_or_default();
        run.nodes[turn.node].produced = Some(Arc::new(items));
    }
    run.last = LastOutput {
        turn: Some(data.turn),
        item,
        verdict: data.satisfied,
        own_json: json.is_some(),
        json: json.or_else(|| run.last.json.take()),
        text: Some(text),
    };
    if run.cyclic.contains(&turn.node) {
        stall::remember(&mut run.nodes[turn.node].outputs, data.turn, &data.report.output);
    }
    if multi_turn {
        run.paused.insert(turn.node, run.last.clone());
    }
}

fn turn_failed(run: &mut Run, event: &Event, data: &TurnFailed) {
    let turn = end_turn(run, data.turn);
    spend(run, turn.node, &data.report);
    let why =
        if data.repair { Why::Rejected(event.seq, data.message.clone()) } else { Why::Failed };
    run.held.push(Held { started: data.turn, turn, why, released: data.repair });
}

fn turn_interrupted(run: &mut Run, data: &TurnInterrupted) {
    let turn = end_turn(run, data.turn);
    if let Some(entry) = &turn.script {
        let position = run.script.entry(entry.key.clone()).or_default();
        position.returned.insert(entry.index);
    }
    run.held.push(Held { started: data.turn, turn, why: Why::Interrupted, released: false });
}

fn route_selected(run: &mut Run, from: &NodeId, data: &RouteSelected) {
    let Some(edge_id) = &data.edge_id else { return };
    let from = &run.plan().nodes[from];
    // An exit of a loop is no edge of the node: it has no bound of its own.
    let edge = from.edges.iter().find(|edge| edge.id == *edge_id);
    let bounded = edge.is_some_and(|edge| edge.max_traversals.is_some());
    let first = from.routing == Routing::First;
    let target = run.plan().nodes.get_index_of(data.to.as_str());
    if bounded {
        let item = run.last.item;
        let traversed = run.traversals.entry(edge_id.clone()).or_default();
        if traversed.item != item {
            *traversed = Traversed { item, ..Traversed::default() };
        }
        traversed.count += 1;
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

/// The work moved: what was counted to catch standing still begins anew (D22).
fn loop_advanced(run: &mut Run, region: &str, index: u32) {
    let (place, _, plan) =
        run.plan().loops.get_full(region).expect("events name loops of the plan");
    let late = if run.loops[place].items.is_none() { items::list_of(run, plan) } else { None };
    let state = &mut run.loops[place];
    state.items = state.items.take().or(late);
    state.index = index;
    run.path.clear();
    run.cycles = 0;
}

fn loop_entered(run: &mut Run, seq: u64, data: &LoopEntered) {
    let (place, _, plan) =
        run.plan().loops.get_full(&data.region).expect("events name loops of the plan");
    let items = items::list_of(run, plan);
    run.loops[place] = LoopState { entry: data.entry, items, index: 0, entered_at: seq };
}

/// The newest reasons for this target and item (D25).
fn follow_up(run: &mut Run, event: &Event, data: &FollowUpCaptured) {
    let target = run.index_of(&data.target);
    let item = run.last.item;
    let follow_ups = run.follow_ups.entry(target).or_default();
    if follow_ups.item != item {
        *follow_ups = FollowUps { item, ..FollowUps::default() };
    }
    if follow_ups.reasons.len() == work::FOLLOW_UPS_MAX {
        follow_ups.reasons.pop_front();
    }
    let from = event.node.clone().expect("it names the sender");
    follow_ups.reasons.push_back((event.seq, from, data.reason.clone()));
}

fn revived(run: &mut Run, data: &RunRevived) {
    run.phase = Phase::Running;
    run.cycles = 0;
    if let Some(edge_id) = &data.edge_id {
        let bound = run.plan().nodes.values().flat_map(|node| &node.edges);
        let bound = bound.filter(|edge| edge.id == *edge_id).find_map(|edge| edge.max_traversals);
        let traversed = run.traversals.entry(edge_id.clone()).or_default();
        traversed.allowance += bound.unwrap_or(0);
    }
}

fn message_received(run: &mut Run, event: &Event, data: &MessageReceived) {
    let payload = Payload {
        id: data.payload_id,
        kind: EnvelopeKind::User,
        from: None,
        edge: None,
        ts: event.ts,
        text: data.text.as_str().into(),
        json: None,
        selector: OutputSelector::MessageFinal,
        verdict: None,
    };
    let to = run.index_of(node(event));
    run.nodes[to].queue.push_back(payload);
}

fn handoff_sent(run: &mut Run, event: &Event, data: &HandoffSent) {
    let selector = run.plan().nodes[node(event)].output_selector;
    // A node that ran nothing (an empty `foreach`) has nothing to say.
    let (text, json, verdict) = match data.turn {
        Some(_) => {
            let json = run.last.json.clone().filter(|_| run.last.own_json);
            (run.last.text.clone().unwrap_or_default(), json, run.last.verdict)
        }
        None => ("".into(), None, None),
    };
    let payload = Payload {
        id: data.payload_id,
        kind: data.kind,
        from: event.node.clone(),
        edge: Some(data.edge_id.clone()),
        ts: event.ts,
        text,
        json,
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
        run.iterating.remove(&index);
        return;
    }
    run.iterating.insert(index);
    if let Some(iteration) = &mut run.nodes[index].foreach {
        iteration.index = data.index;
        return;
    }
    let foreach = run.node(index).1.foreach.as_ref().expect("only a foreach has this cursor");
    let items = output::list_at(&Scope::of(run), &foreach.items).unwrap_or_default();
    let state = &mut run.nodes[index];
    state.iterations += 1;
    state.foreach = Some(Iteration { items: Arc::new(items), index: 0, payloads: Vec::new() });
}
