//! What a turn is given: an agent's prompt or a utility's input, byte for byte.

use std::fmt::Write as _;
use std::sync::Arc;

use materia_contract::{
    Behavior, Envelope, EnvelopeKind, GlobalMode, Node, OutputSelector, Parse, PayloadStatus,
};
use serde_json::{Map, Value, json};

use crate::state::{Iteration, Payload};
use crate::words::item_label;
use crate::{Run, TurnWork, foreach};

/// Assembles the work of a new turn.
pub(crate) fn assemble(run: &Run, index: usize, payloads: &[Payload]) -> TurnWork {
    let (_, node) = run.node(index);
    match &node.behavior {
        Behavior::Agent { prompt, .. } => {
            TurnWork::Prompt(agent_prompt(run, index, node, prompt, payloads).into())
        }
        Behavior::Utility { params, .. } => {
            TurnWork::Input(Arc::new(utility_input(run, index, node, params, payloads)))
        }
    }
}

/// The object that a utility reads (U6).
fn utility_input(
    run: &Run,
    index: usize,
    node: &Node,
    params: &Map<String, Value>,
    payloads: &[Payload],
) -> Value {
    let mut state = run.variables.clone();
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    put("cwd", run.cwd.as_str().into());
    put("runDir", run.run_dir.as_str().into());
    put("request", run.created().map_or("", |created| created.request.as_str()).into());
    put("castId", run.id.as_str().into());
    put("socketId", run.node(index).0.as_str().into());
    put("params", Value::Object(params.clone()));
    let item = foreach::current_item(run, index).cloned();
    let key = item.as_ref().map(|_| foreach::item_key(run, index));
    let label = item.as_ref().zip(key.as_ref()).map(|(item, key)| item_label(item, key));
    let mut cursor = Value::Null;
    let mut cursors = Map::new();
    if let (Some(foreach), Some(Iteration { items, index: at, .. })) =
        (&node.foreach, &run.nodes[index].foreach)
    {
        cursor = json!({"name": foreach.cursor, "index": at, "count": items.len()});
        cursors.insert(foreach.cursor.clone(), json!(at));
        // The alias is how the element appears among the variables, for this turn only.
        state.insert(foreach.alias.clone(), item.clone().unwrap_or_default());
    }
    put("state", Value::Object(state));
    put("item", item.unwrap_or_default());
    put("itemKey", key.map_or(Value::Null, Value::from));
    put("itemLabel", label.map_or(Value::Null, Value::from));
    put("cursor", cursor);
    put("cursors", Value::Object(cursors));
    put("globalMode", json!(run.global_mode()));
    put("inputs", Value::Array(payloads.iter().map(|payload| json!(envelope(payload))).collect()));
    object.into()
}

/// The published form of a payload.
pub(crate) fn envelope(payload: &Payload) -> Envelope {
    let (message, structured) = match payload.selector {
        OutputSelector::StructuredOutput => (false, true),
        OutputSelector::Composite => (true, true),
        OutputSelector::MessageFinal
        | OutputSelector::ArtifactsDiff
        | OutputSelector::ArtifactsLogs => (true, false),
    };
    let from_turn = payload.kind != EnvelopeKind::User;
    Envelope {
        payload_id: payload.id,
        kind: payload.kind,
        from_node_id: payload.from.clone(),
        edge_id: payload.edge.clone(),
        ts: payload.ts,
        message: message.then(|| payload.text.to_string()),
        structured: if structured { serde_json::from_str(payload.text.trim()).ok() } else { None },
        artifacts: Vec::new(),
        status: from_turn
            .then(|| PayloadStatus { ok: payload.verdict.unwrap_or(true), reason: None }),
    }
}

/// The text that an agent gets: what it is, what was asked, what came in, what to answer.
fn agent_prompt(
    run: &Run,
    index: usize,
    node: &Node,
    prompt: &str,
    payloads: &[Payload],
) -> String {
    let mut text = prompt.trim_end().to_owned();
    let request = run.created().map_or("", |created| created.request.as_str());
    section(&mut text, "Request", request);
    for payload in payloads.iter().filter(|payload| payload.kind != EnvelopeKind::User) {
        let from = payload.from.as_ref().map_or("a person", |from| from.as_str());
        section(&mut text, &format!("From {from}"), &payload.text);
    }
    if let Some(item) = foreach::current_item(run, index) {
        let key = foreach::item_key(run, index);
        let title = format!("Current item: {key} {}", item_label(item, &key));
        let body = item.get("context").and_then(Value::as_str).map(str::to_owned);
        section(&mut text, &title, &body.unwrap_or_else(|| item.to_string()));
    }
    if run.global_mode() == GlobalMode::Planning {
        let root = run.created().map_or("docs", |created| created.plan.doc_root.as_str());
        let rule = format!("The code is read-only. Write only beneath `{root}`.");
        section(&mut text, "Mode: Planning", &rule);
    }
    if node.parse == Parse::Json {
        section(&mut text, "Answer", "Answer with one JSON object and nothing around it.");
    }
    text
}

fn section(text: &mut String, title: &str, body: &str) {
    if !body.is_empty() {
        let gap = if text.is_empty() { "" } else { "\n\n" };
        let _ = write!(text, "{gap}# {title}\n{body}");
    }
}
