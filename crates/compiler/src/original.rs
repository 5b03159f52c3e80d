//! Forms of the original system that mean something written otherwise here.

use serde_json::{Map, Value};

/// Writes what the original system wrote its own way as it is written here. What cannot be understood
/// stays as it is, for the schema to name.
pub(crate) fn adapted(mut document: Map<String, Value>) -> Map<String, Value> {
    let loadouts = document.get_mut("loadouts").and_then(Value::as_object_mut);
    for loadout in loadouts.into_iter().flat_map(Map::values_mut) {
        let sockets = loadout.get_mut("sockets").and_then(Value::as_object_mut);
        for socket in sockets.into_iter().flat_map(Map::values_mut) {
            let edges = socket.get_mut("edges").and_then(Value::as_array_mut);
            edges.into_iter().flatten().filter_map(Value::as_object_mut).for_each(debounce);
        }
    }
    document
}

/// `"debounce(50)"` is `debounce` with 50 ms (D52). If another time is given beside it, the value is ambiguous.
fn debounce(edge: &mut Map<String, Value>) {
    let Some(span) = edge.get("deliveryMode").and_then(Value::as_str).and_then(span) else {
        return;
    };
    if edge.get("debounceMs").is_none_or(|own| own.as_u64() == Some(span)) {
        edge.insert("deliveryMode".to_owned(), "debounce".into());
        edge.insert("debounceMs".to_owned(), span.into());
    }
}

fn span(mode: &str) -> Option<u64> {
    let inside = mode.strip_prefix("debounce(")?.strip_suffix(')')?;
    inside.trim().strip_suffix("ms").unwrap_or(inside).trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edge(edge: &Value) -> Value {
        let Value::Object(document) =
            json!({ "loadouts": { "L": { "sockets": { "a": { "edges": [edge] } } } } })
        else {
            unreachable!("it is an object");
        };
        adapted(document)["loadouts"]["L"]["sockets"]["a"]["edges"][0].clone()
    }

    #[test]
    fn a_quiet_period_in_brackets_is_one_beside() {
        let meant = json!({ "to": "b", "deliveryMode": "debounce", "debounceMs": 50 });
        for written in ["debounce(50)", "debounce( 50 )", "debounce(50ms)"] {
            assert_eq!(edge(&json!({ "to": "b", "deliveryMode": written })), meant, "{written}");
        }
        let both = json!({ "to": "b", "deliveryMode": "debounce(50)", "debounceMs": 50 });
        assert_eq!(edge(&both), meant);
    }

    #[test]
    fn what_is_not_clear_stays_for_the_schema_to_name() {
        for written in [
            json!({ "deliveryMode": "debounce(50)", "debounceMs": 60 }),
            json!({ "deliveryMode": "debounce()" }),
            json!({ "deliveryMode": "debounce(-1)" }),
            json!({ "deliveryMode": "latest(50)" }),
            json!({ "deliveryMode": "queue" }),
        ] {
            assert_eq!(edge(&written), written);
        }
    }
}
