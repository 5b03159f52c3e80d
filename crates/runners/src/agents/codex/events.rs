//! Event stream of a turn.

use std::path::PathBuf;

use serde_json::Value;

use super::super::failure::{Hints, status_in};
use super::super::json::{count, event, list, shortened, text};
use super::super::{
    AgentFault, AgentSession, Answer, Ask, Ended, Exit, LiveEvent, Prices, Reader, SessionPlan,
    Totals, Usage,
};
use super::{VOICE, schema};

/// The last word of a turn.
enum Last {
    Completed(Option<Totals>),
    Failed(String),
}

/// State of the stream so far.
pub(super) struct Stream {
    plan: SessionPlan,
    model: Option<String>,
    schema: Option<Value>,
    prices: Prices,
    id: Option<String>,
    said: Option<String>,
    hints: Hints,
    last: Option<Last>,
}

impl Stream {
    pub(super) fn new(ask: &Ask) -> Self {
        Self {
            plan: ask.session.clone(),
            model: ask.model.clone(),
            schema: ask.schema.clone().filter(schema::is_typed),
            prices: ask.settings.prices.clone(),
            id: None,
            said: None,
            hints: Hints::default(),
            last: None,
        }
    }

    fn item(&mut self, item: &Value, done: bool) -> Vec<LiveEvent> {
        let ok = text(item, "/status") != Some("failed");
        let tool = |name: &str, about: &str| {
            let name = name.to_owned();
            vec![if done {
                LiveEvent::ToolDone { name, ok }
            } else {
                LiveEvent::Tool { name, about: shortened(about) }
            }]
        };
        match text(item, "/type").unwrap_or_default() {
            "agent_message" if done => {
                let said = text(item, "/text").unwrap_or_default().to_owned();
                self.said = Some(said.clone());
                vec![LiveEvent::Message(said)]
            }
            "command_execution" => tool("shell", text(item, "/command").unwrap_or_default()),
            "mcp_tool_call" => tool(text(item, "/tool").unwrap_or("tool"), ""),
            "web_search" => tool("web_search", text(item, "/query").unwrap_or_default()),
            "file_change" if done && ok => list(item, "/changes")
                .iter()
                .filter_map(|change| text(change, "/path"))
                .map(|path| LiveEvent::File(PathBuf::from(path)))
                .collect(),
            // Warnings come in the same form as errors; only `turn.failed` is a failure.
            "error" if done => {
                let said = text(item, "/message").unwrap_or_default();
                vec![LiveEvent::Warning(shortened(said))]
            }
            _ => Vec::new(),
        }
    }

    fn trouble(&mut self, said: &str) -> Vec<LiveEvent> {
        self.hints.status = status_in(said).or(self.hints.status);
        self.hints.said = Some(shortened(said));
        vec![LiveEvent::Retry(shortened(said))]
    }

    fn usage(&self, totals: Option<Totals>) -> Usage {
        let earlier = match &self.plan {
            SessionPlan::Fresh { .. } => Some(Totals::default()),
            SessionPlan::Resume(session) => session.totals,
        };
        let mut usage = Usage { model: self.model.clone(), ..Usage::default() };
        let Some((now, before)) = totals.zip(earlier) else { return usage };
        let turn = now.since(&before);
        usage.input_tokens = Some(turn.input_tokens);
        usage.cached_tokens = Some(turn.cached_tokens);
        usage.output_tokens = Some(turn.output_tokens);
        let model = self.model.as_deref().unwrap_or_default();
        let Totals { input_tokens, cached_tokens, output_tokens, .. } = turn;
        if let Some((cost, date)) =
            self.prices.cost(model, input_tokens, cached_tokens, output_tokens)
        {
            usage.cost = Some(cost);
            usage.priced = Some(date);
        }
        usage
    }

    fn answer(&self) -> Result<Answer, AgentFault> {
        let said = self.said.as_deref().unwrap_or_default();
        if said.trim().is_empty() {
            return Err(VOICE.silent());
        }
        let text = match &self.schema {
            Some(wanted) => match serde_json::from_str::<Value>(said) {
                Ok(object) if object.is_object() => {
                    schema::without_nulls(wanted, object).to_string()
                }
                // Codex does not validate the answer; the parser of the text does.
                Ok(_) | Err(_) => said.to_owned(),
            },
            None => said.to_owned(),
        };
        Ok(Answer { text, structured: None, notes: Vec::new() })
    }
}

fn totals(event: &Value) -> Option<Totals> {
    Some(Totals {
        input_tokens: count(event, "/usage/input_tokens")?,
        cached_tokens: count(event, "/usage/cached_input_tokens").unwrap_or(0),
        output_tokens: count(event, "/usage/output_tokens")?,
        cost: None,
    })
}

impl Reader for Stream {
    fn line(&mut self, bytes: &[u8]) -> Vec<LiveEvent> {
        let Some(event) = event(bytes) else { return Vec::new() };
        let item = event.get("item").unwrap_or(&Value::Null);
        match text(&event, "/type").unwrap_or_default() {
            "thread.started" => {
                self.id = text(&event, "/thread_id").map(str::to_owned);
                vec![LiveEvent::Started { model: self.model.clone() }]
            }
            "item.started" => self.item(item, false),
            "item.completed" => self.item(item, true),
            "error" => self.trouble(text(&event, "/message").unwrap_or_default()),
            "turn.completed" => {
                self.last = Some(Last::Completed(totals(&event)));
                Vec::new()
            }
            "turn.failed" => {
                let said = text(&event, "/error/message").unwrap_or("no reason given");
                self.last = Some(Last::Failed(said.to_owned()));
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
        let (outcome, totals) = match &self.last {
            Some(Last::Completed(totals)) => (self.answer(), *totals),
            Some(Last::Failed(said)) => (Err(VOICE.complaint(said, &self.hints)), None),
            None => (Err(VOICE.unfinished(exit, &self.hints)), None),
        };
        let earlier = match &self.plan {
            SessionPlan::Fresh { .. } => Some(Totals::default()),
            SessionPlan::Resume(session) => session.totals,
        };
        let agent = "codex".to_owned();
        // A turn that failed may have used tokens; they show in the total of the next one.
        let totals_now = totals.or(earlier);
        let session = self.id.clone().map(|id| AgentSession { agent, id, totals: totals_now });
        let usage = self.usage(totals);
        Ended { outcome, session, usage }.honest()
    }
}
