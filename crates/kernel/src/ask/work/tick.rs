//! A further turn of the same session: not the first prompt again, but what has changed (X21).

use materia_contract::GlobalMode;
use serde::Serialize;

use super::prompt::{Layered, closing, follow_ups, incoming, item};
use crate::ask::items;
use crate::state::{Payload, Run};

/// What the inputs bring besides their text, each named once.
fn new_artifacts(payloads: &[Payload]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for artifact in payloads.iter().flat_map(Payload::artifacts_sent) {
        let name = format!("artifact://{}/{}", artifact.kind, artifact.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// What a tick says, in the order in which it says it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tick<'a> {
    kind: &'static str,
    objective: &'a str,
    delta: Delta<'a>,
    constraints: Constraints,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Delta<'a> {
    new_artifacts: Vec<String>,
    status: Status,
    open_items: Vec<&'a str>,
    blocked_on: [(); 0],
}

#[derive(Serialize)]
struct Status {
    #[serde(skip_serializing_if = "Option::is_none")]
    satisfied: Option<bool>,
}

#[derive(Serialize)]
struct Constraints {
    mode: &'static str,
    /// `project`, or `worktree` where the run has a workspace of its own (D44).
    workspace: &'static str,
}

pub(super) fn assemble(run: &Run, index: usize, payloads: &[Payload]) -> Layered {
    let mut layered = Layered::default();
    let (origin, reasons) = follow_ups(run, index).unwrap_or_default();
    let verdict = payloads.iter().filter_map(|payload| payload.verdict).next_back();
    let request = run.created().map_or("", |created| created.request.as_str());
    let objective = items::current(run, index)
        .map_or_else(|| request.to_owned(), |item| format!("{} {}", item.key, item.label));
    let mode = match run.global_mode() {
        GlobalMode::Planning => "planning",
        GlobalMode::Implementation => "implementation",
    };
    let tick = Tick {
        kind: "tick",
        objective: &objective,
        delta: Delta {
            new_artifacts: new_artifacts(payloads),
            status: Status { satisfied: verdict },
            open_items: reasons.iter().map(|reason| reason.trim_start_matches("- ")).collect(),
            blocked_on: [],
        },
        constraints: Constraints { mode, workspace: "project" },
    };
    let text = format!(
        "Continue from the current state of the work; do not start over.\n{}",
        serde_json::to_string_pretty(&tick).expect("a tick is data and always renders")
    );
    let origin = if origin.is_empty() { "session".to_owned() } else { origin };
    layered.add("tick", origin, &text);
    incoming(&mut layered, run, index, payloads);
    // A session that is kept across items learns of the new one.
    let about = run.nodes[index].session.and_then(|(_, item)| item);
    if items::current(run, index).map(|item| item.id) != about {
        item(&mut layered, run, index);
    }
    closing(&mut layered, run, index);
    layered
}
