//! A prompt in the making.

use materia_contract::PromptLayer;

/// The text so far. Its layers cover it without a gap.
#[derive(Default)]
pub(super) struct Layered {
    pub(super) text: String,
    pub(super) layers: Vec<PromptLayer>,
}

impl Layered {
    /// Adds a layer under a heading; an empty one is left out.
    pub(super) fn section(&mut self, name: &str, origin: String, heading: &str, body: &str) {
        if !body.trim().is_empty() {
            self.add(name, origin, &format!("# {heading}\n{}", body.trim_end()));
        }
    }

    pub(super) fn add(&mut self, name: &str, origin: String, text: &str) {
        let start = self.text.len();
        if start > 0 {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
        let (name, end) = (name.to_owned(), self.text.len());
        self.layers.push(PromptLayer { name, origin, start, end });
    }
}
