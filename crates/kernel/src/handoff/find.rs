//! Finds the object in an agent's output, by one rule in three steps (D26).

use serde_json::{Map, Value};

/// The object of an answer, or why there is none.
///
/// 1. The whole trimmed text is an object.
/// 2. Else exactly one fenced block holds one.
/// 3. Else the last top-level object in the text that `satisfies` the contract.
///
/// The result of the first two steps is the answer even if it breaks the contract. A brace or a fence inside a JSON
/// string does no harm: JSON is parsed, and a fence counts only at the start of a line.
pub(crate) fn find(
    text: &str,
    satisfies: impl Fn(&Map<String, Value>) -> bool,
) -> Result<Found, String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err("the answer is empty".to_owned());
    }
    let whole_error = match serde_json::from_str::<Value>(trimmed) {
        Ok(Value::Object(object)) => return Ok(Found { object, place: place_of(text, trimmed) }),
        Ok(_) => {
            looked_at(|| trimmed.len());
            "it is JSON, but not an object".to_owned()
        }
        Err(error) => {
            looked_at(|| read_before(trimmed, &error));
            error.to_string()
        }
    };
    let as_object = |block: &str| {
        looked_at(|| block.len());
        let object = serde_json::from_str(block.trim()).ok()?;
        Some(Found { object, place: place_of(text, block.trim()) })
    };
    let mut fenced = fenced_blocks(trimmed).filter_map(as_object);
    if let (Some(found), None) = (fenced.next(), fenced.next()) {
        return Ok(found);
    }
    top_level_objects(trimmed)
        .filter(|(object, _)| satisfies(object))
        .last()
        .map(|(object, part)| Found { object, place: place_of(text, part) })
        .ok_or_else(|| format!("no JSON object was found in the answer ({whole_error})"))
}

/// An object and where it stands.
#[derive(Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) object: Map<String, Value>,
    /// Its first byte, and the one behind its last.
    pub(crate) place: (usize, usize),
}

/// Where a part of a text stands in it.
pub(crate) fn place_of(text: &str, part: &str) -> (usize, usize) {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    (start, start + part.len())
}

/// The contents of fenced blocks: between a line that starts with three backticks and the next
/// such line.
fn fenced_blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut fences = Vec::new();
    let mut offset = 0;
    looked_at(|| text.len());
    for line in text.split_inclusive('\n') {
        if line.starts_with("```") {
            fences.push((offset, offset + line.len()));
        }
        offset += line.len();
    }
    let pairs: Vec<&str> =
        fences.chunks_exact(2).map(|pair| &text[pair[0].1.min(pair[1].0)..pair[1].0]).collect();
    pairs.into_iter()
}

/// Every object that begins outside another one. A brace without valid JSON behind it is skipped. Each attempt stops
/// at the first invalid byte, so that hostile text costs a bounded multiple of its length.
fn top_level_objects(text: &str) -> impl Iterator<Item = (Map<String, Value>, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(found) = text[from..].find('{') {
            let start = from + found;
            looked_at(|| found + 1);
            let mut values =
                serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
            match values.next() {
                Some(Ok(Value::Object(object))) => {
                    looked_at(|| values.byte_offset());
                    from = start + values.byte_offset();
                    return Some((object, &text[start..from]));
                }
                Some(Err(error)) => looked_at(|| read_before(&text[start..], &error)),
                // Text that begins with a brace can only be an object.
                Some(Ok(_)) | None => {}
            }
            // The content of a broken object is not at the top level.
            from = if begins_object(&text[start..]) {
                start + braced(&text[start..])
            } else {
                start + 1
            };
        }
        None
    })
}

/// Whether a brace is meant as the beginning of an object, and is not just prose.
fn begins_object(text: &str) -> bool {
    let behind = text[1..].trim_start();
    looked_at(|| text.len() - behind.len() + 1);
    behind.starts_with('"') || behind.starts_with('}')
}

/// How far the braces reach that open here; to the end, if they never close.
fn braced(text: &str) -> usize {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    looked_at(|| place + 1);
                    return place + 1;
                }
            }
            _ => {}
        }
    }
    looked_at(|| text.len());
    text.len()
}

/// Counts the bytes that were looked at, in tests only.
#[cfg(not(test))]
fn looked_at(_bytes: impl FnOnce() -> usize) {}

#[cfg(test)]
use tests::looked_at;

/// How many bytes the parser had read when it gave up.
fn read_before(text: &str, error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n').take(error.line() - 1);
    lines.map(str::len).sum::<usize>() + error.column()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use serde_json::json;

    fn found(text: &str) -> Option<Value> {
        let Found { object, place } = find(text, |object| object.contains_key("satisfied")).ok()?;
        let object = Value::Object(object);
        let there: Value = serde_json::from_str(&text[place.0..place.1]).unwrap();
        assert_eq!(there, object, "what stands there is what was found");
        Some(object)
    }

    #[test]
    fn the_three_steps() {
        let yes = Some(json!({"satisfied": true}));
        for text in [
            "{\"satisfied\": true}",
            "\n  {\"satisfied\": true}\n",
            "Sure:\n```json\n{\"satisfied\": true}\n```\nDone.",
            "```\n{\"satisfied\": true}\n```",
            "Use { with care. {\"satisfied\": true} and } too",
            "first {\"satisfied\": false} then {\"satisfied\": true}",
            "{\"satisfied\": true} and {\"other\": 1}",
            "```json\n{\"satisfied\": false}\n```\n```json\n{\"satisfied\": true}\n```",
            "```sh\nls\n```\n```json\n{\"satisfied\": true}\n```",
        ] {
            assert_eq!(found(text), yes, "{text}");
        }
    }

    #[test]
    fn what_the_first_steps_find_is_the_answer_even_if_it_breaks_the_contract() {
        assert_eq!(found("{\"x\": 1}"), Some(json!({"x": 1})));
        assert_eq!(found("```\n{\"x\": 1}\n```\n{\"satisfied\": true}"), Some(json!({"x": 1})));
    }

    #[test]
    fn braces_and_fences_in_strings_confuse_nothing() {
        let text = r#"note {"satisfied": true, "context": "a } brace and ``` a fence {"} end"#;
        assert_eq!(found(text).unwrap()["satisfied"], json!(true));
        let text = "```json\n{\"satisfied\": true, \"context\": \"see:\\n```\\ncode\\n```\"}\n```";
        assert_eq!(found(text).unwrap()["satisfied"], json!(true));
    }

    #[test]
    fn what_is_inside_a_broken_object_is_not_the_answer() {
        for text in [
            r#"{"satisfied": false, "example": {"satisfied": true},}"#,
            r#"{"satisfied": false, "example": {"satisfied": true}"#,
            r#"so {"a": [1, {"satisfied": true} oops} there"#,
            r#"{"a": "}", "b": {"satisfied": true},}"#,
            r#"{"a": "\"}", "b": {"satisfied": true},}"#,
        ] {
            assert_eq!(found(text), None, "{text}");
        }
        for text in [
            r#"{"a": 1,} and then {"satisfied": true}"#,
            r#"{"a": "{",} and then {"satisfied": true}"#,
            r#"{"a": 1, \} and then {"satisfied": true}"#,
        ] {
            assert_eq!(found(text), Some(json!({"satisfied": true})), "{text}");
        }
    }

    #[test]
    fn nothing_is_found_in_what_holds_nothing() {
        for text in [
            "",
            "  ",
            "no object",
            "[1, 2]",
            "{\"satisfied\": tr",
            "```json\n{\"a\": 1",
            "“satisfied”",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    thread_local! {
        static LOOKED_AT: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts the bytes that are looked at.
    pub(super) fn looked_at(bytes: impl FnOnce() -> usize) {
        LOOKED_AT.set(LOOKED_AT.get() + bytes());
    }

    /// How many bytes are looked at to find nothing or something in a text.
    fn cost(text: &str) -> usize {
        LOOKED_AT.set(0);
        found(text);
        LOOKED_AT.get()
    }

    /// As often as a byte may be looked at: by each of the three steps, once more for fences, for the
    /// next brace, for the space behind a brace and for the end of a broken object.
    const LOOKS_MAX: usize = 7;

    #[track_caller]
    fn assert_cheap(text: &str) {
        let (cost, length) = (cost(text), text.len());
        let begins: String = text.chars().take(40).collect();
        assert!(cost <= LOOKS_MAX * length, "{cost} looks at {length} bytes: {begins:?}…");
    }

    #[test]
    fn what_is_looked_at_is_counted_byte_by_byte() {
        LOOKED_AT.set(0);
        assert!(!begins_object("{  x y"));
        assert_eq!(LOOKED_AT.get(), 4, "the brace, the space behind it, and what decides");
        LOOKED_AT.set(0);
        assert_eq!(braced("{a} b"), 3);
        assert_eq!(LOOKED_AT.get(), 3, "up to the brace that closes");
    }

    #[test]
    fn hostile_text_costs_little() {
        for piece in ["{", "{\"a\":", "{\"a\":[", "{\"a\":\"", "```\n", "{}", "\\\"{"] {
            let text = piece.repeat(200_000 / piece.len());
            assert_eq!(found(&text), None, "{piece}");
            assert_cheap(&text);
            assert!(cost(&text) >= text.len() / 2, "the work is counted: {piece}");
        }
    }

    #[test]
    fn no_short_pattern_makes_the_search_look_at_text_again_and_again() {
        let tokens =
            ["{", "}", "\"", "\\", " ", "\n", "\n```\n", "[", "]", "\"a\":", "1", ",", "\u{a0}"];
        for first in tokens {
            for second in tokens {
                for third in tokens {
                    let pattern = [first, second, third].concat();
                    assert_cheap(&pattern.repeat(200));
                    // The same, closed again as often as it may have been opened.
                    assert_cheap(&format!("{}{}", pattern.repeat(200), "}".repeat(200)));
                    // Something that is open from the beginning, and a pattern of two within it.
                    let pattern = [second, third].concat();
                    assert_cheap(&format!("{first}{}", pattern.repeat(200)));
                    assert_cheap(&format!("{{\"a\":{first}{}", pattern.repeat(200)));
                }
            }
        }
    }
}
