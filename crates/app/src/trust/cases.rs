//! Conformance cases: files that say which commands are run.

use std::path::Path;

use super::fact::{Fact, Kind};
use super::{About, Gate, Question, Untrusted, changed};
use crate::text::sanitize;

/// How many commands of cases are shown.
const SHOWN_MAX: usize = 20;

/// A case, as far as a person has to see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Its file, as a path for people.
    pub file: String,
    /// The bytes of it.
    pub text: String,
}

impl Gate {
    /// Cases that were read from this place, to be run when that is approved.
    pub fn cases(&self, place: &Path, cases: &[Case], warnings: &mut Vec<String>) -> Untrusted<()> {
        let question = self.asks_about_cases(place, cases, warnings);
        self.holds((), question.into_iter().collect())
    }

    fn asks_about_cases(
        &self,
        place: &Path,
        cases: &[Case],
        warnings: &mut Vec<String>,
    ) -> Option<Question> {
        let mut hasher = blake3::Hasher::new_derive_key("materia 2026-11-16 trust in cases");
        for case in cases {
            for part in [&case.file, &case.text] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        }
        let names: Vec<&str> = cases.iter().map(|case| case.file.as_str()).collect();
        let hash = hasher.finalize().to_hex().to_string();
        let fact = Fact::new(Kind::Cases, &place.to_string_lossy(), hash, &names.join("\n"));
        let known = self.store().known(&self.project, warnings);
        if cases.is_empty() || known.has(&fact) {
            return None;
        }
        let news = vec![fact];
        let changes = changed(&news, &known);
        let mut question = Question::new(About::Cases, news, changes);
        question.files.push(sanitize::one_line(&place.to_string_lossy(), 300));
        question.settings.push(format!(
            "{} cases, each of which writes files into a scratch project and runs `materia` there, its programs approved",
            cases.len()
        ));
        let shown = cases.iter().take(SHOWN_MAX).map(|case| sanitize::one_line(&case.file, 200));
        question.settings.extend(shown);
        let more = cases.len().saturating_sub(SHOWN_MAX);
        question.settings.extend((more > 0).then(|| format!("… and {more} more")));
        Some(question)
    }
}
