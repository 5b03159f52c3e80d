//! Content of payloads, and its transformation on an edge.

use std::sync::Arc;

use materia_contract::{
    Artifact, ArtifactRef, Envelope, EnvelopeKind, OutputSelector, PayloadContent, PayloadPart,
    PayloadStatus, Transform, content_hash,
};
use serde_json::{Map, Value, json};

use crate::ask::scope::Scope;
use crate::ask::{output, route};
use crate::state::Payload;

/// The value of an output, where it may have a field `status`.
fn object_with_status(json: &str) -> Option<Value> {
    let json = json.trim();
    output::may_have_field(json, "status").then(|| serde_json::from_str(json).ok()).flatten()
}

impl Payload {
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

    /// Its status for a report: the object under `status` in it, otherwise the verdict.
    pub(crate) fn reported_status(&self) -> Map<String, Value> {
        let (own, status) = match &self.mapped {
            Some(mapped) => (mapped.structured.clone(), mapped.status.clone()),
            None => (self.json.as_deref().and_then(object_with_status), self.status()),
        };
        if let Some(Value::Object(own)) = own.and_then(|mut it| it.get_mut("status")?.take().into())
        {
            return own;
        }
        match status.map(|status| json!(status)) {
            Some(Value::Object(status)) => status,
            Some(_) | None => Map::new(),
        }
    }

    /// The parts that the sender's selector forwards.
    pub(crate) fn content(&self) -> PayloadContent {
        if self.mapped.is_some() {
            return self.whole();
        }
        let (message, structured) = match self.selector {
            OutputSelector::MessageFinal => (true, false),
            OutputSelector::StructuredOutput => (false, true),
            OutputSelector::ArtifactsDiff | OutputSelector::ArtifactsLogs => (false, false),
            OutputSelector::Composite => (true, true),
        };
        // A value that is not forwarded is not parsed.
        let json = self.json.as_deref().filter(|_| structured);
        PayloadContent {
            message: message.then(|| self.text.to_string()),
            structured: json.and_then(|text| serde_json::from_str(text.trim()).ok()),
            artifacts: self.artifacts_sent(),
            status: self.status(),
        }
    }

    /// The artifacts that travel with it.
    pub(crate) fn artifacts_sent(&self) -> Vec<ArtifactRef> {
        if let Some(mapped) = &self.mapped {
            return mapped.artifacts.clone();
        }
        match self.selector {
            OutputSelector::MessageFinal | OutputSelector::StructuredOutput => Vec::new(),
            OutputSelector::ArtifactsDiff
            | OutputSelector::ArtifactsLogs
            | OutputSelector::Composite => self.artifacts.iter().map(reference).collect(),
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

    /// Applies a transform. `$` is the whole payload, also where the selector forwards a part only.
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

    /// Key for deduplication (D13).
    pub(crate) fn fingerprint(&self) -> String {
        let PayloadContent { message, structured, artifacts, status } = self.content();
        let hashes: Vec<&str> = artifacts.iter().map(|one| one.hash.as_str()).collect();
        content_hash(&json!([self.kind, message, structured, hashes, status]))
    }
}

/// Result of a transform.
pub(crate) struct Transformed {
    /// Whether it keeps it out.
    pub(crate) filtered: bool,
    /// The replaced content.
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
