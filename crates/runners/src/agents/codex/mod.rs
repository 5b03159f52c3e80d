//! Codex (`codex exec`), one process a turn.
//!
//! Measured with version 0.166.0. It names its own sessions, reports the tokens of the whole
//! session and no cost, and hands a schema to the provider without looking at what comes back.

mod command;
mod events;
mod schema;

pub use schema::{strict, without_nulls};

use super::{Adapter, AdapterError, Ask, Capabilities, Launch, Probe, Reader, capability};
use crate::agents::failure::Voice;

/// How its failures are told.
const VOICE: Voice = Voice { label: "Codex", log_in: "run `codex login`, or set CODEX_API_KEY" };

/// Codex.
#[derive(Debug, Clone, Copy)]
pub struct Codex;

impl Adapter for Codex {
    fn capabilities(&self) -> &'static Capabilities {
        &capability::CODEX
    }

    fn launch(&self, ask: &Ask) -> Result<Launch, AdapterError> {
        command::launch(ask)
    }

    fn reader(&self, ask: &Ask) -> Box<dyn Reader> {
        Box::new(events::Stream::new(ask))
    }

    fn probe(&self) -> Probe {
        Probe {
            program: "codex",
            version: &["--version"],
            login: Some(&["login", "status"]),
            keys: &["CODEX_API_KEY", "OPENAI_API_KEY"],
            credentials: &[".codex/auth.json"],
            install: "npm install -g @openai/codex",
            how_to_log_in: VOICE.log_in,
            tested: "0.166.0",
        }
    }
}
