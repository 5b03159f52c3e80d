//! Codex (`codex exec`), one process a turn.
//!
//! Measured with version 0.166.0. It names its own sessions, reports the tokens of the whole session and no cost, and
//! passes a schema to the provider without validating the answer.

mod command;
mod events;
mod schema;

pub use schema::{strict, without_nulls};

use super::{Home, Probe, Shipped, StoredLogin, capability};
use crate::agents::failure::Voice;

/// Texts of its error messages.
const VOICE: Voice = Voice { label: "Codex", log_in: "run `codex login`, or set CODEX_API_KEY" };

/// Files in the user's home. The copied or linked ones contain servers, hooks and notifiers.
const HOME: Home = Home {
    variable: "CODEX_HOME",
    inner: "",
    usual: ".codex",
    beside: &[],
    copied: &[
        "config.toml",
        "*.config.toml",
        "managed_config.toml",
        "requirements.toml",
        "hooks.json",
        "installation_id",
        "models_cache.json",
        "version.json",
        ".credentials.json",
    ],
    linked: &[
        "AGENTS.md",
        "AGENTS.override.md",
        "agents",
        "hooks",
        "plugins",
        "prompts",
        "rules",
        "skills/*",
        "themes",
    ],
    sessions: &["sessions/*/*/*/rollout-*-{id}.jsonl"],
    mark: None,
    logins: &[StoredLogin {
        file: "auth.json",
        fields: &["tokens/id_token", "tokens/access_token", "tokens/refresh_token", "last_refresh"],
    }],
    changed: None,
};

/// Codex.
pub static ADAPTER: Shipped = Shipped {
    capabilities: &capability::CODEX,
    launch: command::launch,
    reader: |ask| Box::new(events::Stream::new(ask)),
    home: &HOME,
    probe: Probe {
        program: "codex",
        version: &["--version"],
        login: Some(&["login", "status"]),
        keys: &["CODEX_API_KEY", "OPENAI_API_KEY"],
        credentials: &[".codex/auth.json"],
        install: "npm install -g @openai/codex",
        how_to_log_in: VOICE.log_in,
        tested: "0.166.0",
    },
};
