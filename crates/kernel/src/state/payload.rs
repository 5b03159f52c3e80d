//! Payloads.

use std::sync::Arc;

use materia_contract::time::Micros;
use materia_contract::{
    Artifact, EdgeId, EnvelopeKind, NodeId, Offered, OutputSelector, PayloadContent, Uuid,
};
use serde::{Deserialize, Serialize};

use super::Trail;

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
    /// The visit and the attempt that put it out, where a turn did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) of: Option<(u32, u32)>,
    /// Whether a file has all of that output and `text` lacks its middle (D69).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) full: bool,
    /// Which part of it travels.
    pub(crate) selector: OutputSelector,
    pub(crate) verdict: Option<bool>,
    /// Artifacts of its turn that travel with it.
    #[serde(default, skip_serializing_if = "<[Artifact]>::is_empty")]
    pub(crate) artifacts: Arc<[Artifact]>,
    /// Replacement of the content, by a transform or by the offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mapped: Option<Arc<PayloadContent>>,
    /// The way it came.
    #[serde(default)]
    pub(crate) trail: Trail,
}

impl Payload {
    /// A message of a person, or an empty payload.
    pub(crate) fn plain(
        id: Uuid,
        kind: EnvelopeKind,
        ts: Micros,
        text: impl Into<Arc<str>>,
    ) -> Self {
        Self {
            id,
            kind,
            from: None,
            edge: None,
            ts,
            text: text.into(),
            json: None,
            of: None,
            full: false,
            selector: OutputSelector::MessageFinal,
            verdict: None,
            artifacts: Arc::default(),
            mapped: None,
            trail: Trail::default(),
        }
    }

    /// A payload that a person or a program put on an edge.
    pub(crate) fn offered(self, offered: &Offered) -> Self {
        Self {
            verdict: offered.status.as_ref().map(|status| status.ok),
            mapped: Some(Arc::new(offered.content())),
            ..self
        }
    }

    /// The payload that says this instead.
    pub(crate) fn saying(mut self, content: Arc<PayloadContent>) -> Self {
        self.text = content.message.as_deref().unwrap_or_default().into();
        self.mapped = Some(content);
        self
    }
}
