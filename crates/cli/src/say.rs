//! Events, times and verdicts in words.

use materia_contract::time::Micros;
use materia_contract::{CastReport, CastStatus, Event, EventBody, InterruptReason};

use crate::clean::one_line;

/// How much of a text is shown on a line of its own.
const TEXT_CHARS_MAX: usize = 100;

/// A span of time for people.
pub(crate) fn duration(micros: Micros) -> String {
    let millis = micros.max(0) / 1_000;
    let (seconds, minutes) = (millis / 1_000, millis / 60_000);
    match minutes {
        0 if seconds < 10 => format!("{}.{:03} s", seconds, millis % 1_000),
        0 => format!("{}.{} s", seconds, millis % 1_000 / 100),
        1..60 => format!("{minutes} min {} s", seconds % 60),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// What an event says, on one line, without its node.
pub(crate) fn event(event: &Event) -> String {
    match &event.body {
        EventBody::RunCreated(data) => {
            format!("`{}` begins: {}", one(&data.plan.loadout), one(&data.request))
        }
        EventBody::RunResumed(_) => "goes on".to_owned(),
        EventBody::RunWaiting(data) => format!("waits: {}", one(&data.message)),
        EventBody::RunCompleted(_) => "completed".to_owned(),
        EventBody::RunFailed(data) => {
            format!("failed: {}: {}", data.code.word(), one(&data.message))
        }
        EventBody::RunAborted(data) => format!("aborted: {}", one(&data.reason)),
        EventBody::TurnStarted(data) => {
            let item = data.item.as_deref().map(|item| format!(", {}", one(item)));
            let tried = if data.attempt > 1 {
                format!(", attempt {}", data.attempt)
            } else {
                String::new()
            };
            format!("started (visit {}{tried}{})", data.visit, item.unwrap_or_default())
        }
        EventBody::TurnCompleted(data) => match data.satisfied {
            Some(satisfied) => format!("completed, satisfied: {satisfied}"),
            None => "completed".to_owned(),
        },
        EventBody::TurnFailed(data) => {
            format!("failed: {}: {}", data.code.word(), one(&data.message))
        }
        EventBody::TurnInterrupted(data) => format!("interrupted: {}", interrupted(data.reason)),
        EventBody::RouteSelected(data) => match &data.edge_id {
            Some(edge) => format!("takes `{}` to {}", one(edge.as_str()), one(&data.to)),
            None => format!("matches no edge, to {}", one(&data.to)),
        },
        EventBody::HandoffSent(data) => {
            format!("sends to {}: {}", one(data.to.as_str()), one(&data.preview))
        }
        EventBody::PayloadDelivered(data) => match &data.edge_id {
            Some(edge) => format!("gets a payload over `{}`", one(edge.as_str())),
            None => "gets the request".to_owned(),
        },
        EventBody::PayloadConsumed(data) => format!("takes payload {}", data.payload_id),
        EventBody::StatePatched(data) => {
            let names: Vec<_> =
                data.merged.keys().chain(data.assigned.keys()).map(String::as_str).collect();
            format!("sets {}", one(&names.join(", ")))
        }
        EventBody::OutputFieldsIgnored(data) => {
            format!("ignores {}: {}", one(&data.fields.join(", ")), one(&data.reason))
        }
        EventBody::CursorAdvanced(data) => {
            format!("moves `{}` to {} of {}", one(&data.cursor), data.index, data.count)
        }
    }
}

fn one(text: &str) -> String {
    one_line(text, TEXT_CHARS_MAX)
}

fn interrupted(reason: InterruptReason) -> &'static str {
    match reason {
        InterruptReason::Crash => "its process went away",
        InterruptReason::Stopped => "the cast was stopped",
        InterruptReason::Aborted => "the cast was aborted",
        InterruptReason::RunFailed => "another turn made the cast fail",
        InterruptReason::RunFor => "the simulation ended",
    }
}

/// How a cast stands, in one line, and what can be done about it.
pub(crate) fn summary(report: &CastReport) -> String {
    let id = &report.cast_id;
    let turns = match report.usage.turns {
        1 => "1 turn".to_owned(),
        turns => format!("{turns} turns"),
    };
    match report.status {
        CastStatus::Completed => format!("{id} completed ({turns})"),
        CastStatus::Failed => match &report.error {
            Some(error) => format!(
                "{id} failed{}: {}: {}",
                error.socket.as_ref().map(|node| format!(" at {node}")).unwrap_or_default(),
                error.code.word(),
                crate::clean::clean(&error.message)
            ),
            None => format!("{id} failed"),
        },
        CastStatus::Waiting => match &report.waiting {
            Some(waiting) => format!("{id} waits: {}", one_line(&waiting.message, 400)),
            None => format!("{id} waits"),
        },
        CastStatus::Aborted => format!("{id} was aborted ({turns})"),
        CastStatus::Running => format!("{id} is under way ({turns})"),
    }
}

/// What a person may want to do next.
pub(crate) fn next(report: &CastReport) -> Vec<String> {
    let about = |name: &str| format!("{name} {}", report.cast_id);
    match report.status {
        CastStatus::Completed | CastStatus::Failed | CastStatus::Aborted => {
            vec![about("events"), about("replay")]
        }
        CastStatus::Waiting | CastStatus::Running => {
            vec![about("resume"), about("abort"), about("events")]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        assert_eq!(duration(-5), "0.000 s");
        assert_eq!(duration(1_234_567), "1.234 s");
        assert_eq!(duration(12_345_678), "12.3 s");
        assert_eq!(duration(125_000_000), "2 min 5 s");
        assert_eq!(duration(3_725_000_000), "1 h 2 min");
    }
}
