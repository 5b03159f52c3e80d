//! One turn in full: what it was given, what it put out, and how long that took.

use materia_contract::api::TurnView;
use materia_contract::time::{Micros, millis_between, wall_time};
use materia_contract::{Event, EventBody, Outcome};
use materia_kernel::Run;
use serde_json::Value;

use super::TurnEnd;

/// A turn, as its events are read.
#[derive(Debug)]
pub struct TurnFold {
    /// The turn as far as it is known, without its files.
    pub view: TurnView,
    /// When it began, by the wall.
    began: Micros,
}

impl TurnFold {
    /// Begins with the event that starts the turn. `input` is the whole input of a utility.
    #[must_use]
    pub fn began(event: &Event, run: &Run, input: Option<Value>) -> Option<Self> {
        let (EventBody::TurnStarted(started), Some(socket)) = (&event.body, &event.node) else {
            return None;
        };
        let node = run.created().and_then(|created| created.plan.nodes.get(socket));
        let view = TurnView {
            seq: event.seq,
            end_seq: None,
            socket: socket.clone(),
            materia: node.map(|node| node.materia.clone()).unwrap_or_default(),
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
        };
        Some(Self { view, began: event.wall })
    }

    /// Notes the event that ends the turn.
    pub fn ended(&mut self, event: &Event, end: &TurnEnd<'_>) {
        let view = &mut self.view;
        view.end_seq = Some(event.seq);
        view.ended_at = Some(wall_time(event.wall));
        view.duration_ms = Some(millis_between(self.began, event.wall));
        view.error = end.failure.map(|(_, message)| message.to_owned());
        (view.outcome, view.satisfied) = (end.outcome, end.satisfied);
        let Some(report) = end.report else { return };
        let text = report.json_text();
        let object = end.object.and_then(|(from, to)| text.get(from..to)).unwrap_or(text);
        view.parsed = serde_json::from_str(object).ok();
        view.output = Some(report.output.clone());
        view.stderr = Some(report.stderr.clone()).filter(|text| !text.is_empty());
        view.usage = report.usage;
    }
}
