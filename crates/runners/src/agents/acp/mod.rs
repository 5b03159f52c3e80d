//! Any agent that speaks the Agent Client Protocol, version 1, over its standard streams.
//!
//! One process a turn: `initialize`, a new or resumed session, one prompt, the end. The protocol is JSON-RPC, one
//! message a line; [`talk`] is the conversation, [`updates`] reads the updates, [`permit`] answers requests for
//! permission. We offer no files or terminals: an agent uses its own tools, inside the sandbox.
//!
//! Such an agent does not declare its own restrictions, so only the kernel keeps it from writing. Without that
//! support of the kernel a read-only socket is refused.

mod permit;
mod talk;
mod updates;

use super::failure::Voice;
use super::{
    Adapter, AdapterError, Ask, Capabilities, Grant, Launch, Polite, Probe, Reader, capability,
    environment,
};

/// Texts of its error messages.
const VOICE: Voice =
    Voice { label: "the ACP agent", log_in: "log in with the agent's own program first" };

/// An agent behind the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acp {
    /// Its name in the configuration.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
}

impl Adapter for Acp {
    fn capabilities(&self) -> &'static Capabilities {
        &capability::ACP
    }

    fn dialogue(&self) -> bool {
        true
    }

    fn launch(&self, ask: &Ask) -> Result<Launch, AdapterError> {
        let cannot = |what: &str, help: &str| AdapterError::Cannot {
            agent: capability::ACP.label,
            what: what.to_owned(),
            help: help.to_owned(),
        };
        match Grant::of(ask) {
            // What it calls its tools is not known, and some never ask.
            Grant::Only(_) => {
                return Err(cannot(
                    "be held to a list of tools",
                    "give the socket `tools: \"readOnly\"` or `tools: \"coding\"`",
                ));
            }
            Grant::Nothing | Grant::ReadOnly | Grant::Documents if !ask.confined => {
                return Err(cannot(
                    "be kept from writing on a kernel without a sandbox",
                    "use another agent, or give the socket `tools: \"coding\"`",
                ));
            }
            Grant::Nothing | Grant::ReadOnly | Grant::Documents | Grant::Coding => {}
        }
        let mut argv = match &ask.settings.program {
            Some(program) if !program.is_empty() => program.clone(),
            Some(_) | None => self.command.clone(),
        };
        argv.extend(ask.settings.args.iter().cloned());
        Ok(Launch {
            stdin: talk::greeting(),
            set_env: Vec::new(),
            // An unknown agent has unknown keys; the configuration names them.
            pass_env: environment::names(&[], &ask.settings.env),
            files: Vec::new(),
            polite: Polite::Terminate,
            argv,
        })
    }

    fn reader(&self, ask: &Ask) -> Box<dyn Reader> {
        Box::new(talk::Talk::new(&self.name, ask))
    }

    fn probe(&self) -> Probe {
        Probe {
            program: "",
            version: &["--version"],
            login: None,
            keys: &[],
            credentials: &[],
            install: "name its command in the configuration: \
                      \"agents\": {\"NAME\": {\"protocol\": \"acp\", \"command\": [\"PROGRAM\", \"ARGUMENT\"]}}",
            how_to_log_in: VOICE.log_in,
            tested: "protocol version 1",
        }
    }
}
