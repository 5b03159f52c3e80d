//! Payloads, and the places where they wait.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{
    Artifact, ArtifactRef, EdgeId, Envelope, EnvelopeKind, NodeId, Offered, OutputSelector,
    PayloadContent, PayloadPart, PayloadStatus, Transform, Uuid, content_hash,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::lookup::Scope;
use crate::tally::{Look, look};
use crate::trail::Trail;
use crate::{output, route};

/// The most of an artifact that a prompt shows, in characters.
const ARTIFACT_CHARS_SHOWN_MAX: usize = 60_000;

/// A payload as the kernel holds it. An envelope is made of it when a turn needs one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Payload {
    pub(crate) id: Uuid,
    pub(crate) kind: EnvelopeKind,
    pub(crate) from: Option<NodeId>,
    pub(crate) edge: Option<EdgeId>,
    pub(crate) ts: Micros,
    /// The output it carries.
    pub(crate) text: Arc<str>,
    /// The object in it, where the output was parsed.
    pub(crate) json: Option<Arc<str>>,
    /// Which part of it travels.
    pub(crate) selector: OutputSelector,
    pub(crate) verdict: Option<bool>,
    /// What its turn left besides, as far as it travels.
    #[serde(default, skip_serializing_if = "<[Artifact]>::is_empty")]
    pub(crate) artifacts: Arc<[Artifact]>,
    /// What it says instead, where a transform or whoever offered it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mapped: Option<Arc<PayloadContent>>,
    /// The way it came.
    #[serde(default)]
    pub(crate) trail: Trail,
}

impl Payload {
    /// What a person said, or nothing at all.
    pub(crate) fn plain(id: Uuid, kind: EnvelopeKind, ts: Micros, text: &str) -> Self {
        Self {
            id,
            kind,
            from: None,
            edge: None,
            ts,
            text: text.into(),
            json: None,
            selector: OutputSelector::MessageFinal,
            verdict: None,
            artifacts: Arc::from([]),
            mapped: None,
            trail: Trail::default(),
        }
    }

    /// What somebody put on an edge.
    pub(crate) fn offered(self, offered: &Offered) -> Self {
        let content = PayloadContent {
            message: offered.message.clone(),
            structured: offered.structured.clone(),
            artifacts: offered.artifacts.clone(),
            status: offered.status.clone(),
        };
        Self {
            verdict: offered.status.as_ref().map(|status| status.ok),
            mapped: Some(Arc::new(content)),
            ..self
        }
    }

    /// Everything it has, whichever part travels.
    fn whole(&self) -> PayloadContent {
        if let Some(mapped) = &self.mapped {
            return (**mapped).clone();
        }
        let structured = self.json.as_deref();
        PayloadContent {
            message: Some(self.text.to_string()),
            structured: structured.and_then(|text| serde_json::from_str(text.trim()).ok()),
            artifacts: self.artifacts.iter().map(reference).collect(),
            status: self.status(),
        }
    }

    /// A turn's own judgement; what a person or a timer brings has none.
    fn status(&self) -> Option<PayloadStatus> {
        let from_turn = matches!(self.kind, EnvelopeKind::Message | EnvelopeKind::Handoff);
        let ok = self.verdict.unwrap_or(true);
        let reason = if ok { None } else { self.json.as_deref().and_then(output::context_in) };
        from_turn.then_some(PayloadStatus { ok, reason })
    }

    /// What it says to whoever takes it.
    pub(crate) fn content(&self) -> PayloadContent {
        let whole = self.whole();
        if self.mapped.is_some() {
            return whole;
        }
        let (message, structured, artifacts) = match self.selector {
            OutputSelector::MessageFinal => (true, false, false),
            OutputSelector::StructuredOutput => (false, true, false),
            OutputSelector::ArtifactsDiff | OutputSelector::ArtifactsLogs => (false, false, true),
            OutputSelector::Composite => (true, true, true),
        };
        PayloadContent {
            message: whole.message.filter(|_| message),
            structured: whole.structured.filter(|_| structured),
            artifacts: if artifacts { whole.artifacts } else { Vec::new() },
            status: whole.status,
        }
    }

    /// The published form.
    pub(crate) fn envelope(&self) -> Envelope {
        let PayloadContent { message, structured, artifacts, status } = self.content();
        Envelope {
            payload_id: self.id,
            kind: self.kind,
            from_node_id: self.from.clone(),
            edge_id: self.edge.clone(),
            ts: self.ts,
            message,
            structured,
            artifacts,
            status,
        }
    }

    /// What a transform makes of it; `$` is all that was sent, whichever part travels.
    pub(crate) fn transformed(&self, transform: &Transform) -> Transformed {
        let value = self.as_value();
        let scope = Scope::of_output(&value);
        let filtered = transform.guard.as_ref().is_some_and(|guard| !route::holds(guard, &scope));
        if transform.map.is_empty() {
            return Transformed { filtered, mapped: None };
        }
        let mut content = self.content();
        for (part, path) in &transform.map {
            let found = scope.get(path).map(std::borrow::Cow::into_owned);
            match part {
                PayloadPart::Message => content.message = found.map(text_of),
                PayloadPart::Structured => content.structured = found,
                PayloadPart::Status => {
                    content.status = found.and_then(|value| serde_json::from_value(value).ok());
                }
            }
        }
        Transformed { filtered, mapped: Some(Arc::new(content)) }
    }

    /// The payload that says this instead.
    pub(crate) fn saying(mut self, content: Arc<PayloadContent>) -> Self {
        self.text = content.message.as_deref().unwrap_or_default().into();
        self.mapped = Some(content);
        self
    }

    fn as_value(&self) -> Value {
        let PayloadContent { message, structured, artifacts, status } = self.whole();
        let mut value =
            json!(Envelope { message, structured, artifacts, status, ..self.envelope() });
        // The content of an artifact can be mapped into the message: `$.artifactText.diff`.
        if !self.artifacts.is_empty() {
            let texts = self.artifacts.iter().map(|one| (one.kind.clone(), one.content.clone()));
            let texts: serde_json::Map<String, Value> =
                texts.map(|(kind, content)| (kind, content.into())).collect();
            value["artifactText"] = Value::Object(texts);
        }
        value
    }

    /// What makes it the same as another (D13).
    pub(crate) fn fingerprint(&self) -> String {
        let PayloadContent { message, structured, artifacts, status } = self.content();
        let hashes: Vec<&str> = artifacts.iter().map(|one| one.hash.as_str()).collect();
        content_hash(&json!([self.kind, message, structured, hashes, status]))
    }

    /// What a prompt shows of it: its message, else its value; then the artifacts it brings.
    pub(crate) fn shown(&self) -> String {
        let content = self.content();
        let mut parts = Vec::new();
        parts.extend(content.message.filter(|message| !message.trim().is_empty()));
        if parts.is_empty() || self.selector == OutputSelector::Composite {
            let value = content.structured.as_ref();
            parts.extend(value.map(|value| format!("{value:#}")));
        }
        for reference in &content.artifacts {
            let held = self.artifacts.iter().find(|one| one.hash == reference.hash);
            let text = held.map_or_else(String::new, |one| cut(&one.content));
            parts.push(format!("{} ({}):\n{text}", reference.kind, reference.name));
        }
        parts.join("\n\n")
    }
}

/// What a transform makes of a payload.
pub(crate) struct Transformed {
    /// Whether it keeps it out.
    pub(crate) filtered: bool,
    /// What the payload says instead.
    pub(crate) mapped: Option<Arc<PayloadContent>>,
}

fn reference(artifact: &Artifact) -> ArtifactRef {
    ArtifactRef {
        kind: artifact.kind.clone(),
        name: artifact.name.clone(),
        hash: artifact.hash.clone(),
    }
}

fn text_of(value: Value) -> String {
    if let Value::String(text) = value { text } else { value.to_string() }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(ARTIFACT_CHARS_SHOWN_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The delivery queue of one edge: payloads that crossed it and are not yet attached (D9).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct DeliveryQueue {
    pub(crate) waiting: VecDeque<Payload>,
    /// How many ticks are among them.
    ticks: u32,
    /// Payloads of this edge that are not yet consumed, waiting here or attached.
    pub(crate) pending: u32,
    /// When the quiet period of a `debounce` edge ends.
    pub(crate) quiet_until: Option<Micros>,
    /// The newest accepted payloads, where sameness is looked for.
    pub(crate) accepted: VecDeque<Accepted>,
}

/// An accepted payload, as far as sameness is concerned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Accepted {
    pub(crate) id: Uuid,
    pub(crate) ts: Micros,
    pub(crate) key: String,
}

impl DeliveryQueue {
    pub(crate) fn push(&mut self, payload: Payload) {
        self.ticks += u32::from(payload.kind == EnvelopeKind::Tick);
        self.pending += 1;
        self.waiting.push_back(payload);
    }

    /// Takes a payload out.
    pub(crate) fn take(&mut self, id: Uuid) -> Option<Payload> {
        let place = self.waiting.iter().position(|payload| payload.id == id)?;
        let taken = self.waiting.remove(place)?;
        self.ticks -= u32::from(taken.kind == EnvelopeKind::Tick);
        Some(taken)
    }

    /// What a turn could take of it now: nothing while its quiet period lasts.
    pub(crate) fn late(&self) -> Late {
        match (self.waiting.front(), self.quiet_until) {
            (Some(first), None) => Late { front: Some((first.ts, first.id)), ticks: self.ticks },
            (Some(_) | None, Some(_)) | (None, None) => Late::default(),
        }
    }

    /// A payload of the edge has come to its end.
    pub(crate) fn ended(&mut self) {
        self.pending = self.pending.saturating_sub(1);
    }

    /// The newest payload was not accepted after all.
    pub(crate) fn forget(&mut self, id: Uuid) {
        if self.accepted.back().is_some_and(|newest| newest.id == id) {
            self.accepted.pop_back();
        }
    }
}

/// What a turn could take of an edge on which payloads wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Late {
    /// The oldest of them.
    front: Option<(Micros, Uuid)>,
    ticks: u32,
}

/// The input buffer of one node: what its next turn can take.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct InputBuffer {
    /// Payloads attached and not yet consumed, oldest first.
    pub(crate) attached: VecDeque<Payload>,
    /// Edges on which payloads wait to be attached when a turn is put together, by the oldest of each.
    pub(crate) fronts: BTreeSet<(Micros, Uuid, EdgeId)>,
    /// How many ticks are among all these.
    pub(crate) ticks: u32,
}

impl InputBuffer {
    /// The oldest payload that a turn could take.
    pub(crate) fn oldest(&self) -> Option<(Micros, Uuid)> {
        let attached = self.attached.front().map(|payload| (payload.ts, payload.id));
        let waiting = self.fronts.first().map(|(ts, id, _)| (*ts, *id));
        attached.into_iter().chain(waiting).inspect(|_| look(Look::Oldest)).min()
    }

    /// Attaches a payload. It has been waiting on its edge, and newer ones may be there before it.
    pub(crate) fn attach(&mut self, payload: Payload) {
        self.ticks += u32::from(payload.kind == EnvelopeKind::Tick);
        let newest = self.attached.back().is_none_or(|last| last.ts <= payload.ts);
        let place = if newest {
            self.attached.len()
        } else {
            self.attached.partition_point(|other| other.ts <= payload.ts)
        };
        self.attached.insert(place, payload);
    }

    pub(crate) fn detach(&mut self, id: Uuid) -> Option<Payload> {
        let place = self.attached.iter().position(|payload| payload.id == id)?;
        let payload = self.attached.remove(place)?;
        self.ticks -= u32::from(payload.kind == EnvelopeKind::Tick);
        Some(payload)
    }

    /// Keeps up with an edge on which payloads wait.
    pub(crate) fn follow(&mut self, edge: &EdgeId, before: Late, after: Late) {
        self.ticks = self.ticks + after.ticks - before.ticks;
        if before.front == after.front {
            return;
        }
        if let Some((ts, id)) = before.front {
            self.fronts.remove(&(ts, id, edge.clone()));
        }
        if let Some((ts, id)) = after.front {
            self.fronts.insert((ts, id, edge.clone()));
        }
    }
}

/// The turns of one node that are in flight, by the place of their `turn.started`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InFlightTurns(pub(crate) BTreeSet<u64>);

impl InFlightTurns {
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }
}
