//! Gemini CLI (`gemini`), one process a turn.
//!
//! Measured with version 0.61.0. It exits with code 0 when it is stopped, and with a number derived from the HTTP
//! status when a request fails; neither shows the outcome of a turn. It finds a session only in the folder in which
//! the session was started.

mod command;
mod events;
mod settings;

use super::{Changed, Home, Probe, Shipped, StoredLogin, capability};
use crate::agents::failure::Voice;

/// Texts of its error messages.
const VOICE: Voice =
    Voice { label: "Gemini CLI", log_in: "run `gemini` once and log in, or set GEMINI_API_KEY" };

/// Files in the user's home. The copied or linked ones contain servers, hooks and extensions.
const HOME: Home = Home {
    variable: "GEMINI_CLI_HOME",
    inner: ".gemini",
    usual: ".gemini",
    beside: &[],
    copied: &[
        ".env",
        "gemini-credentials.json",
        "google_accounts.json",
        "installation_id",
        "mcp-oauth-tokens.json",
        "projects.json",
        "state.json",
        "trustedFolders.json",
        "user_id",
    ],
    linked: &[
        "GEMINI.md",
        "agents",
        "commands",
        "extensions",
        "hooks",
        "keybindings.json",
        "policies",
        "skills",
        "themes",
    ],
    sessions: &["tmp/*/chats/session-*-{id8}.jsonl", "tmp/*/chats/session-*-{id8}.json"],
    mark: Some(".project_root"),
    logins: &[StoredLogin {
        file: "oauth_creds.json",
        fields: &["access_token", "refresh_token", "id_token", "expiry_date"],
    }],
    changed: Some(Changed { file: "settings.json", with: settings::without_question }),
};

/// Gemini CLI.
pub static ADAPTER: Shipped = Shipped {
    capabilities: &capability::GEMINI,
    launch: command::launch,
    reader: |ask| Box::new(events::Stream::new(ask)),
    home: &HOME,
    probe: Probe {
        program: "gemini",
        version: &["--version"],
        login: None,
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"],
        credentials: &[".gemini/oauth_creds.json"],
        install: "npm install -g @google/gemini-cli",
        how_to_log_in: VOICE.log_in,
        tested: "0.61.0",
    },
};
