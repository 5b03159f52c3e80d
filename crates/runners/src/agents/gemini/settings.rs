//! The user's settings, as a confined turn gets them.

use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Value, json};

/// The settings without the folder trust prompt. Without a user to answer it, Gemini CLI exits in every folder that is
/// *not* trusted; the environment variable for trust still applies.
pub(super) fn without_question(settings: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(settings);
    let read = parse_to_ast(&text, &CollectOptions::default(), &ParseOptions::default());
    // What cannot be read is left for Gemini CLI to complain about.
    let Ok(read) = read else { return settings.to_vec() };
    let mut changed = read.value.map_or_else(|| json!({}), Value::from);
    let Some(fields) = changed.as_object_mut() else { return settings.to_vec() };
    let security = fields.entry("security").or_insert_with(|| json!({}));
    if !security.is_object() {
        *security = json!({});
    }
    security["folderTrust"] = json!({ "enabled": false });
    changed.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_goes_and_the_rest_stays() {
        let changed = |text: &str| String::from_utf8(without_question(text.as_bytes())).unwrap();
        let off = r#"{"security":{"folderTrust":{"enabled":false}}}"#;
        assert_eq!(changed(""), off);
        assert_eq!(changed("{}"), off);
        let commented = "{ // mine\n \"a\": 1, \"security\": { \"auth\": 2, \"folderTrust\": { \"enabled\": true } } }";
        assert_eq!(
            changed(commented),
            r#"{"a":1,"security":{"auth":2,"folderTrust":{"enabled":false}}}"#
        );
        for broken in ["{", "[]", "x"] {
            assert_eq!(changed(broken), broken);
        }
    }
}
