//! Answers an agent that asks for permission.
//!
//! No person is there to be asked, so the policy of the socket answers. Only the sandbox restricts an agent that does
//! not ask.

use std::path::Path;

use serde_json::{Value, json};

use crate::agents::Grant;
use crate::agents::json::{list, text};

/// Whether the rules allow what is asked for.
///
/// `confined` says that the kernel keeps the process to its folders, so that writing needs no
/// second guard.
pub(super) fn allows(grant: &Grant, call: &Value, docs: &Path, confined: bool) -> bool {
    let kind = text(call, "/kind").unwrap_or("other");
    let reads = matches!(kind, "read" | "search" | "think");
    match grant {
        // No agent behind the protocol is started with a list.
        Grant::Nothing | Grant::Only(_) => false,
        Grant::Coding => true,
        Grant::ReadOnly => reads,
        Grant::Documents => {
            let edits = matches!(kind, "edit" | "delete" | "move");
            reads || confined || (edits && only_beneath(call, docs))
        }
    }
}

/// Whether a call names at least one path, and every path is inside a folder.
fn only_beneath(call: &Value, folder: &Path) -> bool {
    let places = list(call, "/locations");
    !places.is_empty()
        && places.iter().all(|place| {
            text(place, "/path").is_some_and(|path| {
                let path = Path::new(path);
                let climbs = path.components().any(|part| part.as_os_str() == "..");
                !climbs && path.starts_with(folder)
            })
        })
}

/// The answer to a request: the mildest of the offered options that says yes or no.
pub(super) fn answer(options: &[Value], allowed: bool) -> Value {
    let kinds =
        if allowed { ["allow_once", "allow_always"] } else { ["reject_once", "reject_always"] };
    let chosen = kinds.iter().find_map(|kind| {
        let option = options.iter().find(|option| text(option, "/kind") == Some(kind))?;
        text(option, "/optionId")
    });
    match chosen {
        Some(id) => json!({ "outcome": { "outcome": "selected", "optionId": id } }),
        None => json!({ "outcome": { "outcome": "cancelled" } }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_the_socket_answer() {
        let docs = Path::new("/p/docs");
        let call =
            |kind: &str, path: &str| json!({ "kind": kind, "locations": [{ "path": path }] });
        let edit = call("edit", "/p/docs/a.md");
        let code = call("edit", "/p/docs/../a.rs");
        let shell = json!({ "kind": "execute" });
        let read = call("read", "/etc/passwd");
        let cases = [
            (&Grant::Coding, &shell, false, true),
            (&Grant::Nothing, &read, true, false),
            (&Grant::ReadOnly, &read, false, true),
            (&Grant::ReadOnly, &edit, true, false),
            (&Grant::Documents, &edit, false, true),
            (&Grant::Documents, &code, false, false),
            (&Grant::Documents, &code, true, true),
            (&Grant::Documents, &shell, false, false),
        ];
        for (grant, call, confined, expected) in cases {
            assert_eq!(allows(grant, call, docs, confined), expected, "{grant:?} {call}");
        }
        assert!(!allows(&Grant::Documents, &json!({ "kind": "edit" }), docs, false));
    }

    #[test]
    fn the_mildest_option_is_taken() {
        let option = |id: &str, kind: &str| json!({ "optionId": id, "kind": kind });
        let all =
            [option("a", "allow_always"), option("o", "allow_once"), option("n", "reject_once")];
        assert_eq!(answer(&all, true)["outcome"]["optionId"], "o");
        assert_eq!(answer(&all, false)["outcome"]["optionId"], "n");
        assert_eq!(answer(&all[..1], false)["outcome"]["outcome"], "cancelled");
    }
}
