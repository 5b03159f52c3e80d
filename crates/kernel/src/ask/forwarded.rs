//! Forwarded parts of a payload, as the next agent's prompt shows them (D45).

use std::borrow::Cow;
use std::fmt::Write as _;

use materia_contract::{Behavior, FULL_STDOUT, OutputSelector, PayloadContent};
use serde_json::Value;

use crate::ask::output;
use crate::shorten::preview;
use crate::state::{LastOutput, Payload, Run};

/// The most of one input that a prompt shows, in characters. Of a longer one, a quarter of that is its beginning and
/// the rest its end (D69).
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

/// The text of a payload for a prompt. `own` says whether the reader iterates over a list: it gets the items of
/// that list one by one.
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
        let fenced = part.fenced && room > 0;
        let kept = cut(&part.body, &mut room, &part.file);
        if fenced {
            // A fence that the content cannot close.
            let fence = if kept.contains("```") { "````" } else { "```" };
            let _ = write!(text, "{fence}json\n{kept}\n{fence}");
        } else {
            text.push_str(&kept);
        }
    }
    text
}

/// A message for a prompt, cut to the length limit.
pub(crate) fn said(text: &str, file: &str) -> String {
    cut(text, &mut { INPUT_CHARS_SHOWN_MAX }, file).into_owned()
}

/// The same, where only the journal has all of it.
pub(crate) fn said_by_hand(text: &str) -> String {
    said(text, EVENTS)
}

/// As much as there is room for: all of a text, or how it begins and ends, with a line between that says what is missing.
fn cut<'text>(text: &'text str, room: &mut usize, file: &str) -> Cow<'text, str> {
    let count = text.chars().count();
    if count <= *room {
        *room -= count;
        return Cow::Borrowed(text);
    }
    let (first, last) = (*room / 4, *room - *room / 4);
    *room = 0;
    let place = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let (head, tail) = (&text[..place(first)], &text[place(count - last)..]);
    let mut kept = head.to_owned();
    let mut line = |text: &str| {
        if !kept.is_empty() && !text.is_empty() {
            kept.push('\n');
        }
        kept.push_str(text);
    };
    line(&format!(
        "… ({} characters are left out here; `{file}` in the folder of this cast has all of it) …",
        count - first - last
    ));
    line(tail);
    Cow::Owned(kept)
}

fn parts(run: &Run, payload: &Payload, own: impl Fn(&[Value]) -> bool) -> Vec<Part> {
    if let Some(mapped) = &payload.mapped {
        return mapped_parts(payload, mapped);
    }
    let texts = || Part {
        name: "message.final".to_owned(),
        body: message_of(&payload.text, payload.json.as_deref(), own),
        fenced: false,
        file: files(run, payload).0,
    };
    let structured = || {
        let value: Option<Value> =
            payload.json.as_deref().and_then(|text| serde_json::from_str(text.trim()).ok());
        value.map(|value| Part {
            name: "structured_output".to_owned(),
            body: format!("{value:#}"),
            fenced: true,
            file: files(run, payload).1,
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

/// Parts of a transformed or offered payload. Only the journal has the full text.
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
        Behavior::Utility { .. } if payload.full => (file(FULL_STDOUT), file(FULL_STDOUT)),
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
            // Without a message, the preview shows the text of the answer.
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
    fn of_what_is_long_the_beginning_and_the_end_are_shown_with_the_file_that_has_the_rest() {
        assert_eq!(said("äö", "f"), "äö");
        let text = "ä".repeat(INPUT_CHARS_SHOWN_MAX);
        assert_eq!(said(&text, "f"), text, "exactly as much as there is room for");
        let cut = said(&format!("{}b{}", "ä".repeat(9_000), "ö".repeat(24_100)), "f");
        let (head, rest) = cut.split_once('\n').unwrap();
        let (note, tail) = rest.split_once('\n').unwrap();
        assert_eq!((head, tail), (&*"ä".repeat(8_000), &*"ö".repeat(24_000)));
        let file = "`f` in the folder of this cast has all of it";
        assert_eq!(note, format!("… (1101 characters are left out here; {file}) …"));
    }

    #[test]
    fn what_one_part_takes_up_the_next_one_has_not() {
        let mut room = 10;
        assert_eq!(cut("abcd", &mut room, "f"), "abcd");
        assert_eq!(room, 6);
        // More bytes than there is room for, and fewer characters.
        assert_eq!(cut("äääää", &mut room, "f"), "äääää");
        assert_eq!(room, 1);
        assert!(cut("abc", &mut room, "f").ends_with(") …\nc"));
        assert_eq!(room, 0);
        assert!(cut("abc", &mut room, "f").starts_with("… (3 characters"));
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
