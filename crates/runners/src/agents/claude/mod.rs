//! Claude Code (`claude -p`), one process a turn.
//!
//! Its command line was measured with version 2.1.325. Two facts matter here: its terminal `result` can be named a
//! success and be an error, and the reported cost is the total of the session.

mod command;
mod events;
mod result;

use super::{Home, Probe, Shipped, StoredLogin, capability};
use crate::agents::failure::Voice;

/// Texts of its error messages.
const VOICE: Voice = Voice {
    label: "Claude Code",
    log_in: "run `claude` once and log in, or set ANTHROPIC_API_KEY",
};

/// Files in the user's home. The copied or linked ones contain hooks, servers, commands and plug-ins.
const HOME: Home = Home {
    variable: "CLAUDE_CONFIG_DIR",
    inner: "",
    usual: ".claude",
    beside: &[".claude.json"],
    copied: &[
        "settings.json",
        "settings.local.json",
        "remote-settings.json",
        "policy-limits.json",
        "plugins/config.json",
        "plugins/installed_plugins.json",
        "plugins/known_marketplaces.json",
    ],
    linked: &[
        "CLAUDE.md",
        "agents",
        "commands",
        "hooks",
        "keybindings.json",
        "output-styles",
        "plugins/cache",
        "plugins/data",
        "plugins/marketplaces",
        "plugins/repos",
        "rules",
        "skills",
        "themes",
        "workflows",
    ],
    sessions: &["projects/*/{id}.jsonl"],
    mark: None,
    logins: &[StoredLogin {
        file: ".credentials.json",
        fields: &[
            "claudeAiOauth/accessToken",
            "claudeAiOauth/refreshToken",
            "claudeAiOauth/expiresAt",
            "claudeAiOauth/refreshTokenExpiresAt",
        ],
    }],
    changed: None,
};

/// Claude Code.
pub static ADAPTER: Shipped = Shipped {
    capabilities: &capability::CLAUDE,
    launch: command::launch,
    reader: |ask| Box::new(events::Stream::new(ask)),
    home: &HOME,
    probe: Probe {
        program: "claude",
        version: &["--version"],
        login: None,
        keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
        credentials: &[".claude/.credentials.json"],
        install: "npm install -g @anthropic-ai/claude-code",
        how_to_log_in: VOICE.log_in,
        tested: "2.1.325",
    },
};
