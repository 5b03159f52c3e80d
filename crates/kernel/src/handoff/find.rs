//! Finding the object in an agent's output, by one rule in three steps (D26).

use serde_json::{Map, Value};

/// The object of an answer and the text that it was read from, or why there is none.
///
/// 1. The whole trimmed text is an object.
/// 2. Else exactly one fenced block holds one.
/// 3. Else the last top-level object in the text that `satisfies` the contract.
///
/// What the first two steps find is the answer even if it breaks the contract: the model meant it.
/// A brace or a fence inside a JSON string confuses none of them, since JSON is parsed as JSON and
/// a fence counts only at the start of a line, where no JSON string can have one.
pub(crate) fn find(
    text: &str,
    satisfies: impl Fn(&Map<String, Value>) -> bool,
) -> Result<(Map<String, Value>, &str), String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err("the answer is empty".to_owned());
    }
    let whole_error = match serde_json::from_str::<Value>(trimmed) {
        Ok(Value::Object(object)) => return Ok((object, trimmed)),
        Ok(_) => "it is JSON, but not an object".to_owned(),
        Err(error) => error.to_string(),
    };
    let mut fenced = fenced_blocks(trimmed).filter_map(as_object);
    if let (Some(found), None) = (fenced.next(), fenced.next()) {
        return Ok(found);
    }
    top_level_objects(trimmed)
        .filter(|(object, _)| satisfies(object))
        .last()
        .ok_or_else(|| format!("no JSON object was found in the answer ({whole_error})"))
}

fn as_object(text: &str) -> Option<(Map<String, Value>, &str)> {
    serde_json::from_str(text.trim()).ok().map(|object| (object, text))
}

/// The contents of fenced blocks: between a line that starts with three backticks and the next
/// such line.
fn fenced_blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut fences = Vec::new();
    let mut offset = 0;
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

/// Every object that begins outside another one.
///
/// A brace that begins no valid JSON is prose: the search goes on behind it. Each attempt stops at
/// the first byte that cannot be JSON and at the parser's depth limit, so that hostile text costs
/// a bounded multiple of its length.
fn top_level_objects(text: &str) -> impl Iterator<Item = (Map<String, Value>, &str)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(found) = text[from..].find('{') {
            let start = from + found;
            let mut values =
                serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
            if let Some(Ok(Value::Object(object))) = values.next() {
                from = start + values.byte_offset();
                return Some((object, &text[start..from]));
            }
            // What is inside a broken object is not at the top level, whatever it says.
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
                    return place + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(text: &str) -> Option<Value> {
        let found = find(text, |object| object.contains_key("satisfied"));
        found.ok().map(|(object, read)| {
            let again = serde_json::from_str::<Value>(read).unwrap();
            assert_eq!(again, Value::Object(object), "it is told from which text");
            again
        })
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

    #[test]
    fn hostile_text_costs_little() {
        for piece in ["{", "{\"a\":", "{\"a\":[", "{\"a\":\"", "```\n", "{}", "\\\"{"] {
            let text = piece.repeat(200_000 / piece.len());
            assert_eq!(found(&text), None, "{piece}");
        }
    }
}
