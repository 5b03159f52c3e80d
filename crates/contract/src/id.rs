//! Identifiers. Each is its own type, so that a node id never stands in for an edge id.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The word that ends a graph. It is no node and can name none.
pub const END: &str = "end";

/// The longest node id, in bytes.
pub const NODE_ID_BYTES_MAX: usize = 64;

/// The longest run id, in bytes.
pub const RUN_ID_BYTES_MAX: usize = 128;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(transparent)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// Wraps a name that has already been checked.
            #[must_use]
            pub fn new(name: impl AsRef<str>) -> Self {
                Self(name.as_ref().into())
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

text_id!(
    /// A place in the graph. Authors call it a socket.
    NodeId
);
text_id!(
    /// A way out of a node: written by the author, or `FROM->TO`.
    EdgeId
);
text_id!(
    /// One run of a plan. Authors call it a cast.
    ///
    /// It is also the name of a folder, so it is checked by [`RunId::parse`] wherever it
    /// comes from outside.
    RunId
);

/// Why a run id was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a cast id: one is 1 to {RUN_ID_BYTES_MAX} characters of A-Z a-z 0-9 . _ - and starts with a letter or digit"
)]
pub struct BadRunId(String);

impl RunId {
    /// Reads a run id that a person or a file has given.
    ///
    /// What passes is safe as the name of a folder: no separator, no leading dot, no `..`.
    pub fn parse(text: &str) -> Result<Self, BadRunId> {
        if is_name(text, RUN_ID_BYTES_MAX) && !text.contains("..") {
            Ok(Self::new(text))
        } else {
            Err(BadRunId(text.to_owned()))
        }
    }
}

/// Whether `text` may name a node: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`, and not `end`.
#[must_use]
pub fn is_node_id(text: &str) -> bool {
    is_name(text, NODE_ID_BYTES_MAX) && text != END
}

fn is_name(text: &str, bytes_max: usize) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= bytes_max
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

/// The id of the event at `seq` of `run`, and of the payload that this event creates.
///
/// Computed, never drawn: the same run gives the same ids on every machine and in every
/// replay. It is a UUID of version 8 over a hash of both parts.
#[must_use]
pub fn derived_id(run: &RunId, seq: u64) -> Uuid {
    let mut hasher = blake3::Hasher::new_derive_key("materia 2026-11-15 id of an event");
    hasher.update(run.as_str().as_bytes());
    hasher.update(&seq.to_le_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    Uuid::new_v8(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_ids_that_could_leave_their_folder_are_refused() {
        for bad in ["", ".", "..", "a/b", "a\\b", "../x", "a..b", "-x", "x y", "ü", "a\0"] {
            assert!(RunId::parse(bad).is_err(), "{bad:?} must be refused");
        }
        for good in ["a", "2026-05-01T00-00-00-000Z", "x.y_z-1"] {
            assert!(RunId::parse(good).is_ok(), "{good:?} must be accepted");
        }
        assert!(RunId::parse(&"a".repeat(129)).is_err());
    }

    #[test]
    fn node_ids_follow_the_grammar() {
        for bad in ["end", "", "-a", "a b", "a/b", &"a".repeat(65)] {
            assert!(!is_node_id(bad), "{bad:?} must be refused");
        }
        for good in ["hello", "Socket-1", "a.b_c", "End", &"a".repeat(64)] {
            assert!(is_node_id(good), "{good:?} must be accepted");
        }
    }

    #[test]
    fn derived_ids_depend_on_run_and_position_only() {
        let run = RunId::new("r1");
        assert_eq!(derived_id(&run, 3), derived_id(&RunId::new("r1"), 3));
        assert_ne!(derived_id(&run, 3), derived_id(&run, 4));
        assert_ne!(derived_id(&run, 3), derived_id(&RunId::new("r2"), 3));
        assert_eq!(derived_id(&run, 3).get_version_num(), 8);
    }
}
