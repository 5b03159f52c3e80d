//! Output and tool calls of an agent in a turn, from its `session/update` messages.

use serde_json::Value;

use crate::agents::LiveEvent;
use crate::agents::json::{list, number, shortened, text};

/// Output so far.
#[derive(Debug, Default)]
pub(super) struct SessionUpdates {
    /// The message that is being written: at the end of the turn, the answer.
    pub(super) answer: String,
    /// Total cost of the session, if the agent reports it.
    pub(super) cost: Option<f64>,
    /// The name of the message, where it has one.
    id: Option<String>,
    /// Whether the session was taken up again, so that its past may arrive late.
    resumed: bool,
}

impl SessionUpdates {
    /// Nothing was said yet; `resumed` if much was said in earlier turns.
    pub(super) fn new(resumed: bool) -> Self {
        Self { resumed, ..Self::default() }
    }

    /// Takes an update; returns what is worth showing.
    pub(super) fn hear(&mut self, update: &Value) -> Vec<LiveEvent> {
        match text(update, "/sessionUpdate").unwrap_or_default() {
            "agent_message_chunk" => {
                let Some(piece) = text(update, "/content/text") else { return Vec::new() };
                let id = text(update, "/messageId");
                if id.is_some() && id != self.id.as_deref() {
                    self.answer.clear();
                    self.id = id.map(str::to_owned);
                }
                self.answer.push_str(piece);
                vec![LiveEvent::Delta(piece.to_owned())]
            }
            // The past may also arrive late; what a person said is never part of the answer.
            "user_message_chunk" => {
                self.answer.clear();
                Vec::new()
            }
            // One agent replays the earlier conversation only after it has received the prompt, and ends the replay
            // with this update.
            "available_commands_update" if self.resumed => {
                self.answer.clear();
                Vec::new()
            }
            "tool_call" => {
                // What was said before a tool was used is not the answer.
                self.answer.clear();
                let name = text(update, "/kind").unwrap_or("tool").to_owned();
                let about = shortened(text(update, "/title").unwrap_or_default());
                let mut news = vec![LiveEvent::Tool { name, about }];
                news.extend(written(update));
                news
            }
            "tool_call_update" => match text(update, "/status") {
                Some("failed") => {
                    let name = text(update, "/title").or_else(|| text(update, "/kind"));
                    let name = shortened(name.unwrap_or("a tool"));
                    vec![LiveEvent::ToolDone { name, ok: false }]
                }
                Some("completed") => written(update),
                Some(_) | None => Vec::new(),
            },
            "usage_update" => {
                self.cost = number(update, "/cost/amount").or(self.cost);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }
}

/// The files that a finished edit has changed.
fn written(update: &Value) -> Vec<LiveEvent> {
    if text(update, "/status") != Some("completed") {
        return Vec::new();
    }
    let content = list(update, "/content").iter();
    let diffs = content.filter(|part| text(part, "/type") == Some("diff"));
    diffs.filter_map(|part| Some(LiveEvent::File(text(part, "/path")?.into()))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chunk(text: &str, id: Option<&str>) -> Value {
        json!({
            "sessionUpdate": "agent_message_chunk",
            "messageId": id,
            "content": { "type": "text", "text": text }
        })
    }

    #[test]
    fn the_answer_is_the_last_message_and_not_what_came_before_a_tool() {
        let mut speech = SessionUpdates::default();
        speech.hear(&chunk("Warning: something", None));
        speech.hear(&chunk("I look", Some("m1")));
        assert_eq!(speech.answer, "I look", "a message with a name begins anew");
        speech.hear(&json!({ "sessionUpdate": "tool_call", "kind": "read", "title": "a" }));
        speech.hear(&chunk("Do", Some("m2")));
        speech.hear(&chunk("ne", Some("m2")));
        speech.hear(&json!({ "sessionUpdate": "plan", "entries": [] }));
        assert_eq!(speech.answer, "Done");
        speech.hear(&json!({ "sessionUpdate": "usage_update", "cost": { "amount": 0.25 } }));
        assert_eq!(speech.cost, Some(0.25));
    }
}
