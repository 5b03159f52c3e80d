//! One turn: what it was given, what it put out, and how long that took.

use std::collections::BTreeMap;

use materia_contract::api::TurnView;
use materia_contract::time::{millis_between, wall_time};
use materia_contract::{
    Event, Folders, NodeId, OfTurn, Outcome, RunId, TurnEnd, TurnOutput, TurnStarted,
};
use materia_engine::{Journal, Unfolding, blocking, load_at};
use serde_json::Value;

use super::files;
use crate::{Failure, Result};

/// The turn that began at event `seq`.
pub fn turn(journal: &dyn Journal, id: &RunId, folders: &Folders, seq: u64) -> Result<TurnView> {
    let none = || Failure::resolution(format!("cast `{id}`: no turn began at event {seq}"));
    let after = seq.checked_sub(1).ok_or_else(none)?;
    let record = blocking(journal).records(id, after, 1)?.into_iter().next().ok_or_else(none)?;
    let event = record.event()?;
    let before = load_at(journal, id, after)?;
    let materia = event.node.as_ref().and_then(|node| {
        let plan = &before.created()?.plan;
        Some(plan.nodes.get(node)?.materia.clone())
    });
    let input = Unfolding::behind(before).see(&event);
    let input = input.map(|input| folders.input(&input).unwrap_or_else(|| Value::clone(&input)));
    let (Some(OfTurn::Started(started)), Some(socket)) = (event.body.of_turn(), &event.node) else {
        return Err(none());
    };
    let mut view = began(&event, socket, started, materia, input);
    let name = format!("sockets/{socket}/{}-{}.", started.visit, started.attempt);
    view.artifacts =
        files(folders).into_iter().filter(|file| file.path.starts_with(&name)).collect();
    end(journal, id, &event, &mut view)?;
    Ok(view)
}

/// Every turn of a cast, by the event that began it, read in one go. Files are not looked at.
pub fn turns(
    journal: &dyn Journal,
    id: &RunId,
    folders: &Folders,
) -> Result<BTreeMap<u64, TurnView>> {
    let mut unfolding = Unfolding::new(id.clone());
    let mut found: BTreeMap<u64, TurnView> = BTreeMap::new();
    let mut walls: BTreeMap<u64, i64> = BTreeMap::new();
    for record in blocking(journal).behind(id, 0) {
        let event = record?.event()?;
        let input = unfolding.see(&event);
        match (event.body.of_turn(), &event.node) {
            (Some(OfTurn::Started(started)), Some(socket)) => {
                let plan = unfolding.run().created().map(|created| &created.plan);
                let node = plan.and_then(|plan| plan.nodes.get(socket));
                let materia = node.map(|node| node.materia.clone());
                let input = input
                    .map(|input| folders.input(&input).unwrap_or_else(|| Value::clone(&input)));
                found.insert(event.seq, began(&event, socket, started, materia, input));
                walls.insert(event.seq, event.wall);
            }
            (Some(of_turn), _) => {
                let Some(TurnEnd { turn, .. }) = of_turn.end() else { continue };
                if let Some((view, wall)) = found.get_mut(&turn).zip(walls.get(&turn)) {
                    note_end(&event, *wall, view);
                }
            }
            (None, _) => {}
        }
    }
    Ok(found)
}

/// A turn that has begun, and of which nothing else is known.
fn began(
    event: &Event,
    socket: &NodeId,
    started: &TurnStarted,
    materia: Option<String>,
    input: Option<Value>,
) -> TurnView {
    TurnView {
        seq: event.seq,
        end_seq: None,
        socket: socket.clone(),
        materia: materia.unwrap_or_default(),
        visit: started.visit,
        attempt: started.attempt,
        item: started.item.clone(),
        item_label: started.item_label.clone(),
        outcome: Outcome::Running,
        started_at: wall_time(event.wall),
        ended_at: None,
        duration_ms: None,
        prompt: started.prompt.clone(),
        layers: started.layers.clone(),
        input,
        output: None,
        parsed: None,
        stderr: None,
        satisfied: None,
        error: None,
        usage: None,
        provider: started.provider.clone(),
        model: started.model.clone(),
        session: started.session.clone(),
        consumed: started.consumed.clone(),
        changed_files: None,
        artifacts: Vec::new(),
    }
}

/// Looks for the end of a turn, and notes how it was.
fn end(journal: &dyn Journal, id: &RunId, began: &Event, view: &mut TurnView) -> Result<()> {
    let mut left = None;
    let seq = view.seq;
    until(journal, id, began.seq, |event| {
        let is_end = note_end(event, began.wall, view);
        if is_end {
            left = tree_left(event, seq);
        }
        is_end
    })?;
    let first = match began.body.of_turn() {
        Some(OfTurn::Started(started)) => started.tree.clone(),
        Some(_) | None => None,
    };
    view.changed_files = first.zip(left).map(|(first, left)| first != left);
    Ok(())
}

/// The trees that the turn of event `seq` began with and left.
pub fn trees(journal: &dyn Journal, id: &RunId, seq: u64) -> Result<(String, String)> {
    let refused = |what: &str| Failure::resolution(format!("cast `{id}`: {what} at event {seq}"));
    let none = || refused("no turn in a workspace began");
    let before = seq.checked_sub(1).ok_or_else(none)?;
    let record = blocking(journal).records(id, before, 1)?.into_iter().next().ok_or_else(none)?;
    let event = record.event()?;
    let Some(OfTurn::Started(TurnStarted { tree: Some(first), .. })) = event.body.of_turn() else {
        return Err(none());
    };
    let mut left = None;
    until(journal, id, seq, |event| {
        left = tree_left(event, seq);
        left.is_some()
    })?;
    let left =
        left.ok_or_else(|| refused("no files are known of the end of the turn that began"))?;
    Ok((first.clone(), left))
}

/// The tree that a turn left, if this event is its end.
fn tree_left(event: &Event, turn: u64) -> Option<String> {
    let of_turn = event.body.of_turn()?;
    let end = of_turn.end().filter(|end| end.turn == turn)?;
    match of_turn {
        OfTurn::Interrupted(data) => data.files.as_ref().map(|files| files.tree.clone()),
        OfTurn::Started(_) | OfTurn::Completed(_) | OfTurn::Failed(_) => end.report?.tree.clone(),
    }
}

/// Reads the events of turns behind one, until `is_end` says that it is the one.
fn until(
    journal: &dyn Journal,
    id: &RunId,
    after: u64,
    mut is_end: impl FnMut(&Event) -> bool,
) -> Result<()> {
    for record in blocking(journal).behind(id, after) {
        let record = record?;
        if record.kind.starts_with("turn.") && record.event().is_ok_and(|event| is_end(&event)) {
            break;
        }
    }
    Ok(())
}

/// Notes how a turn ended, if this event says so.
fn note_end(event: &Event, began: i64, view: &mut TurnView) -> bool {
    let Some(of_turn) = event.body.of_turn() else { return false };
    let Some(end) = of_turn.end().filter(|end| end.turn == view.seq) else { return false };
    view.end_seq = Some(event.seq);
    view.ended_at = Some(wall_time(event.wall));
    view.duration_ms = Some(millis_between(began, event.wall));
    view.error = end.failure.map(|(_, message)| message.to_owned());
    (view.outcome, view.satisfied) = (end.outcome, end.satisfied);
    let object = match of_turn {
        OfTurn::Completed(data) => data.object,
        OfTurn::Started(_) | OfTurn::Failed(_) | OfTurn::Interrupted(_) => None,
    };
    if let Some(report) = end.report {
        said(view, report, object);
    }
    true
}

fn said(view: &mut TurnView, report: &TurnOutput, object: Option<(usize, usize)>) {
    let text = report.json_text();
    let object = object.and_then(|(from, to)| text.get(from..to)).unwrap_or(text);
    view.parsed = serde_json::from_str(object).ok();
    view.output = Some(report.output.clone());
    view.stderr = Some(report.stderr.clone()).filter(|text| !text.is_empty());
    view.usage = report.usage;
}
