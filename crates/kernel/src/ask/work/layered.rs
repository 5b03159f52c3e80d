//! A prompt in the making.

use std::borrow::Cow;

use materia_contract::PromptLayer;

/// The text so far. Its layers cover it without a gap.
#[derive(Default)]
pub(super) struct Layered {
    pub(super) text: String,
    pub(super) layers: Vec<PromptLayer>,
}

impl Layered {
    /// Adds a layer under a heading; an empty one is left out.
    pub(super) fn section(
        &mut self,
        name: &'static str,
        origin: impl Into<Cow<'static, str>>,
        heading: &str,
        body: &str,
    ) {
        if !body.trim().is_empty() {
            self.add(name.into(), origin.into(), &["# ", heading, "\n", body.trim_end()]);
        }
    }

    /// Adds a layer that consists of these parts.
    pub(super) fn add(
        &mut self,
        name: Cow<'static, str>,
        origin: Cow<'static, str>,
        parts: &[&str],
    ) {
        let start = self.text.len();
        self.text.reserve(2 + parts.iter().map(|part| part.len()).sum::<usize>());
        if start > 0 {
            self.text.push_str("\n\n");
        }
        self.text.extend(parts.iter().copied());
        self.layers.push(PromptLayer { name, origin, start, end: self.text.len() });
    }
}
