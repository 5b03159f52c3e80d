//! Identifiers. Each has a type of its own, so that a node id cannot be used as an edge id.

use std::sync::LazyLock;

use crate::schema::JsonSchema;
use blake3::hazmat::{ContextKey, HasherExt as _, hash_derive_key_context};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The word that ends a graph. It is no node and can name none.
pub const END: &str = "end";

/// The word that ends a graph as failed (D65). The compiler accepts no node of that name; older journals may have one.
pub const FAIL: &str = "fail";

/// The longest node id, in bytes.
pub const NODE_ID_BYTES_MAX: usize = 64;

/// The longest run id, in bytes.
pub const RUN_ID_BYTES_MAX: usize = 128;

/// The longest run id that a user may choose, in bytes. Derived ids are longer.
pub const CHOSEN_RUN_ID_BYTES_MAX: usize = 64;

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
            pub fn new(name: impl AsRef<str>) -> Self {
                Self(name.as_ref().into())
            }

            /// The name as text.
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
    /// One run of a plan. Authors call it a cast. It is also the name of a folder, so ids from outside are checked by
    /// [`RunId::parse`].
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
    /// A valid id is safe as the name of a folder: no separator, no leading dot, no `..`.
    pub fn parse(text: &str) -> Result<Self, BadRunId> {
        if is_name(text, RUN_ID_BYTES_MAX) && !text.contains("..") {
            Ok(Self::new(text))
        } else {
            Err(BadRunId(text.to_owned()))
        }
    }
}

/// Why a new run cannot be called so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadChosenRunId {
    /// It has other characters, or too many.
    #[error(
        "`{0}` cannot name a cast: a name is 1 to {CHOSEN_RUN_ID_BYTES_MAX} characters of A-Z a-z 0-9 _ - and starts with a letter or digit"
    )]
    Grammar(String),
    /// It means something else.
    #[error("`{0}` cannot name a cast: {1}")]
    Taken(String, &'static str),
}

impl RunId {
    /// Parses a chosen name of a new run (D60). Names of existing runs may be longer and have dots: [`RunId::parse`]
    /// reads them.
    pub fn chosen(text: &str) -> Result<Self, BadChosenRunId> {
        if !is_name(text, CHOSEN_RUN_ID_BYTES_MAX) || text.contains('.') {
            return Err(BadChosenRunId::Grammar(text.to_owned()));
        }
        let taken = |why| Err(BadChosenRunId::Taken(text.to_owned(), why));
        match text {
            "last" => taken("`last` stands for the newest cast"),
            END => taken("`end` is the end of a graph"),
            _ if text.ends_with("lock") => taken("names that end in `lock` are kept for locks"),
            _ => Ok(Self::new(text)),
        }
    }
}

/// Whether `text` may name a node: `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`, and not `end`.
pub fn is_node_id(text: &str) -> bool {
    is_name(text, NODE_ID_BYTES_MAX) && text != END
}

fn is_name(text: &str, bytes_max: usize) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= bytes_max
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

/// The id of the event at `seq` of `run`, and of the payload that this event creates. It is computed: a UUID of
/// version 8 over a hash of both, the same on every machine and in every replay.
pub fn derived_id(run: &RunId, seq: u64) -> Uuid {
    // Hashed once: it takes as long as the rest.
    static KEY: LazyLock<ContextKey> =
        LazyLock::new(|| hash_derive_key_context("materia 2026-11-15 id of an event"));
    let mut hasher = blake3::Hasher::new_from_context_key(&KEY);
    hasher.update(run.as_str().as_bytes());
    hasher.update(&seq.to_le_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    Uuid::new_v8(bytes)
}
