//! Takes over a login that a confined turn has renewed.
//!
//! A file with logins can hold more than logins: with one agent a key that begins with `!` is a command. So only new
//! values of the fields that a renewal changes are taken over, and only if such a value existed before.

use serde_json::Value;

/// The longest value that is taken for a token.
const TOKEN_BYTES_MAX: usize = 64 << 10;

/// The file `before` with the new values that `now` has in `fields`; nothing if there is no such value.
pub(super) fn renewed(before: &[u8], now: &[u8], fields: &[&str]) -> Option<Vec<u8>> {
    let old: Value = serde_json::from_slice(before).ok()?;
    let now: Value = serde_json::from_slice(now).ok()?;
    let mut merged = old.clone();
    for field in fields {
        let parts: Vec<&str> = field.split('/').collect();
        take(&mut merged, &now, &parts);
    }
    (merged != old).then(|| {
        let mut bytes = serde_json::to_vec_pretty(&merged).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    })
}

fn take(into: &mut Value, from: &Value, parts: &[&str]) {
    let Some((part, rest)) = parts.split_first() else {
        if is_renewal(into, from) {
            *into = from.clone();
        }
        return;
    };
    let Some(fields) = into.as_object_mut() else { return };
    for (name, value) in fields.iter_mut() {
        if (*part == "*" || part == name)
            && let Some(from) = from.get(name)
        {
            take(value, from, rest);
        }
    }
}

/// Whether a value can follow another: a number a number, a token a token.
fn is_renewal(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Number(_), Value::Number(_)) => true,
        (Value::String(_), Value::String(new)) => {
            let token = |byte: u8| byte.is_ascii_graphic();
            (1..=TOKEN_BYTES_MAX).contains(&new.len())
                && new.as_bytes()[0].is_ascii_alphanumeric()
                && new.bytes().all(token)
        }
        (_, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(old: &Value, new: &Value) -> Option<Value> {
        let fields = ["*/access", "*/refresh", "*/expires"];
        let bytes = renewed(old.to_string().as_bytes(), new.to_string().as_bytes(), &fields)?;
        Some(serde_json::from_slice(&bytes).unwrap())
    }

    #[test]
    fn new_tokens_are_taken_over_and_nothing_else() {
        let old = json!({
            "one": { "type": "oauth", "access": "a1", "refresh": "r1", "expires": 1 },
            "two": { "type": "api_key", "key": "k" },
        });
        let new = json!({
            "one": {
                "type": "api_key", "access": "a2", "refresh": "r2", "expires": 2, "key": "!touch x",
                "env": { "A": "b" },
            },
            "two": { "type": "api_key", "key": "!touch x", "access": "x" },
            "three": { "access": "x" },
        });
        let expected = json!({
            "one": { "type": "oauth", "access": "a2", "refresh": "r2", "expires": 2 },
            "two": { "type": "api_key", "key": "k" },
        });
        assert_eq!(merged(&old, &new), Some(expected));
    }

    #[test]
    fn a_command_another_type_and_nonsense_are_no_tokens() {
        let old = json!({ "one": { "access": "a1", "expires": 1 } });
        for access in [
            json!("!touch x"),
            json!("$HOME"),
            json!(""),
            json!("a b"),
            json!("a\nb"),
            json!({ "a": 1 }),
            json!(null),
            json!("a".repeat(TOKEN_BYTES_MAX + 1)),
        ] {
            let new = json!({ "one": { "access": access, "expires": "soon" } });
            assert_eq!(merged(&old, &new), None, "{access}");
        }
        assert_eq!(merged(&old, &old), None);
        for broken in ["", "x", "[]", "{\"one\": 1}"] {
            assert_eq!(
                renewed(b"{\"one\":{\"access\":\"a\"}}", broken.as_bytes(), &["*/access"]),
                None
            );
        }
    }
}
