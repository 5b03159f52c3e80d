//! Tick: a further turn in the same session gets only the changes, not the first prompt again (X21).

use materia_contract::{GlobalMode, PromptLayer};
use serde::Serialize;
use serde_json::{Map, Value};

use super::layered::Layered;
use super::prompt::{REPAIR, closing, cut, follow_ups, incoming, item};
use crate::ask::items;
use crate::state::{Payload, Run};

/// The name of the layer.
const NAME: &str = "tick";

/// Names of the artifacts in the inputs, each once.
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

/// The fields of a tick, in the order in which they are written.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tick<'a> {
    kind: &'static str,
    /// The how-manieth tick of its schedule it is, where the node has one.
    #[serde(rename = "tick", skip_serializing_if = "Option::is_none")]
    number: Option<u32>,
    objective: &'a str,
    delta: Delta<'a>,
    constraints: Constraints,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Delta<'a> {
    new_artifacts: Vec<String>,
    status: Map<String, Value>,
    open_items: Vec<&'a str>,
    blocked_on: Vec<String>,
}

#[derive(Serialize)]
struct Constraints {
    mode: &'static str,
    /// `project`, or `worktree` where the run has a workspace of its own (D44).
    workspace: &'static str,
}

/// The most of a materia's prompt that an objective repeats, in characters.
const PROMPT_CHARS_MAX: usize = 2_000;

/// The most of the request, and of the work item, that it repeats.
const PART_CHARS_MAX: usize = 1_000;

/// Whether a prompt is a tick and not a first prompt.
pub(super) fn is_one(layers: &[PromptLayer]) -> bool {
    layers.first().is_some_and(|layer| layer.name == NAME)
}

/// Whether a layer of a tick is repeated in a session that already has the whole first prompt.
pub(super) fn outlives_its_session(layer: &PromptLayer) -> bool {
    layer.name == NAME || layer.name == REPAIR
}

/// Status of the newest input: its own `status` object, otherwise its verdict; and the newest verdict of all inputs.
fn status(payloads: &[Payload]) -> Map<String, Value> {
    let newest = payloads.iter().max_by_key(|payload| (payload.ts, payload.id));
    let mut status = newest.map(Payload::reported_status).unwrap_or_default();
    let verdict = payloads.iter().filter_map(|payload| payload.verdict).next_back();
    if let Some(verdict) = verdict {
        status.insert("satisfied".to_owned(), verdict.into());
    }
    status
}

/// Reasons why work here or beside it cannot go on: unmet dependencies, and questions that wait for a person.
fn blocked_on(run: &Run, index: usize) -> Vec<String> {
    let needed = run.node(index).1.depends_on.iter();
    let unmet = needed.filter(|id| run.nodes[run.index_of(id)].completed == 0);
    let mut blocked: Vec<String> =
        unmet.map(|id| format!("{id}: has not completed a turn")).collect();
    let asked = run.wiring().approved.iter().filter(|at| {
        run.nodes[**at].consent.as_ref().is_some_and(|consent| consent.answer.is_none())
    });
    blocked.extend(asked.map(|at| format!("{}: waits for approval", run.node(*at).0)));
    blocked
}

/// The objective of a tick (D68): the materia's prompt, the request and the work item, each cut on its own.
fn objective(run: &Run, index: usize, prompt: &str) -> String {
    let request = run.created().map_or("", |created| created.request.trim());
    let item = items::current(run, index).map(|item| {
        let context = item.value.get("context").and_then(Value::as_str).unwrap_or_default();
        let colon = if context.trim().is_empty() { "" } else { ": " };
        cut(&format!("{}{colon}{}", item.label, context.trim()), PART_CHARS_MAX)
    });
    let request =
        (!request.is_empty()).then(|| format!("Request: {}", cut(request, PART_CHARS_MAX)));
    let prompt = Some(cut(prompt.trim(), PROMPT_CHARS_MAX)).filter(|prompt| !prompt.is_empty());
    let parts = [prompt, request, item.map(|item| format!("Work item: {item}"))];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// The how-manieth tick of its schedule a turn of a node is for.
fn number(run: &Run, index: usize) -> Option<u32> {
    Some(run.nodes[index].ticks).filter(|ticks| *ticks > 0)
}

/// The tick that follows the first prompt of a fresh session: the changes since the previous visit,
/// and which tick it is.
pub(super) fn append(
    layered: &mut Layered,
    run: &Run,
    index: usize,
    prompt: &str,
    payloads: &[Payload],
) {
    let item = items::current(run, index).map(|item| item.id);
    if run.nodes[index].session.is_some_and(|(_, about)| about == item) {
        add(layered, run, index, prompt, payloads);
    } else if let Some(number) = number(run, index) {
        let body = format!("This is tick {number} of your schedule.");
        layered.section(NAME, "schedule", "Tick", &body);
    }
}

pub(super) fn assemble(run: &Run, index: usize, prompt: &str, payloads: &[Payload]) -> Layered {
    let mut layered = Layered::default();
    add(&mut layered, run, index, prompt, payloads);
    incoming(&mut layered, run, index, payloads);
    // A session that is kept across items learns of the new one.
    let about = run.nodes[index].session.and_then(|(_, item)| item);
    if items::current(run, index).map(|item| item.id) != about {
        item(&mut layered, run, index);
    }
    closing(&mut layered, run, index);
    layered
}

/// Adds the tick itself.
fn add(layered: &mut Layered, run: &Run, index: usize, prompt: &str, payloads: &[Payload]) {
    let (origin, reasons) = follow_ups(run, index).unwrap_or_default();
    let mode = match run.global_mode() {
        GlobalMode::Planning => "planning",
        GlobalMode::Implementation => "implementation",
    };
    let objective = objective(run, index, prompt);
    let tick = Tick {
        kind: "tick",
        number: number(run, index),
        objective: &objective,
        delta: Delta {
            new_artifacts: new_artifacts(payloads),
            status: status(payloads),
            open_items: reasons.iter().map(|reason| reason.trim_start_matches("- ")).collect(),
            blocked_on: blocked_on(run, index),
        },
        constraints: Constraints { mode, workspace: "project" },
    };
    let tick = serde_json::to_string_pretty(&tick).expect("a tick is data and always renders");
    let origin = if origin.is_empty() { "session".into() } else { origin.into() };
    let heading = "Continue from the current state of the work; do not start over.\n";
    layered.add(NAME.into(), origin, &[heading, &tick]);
}
