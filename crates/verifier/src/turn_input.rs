//! Input of a turn: its session, its answer in the script, its prompt or its utility input.

use materia_contract::{
    Behavior, Cause, Event, InputPart, InputParts, InputSource, PromptLayer, SCRIPTED,
    SessionPolicy, SessionRef, TurnStarted, derived_id,
};
use serde_json::Value;

use crate::owed::Obligation;
use crate::shorten::{is_preview, item_key};
use crate::state::{Held, Position, Started, Verifier, Why};
use crate::trail::Trail;
use crate::wiring::Wiring;
use crate::{Checked, hold};

/// The fields of a utility's input, in order (U6).
const FIELDS: [&str; 14] = [
    "cwd",
    "runDir",
    "request",
    "castId",
    "socketId",
    "params",
    "state",
    "item",
    "itemKey",
    "itemLabel",
    "cursor",
    "cursors",
    "globalMode",
    "inputs",
];

impl Verifier {
    /// The turn that begins, with everything it is given checked.
    pub(crate) fn begun(
        &mut self,
        chart: &Wiring,
        node: usize,
        event: &Event,
        data: &TurnStarted,
        before: Option<Held>,
        trail: Trail,
    ) -> Checked<Started> {
        let at = &self.nodes[node];
        let current = self.item(node).map(|(id, _)| id);
        if let Some(held) = &before {
            let same = held.turn.item == data.item && held.turn.item_label == data.item_label;
            hold!(self, same, "the attempt before was about another item");
            let session = match (held.why, &held.turn.session) {
                (Why::Lost, Some(_)) => Some(self.fresh_session()),
                (_, session) => session.clone(),
            };
            hold!(self, data.session == session, "it has another session than is due");
        } else {
            hold!(self, data.attempt == 1, "a new turn begins with attempt 1");
            let visit = at.visits.saturating_add(1);
            hold!(self, data.visit == visit, "it is visit {visit} of its socket");
            let key = current.map(|item| item_key(item.index));
            hold!(self, data.item == key, "its item is {}", key.as_deref().unwrap_or("none"));
            let value = self.item(node).map(|(_, value)| value);
            let label = data.item_label.as_deref();
            let right = match (value, label) {
                (Some(value), Some(label)) => match value.get("title").unwrap_or(value).as_str() {
                    Some(title) => is_preview(label, title),
                    None => Some(label) == key.as_deref(),
                },
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            hold!(self, self.redacted || right, "its item is called otherwise");
            let session = self.session(chart, node);
            hold!(self, data.session == session, "its session is not the one that is due");
        }
        self.scripted(chart, node, data)?;
        self.says_who(chart, node, data)?;
        let input_hash = self.is_given(chart, node, data, before.as_ref())?;
        let manual = match &data.cause {
            Cause::Manual => true,
            Cause::Foreach { .. } => self.nodes[node].foreach.as_ref().is_some_and(|it| it.manual),
            Cause::Input | Cause::Retry { .. } | Cause::Repair { .. } | Cause::Recast { .. } => {
                before.as_ref().is_some_and(|held| held.turn.manual)
            }
        };
        let element = self.element(node).map(|(id, _)| id);
        let afresh = before.as_ref().is_some_and(|held| held.turn.afresh || held.why == Why::Lost);
        let (about, trail, repairs, retries) = if let Some(Held { turn, why, .. }) = before {
            let repairs = turn.repairs.saturating_add(u32::from(why == Why::Rejected));
            let retries = turn.retries.saturating_add(u32::from(why == Why::Passing));
            (turn.about, turn.trail, repairs, retries)
        } else {
            let iteration = self.nodes[node].foreach.as_ref();
            let trail = iteration.map_or(trail, |it| it.trail.clone());
            (self.loop_item(chart, node).map(|(id, _)| id), trail, 0, 0)
        };
        if let Some(session) = &data.session {
            self.nodes[node].session = Some((session.id, element.or(about)));
        }
        Ok(Started {
            node,
            visit: data.visit,
            attempt: data.attempt,
            since: event.ts,
            manual,
            item: data.item.clone(),
            item_label: data.item_label.clone(),
            about,
            trail,
            consumed: data.consumed.clone(),
            session: data.session.clone(),
            script: data.script.clone(),
            repairs,
            retries,
            afresh,
            input_hash,
            prompt_bytes: data.prompt.as_ref().map_or(0, String::len),
        })
    }

    /// The session of a new turn: the one before, for the same item, or a fresh one (D29).
    fn session(&self, chart: &Wiring, node: usize) -> Option<SessionRef> {
        if chart.is_utility(node) {
            return None;
        }
        let item = self.item(node).map(|(id, _)| id);
        let kept = self.nodes[node].session.filter(|(_, about)| match chart.node(node).session {
            SessionPolicy::Auto => *about == item,
            SessionPolicy::Fresh => false,
            SessionPolicy::Keep => true,
        });
        Some(match kept {
            Some((id, _)) => SessionRef { id, resume: true },
            None => self.fresh_session(),
        })
    }

    fn fresh_session(&self) -> SessionRef {
        SessionRef { id: derived_id(self.writer(self.seq), self.seq), resume: false }
    }

    /// Each list of a script has one position; what an interrupted turn had taken is given again.
    fn scripted(&mut self, chart: &Wiring, node: usize, data: &TurnStarted) -> Checked {
        let binding = self.beginning.script.as_ref();
        let key = binding.and_then(|script| script.keys.get(chart.name(node)));
        let asked = !(data.attempt == 1 && (self.refusing || self.missing(chart, node).is_some()));
        let due = key.filter(|_| asked).map(|key| {
            let upcoming = self.script.get(key).map_or(0, Position::upcoming);
            (key.as_str(), upcoming)
        });
        let found = data.script.as_ref().map(|entry| (entry.key.as_str(), entry.index));
        hold!(self, found == due, "the script's answer that it takes is not the next one");
        if let Some(entry) = &data.script {
            let position = self.script.entry(entry.key.clone()).or_default();
            position.returned.remove(&entry.index);
            position.next = position.next.max(entry.index.saturating_add(1));
        }
        Ok(())
    }

    /// An agent's turn says who is asked, for which model, with which tools and for which form of an answer
    /// (D46); a utility's says nothing of it.
    fn says_who(&mut self, chart: &Wiring, node: usize, data: &TurnStarted) -> Checked {
        let (id, plan) = (chart.name(node), chart.node(node));
        let mut due = (None, None, None, None, None);
        if let Behavior::Agent { tools, model, provider, .. } = &plan.behavior {
            hold!(self, data.global_mode.is_some(), "an agent's turn says what it may write");
            let answers = self.agents.get(id);
            let script = self.beginning.script.as_ref();
            let by_script = script.map(|script| script.keys.contains_key(id) || answers.is_none());
            let provider = match by_script {
                Some(true) => Some(SCRIPTED),
                Some(false) | None => {
                    answers.map(|it| &it.provider).or(provider.as_ref()).map(String::as_str)
                }
            };
            let own = plan.policy.as_ref().and_then(|policy| policy.tools.as_ref());
            due = (
                provider,
                answers.and_then(|it| it.program_version.as_ref()),
                model.as_ref().or(answers.and_then(|it| it.model.as_ref())),
                own.or(tools.as_ref()),
                self.nodes[node].schema.as_ref(),
            );
        }
        let said = (
            data.provider.as_deref(),
            data.program_version.as_ref(),
            data.model.as_ref(),
            data.tools.as_ref(),
            data.schema.as_ref(),
        );
        hold!(self, said == due, "it says otherwise who is asked, or for what");
        // It is equal. Where the next event has the same memory, they need not be compared again.
        self.nodes[node].schema.clone_from(&data.schema);
        Ok(())
    }

    /// A prompt, covered by its layers, or an input by its parts; gives the hash of an input.
    fn is_given(
        &self,
        chart: &Wiring,
        node: usize,
        data: &TurnStarted,
        before: Option<&Held>,
    ) -> Checked<Option<String>> {
        if let Behavior::Agent { .. } = chart.node(node).behavior {
            let Some(prompt) = data.prompt.as_ref().filter(|_| data.input.is_none()) else {
                return Err(self.objection("an agent is given a prompt and nothing else"));
            };
            if self.redacted {
                return Ok(None);
            }
            hold!(self, covers(&data.layers, prompt), "its layers are not the prompt, end to end");
            let bytes = before.map(|held| (held.turn.prompt_bytes, held.why));
            let right = match bytes {
                None => true,
                Some((bytes, Why::Rejected)) => prompt.len() > bytes,
                // The provider session is lost, so the prompt may have to be longer.
                Some((_, Why::Lost)) => !prompt.is_empty(),
                Some((bytes, Why::Interrupted | Why::Passing | Why::Failed)) => {
                    prompt.len() == bytes
                }
            };
            hold!(self, right, "the prompt is not that of the attempt before");
            return Ok(None);
        }
        let Some(input) = data.input.as_ref().filter(|_| data.prompt.is_none()) else {
            return Err(self.objection("a utility is given an input and nothing else"));
        };
        let Some(parts) = input.parts() else {
            return Err(self.objection("its input is not kept in parts"));
        };
        if let Some(held) = before {
            let same = parts.same_as == Some(held.started) && parts.fields.is_empty();
            hold!(self, same, "its input is that of the attempt before, {}", held.started);
            let hash = held.turn.input_hash.as_ref();
            hold!(self, hash.is_none_or(|hash| *hash == parts.hash), "its input has another hash");
        } else {
            hold!(self, parts.same_as.is_none(), "no attempt came before it");
            self.has_fields(chart, node, data, parts)?;
        }
        Ok(Some(parts.hash.clone()))
    }

    fn has_fields(
        &self,
        chart: &Wiring,
        node: usize,
        data: &TurnStarted,
        parts: &InputParts,
    ) -> Checked {
        let names = parts.fields.keys().map(String::as_str);
        hold!(self, names.eq(FIELDS), "its input has other fields than a utility reads");
        let item = data.item.as_deref();
        let right = |name: &str, part: &InputPart| match (name, part) {
            ("castId", part) => says(part, Some(self.writer(self.seq).as_str())),
            ("socketId", part) => says(part, Some(chart.name(node).as_str())),
            ("itemKey", part) => says(part, item),
            ("cwd", part) => *part == InputPart::From(InputSource::Cwd),
            ("runDir", part) => *part == InputPart::From(InputSource::RunDir),
            ("request", part) => *part == InputPart::From(InputSource::Request),
            ("params", part) => *part == InputPart::From(InputSource::Params),
            ("inputs", part) => *part == InputPart::From(InputSource::Inputs),
            ("item", part) => (*part == InputPart::From(InputSource::Item)) == item.is_some(),
            ("state", part) => (*part == InputPart::From(InputSource::State)) == item.is_none(),
            _ => true,
        };
        let own = parts.fields.iter().all(|(name, part)| right(name, part));
        hold!(self, own, "a field of its input is not what it should be");
        Ok(())
    }

    /// Where a path that must be present is not, the runtime answers at once (D41).
    pub(crate) fn is_answered(
        &mut self,
        chart: &Wiring,
        node: usize,
        turn: u64,
        data: &TurnStarted,
    ) {
        if data.attempt == 1
            && let Some(missing) = self.missing(chart, node)
        {
            self.owed.push(Obligation::Answer { turn, says: missing, refused: false });
        }
    }

    fn missing(&self, chart: &Wiring, node: usize) -> Option<String> {
        let mut requires = chart.node(node).requires.iter().peekable();
        requires.peek()?;
        let item = self.item(node).map(|(_, value)| value);
        let scope = crate::lookup::Scope { item, ..self.scope() };
        requires.find(|path| scope.get(path).is_none()).map(ToString::to_string)
    }
}

/// Whether a field of an input is this text, or nothing.
fn says(part: &InputPart, value: Option<&str>) -> bool {
    match part {
        InputPart::Value([Value::Null]) => value.is_none(),
        InputPart::Value([Value::String(text)]) => Some(text.as_str()) == value,
        InputPart::Value(_) | InputPart::From(_) | InputPart::StateWith { .. } => false,
    }
}

/// Whether layers laid end to end are the prompt. A blank line separates each from the one before it.
fn covers(layers: &[PromptLayer], prompt: &str) -> bool {
    let mut end = 0;
    for layer in layers {
        let text = prompt.get(layer.start..layer.end);
        let is_apart = text.is_some_and(|text| end == 0 || text.starts_with("\n\n"));
        if layer.start != end || !is_apart {
            return false;
        }
        end = layer.end;
    }
    end == prompt.len()
}

impl Position {
    /// The entry that the next turn takes.
    fn upcoming(&self) -> u32 {
        self.returned.first().copied().unwrap_or(self.next)
    }
}
