//! Event stream of a turn.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use super::super::failure::{Hints, status_in};
use super::super::json::{about, count, event, shortened, text};
use super::super::{
    AgentFault, AgentSession, Answer, Ask, Ended, Exit, FailureClass, LiveEvent, Prices, Reader,
    Usage,
};
use super::VOICE;

/// Tools that write the file they name.
const WRITERS: [&str; 2] = ["write_file", "replace"];

/// State of the stream so far.
pub(super) struct Stream {
    prices: Prices,
    id: Option<String>,
    model: Option<String>,
    said: String,
    calls: BTreeMap<String, (String, Option<PathBuf>)>,
    hints: Hints,
    unruly: bool,
    last: Option<Value>,
}

impl Stream {
    pub(super) fn new(ask: &Ask) -> Self {
        Self {
            prices: ask.settings.prices.clone(),
            id: None,
            model: ask.model.clone(),
            said: String::new(),
            calls: BTreeMap::new(),
            hints: Hints::default(),
            unruly: false,
            last: None,
        }
    }

    fn call(&mut self, event: &Value) -> LiveEvent {
        // What was said before a tool is used is no part of the answer.
        self.said.clear();
        let name = text(event, "/tool_name").unwrap_or("tool").to_owned();
        let input = event.get("parameters").unwrap_or(&Value::Null);
        let file = text(input, "/file_path").filter(|_| WRITERS.contains(&name.as_str()));
        if let Some(id) = text(event, "/tool_id") {
            self.calls.insert(id.to_owned(), (name.clone(), file.map(PathBuf::from)));
        }
        LiveEvent::Tool { name, about: about(input) }
    }

    fn called(&mut self, event: &Value) -> Vec<LiveEvent> {
        self.said.clear();
        let ok = text(event, "/status") == Some("success");
        let call = text(event, "/tool_id").and_then(|id| self.calls.remove(id));
        let (name, file) = call.unwrap_or_else(|| ("tool".to_owned(), None));
        let mut news: Vec<LiveEvent> =
            file.filter(|_| ok).map(LiveEvent::File).into_iter().collect();
        news.push(LiveEvent::ToolDone { name, ok });
        news
    }

    fn outcome(&self, last: &Value) -> Result<Answer, AgentFault> {
        if self.unruly {
            return Err(VOICE.with_help(FailureClass::Permanent, "it did not accept its rules"));
        }
        if text(last, "/status") != Some("success") {
            let said = text(last, "/error/message").or(self.hints.said.as_deref());
            let said = said.unwrap_or("no reason given");
            return Err(VOICE.complaint(said, &self.hints));
        }
        // It calls a turn that it broke off because it went in circles a success.
        if self.said.trim().is_empty() {
            return Err(VOICE.silent());
        }
        Ok(Answer { text: self.said.clone(), structured: None, notes: Vec::new() })
    }

    fn usage(&self, last: &Value) -> Usage {
        let mut usage = Usage {
            model: self.model.clone(),
            input_tokens: count(last, "/stats/input_tokens"),
            cached_tokens: count(last, "/stats/cached"),
            output_tokens: count(last, "/stats/output_tokens"),
            cost: None,
            priced: None,
        };
        if let Some((cost, date)) = self.cost(last) {
            usage.cost = Some(cost);
            usage.priced = Some(date);
        }
        usage
    }

    /// The sum over all models, if each of them has a price.
    fn cost(&self, last: &Value) -> Option<(f64, String)> {
        let mut sum = None;
        for (model, stats) in last.pointer("/stats/models")?.as_object()? {
            let input = count(stats, "/input_tokens")?;
            let cached = count(stats, "/cached").unwrap_or(0);
            let output = count(stats, "/output_tokens")?;
            let (cost, date) = self.prices.cost(model, input, cached, output)?;
            let (before, _) = sum.unwrap_or((0.0, String::new()));
            sum = Some((before + cost, date));
        }
        sum
    }
}

impl Reader for Stream {
    fn line(&mut self, bytes: &[u8]) -> Vec<LiveEvent> {
        let Some(event) = event(bytes) else { return Vec::new() };
        match text(&event, "/type").unwrap_or_default() {
            "init" => {
                self.id = text(&event, "/session_id").map(str::to_owned);
                self.model = text(&event, "/model").map(str::to_owned).or(self.model.take());
                vec![LiveEvent::Started { model: self.model.clone() }]
            }
            // The prompt is echoed with the role of the user.
            "message" if text(&event, "/role") == Some("assistant") => {
                let piece = text(&event, "/content").unwrap_or_default();
                if event.get("delta").and_then(Value::as_bool) != Some(true) {
                    self.said.clear();
                }
                self.said.push_str(piece);
                vec![LiveEvent::Delta(piece.to_owned())]
            }
            "tool_use" => vec![self.call(&event)],
            "tool_result" => self.called(&event),
            "error" => {
                let said = text(&event, "/message").unwrap_or_default();
                self.hints.said = Some(shortened(said));
                vec![LiveEvent::Warning(shortened(said))]
            }
            "result" => {
                self.last = Some(event);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn stderr(&mut self, bytes: &[u8]) {
        let line = String::from_utf8_lossy(bytes);
        // Failed attempts are reported only here.
        if line.starts_with("Attempt ") || line.contains("talking to Gemini API") {
            self.hints.status = status_in(&line).or(self.hints.status);
        }
        // It goes on without rules that it cannot read.
        if line.contains("Policy file error") {
            self.unruly = true;
        }
        if !line.starts_with("Error executing tool") {
            self.hints.hear(&line);
        }
    }

    fn settled(&self) -> bool {
        self.last.is_some() || self.unruly
    }

    fn finish(mut self: Box<Self>, exit: Exit) -> Ended {
        let agent = "gemini".to_owned();
        let session = self.id.clone().map(|id| AgentSession { agent, id, totals: None });
        let Some(last) = self.last.take() else {
            let status = exit.code.and_then(status_of_exit);
            let hints = Hints { status: self.hints.status.or(status), ..self.hints.clone() };
            let usage = Usage { model: self.model.clone(), ..Usage::default() };
            let outcome = if self.unruly {
                self.outcome(&Value::Null)
            } else {
                Err(VOICE.unfinished(exit, &hints))
            };
            return Ended { outcome, session, usage }.honest();
        };
        Ended { outcome: self.outcome(&last), session, usage: self.usage(&last) }.honest()
    }
}

/// The status of HTTP behind an exit code: it ends with the status modulo 256, so that 400 to 511
/// are unmistakable among what it otherwise ends with.
fn status_of_exit(code: i32) -> Option<u16> {
    let code = u16::try_from(code).ok()?;
    match code {
        41 => Some(401),
        144..=247 => Some(code + 256),
        _ => None,
    }
}
