//! Expectations with which a case would pass.

use serde_json::{Value, json};

use super::scratch::Ran;

/// The parts of a report that a case can expect under their own names.
const PARTS: [&str; 4] = ["status", "state", "waiting", "error"];

/// The expectation with what came out. Only what it names is changed, and only what is data.
pub(super) fn expectation(expect: &Value, ran: &Ran) -> Value {
    let Value::Object(mut keys) = expect.clone() else { return expect.clone() };
    let report = ran.report.clone().unwrap_or_default();
    if keys.contains_key("exit") {
        keys.insert("exit".to_owned(), json!(ran.exit));
    }
    for part in PARTS.into_iter().filter(|part| keys.contains_key(*part)).collect::<Vec<_>>() {
        match report.get(part) {
            // A message may change with every version; a code says enough.
            Some(found) if part == "error" => {
                keys.insert(part.to_owned(), json!({ "code": found["code"] }));
            }
            Some(found) if part == "waiting" => {
                keys.insert(part.to_owned(), json!({ "reason": found["reason"] }));
            }
            Some(found) => {
                keys.insert(part.to_owned(), found.clone());
            }
            None => {
                keys.shift_remove(part);
            }
        }
    }
    if let (true, Some(visits)) = (keys.contains_key("visits"), report["visits"].as_array()) {
        let sockets: Vec<&Value> = visits.iter().map(|visit| &visit["socket"]).collect();
        keys.insert("visits".to_owned(), json!(sockets));
    }
    // How it ended is worth knowing where it now ends otherwise.
    for part in ["error", "waiting"] {
        if let Some(found) = report.get(part).filter(|_| !keys.contains_key(part)) {
            let name = if part == "error" { "code" } else { "reason" };
            keys.insert(part.to_owned(), json!({ name: found[name] }));
        }
    }
    Value::Object(keys)
}

/// The text of a case with these expectations, for its first command and each further one.
pub(super) fn text(text: &str, expects: &[Value]) -> Option<String> {
    let mut case: Value = serde_json::from_str(text).ok()?;
    let (first, further) = expects.split_first()?;
    case["expect"] = first.clone();
    for (place, expect) in further.iter().enumerate() {
        *case.get_mut("then")?.get_mut(place)?.get_mut("expect")? = expect.clone();
    }
    Some(format!("{case:#}\n"))
}
