//! What the next agent sees of a payload: what its sender's selector forwarded (D45).

use std::fmt::Write as _;

use materia_contract::{Behavior, OutputSelector, PayloadContent};
use serde_json::Value;

use crate::ask::output;
use crate::state::{LastOutput, Payload, Run};
use crate::words::preview;

/// The most of one input that a prompt shows, in characters.
pub(crate) const INPUT_CHARS_SHOWN_MAX: usize = 32_000;

/// The file in the folder of the cast that has every event.
const EVENTS: &str = "events.jsonl";

/// One thing that was forwarded.
struct Part {
    name: String,
    body: String,
    /// Whether it is JSON.
    fenced: bool,
    /// The file in the folder of the cast that has all of it.
    file: String,
}

/// What a prompt shows of a payload. `own` says whether a list is the one that the reader iterates: its
/// items come to it one by one.
pub(crate) fn shown(run: &Run, payload: &Payload, own: impl Fn(&[Value]) -> bool) -> String {
    let named = payload.selector == OutputSelector::Composite && payload.mapped.is_none();
    let mut parts = parts(run, payload, own);
    parts.retain(|part| !part.body.trim().is_empty());
    let named = named || parts.len() > 1;
    let mut room = INPUT_CHARS_SHOWN_MAX;
    let mut text = String::new();
    for part in parts {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        if named {
            let _ = writeln!(text, "## {}", part.name);
        }
        let (kept, note) = cut(&part.body, &mut room, &part.file);
        match (part.fenced, kept.is_empty()) {
            (_, true) => {}
            (true, false) => {
                // A fence that the content cannot close.
                let fence = if kept.contains("```") { "````" } else { "```" };
                let _ = write!(text, "{fence}json\n{kept}\n{fence}");
            }
            (false, false) => text.push_str(kept),
        }
        if let Some(note) = note {
            if !kept.is_empty() {
                text.push('\n');
            }
            text.push_str(&note);
        }
    }
    text
}

/// What somebody said, as far as a prompt shows it.
pub(crate) fn said(text: &str, file: &str) -> String {
    let (kept, note) = cut(text, &mut { INPUT_CHARS_SHOWN_MAX }, file);
    note.map_or_else(|| kept.to_owned(), |note| format!("{kept}\n{note}"))
}

/// The same, where only the journal has all of it.
pub(crate) fn said_by_hand(text: &str) -> String {
    said(text, EVENTS)
}

/// As much as there is room for, and what to say where that is not all.
fn cut<'text>(text: &'text str, room: &mut usize, file: &str) -> (&'text str, Option<String>) {
    // Bytes are never fewer than characters.
    if text.len() <= *room {
        *room -= text.chars().count();
        return (text, None);
    }
    let Some((end, _)) = text.char_indices().nth(*room) else {
        *room -= text.chars().count();
        return (text, None);
    };
    *room = 0;
    let left = text[end..].chars().count();
    let note = format!(
        "… ({left} more characters are left out here; `{file}` in the folder of this cast has all of it)"
    );
    (&text[..end], Some(note))
}

fn parts(run: &Run, payload: &Payload, own: impl Fn(&[Value]) -> bool) -> Vec<Part> {
    let (message, object) = files(run, payload);
    if let Some(mapped) = &payload.mapped {
        return mapped_parts(payload, mapped);
    }
    let texts = || Part {
        name: "message.final".to_owned(),
        body: message_of(&payload.text, payload.json.as_deref(), own),
        fenced: false,
        file: message,
    };
    let structured = || {
        let value: Option<Value> =
            payload.json.as_deref().and_then(|text| serde_json::from_str(text.trim()).ok());
        value.map(|value| Part {
            name: "structured_output".to_owned(),
            body: format!("{value:#}"),
            fenced: true,
            file: object,
        })
    };
    let artifacts = || {
        payload.artifacts.iter().map(|artifact| Part {
            name: format!("artifacts:{}", artifact.kind),
            body: artifact.content.trim_end().to_owned(),
            fenced: false,
            file: artifact.name.clone(),
        })
    };
    match payload.selector {
        OutputSelector::MessageFinal => vec![texts()],
        OutputSelector::StructuredOutput => structured().into_iter().collect(),
        OutputSelector::ArtifactsDiff | OutputSelector::ArtifactsLogs => artifacts().collect(),
        OutputSelector::Composite => {
            let mut all = vec![texts()];
            all.extend(structured());
            all.extend(artifacts());
            all
        }
    }
}

/// What a transform made, or somebody offered: only the journal has all of it.
fn mapped_parts(payload: &Payload, mapped: &PayloadContent) -> Vec<Part> {
    let part = |name: &str, body: String, fenced| Part {
        name: name.to_owned(),
        body,
        fenced,
        file: EVENTS.to_owned(),
    };
    let mut parts = Vec::new();
    parts.extend(mapped.message.clone().map(|text| part("message.final", text, false)));
    let value = mapped.structured.as_ref();
    parts.extend(value.map(|value| part("structured_output", format!("{value:#}"), true)));
    for reference in &mapped.artifacts {
        let held = payload.artifacts.iter().find(|one| one.hash == reference.hash);
        let body = held.map_or_else(|| reference.name.clone(), |one| one.content.clone());
        let name = format!("artifacts:{}", reference.kind);
        parts.push(Part { file: reference.name.clone(), ..part(&name, body, false) });
    }
    parts
}

/// The files that have the text and the object of what a payload carries.
fn files(run: &Run, payload: &Payload) -> (String, String) {
    let node = payload.from.as_ref().and_then(|from| Some((from, run.plan().nodes.get(from)?)));
    let (Some((from, node)), Some((visit, attempt))) = (node, payload.of) else {
        return (EVENTS.to_owned(), EVENTS.to_owned());
    };
    let file = |extension| format!("sockets/{from}/{visit}-{attempt}.{extension}");
    match node.behavior {
        Behavior::Agent { .. } => (file("output.txt"), file("output.json")),
        Behavior::Utility { .. } => (file("stdout"), file("stdout")),
    }
}

/// The text of an output; of a JSON answer its `context`, then its work items.
fn message_of(text: &str, json: Option<&str>, own: impl Fn(&[Value]) -> bool) -> String {
    let Some(json) = json else { return text.to_owned() };
    let mut body = output::context_in(json).unwrap_or_default();
    let items = output::items_in(json);
    if !items.is_empty() && !own(&items) {
        if !body.trim().is_empty() {
            body.push_str("\n\n");
        }
        body.push_str(&listed(&items));
    }
    body
}

fn listed(items: &[Value]) -> String {
    let lines = items.iter().enumerate().map(|(place, item)| {
        let field = |name| item.get(name).and_then(Value::as_str).unwrap_or_default();
        format!("{}. {}: {}", place + 1, field("title"), field("context"))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// How what was forwarded of the last output begins.
pub(crate) fn preview_of(last: &LastOutput, selector: OutputSelector) -> String {
    let text = last.text.as_deref().unwrap_or_default();
    let json = last.json.as_deref().filter(|_| last.own_json);
    let artifact = |kind: &str| {
        let found = last.artifacts.iter().find(|artifact| artifact.kind == kind);
        found.map_or("", |artifact| artifact.content.as_str())
    };
    match (selector, json) {
        (OutputSelector::MessageFinal | OutputSelector::Composite, None) => preview(text),
        (OutputSelector::MessageFinal | OutputSelector::Composite, Some(_)) => {
            let message = message_of(text, json, |_| false);
            // An answer with neither is told by its text.
            preview(if message.trim().is_empty() { text } else { &message })
        }
        (OutputSelector::StructuredOutput, json) => preview(json.unwrap_or_default()),
        (OutputSelector::ArtifactsDiff, _) => preview(artifact("diff")),
        (OutputSelector::ArtifactsLogs, _) => preview(artifact("logs")),
    }
}

/// How a content begins: its message, else its value.
pub(crate) fn preview_of_content(content: &PayloadContent) -> String {
    let message = content.message.as_deref().filter(|text| !text.trim().is_empty());
    let value = || content.structured.as_ref().map(ToString::to_string);
    preview(&message.map(str::to_owned).or_else(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_is_cut_between_characters_with_the_file_that_has_the_rest() {
        assert_eq!(said("äö", "f"), "äö");
        let text = "ä".repeat(INPUT_CHARS_SHOWN_MAX);
        assert_eq!(said(&text, "f"), text, "exactly as much as there is room for");
        let cut = said(&format!("{text}bcd"), "f");
        assert_eq!(cut.chars().filter(|c| *c == 'ä').count(), INPUT_CHARS_SHOWN_MAX);
        assert!(cut.contains("(3 more characters") && cut.contains("`f`"), "{}", &cut[64_000..]);
    }

    #[test]
    fn what_one_part_takes_up_the_next_one_has_not() {
        let mut room = 10;
        assert_eq!(cut("abcd", &mut room, "f"), ("abcd", None));
        assert_eq!(room, 6);
        // More bytes than there is room for, and fewer characters.
        assert_eq!(cut("ääää", &mut room, "f"), ("ääää", None));
        assert_eq!(room, 2);
        assert_eq!(cut("abc", &mut room, "f").0, "ab");
        assert_eq!(room, 0);
    }

    #[test]
    fn of_a_json_answer_the_context_and_the_items_are_told() {
        let json = r#"{"context": "mind", "workItems": [{"title": "T", "context": "C"}], "x": 1}"#;
        assert_eq!(message_of(json, Some(json), |_| false), "mind\n\n1. T: C");
        assert_eq!(message_of(json, Some(json), |_| true), "mind");
        assert_eq!(message_of("plain", None, |_| true), "plain");
        let bare = r#"{"workItems": [{"title": "T", "context": "C"}]}"#;
        assert_eq!(message_of(bare, Some(bare), |_| false), "1. T: C");
    }
}
