//! One turn: what it was given, what it put out, and how long that took.

use materia_contract::api::{FileItem, TurnView};
use materia_contract::time::wall_time;
use materia_contract::{ErrorCode, Event, Folders, OfTurn, Outcome, RunId, TurnOutput};
use materia_engine::{Journal, PAGE_BYTES, Unfolding, blocking, load_at};
use serde_json::Value;

use super::files;
use crate::Failure;

/// The turn that began at event `seq`.
pub fn turn(
    journal: &dyn Journal,
    id: &RunId,
    folders: &Folders,
    seq: u64,
) -> Result<TurnView, Failure> {
    let none = || Failure::resolution(format!("cast `{id}`: no turn began at event {seq}"));
    let before = load_at(journal, id, seq.checked_sub(1).ok_or_else(none)?)?;
    let record = blocking(journal).records(id, seq - 1, 1)?.into_iter().next().ok_or_else(none)?;
    let event = record.event().map_err(|error| Failure::storage(error.to_string()))?;
    let materia = event.node.as_ref().and_then(|node| {
        let plan = &before.created()?.plan;
        Some(plan.nodes.get(node)?.materia.clone())
    });
    let input = Unfolding::behind(before).see(&record, &event);
    let input = input.map(|input| folders.input(&input).unwrap_or_else(|| Value::clone(&input)));
    let (Some(OfTurn::Started(started)), Some(socket)) = (event.body.of_turn(), &event.node) else {
        return Err(none());
    };
    let name = format!("sockets/{socket}/{}-{}.", started.visit, started.attempt);
    let artifacts: Vec<FileItem> =
        files(folders).into_iter().filter(|file| file.path.starts_with(&name)).collect();
    let mut view = TurnView {
        seq,
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
        artifacts,
    };
    end(journal, id, &event, &mut view)?;
    Ok(view)
}

/// Looks for the end of a turn, and notes how it was.
fn end(
    journal: &dyn Journal,
    id: &RunId,
    began: &Event,
    view: &mut TurnView,
) -> Result<(), Failure> {
    let mut after = began.seq;
    loop {
        let page = blocking(journal).read(id, after, PAGE_BYTES)?;
        for record in &page.records {
            after = record.seq;
            if !record.kind.starts_with("turn.") {
                continue;
            }
            let Ok(event) = record.event() else { continue };
            if ended(&event, view) {
                view.end_seq = Some(event.seq);
                view.ended_at = Some(wall_time(event.wall));
                let took = event.wall.saturating_sub(began.wall) / 1_000;
                view.duration_ms = u64::try_from(took).ok();
                return Ok(());
            }
        }
        if page.end {
            return Ok(());
        }
    }
}

fn ended(event: &Event, view: &mut TurnView) -> bool {
    match event.body.of_turn() {
        Some(OfTurn::Completed(data)) if data.turn == view.seq => {
            view.outcome = Outcome::Completed;
            view.satisfied = data.satisfied;
            said(view, &data.report, data.object);
        }
        Some(OfTurn::Failed(data)) if data.turn == view.seq => {
            let broken = data.code == ErrorCode::ContractError;
            view.outcome = if broken { Outcome::Rejected } else { Outcome::Failed };
            view.error = Some(data.message.clone());
            said(view, &data.report, None);
        }
        Some(OfTurn::Interrupted(data)) if data.turn == view.seq => {
            view.outcome = Outcome::Interrupted;
        }
        Some(_) | None => return false,
    }
    true
}

fn said(view: &mut TurnView, report: &TurnOutput, object: Option<(usize, usize)>) {
    let text = report.output.as_str();
    let object = object.and_then(|(from, to)| text.get(from..to)).unwrap_or(text);
    view.parsed = serde_json::from_str(object).ok();
    view.output = Some(report.output.clone());
    view.stderr = Some(report.stderr.clone()).filter(|text| !text.is_empty());
    view.usage = report.usage;
}
