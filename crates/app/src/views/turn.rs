//! One turn: what it was given, what it put out, and how long that took.

use std::collections::BTreeMap;

use materia_contract::api::TurnView;
use materia_contract::{Event, EventBody, Folders, RunId};
use materia_engine::views::{TurnEnd, TurnFold};
use materia_engine::{Journal, Unfolding, blocking, load_at};
use serde_json::Value;

use super::files;
use crate::{Failure, Result};

/// The turn that began at event `seq`.
pub fn turn(journal: &dyn Journal, id: &RunId, folders: &Folders, seq: u64) -> Result<TurnView> {
    let none = || Failure::resolution(format!("cast `{id}`: no turn began at event {seq}"));
    let event = event(journal, id, seq)?.ok_or_else(none)?;
    let mut unfolding = Unfolding::behind(load_at(journal, id, seq - 1)?);
    let mut turn = began(&mut unfolding, &event, folders).ok_or_else(none)?;
    let mut left = None;
    until_end(journal, id, seq, |event, end| {
        turn.ended(event, end);
        left = end.tree_left().cloned();
    })?;
    let TurnFold { mut view, .. } = turn;
    let name = format!("sockets/{}/{}-{}.", view.socket, view.visit, view.attempt);
    view.artifacts =
        files(folders).into_iter().filter(|file| file.path.starts_with(&name)).collect();
    view.changed_files = first_tree(&event).zip(left).map(|(first, left)| *first != left);
    Ok(view)
}

/// Every turn of a cast, by the event that began it, read in one go. Files are not looked at.
pub fn turns(
    journal: &dyn Journal,
    id: &RunId,
    folders: &Folders,
) -> Result<BTreeMap<u64, TurnView>> {
    let mut unfolding = Unfolding::new(id.clone());
    let mut found: BTreeMap<u64, TurnFold> = BTreeMap::new();
    for record in blocking(journal).behind(id, 0) {
        let event = record?.event()?;
        if let Some(turn) = began(&mut unfolding, &event, folders) {
            found.insert(event.seq, turn);
        } else if let Some(end) = TurnEnd::of(&event.body)
            && let Some(turn) = found.get_mut(&end.turn)
        {
            turn.ended(&event, &end);
        }
    }
    Ok(found.into_iter().map(|(seq, turn)| (seq, turn.view)).collect())
}

/// Folds the next event; returns the turn that begins with it.
fn began(unfolding: &mut Unfolding, event: &Event, folders: &Folders) -> Option<TurnFold> {
    let input = unfolding.see(event);
    let input = input.map(|input| folders.input(&input).unwrap_or_else(|| Value::clone(&input)));
    TurnFold::began(event, unfolding.run(), input)
}

/// The trees that the turn of event `seq` began with and left.
pub fn trees(journal: &dyn Journal, id: &RunId, seq: u64) -> Result<(String, String)> {
    let refused = |what: &str| Failure::resolution(format!("cast `{id}`: {what} at event {seq}"));
    let event = event(journal, id, seq)?;
    let first = event.as_ref().and_then(first_tree);
    let first = first.ok_or_else(|| refused("no turn in a workspace began"))?.clone();
    let mut left = None;
    until_end(journal, id, seq, |_, end| left = end.tree_left().cloned())?;
    let left =
        left.ok_or_else(|| refused("no files are known of the end of the turn that began"))?;
    Ok((first, left))
}

/// The event with a number.
fn event(journal: &dyn Journal, id: &RunId, seq: u64) -> Result<Option<Event>> {
    let Some(before) = seq.checked_sub(1) else { return Ok(None) };
    let record = blocking(journal).records(id, before, 1)?.into_iter().next();
    Ok(record.map(|record| record.event()).transpose()?)
}

/// The tree that a turn begins with, if this event begins one in a workspace.
fn first_tree(event: &Event) -> Option<&String> {
    let EventBody::TurnStarted(started) = &event.body else { return None };
    started.tree.as_ref()
}

/// Reads up to the end of the turn that began at event `turn`, if it has ended.
fn until_end(
    journal: &dyn Journal,
    id: &RunId,
    turn: u64,
    seen: impl FnOnce(&Event, &TurnEnd<'_>),
) -> Result<()> {
    for record in blocking(journal).behind(id, turn) {
        let record = record?;
        if record.kind.starts_with("turn.")
            && let Ok(event) = record.event()
            && let Some(end) = TurnEnd::of(&event.body).filter(|end| end.turn == turn)
        {
            seen(&event, &end);
            break;
        }
    }
    Ok(())
}
