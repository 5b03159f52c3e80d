//! Conversation of one turn.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::VOICE;
use super::permit;
use super::updates::SessionUpdates;
use crate::agents::failure::Hints;
use crate::agents::json::{count, event, list, shortened, text};
use crate::agents::{
    AgentFault, AgentSession, Answer, Ask, Ended, Exit, FailureClass, Grant, LiveEvent, Reader,
    SessionPlan, Usage,
};

/// The version of the protocol that is spoken here.
const VERSION: u64 = 1;
/// The code of an error that asks for a login.
const AUTH_REQUIRED: i64 = -32_000;
/// The JSON-RPC error code for an unknown method.
const NO_SUCH_METHOD: i64 = -32_601;
/// Modes in which agents say of themselves that they only look.
const LOOKING_MODES: [&str; 4] = ["plan", "read-only", "readonly", "ask"];
/// Maximum refusals that are listed one by one.
const REFUSALS_MAX: usize = 20;

/// State of the conversation: the awaited reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaiting {
    /// The agent says what it can.
    Greeting,
    /// The session is begun.
    NewSession,
    /// The session is taken up again.
    OldSession,
    /// The mode or the model is set; whether that worked does not matter.
    Setting,
    /// The answer.
    Prompt,
    /// Nothing more: the outcome is known.
    Nothing,
}

/// The conversation of one turn.
pub(super) struct Talk {
    agent: String,
    prompt: String,
    cwd: PathBuf,
    docs: PathBuf,
    plan: SessionPlan,
    grant: Grant,
    confined: bool,
    model: Option<String>,
    awaiting: Awaiting,
    /// The number of our last request.
    asked: u64,
    /// Settings to send before the prompt.
    settings: Vec<(&'static str, Value)>,
    session: Option<String>,
    /// Bytes to send.
    out: Vec<u8>,
    speech: SessionUpdates,
    notes: Vec<String>,
    refused: usize,
    hints: Hints,
    usage: Usage,
    outcome: Option<Result<(), AgentFault>>,
    /// Whether we have called the turn off.
    called_off: bool,
}

/// The first thing that is said.
pub(super) fn greeting() -> Vec<u8> {
    let params = json!({
        "protocolVersion": VERSION,
        "clientCapabilities": {
            "fs": { "readTextFile": false, "writeTextFile": false },
            "terminal": false
        },
        "clientInfo": { "name": "materia", "version": env!("CARGO_PKG_VERSION") }
    });
    line(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }))
}

fn line(message: &Value) -> Vec<u8> {
    let mut bytes = message.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

impl Talk {
    /// Begins the conversation of a turn; the greeting is on its way already.
    pub(super) fn new(agent: &str, ask: &Ask) -> Self {
        Self {
            agent: agent.to_owned(),
            prompt: ask.prompt.clone(),
            cwd: ask.cwd.clone(),
            docs: ask.cwd.join(&ask.doc_root),
            plan: ask.session.clone(),
            grant: Grant::of(ask),
            confined: ask.confined,
            model: ask.model.clone(),
            awaiting: Awaiting::Greeting,
            asked: 1,
            settings: Vec::new(),
            session: None,
            out: Vec::new(),
            speech: SessionUpdates::new(matches!(ask.session, SessionPlan::Resume(_))),
            notes: Vec::new(),
            refused: 0,
            hints: Hints::default(),
            usage: Usage::default(),
            outcome: None,
            called_off: false,
        }
    }

    fn request(&mut self, awaiting: Awaiting, method: &str, params: &Value) {
        self.asked += 1;
        self.awaiting = awaiting;
        let message =
            json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params });
        self.out.extend(line(&message));
    }

    fn fail(&mut self, fault: AgentFault) {
        self.awaiting = Awaiting::Nothing;
        self.outcome.get_or_insert(Err(fault));
    }

    /// An answer to our last request.
    fn answered(&mut self, result: &Value) -> Vec<LiveEvent> {
        match self.awaiting {
            Awaiting::Greeting => self.greeted(result),
            Awaiting::NewSession => match text(result, "/sessionId").map(str::to_owned) {
                Some(id) => return self.opened(&id, result),
                None => self.fail(AgentFault::new(
                    FailureClass::Permanent,
                    "the ACP agent began a session without a name; it does not keep the protocol",
                )),
            },
            Awaiting::OldSession => {
                if let SessionPlan::Resume(session) = &self.plan {
                    let id = session.id.clone();
                    return self.opened(&id, result);
                }
            }
            Awaiting::Setting => self.next_setting(),
            Awaiting::Prompt => self.prompted(result),
            Awaiting::Nothing => {}
        }
        Vec::new()
    }

    fn greeted(&mut self, result: &Value) {
        let version = count(result, "/protocolVersion");
        if version != Some(VERSION) {
            let spoken = version.map_or("none".to_owned(), |version| version.to_string());
            self.fail(AgentFault::new(
                FailureClass::Permanent,
                format!("the ACP agent speaks version {spoken} of the protocol, not {VERSION}; use another release of it"),
            ));
            return;
        }
        let place = json!({ "cwd": self.cwd, "mcpServers": [] });
        let SessionPlan::Resume(session) = &self.plan else {
            self.request(Awaiting::NewSession, "session/new", &place);
            return;
        };
        let mut params = place;
        params["sessionId"] = json!(session.id);
        // Resuming is better than loading, which says everything again that was said before.
        if result
            .pointer("/agentCapabilities/sessionCapabilities/resume")
            .is_some_and(|it| !it.is_null())
        {
            self.request(Awaiting::OldSession, "session/resume", &params);
        } else if result.pointer("/agentCapabilities/loadSession") == Some(&Value::Bool(true)) {
            self.request(Awaiting::OldSession, "session/load", &params);
        } else {
            let said = "it says that it cannot take sessions up again";
            self.fail(VOICE.with_help(FailureClass::SessionLost, said));
        }
    }

    /// The session is there: the mode and the model are set if that can be, then the prompt goes.
    fn opened(&mut self, id: &str, result: &Value) -> Vec<LiveEvent> {
        self.session = Some(id.to_owned());
        let ways = list(result, "/modes/availableModes");
        // Who may write documents needs more than to look; the kernel keeps it to them.
        if matches!(self.grant, Grant::Nothing | Grant::ReadOnly) {
            let offered = |wanted: &str| ways.iter().any(|mode| text(mode, "/id") == Some(wanted));
            if let Some(mode) = LOOKING_MODES.into_iter().find(|mode| offered(mode)) {
                let params = json!({ "sessionId": id, "modeId": mode });
                self.settings.push(("session/set_mode", params));
            }
        }
        if let Some(model) = &self.model {
            let models = list(result, "/models/availableModels");
            if models.iter().any(|one| text(one, "/modelId") == Some(model)) {
                let params = json!({ "sessionId": id, "modelId": model });
                self.settings.push(("session/set_model", params));
            } else {
                self.notes
                    .push(format!("the agent offers no model `{model}`; its own choice was used"));
            }
        }
        self.settings.reverse();
        self.next_setting();
        let model = self
            .model
            .clone()
            .or_else(|| text(result, "/models/currentModelId").map(str::to_owned));
        self.usage.model.clone_from(&model);
        vec![LiveEvent::Started { model }]
    }

    fn next_setting(&mut self) {
        if let Some((method, params)) = self.settings.pop() {
            self.request(Awaiting::Setting, method, &params);
            return;
        }
        let prompt = json!([{ "type": "text", "text": self.prompt }]);
        let params = json!({ "sessionId": self.session, "prompt": prompt });
        self.request(Awaiting::Prompt, "session/prompt", &params);
    }

    fn prompted(&mut self, result: &Value) {
        if let Some(usage) = result.pointer("/usage").filter(|usage| usage.is_object()) {
            let read = |name: &str| count(usage, name);
            let cached = read("/cachedReadTokens");
            let more = cached.unwrap_or(0).saturating_add(read("/cachedWriteTokens").unwrap_or(0));
            self.usage.input_tokens =
                read("/inputTokens").map(|tokens| tokens.saturating_add(more));
            self.usage.cached_tokens = cached;
            self.usage.output_tokens = read("/outputTokens");
        }
        let reason = text(result, "/stopReason").unwrap_or("nothing");
        let fault = match reason {
            "end_turn" if self.speech.answer.trim().is_empty() => VOICE.silent(),
            "end_turn" => {
                self.awaiting = Awaiting::Nothing;
                self.outcome = Some(Ok(()));
                return;
            }
            "max_tokens" => VOICE.with_help(
                FailureClass::Contract,
                "it was cut off, for it is longer than the model may write",
            ),
            "max_turn_requests" => VOICE.with_help(
                FailureClass::Permanent,
                "it has made as many requests as one turn may have",
            ),
            "refusal" => VOICE.with_help(FailureClass::Permanent, "the model declined to answer"),
            // We cancelled it; the reason is in how the process ended.
            "cancelled" if self.called_off => {
                self.awaiting = Awaiting::Nothing;
                return;
            }
            "cancelled" => VOICE.with_help(FailureClass::Transient, "the turn was cancelled"),
            other => VOICE.with_help(
                FailureClass::Permanent,
                &format!("the turn ended for an unknown reason: {}", shortened(other)),
            ),
        };
        self.fail(fault);
    }

    /// Our last request failed.
    fn denied(&mut self, error: &Value) {
        let said = text(error, "/message").unwrap_or("no reason given");
        let details = text(error, "/data/details").or_else(|| text(error, "/data/message"));
        let said = details.map_or(said.to_owned(), |details| format!("{said}: {details}"));
        let code = error.pointer("/code").and_then(Value::as_i64);
        let fault = match self.awaiting {
            // A mode or model that cannot be set is no reason to stop: the sandbox holds anyway.
            Awaiting::Setting => {
                self.notes.push(format!("a setting was refused: {}", shortened(&said)));
                self.next_setting();
                return;
            }
            Awaiting::Nothing => return,
            Awaiting::Greeting | Awaiting::NewSession | Awaiting::OldSession | Awaiting::Prompt
                if code == Some(AUTH_REQUIRED) =>
            {
                VOICE.with_help(FailureClass::Auth, &shortened(&said))
            }
            Awaiting::OldSession => VOICE.with_help(FailureClass::SessionLost, &shortened(&said)),
            Awaiting::Greeting | Awaiting::NewSession | Awaiting::Prompt => {
                // Some put the status of the provider into the code.
                let status = code.and_then(|code| u16::try_from(code).ok());
                self.hints.status =
                    status.filter(|code| (400..600).contains(code)).or(self.hints.status);
                VOICE.complaint(&said, &self.hints)
            }
        };
        self.fail(fault);
    }

    /// The agent asks something of us.
    fn asked_of_us(&mut self, id: &Value, method: &str, params: &Value) -> Vec<LiveEvent> {
        if method != "session/request_permission" {
            let message = format!("materia does not offer `{}`", shortened(method));
            let error = json!({ "code": NO_SUCH_METHOD, "message": message });
            self.out.extend(line(&json!({ "jsonrpc": "2.0", "id": id, "error": error })));
            return Vec::new();
        }
        let call = params.get("toolCall").unwrap_or(&Value::Null);
        let allowed = permit::allows(&self.grant, call, &self.docs, self.confined);
        let result = permit::answer(list(params, "/options"), allowed);
        self.out.extend(line(&json!({ "jsonrpc": "2.0", "id": id, "result": result })));
        if allowed {
            return Vec::new();
        }
        self.refused += 1;
        let what =
            shortened(text(call, "/title").or_else(|| text(call, "/kind")).unwrap_or("a tool"));
        let note = format!("the rules of the socket refused `{what}`");
        if self.refused <= REFUSALS_MAX {
            self.notes.push(note.clone());
        }
        vec![LiveEvent::Warning(note)]
    }
}

impl Reader for Talk {
    fn line(&mut self, bytes: &[u8]) -> Vec<LiveEvent> {
        let Some(message) = event(bytes) else { return Vec::new() };
        let params = message.get("params").unwrap_or(&Value::Null);
        match (text(&message, "/method"), message.get("id")) {
            (Some(method), Some(id)) => self.asked_of_us(id, method, params),
            (Some("session/update"), None) => {
                let about = text(params, "/sessionId");
                if about.is_some() && about != self.session.as_deref() {
                    return Vec::new();
                }
                // Updates before the prompt replay the earlier conversation.
                if self.awaiting != Awaiting::Prompt {
                    return Vec::new();
                }
                self.speech.hear(params.get("update").unwrap_or(&Value::Null))
            }
            (None, Some(id)) if id.as_u64() == Some(self.asked) => {
                match (message.get("result"), message.get("error")) {
                    (_, Some(error)) if !error.is_null() => {
                        self.denied(error);
                        Vec::new()
                    }
                    (Some(result), _) => self.answered(result),
                    (None, _) => Vec::new(),
                }
            }
            (Some(_) | None, _) => Vec::new(),
        }
    }

    fn stderr(&mut self, bytes: &[u8]) {
        self.hints.hear(&String::from_utf8_lossy(bytes));
    }

    fn settled(&self) -> bool {
        self.outcome.is_some()
    }

    fn reply(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    fn farewell(&mut self) -> Vec<u8> {
        if self.awaiting != Awaiting::Prompt {
            return Vec::new();
        }
        self.called_off = true;
        let params = json!({ "sessionId": self.session });
        line(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": params }))
    }

    fn finish(self: Box<Self>, exit: Exit) -> Ended {
        let Self { agent, session, speech, mut notes, refused, hints, mut usage, outcome, .. } =
            *self;
        // The total of the session: for one that goes on, the part of this turn is unknown.
        if matches!(self.plan, SessionPlan::Fresh { .. }) {
            usage.cost = speech.cost;
        }
        if refused > REFUSALS_MAX {
            notes.push(format!("{} further refusals", refused - REFUSALS_MAX));
        }
        let outcome = match outcome {
            Some(Ok(())) => Ok(Answer { text: speech.answer, structured: None, notes }),
            Some(Err(fault)) => Err(fault),
            None => Err(VOICE.unfinished(exit, &hints)),
        };
        let session = session.map(|id| AgentSession { agent, id, totals: None });
        Ended { outcome, session, usage }.honest()
    }
}
