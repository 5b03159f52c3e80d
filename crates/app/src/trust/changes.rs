//! Changes since the last approval.

use serde::Serialize;

use super::fact::{Fact, Kind};
use crate::text::sanitize;

/// How many lines of a change are shown, of those that went and of those that came.
const LINES_MAX: usize = 6;
/// How much of a line is shown.
const LINE_CHARS_MAX: usize = 160;

/// Something that is not as it was when it was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Kind and name of the changed thing.
    pub what: String,
    /// Whether there was nothing of that name before.
    pub new: bool,
    /// Lines that it had and has no more, as far as they are shown.
    pub removed: Vec<String>,
    /// Lines that it has now.
    pub added: Vec<String>,
}

impl Change {
    /// Change of a fact; `before` is its text at the last approval, if there was one.
    pub(super) fn of(fact: &Fact, before: Option<&str>) -> Self {
        let what =
            format!("{} `{}`", fact.kind.word(), sanitize::one_line(&fact.name, LINE_CHARS_MAX));
        let Some(before) = before else {
            return Self { what, new: true, removed: Vec::new(), added: Vec::new() };
        };
        let only = |these: &str, those: &str| {
            let lines = these.lines().filter(|line| !those.lines().any(|other| other == *line));
            let shown = lines.map(|line| sanitize::one_line(line, LINE_CHARS_MAX));
            shown.take(LINES_MAX).collect::<Vec<_>>()
        };
        let (removed, added) = (only(before, &fact.shown), only(&fact.shown, before));
        Self { what, new: false, removed, added }
    }

    /// The same for people.
    pub fn lines(&self) -> Vec<String> {
        if self.new {
            return vec![format!("new: {}", self.what)];
        }
        let mut lines = vec![format!("changed: {}", self.what)];
        lines.extend(self.removed.iter().map(|line| format!("  - {line}")));
        lines.extend(self.added.iter().map(|line| format!("  + {line}")));
        lines
    }
}

/// Whether a piece is shown as a change: a cast has a beginning and no changes.
pub(super) fn is_told(kind: Kind) -> bool {
    !matches!(kind, Kind::Cast | Kind::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_tells_the_lines_that_went_and_those_that_came() {
        let fact = Fact::new(Kind::Materia, "Build\u{1b}[8m", "h".into(), "a: 1\nb: 2");
        let change = Change::of(&fact, Some("a: 1\nb: 1"));
        assert_eq!(change.lines(), ["changed: materia `Build␛[8m`", "  - b: 1", "  + b: 2"]);
        assert_eq!(Change::of(&fact, None).lines(), ["new: materia `Build␛[8m`"]);
    }
}
