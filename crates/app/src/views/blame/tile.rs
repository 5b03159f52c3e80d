//! Finds the parts of a text that a source has word for word.

use materia_contract::body::BlameSource;
use serde_json::Value;

/// A part of a text that is shorter than this counts only if it is all that a source says, or ends its line.
const SHORT_BYTES: usize = 16;

/// A source and the texts that it holds.
pub(super) struct Candidate {
    pub(super) source: BlameSource,
    pub(super) texts: Vec<String>,
}

impl Candidate {
    pub(super) fn new(source: BlameSource, text: &str) -> Self {
        Self { source, texts: texts_of(text) }
    }

    /// The same with its texts as they stand inside a JSON string.
    pub(super) fn escaped(&self) -> Self {
        let escape = |text: &String| {
            let quoted = Value::from(text.trim()).to_string();
            quoted[1..quoted.len() - 1].to_owned()
        };
        Self { source: self.source.clone(), texts: self.texts.iter().map(escape).collect() }
    }
}

/// The forms in which a prompt may show a text: as it is, and if it is JSON, its lines and its strings.
pub(super) fn texts_of(text: &str) -> Vec<String> {
    let mut texts = vec![text.to_owned()];
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text.trim()) {
        collect(&value, &mut texts);
    }
    texts
}

/// The forms of a value.
pub(super) fn texts_of_value(value: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    collect(value, &mut texts);
    texts
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => {
            texts.push(format!("{value:#}"));
            texts.push(value.to_string());
            for value in values {
                strings(value, texts);
            }
        }
        Value::Object(fields) => {
            texts.push(format!("{value:#}"));
            texts.push(value.to_string());
            for value in fields.values() {
                strings(value, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => texts.push(value.to_string()),
    }
}

fn strings(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => {
            texts.push(value.to_string());
            for value in values {
                strings(value, texts);
            }
        }
        Value::Object(fields) => {
            texts.push(value.to_string());
            texts.push(format!("{value:#}"));
            for value in fields.values() {
                strings(value, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Cuts a text into parts, end to end: each with the candidate that has it word for word, or with none.
pub(super) fn tile(text: &str, candidates: &[Candidate]) -> Vec<(usize, Option<usize>)> {
    let mut parts: Vec<(usize, Option<usize>)> = Vec::new();
    let mut add = |length: usize, whose: Option<usize>| match parts.last_mut() {
        Some((before, None)) if whose.is_none() => *before += length,
        _ => parts.push((length, whose)),
    };
    let mut at = 0;
    while at < text.len() {
        let found = longest(text, at, candidates);
        let length = found.map_or_else(|| next_word(&text[at..]), |(length, _)| length);
        add(length, found.map(|(_, whose)| whose));
        at += length;
    }
    parts
}

/// The longest part from here that a candidate has; the first of them where several have it.
fn longest(text: &str, at: usize, candidates: &[Candidate]) -> Option<(usize, usize)> {
    let starts = |c: char| !c.is_alphanumeric();
    if !text[..at].chars().next_back().is_none_or(starts) {
        return None;
    }
    let mut best: Option<(usize, usize)> = None;
    for (place, candidate) in candidates.iter().enumerate() {
        for held in &candidate.texts {
            let length = common(&text[at..], held);
            let longer = best.is_none_or(|(before, _)| length > before);
            if longer && counts(&text[at..], length, held) {
                best = Some((length, place));
            }
        }
    }
    best
}

/// How long the beginning of a text is that another text contains.
fn common(text: &str, held: &str) -> usize {
    if held.contains(text) {
        return text.len();
    }
    // Shorter beginnings are contained if a longer one is.
    let (mut has, mut lacks) = (0, text.len());
    while lacks - has > 1 {
        let middle = text.floor_char_boundary(usize::midpoint(has, lacks));
        if middle <= has {
            let next = text.ceil_char_boundary(has + 1);
            if next < lacks && held.contains(&text[..next]) {
                has = next;
                continue;
            }
            break;
        }
        if held.contains(&text[..middle]) {
            has = middle;
        } else {
            lacks = middle;
        }
    }
    has
}

/// Whether a part is long enough to come from there and not by chance.
fn counts(text: &str, length: usize, held: &str) -> bool {
    let (part, rest) = text.split_at(length);
    let trimmed = part.trim();
    let Some(last) = trimmed.chars().next_back() else { return false };
    let ends = !last.is_alphanumeric() || rest.chars().next().is_none_or(|c| !c.is_alphanumeric());
    let whole = trimmed == held.trim();
    let cut = rest.starts_with('…');
    let ends_line = rest.is_empty() || rest.starts_with('\n') || part.ends_with('\n');
    let says = trimmed.chars().any(char::is_alphanumeric);
    says && (cut || length >= SHORT_BYTES || (ends && (whole || ends_line)))
}

/// The bytes up to the next place where a part of a source can begin.
fn next_word(text: &str) -> usize {
    let mut inside = true;
    for (at, c) in text.char_indices() {
        if at > 0 && !inside {
            return at;
        }
        inside = c.is_alphanumeric();
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use materia_contract::body::BlameKind;

    use super::*;

    fn candidate(text: &str) -> Candidate {
        let source = BlameSource {
            kind: BlameKind::Turn,
            event: None,
            turn: None,
            socket: None,
            visit: None,
            materia: None,
            file: None,
        };
        Candidate::new(source, text)
    }

    fn tiled(text: &str, held: &[&str]) -> Vec<(String, Option<usize>)> {
        let candidates: Vec<Candidate> = held.iter().map(|text| candidate(text)).collect();
        let mut at = 0;
        let parts = tile(text, &candidates);
        assert_eq!(parts.iter().map(|(length, _)| length).sum::<usize>(), text.len());
        let cut = |(length, whose): (usize, Option<usize>)| {
            at += length;
            (text[at - length..at].to_owned(), whose)
        };
        parts.into_iter().map(cut).collect()
    }

    #[test]
    fn parts_of_a_text_are_found_and_cover_it() {
        assert_eq!(tiled("hello", &["say hello twice"]), [("hello".to_owned(), Some(0))]);
        let json = r#"{"context": "mind the gap", "workItems": [{"title": "T", "context": "C"}]}"#;
        let found = tiled("mind the gap\n\n1. T: C", &[json]);
        let named: Vec<&str> = found
            .iter()
            .filter(|(_, whose)| whose.is_some())
            .map(|(text, _)| text.trim())
            .collect();
        assert_eq!(named, ["mind the gap", "T", "C"], "{found:?}");
        let found =
            tiled("ä long beginning of a te… (7 left out)", &["ä long beginning of a text"]);
        assert_eq!(found[0], ("ä long beginning of a te".to_owned(), Some(0)));
        assert_eq!(found[1].1, None);
        assert_eq!(tiled("", &["x"]), []);
        assert_eq!(tiled("Nothing of it", &[""]), [("Nothing of it".to_owned(), None)]);
    }
}
