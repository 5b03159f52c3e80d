//! Event stream of a turn.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::super::failure::Hints;
use super::super::json::{about, count, event, list, number, shortened, text};
use super::super::{
    AgentFault, AgentSession, Answer, Ask, Ended, Exit, FailureClass, LiveEvent, Reader,
    SessionPlan, Usage, usage,
};
use super::VOICE;

/// Tools that write the file they name.
const WRITERS: [&str; 2] = ["write", "edit"];

/// The last message of the model.
struct Message {
    text: String,
    stop: String,
    error: Option<String>,
}

/// State of the stream so far.
pub(super) struct Stream {
    resumes: bool,
    lost: Option<String>,
    id: Option<String>,
    usage: Usage,
    calls: BTreeMap<String, Option<PathBuf>>,
    hints: Hints,
    message: Option<Message>,
    settled: bool,
    aborted: bool,
}

impl Stream {
    pub(super) fn new(ask: &Ask) -> Self {
        Self {
            resumes: matches!(ask.session, SessionPlan::Resume(_)),
            lost: None,
            id: None,
            usage: Usage { model: ask.model.clone(), ..Usage::default() },
            calls: BTreeMap::new(),
            hints: Hints::default(),
            message: None,
            settled: false,
            aborted: false,
        }
    }

    fn ended(&mut self, message: &Value) {
        if text(message, "/role") != Some("assistant") {
            return;
        }
        self.spend(message);
        let parts = list(message, "/content").iter();
        let said = parts.filter(|part| text(part, "/type") == Some("text"));
        self.message = Some(Message {
            text: said.filter_map(|part| text(part, "/text")).collect(),
            stop: text(message, "/stopReason").unwrap_or_default().to_owned(),
            error: text(message, "/errorMessage").map(str::to_owned),
        });
    }

    /// Adds what one message used: it reports each by itself, a session's or a turn's never.
    fn spend(&mut self, message: &Value) {
        if let Some(model) = text(message, "/model") {
            self.usage.model = Some(model.to_owned());
        }
        let fresh = count(message, "/usage/input");
        let cached = count(message, "/usage/cacheRead").unwrap_or(0);
        let written = count(message, "/usage/cacheWrite").unwrap_or(0);
        let input = fresh.map(|fresh| fresh.saturating_add(cached).saturating_add(written));
        let spent = &mut self.usage;
        add(&mut spent.input_tokens, input);
        add(&mut spent.cached_tokens, fresh.map(|_| cached));
        add(&mut spent.output_tokens, count(message, "/usage/output"));
        if let Some(cost) = number(message, "/usage/cost/total") {
            spent.cost = Some(usage::added(spent.cost.unwrap_or(0.0), cost));
        }
    }

    fn called(&mut self, event: &Value) -> Vec<LiveEvent> {
        let ok = event.get("isError").and_then(Value::as_bool) != Some(true);
        let file = text(event, "/toolCallId").and_then(|id| self.calls.remove(id)).flatten();
        let mut news: Vec<LiveEvent> =
            file.filter(|_| ok).map(LiveEvent::File).into_iter().collect();
        let name = text(event, "/toolName").unwrap_or("tool").to_owned();
        news.push(LiveEvent::ToolDone { name, ok });
        news
    }

    fn call(&mut self, event: &Value) -> LiveEvent {
        let name = text(event, "/toolName").unwrap_or("tool").to_owned();
        let input = event.get("args").unwrap_or(&Value::Null);
        let file = text(input, "/path").filter(|_| WRITERS.contains(&name.as_str()));
        if let Some(id) = text(event, "/toolCallId") {
            self.calls.insert(id.to_owned(), file.map(PathBuf::from));
        }
        LiveEvent::Tool { name, about: about(input) }
    }

    fn outcome(&self, exit: Exit) -> Result<Answer, AgentFault> {
        if let Some(lost) = &self.lost {
            return Err(VOICE.with_help(FailureClass::SessionLost, lost));
        }
        if !self.settled {
            return Err(VOICE.unfinished(exit, &self.hints));
        }
        let Some(message) = &self.message else { return Err(VOICE.silent()) };
        let failed = message.error.as_deref().map(|said| VOICE.complaint(said, &self.hints));
        match message.stop.as_str() {
            _ if self.aborted => Err(interrupted()),
            "aborted" => Err(interrupted()),
            "error" => {
                Err(failed.unwrap_or_else(|| VOICE.complaint("no reason given", &self.hints)))
            }
            "length" => Err(VOICE.with_help(
                FailureClass::Contract,
                "it was cut off at the longest answer the model gives",
            )),
            _ if message.text.trim().is_empty() => Err(failed.unwrap_or_else(|| VOICE.silent())),
            _ => Ok(Answer { text: message.text.clone(), structured: None, notes: Vec::new() }),
        }
    }
}

fn interrupted() -> AgentFault {
    AgentFault::new(FailureClass::Transient, "Pi was interrupted")
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}

impl Reader for Stream {
    fn line(&mut self, bytes: &[u8]) -> Vec<LiveEvent> {
        let Some(event) = event(bytes) else { return Vec::new() };
        match text(&event, "/type").unwrap_or_default() {
            "session" => {
                self.id = text(&event, "/id").map(str::to_owned);
                vec![LiveEvent::Started { model: self.usage.model.clone() }]
            }
            "message_update"
                if text(&event, "/assistantMessageEvent/type") == Some("text_delta") =>
            {
                let delta = text(&event, "/assistantMessageEvent/delta").unwrap_or_default();
                vec![LiveEvent::Delta(delta.to_owned())]
            }
            "message_end" => {
                self.ended(event.get("message").unwrap_or(&Value::Null));
                Vec::new()
            }
            "tool_execution_start" => vec![self.call(&event)],
            "tool_execution_end" => self.called(&event),
            "auto_retry_start" => {
                let said = text(&event, "/errorMessage").unwrap_or("error");
                self.hints.said = Some(shortened(said));
                vec![LiveEvent::Retry(shortened(said))]
            }
            "agent_start" => {
                // A new try after a settled one, should there ever be one, has to settle again.
                self.settled = false;
                Vec::new()
            }
            "agent_settled" => {
                self.settled = true;
                self.aborted = event.get("aborted").and_then(Value::as_bool) == Some(true);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn stderr(&mut self, bytes: &[u8]) {
        let line = String::from_utf8_lossy(bytes);
        // It goes on without the history that the prompt relies on; its answer is worth nothing.
        if self.resumes && line.contains("No project session found") {
            self.lost = Some("it was not found and a new one was begun".to_owned());
        }
        self.hints.hear(&line);
    }

    fn settled(&self) -> bool {
        self.settled || self.lost.is_some()
    }

    fn finish(self: Box<Self>, exit: Exit) -> Ended {
        let outcome = self.outcome(exit);
        let agent = "pi".to_owned();
        let session = self.id.map(|id| AgentSession { agent, id, totals: None });
        Ended { outcome, session, usage: self.usage }.honest()
    }
}
