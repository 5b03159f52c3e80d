//! Pi (`pi -p --mode json`), one process a turn.
//!
//! Measured with version 0.87.1. It always exits with code 0, never asks for permission and has no sandbox: the list
//! of its tools is its only restriction. If it does not find a session, it silently starts a new one.

mod command;
mod events;

use super::{Home, Probe, Shipped, StoredLogin, capability};
use crate::agents::failure::Voice;

/// Texts of its error messages.
const VOICE: Voice = Voice {
    label: "Pi",
    log_in: "run `pi` once and use /login, or pass the key of its provider on with `agents.pi.env`",
};

/// Files in the user's home. The copied or linked ones contain extensions, packages and commands for keys.
const HOME: Home = Home {
    variable: "PI_CODING_AGENT_DIR",
    inner: "",
    usual: ".pi/agent",
    beside: &[],
    copied: &[
        "keybindings.json",
        "models-store.json",
        "models.json",
        "settings.json",
        "trust.json",
    ],
    linked: &[
        "AGENTS.md",
        "AGENTS.override.md",
        "APPEND_SYSTEM.md",
        "CLAUDE.md",
        "SYSTEM.md",
        "agents",
        "bin",
        "extensions",
        "git",
        "npm",
        "packages",
        "prompts",
        "skills",
        "themes",
        "tools",
    ],
    sessions: &["sessions/*/*_{id}.jsonl"],
    mark: None,
    logins: &[StoredLogin { file: "auth.json", fields: &["*/access", "*/refresh", "*/expires"] }],
    changed: None,
};

/// Pi.
pub static ADAPTER: Shipped = Shipped {
    capabilities: &capability::PI,
    launch: command::launch,
    reader: |ask| Box::new(events::Stream::new(ask)),
    home: &HOME,
    probe: Probe {
        program: "pi",
        version: &["--version"],
        login: None,
        keys: &[],
        credentials: &[".pi/agent/auth.json", ".pi/agent/models.json"],
        install: "npm install -g @earendil-works/pi-coding-agent",
        how_to_log_in: VOICE.log_in,
        tested: "0.87.1",
    },
};
