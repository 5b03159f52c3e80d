//! An agent's prompt, made of layers that each record their origin.

use std::fmt::Write as _;

use materia_contract::{
    EnvelopeKind, GlobalMode, Parse, PromptLayer, ToolsDoc, VerdictFrom, end_of,
};
use serde_json::Value;

use super::layered::Layered;
use super::{FOLLOW_UP_CHARS_MAX, FOLLOW_UP_CHARS_SHOWN_MAX, requires};
use crate::ask::{agent_request, forwarded, items, output};
use crate::state::{Payload, Run};

/// The layer with what was wrong with an answer.
pub(super) const REPAIR: &str = "repair";

/// The first prompt of a node for an item.
pub(super) fn assemble(
    run: &Run,
    index: usize,
    prompt: &str,
    origin: &str,
    payloads: &[Payload],
) -> Layered {
    let mut layered = Layered::default();
    if !prompt.trim().is_empty() {
        layered.add("materia".into(), origin.to_owned().into(), &[prompt.trim_end()]);
    }
    let request = run.created().map_or("", |created| created.request.as_str());
    let request = forwarded::said(request, "manifest.json");
    layered.section("request", "event 1", "Request", &request);
    requires::render(&mut layered, run, index, payloads);
    incoming(&mut layered, run, index, payloads);
    item(&mut layered, run, index);
    if let Some((origin, reasons)) = follow_ups(run, index) {
        layered.section("followUp", origin, "Sent back for this reason", &reasons.join("\n"));
    }
    closing(&mut layered, run, index);
    layered
}

/// Layers for the inputs: the forwarded parts of outputs, and messages of people.
pub(super) fn incoming(layered: &mut Layered, run: &Run, index: usize, payloads: &[Payload]) {
    for payload in payloads {
        let origin = format!("payload {}", payload.id);
        let Some(from) = &payload.from else {
            // The request has a layer of its own; anything else that a person says is new.
            if payload.kind == EnvelopeKind::User && payload.id != run.uuid(1) {
                let body = forwarded::said_by_hand(&payload.text);
                layered.section("instruction", origin, "Instruction", &body);
            }
            continue;
        };
        let body = forwarded::shown(run, payload, |list| iterates(run, index, list));
        layered.section("incoming", origin, &format!("From {from}"), &body);
    }
}

/// Whether a node gets the items of a list one by one.
fn iterates(run: &Run, index: usize, list: &[Value]) -> bool {
    let regions = run.node(index).1.loops.iter();
    let mut lists = regions.filter_map(|region| {
        let place = run.plan().loops.get_index_of(region)?;
        run.loops[place].items.as_deref()
    });
    let elements = run.nodes[index].foreach.as_ref().map(|iteration| &*iteration.items);
    lists.any(|items| items == list) || elements.is_some_and(|items| items == list)
}

pub(super) fn item(layered: &mut Layered, run: &Run, index: usize) {
    let Some(item) = items::current(run, index) else { return };
    let heading = format!("Work item {} of {}: {}", item.key, item.count, item.label);
    let context = item.value.get("context").and_then(Value::as_str).map(str::to_owned);
    let body = context.unwrap_or_else(|| item.value.to_string());
    layered.section("item", item.origin, &heading, &body);
}

/// The reasons for which this item was sent back to this node, newest kept, with their events.
pub(super) fn follow_ups(run: &Run, index: usize) -> Option<(String, Vec<String>)> {
    let follow_ups = run.follow_ups.get(&index)?;
    let item = items::of_loops(run, index).map(|item| item.id);
    if follow_ups.reasons.is_empty() || follow_ups.item != item {
        return None;
    }
    let mut room = FOLLOW_UP_CHARS_SHOWN_MAX;
    let mut lines = Vec::new();
    let mut events = Vec::new();
    for (seq, from, reason) in follow_ups.reasons.iter().rev() {
        let line = cut(&format!("- {from}: {reason}"), room);
        room -= line.chars().count().min(room);
        if line.is_empty() {
            break;
        }
        lines.push(line);
        events.push(format!("event {seq}"));
    }
    lines.reverse();
    events.reverse();
    Some((events.join(", "), lines))
}

/// The mode (X19), and all that this node must answer with (H8, D47): that and nothing else.
pub(super) fn closing(layered: &mut Layered, run: &Run, index: usize) {
    let heading = match run.global_mode() {
        GlobalMode::Planning => "Mode: Planning",
        GlobalMode::Implementation => "Mode: Implementation",
    };
    layered.section("mode", "global mode", heading, &what_may_change(run, index));
    let (_, node) = run.node(index);
    if node.parse == Parse::Text {
        return;
    }
    let (needs, assigned) = (output::needs(node), output::assigned_paths(node));
    let reads = |field: &str| assigned.iter().any(|(name, _)| *name == field);
    let mut body = "Answer with one JSON object and nothing around it.".to_owned();
    if needs.work_items || reads("workItems") {
        body.push_str(
            "\n- `workItems`: an array, in the order of the work; each item is {\"title\": string, \"context\": string}.",
        );
    }
    let verdict = needs.verdict || reads("satisfied");
    if verdict {
        body.push_str("\n- `satisfied`: true or false.");
    }
    body.push_str(match (reads("context"), verdict) {
        (true, true) => {
            "\n- `context`: a string, always; where `satisfied` is false, it says what must change."
        }
        (true, false) => "\n- `context`: a string, always, for whoever works on it next.",
        (false, true) => "\n- `context`: where it is false, a string that says what must change.",
        (false, false) => {
            "\n- `context`: a string for whoever works on it next, if there is something to say."
        }
    });
    for (field, paths) in assigned.iter().filter(|(field, _)| !output::is_of_handoff(field)) {
        let _ = write!(body, "\n- `{field}`: this graph reads {}.", paths.join(", "));
    }
    layered.section("output", "contract", "Answer", &body);
}

/// A sentence that says what a turn may write under its mode, tools and policy.
fn what_may_change(run: &Run, index: usize) -> String {
    let tools = agent_request::of(run, index).tools;
    if !tools.as_ref().is_none_or(ToolsDoc::may_write) {
        return "The code is read-only. Write nothing.".to_owned();
    }
    if run.global_mode() == GlobalMode::Planning {
        let root = run.created().map_or("docs", |created| created.plan.doc_root.as_str());
        return format!("The code is read-only. Write only beneath `{root}`.");
    }
    let policy = run.node(index).1.policy.as_ref();
    match policy.and_then(|policy| policy.write.as_deref()) {
        None => "The code may be changed.".to_owned(),
        Some([]) => "The code is read-only. Write nothing.".to_owned(),
        Some(paths) => format!("Write only beneath `{}`.", paths.join("`, `")),
    }
}

/// The same work once more, with what was wrong with the last answer.
pub(super) fn with_faults(
    text: String,
    layers: Vec<PromptLayer>,
    event: u64,
    faults: &str,
) -> (String, Vec<PromptLayer>) {
    let mut layered = Layered { text, layers };
    let body = format!("{faults}\nAnswer again, with everything that was asked for.");
    let heading = "Your last answer could not be used";
    layered.section(REPAIR, format!("event {event}"), heading, &body);
    (layered.text, layered.layers)
}

/// Why the last turn, of that node, was not satisfied: its `context`, or the beginning of its output (H13). Where the
/// exit code of a command says it, the end of the `context` (D69).
pub(crate) fn follow_up_reason(run: &Run, index: usize) -> String {
    let context = run.last.json.as_deref().and_then(output::context_in);
    let reason = context.filter(|context| !context.trim().is_empty());
    let reason = reason.unwrap_or_else(|| run.last.text.as_deref().unwrap_or_default().to_owned());
    short(run, index, &reason)
}

/// The reason that the last turn of a node gave: its `context`, or the beginning of its output.
pub(crate) fn own_reason(run: &Run, index: usize) -> String {
    let text = run.last.text.as_deref().unwrap_or_default();
    let object = run.last.json.as_deref().filter(|_| run.last.own_json).unwrap_or(text);
    let context = output::context_in(object).filter(|context| !context.trim().is_empty());
    short(run, index, context.as_deref().unwrap_or(text))
}

/// A node's answer, cut to the length of a reason: to its end for a command whose exit code is the verdict.
fn short(run: &Run, index: usize, said: &str) -> String {
    match run.node(index).1.verdict {
        Some(VerdictFrom::ExitCode) => end_of(said.trim(), FOLLOW_UP_CHARS_MAX),
        None => reason_of(said),
    }
}

/// A reason, as long as one may be.
pub(crate) fn reason_of(text: &str) -> String {
    cut(text.trim(), FOLLOW_UP_CHARS_MAX)
}

/// At most `chars` characters, with an ellipsis where something was left out.
pub(super) fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some(_) if chars == 0 => String::new(),
        Some(_) => {
            let end = text.char_indices().nth(chars - 1).map_or(0, |(place, _)| place);
            format!("{}…", &text[..end])
        }
    }
}
