//! Event stream of a turn.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::super::failure::Hints;
use super::super::json::{about, count, event, list, text};
use super::super::{AgentSession, Ask, Ended, Exit, LiveEvent, Reader, SessionPlan, Usage};
use super::result;

/// Tools that write the file they name.
const WRITERS: [&str; 3] = ["Edit", "Write", "NotebookEdit"];

/// A tool call that has not finished.
struct Call {
    name: String,
    file: Option<PathBuf>,
}

/// State of the stream so far.
pub(super) struct Stream {
    plan: SessionPlan,
    wants_schema: bool,
    id: Option<String>,
    model: Option<String>,
    calls: BTreeMap<String, Call>,
    hints: Hints,
    denied: Vec<String>,
    last: Option<Value>,
}

impl Stream {
    pub(super) fn new(ask: &Ask) -> Self {
        Self {
            plan: ask.session.clone(),
            wants_schema: ask.schema.is_some(),
            id: None,
            model: None,
            calls: BTreeMap::new(),
            hints: Hints::default(),
            denied: Vec::new(),
            last: None,
        }
    }

    fn system(&mut self, event: &Value) -> Vec<LiveEvent> {
        match text(event, "/subtype").unwrap_or_default() {
            "init" => {
                self.model = text(event, "/model").map(str::to_owned);
                vec![LiveEvent::Started { model: self.model.clone() }]
            }
            "api_retry" => {
                self.hints.status = count(event, "/error_status").and_then(|n| n.try_into().ok());
                let error = text(event, "/error").unwrap_or("error");
                self.hints.said = Some(error.to_owned());
                let attempt = count(event, "/attempt").unwrap_or_default();
                let status = self.hints.status.map_or_else(String::new, |s| format!(" ({s})"));
                vec![LiveEvent::Retry(format!("{error}{status}, try {attempt}"))]
            }
            "permission_denied" => {
                let tool = text(event, "/tool_name").unwrap_or("a tool");
                self.denied.push(tool.to_owned());
                vec![LiveEvent::Warning(format!("{tool} was denied by the rules of the socket"))]
            }
            _ => Vec::new(),
        }
    }

    fn assistant(&mut self, event: &Value) -> Vec<LiveEvent> {
        let mut news = Vec::new();
        for part in list(event, "/message/content") {
            if text(part, "/type") != Some("tool_use") {
                continue;
            }
            let name = text(part, "/name").unwrap_or("tool").to_owned();
            let input = part.get("input").unwrap_or(&Value::Null);
            let path = text(input, "/file_path").or_else(|| text(input, "/notebook_path"));
            let file = path.filter(|_| WRITERS.contains(&name.as_str())).map(PathBuf::from);
            news.push(LiveEvent::Tool { name: name.clone(), about: about(input) });
            if let Some(id) = text(part, "/id") {
                self.calls.insert(id.to_owned(), Call { name, file });
            }
        }
        news
    }

    fn user(&mut self, event: &Value) -> Vec<LiveEvent> {
        let mut news = Vec::new();
        for part in list(event, "/message/content") {
            let call = text(part, "/tool_use_id").and_then(|id| self.calls.remove(id));
            let Some(call) = call else { continue };
            let ok = part.get("is_error").and_then(Value::as_bool) != Some(true);
            news.extend(call.file.filter(|_| ok).map(LiveEvent::File));
            news.push(LiveEvent::ToolDone { name: call.name, ok });
        }
        news
    }

    fn limit(&mut self, event: &Value) {
        let ends = event.pointer("/rate_limit_info/resetsAt").and_then(Value::as_i64);
        if text(event, "/rate_limit_info/status") == Some("rejected") {
            self.hints.until = ends.or(self.hints.until);
        }
    }
}

impl Reader for Stream {
    fn line(&mut self, bytes: &[u8]) -> Vec<LiveEvent> {
        let Some(event) = event(bytes) else { return Vec::new() };
        // A subagent's events carry the session too, but what it says is not the answer.
        let inner = text(&event, "/parent_tool_use_id").is_some();
        if let Some(id) = text(&event, "/session_id") {
            self.id = Some(id.to_owned());
        }
        match text(&event, "/type").unwrap_or_default() {
            "system" => self.system(&event),
            "assistant" => self.assistant(&event),
            "user" => self.user(&event),
            "stream_event" if !inner => {
                let delta = text(&event, "/event/delta/text");
                delta.map(|text| LiveEvent::Delta(text.to_owned())).into_iter().collect()
            }
            "rate_limit_event" => {
                self.limit(&event);
                Vec::new()
            }
            "result" => {
                self.last = Some(event);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn stderr(&mut self, bytes: &[u8]) {
        self.hints.hear(&String::from_utf8_lossy(bytes));
    }

    fn settled(&self) -> bool {
        self.last.is_some()
    }

    fn finish(self: Box<Self>, exit: Exit) -> Ended {
        let Some(last) = &self.last else {
            let usage = Usage { model: self.model.clone(), ..Usage::default() };
            let outcome = Err(super::VOICE.unfinished(exit, &self.hints));
            return Ended { outcome, session: self.session(None), usage }.honest();
        };
        let (usage, totals) = result::usage(last, &self.plan, self.model.as_deref());
        let outcome = result::outcome(last, &self.hints, self.wants_schema, &self.denied);
        Ended { outcome, session: self.session(totals), usage }.honest()
    }
}

impl Stream {
    /// The session as it stands. Totals that were not reported anew are those of before.
    fn session(&self, totals: Option<super::super::Totals>) -> Option<AgentSession> {
        let earlier = match &self.plan {
            SessionPlan::Resume(session) => session.totals,
            SessionPlan::Fresh { .. } => None,
        };
        let id = self.id.clone()?;
        Some(AgentSession { agent: "claude".to_owned(), id, totals: totals.or(earlier) })
    }
}
