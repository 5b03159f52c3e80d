//! Rewrites errors of the JSON parser for authors of scripts.

/// The same in plain words. What is not known is left as it is.
pub(super) fn words(said: &str) -> String {
    if let Some(rest) = said.strip_prefix("unknown field ") {
        return match rest.split_once(", expected ") {
            Some((field, known)) => {
                let known = known.strip_prefix("one of ").unwrap_or(known);
                format!("{field} is no field here; there is {known}")
            }
            None => format!("{} is no field here", rest.split(',').next().unwrap_or(rest)),
        };
    }
    if let Some((word, known)) =
        said.strip_prefix("unknown variant ").and_then(|rest| rest.split_once(", expected "))
    {
        let known = known.strip_prefix("one of ").unwrap_or(known);
        return format!("{word} is none of the words that can stand here: {known}");
    }
    if let Some(field) = said.strip_prefix("missing field ") {
        return format!("{field} is missing here");
    }
    if let Some(field) = said.strip_prefix("duplicate field ") {
        return format!("{field} is written twice");
    }
    let mistaken = ["invalid type: ", "invalid value: "];
    if let Some((found, wanted)) = mistaken
        .iter()
        .find_map(|beginning| said.strip_prefix(beginning))
        .and_then(|rest| rest.split_once(", expected "))
    {
        return format!("{} is needed here, not {}", a_thing(wanted), what_is_there(found));
    }
    match said {
        "expected value" => "a value is needed here: text in double quotes, a number, true, false, null, a list or an object",
        "trailing comma" => "there is a comma too many",
        "trailing characters" => "something stands behind the end of the script",
        "key must be a string" => "a name must stand in double quotes",
        "expected `,` or `}`" => "a comma or a closing } is missing before this",
        "expected `,` or `]`" => "a comma or a closing ] is missing before this",
        "expected `:`" => "a colon is missing behind the name",
        said if said.starts_with("EOF while parsing") => {
            "the file ends before everything is closed"
        }
        said => return said.to_owned(),
    }
    .to_owned()
}

/// The expected type, for authors.
fn a_thing(wanted: &str) -> String {
    match wanted {
        "a sequence" => "a list",
        "a map" | "struct Script" => "an object",
        "struct UtilityAnswer" => "a result, such as {\"stdout\": \"done\"},",
        "struct Answer" => "an answer, such as {\"text\": \"done\"},",
        "struct TurnUsage" => "an object such as {\"inputTokens\": 10}",
        "a boolean" => "true or false",
        "u64" | "u32" | "i64" => "a whole number",
        "f64" => "a number",
        "internally tagged enum Do" | "struct TimelineEntry" => {
            "an entry such as {\"atMs\": 0, \"do\": \"pause\"}"
        }
        other => other,
    }
    .to_owned()
}

/// The type that was found, for authors.
fn what_is_there(found: &str) -> String {
    let (kind, value) = found.split_once(' ').unwrap_or((found, ""));
    match kind {
        "map" => "an object".to_owned(),
        "sequence" => "a list".to_owned(),
        "string" => format!("the text {value}"),
        "integer" => format!("the number {}", value.trim_matches('`')),
        "floating" => {
            format!("the number {}", value.trim_start_matches("point ").trim_matches('`'))
        }
        "boolean" => value.trim_matches('`').to_owned(),
        "null" | "unit" => "null".to_owned(),
        _ => found.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use materia_contract::script::Script;

    use super::words;

    fn told(text: &str) -> String {
        let error = serde_json::from_str::<Script>(text).unwrap_err().to_string();
        words(error.split(" at line").next().unwrap())
    }

    #[test]
    fn nothing_of_the_reader_is_left() {
        let all = [
            r#"{"turn": {}}"#,
            r#"{"turns": []}"#,
            r#"{"turns": {"a": {"text": "x"}}}"#,
            r#"{"turns": {"a": ["x"]}}"#,
            r#"{"turns": {"a": [{"text": 1}]}}"#,
            r#"{"turns": {"a": [{"txt": "x"}]}}"#,
            r#"{"turns": {"a": [{"delayMs": "1"}]}}"#,
            r#"{"turns": {"a": [{"delayMs": -1}]}}"#,
            r#"{"repeatLast": 1}"#,
            r#"{"timeline": [{"do": "pause"}]}"#,
            r#"{"timeline": [{"atMs": 1, "do": "jump"}]}"#,
            r#"{"timeline": [{"atMs": 1}]}"#,
            r#"{"turns": {},}"#,
            r#"{"turns": {}"#,
            r"{turns: {}}",
            r#"{"turns" {}}"#,
            "",
        ];
        for text in all {
            let told = told(text);
            let foreign =
                ["struct", "sequence", "variant", "expected", "EOF", "enum", "map,", "u64"];
            assert!(!foreign.iter().any(|word| told.contains(word)), "{text}: {told}");
        }
        assert_eq!(told(r#"{"turns": []}"#), "an object is needed here, not a list");
        assert!(told(r#"{"turn": {}}"#).starts_with("`turn` is no field here; there is `turns`"));
    }
}
