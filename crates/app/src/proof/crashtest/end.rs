//! How a play ended, and in what two ends differ.

use std::collections::{BTreeMap, BTreeSet};

use materia_contract::body::{CrashDifference, Differs};
use materia_contract::{CastReport, Outcome};
use serde_json::json;

use super::copy::Left;
use crate::proof::recorded::case;
use crate::text::sanitize::one_line;

/// The longest value that is shown.
const SHOWN_CHARS_MAX: usize = 200;

/// How a play ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct End {
    /// Every part by its name.
    parts: BTreeMap<(Differs, String), Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Said(String),
    File(Left),
}

impl Part {
    fn told(&self) -> &str {
        match self {
            Self::Said(text) => text,
            Self::File(left) => &left.told,
        }
    }
}

impl End {
    pub(super) fn of(report: &CastReport, files: BTreeMap<String, Left>) -> Self {
        let mut parts = BTreeMap::new();
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for visit in &report.visits {
            // An interrupted attempt is made again; that is what is tested.
            if visit.outcome == Outcome::Interrupted {
                continue;
            }
            let item = visit.item.as_ref().map(|item| format!(" for {item}")).unwrap_or_default();
            let verdict = match visit.satisfied {
                Some(true) => ", satisfied",
                Some(false) => ", not satisfied",
                None => "",
            };
            let outcome = json!(visit.outcome);
            let outcome = outcome.as_str().unwrap_or_default();
            *counts.entry(format!("{}{item}: {outcome}{verdict}", visit.socket)).or_default() += 1;
        }
        let said = |kind, name: &str, text: String| ((kind, name.to_owned()), Part::Said(text));
        parts.extend([said(Differs::End, "end", case::end(report).to_string())]);
        parts.extend(counts.iter().map(|(name, n)| said(Differs::Visits, name, n.to_string())));
        let variables = report.state.iter();
        parts.extend(variables.map(|(name, it)| said(Differs::Variable, name, it.to_string())));
        let files = files.into_iter();
        parts.extend(files.map(|(path, left)| ((Differs::File, path), Part::File(left))));
        Self { parts }
    }

    /// In what another end differs from this one, without the parts that are not compared.
    pub(super) fn differences(
        &self,
        other: &Self,
        without: &BTreeSet<(Differs, String)>,
    ) -> Vec<CrashDifference> {
        let names: BTreeSet<_> = self.parts.keys().chain(other.parts.keys()).collect();
        let mut found = Vec::new();
        for name in names.into_iter().filter(|name| !without.contains(*name)) {
            let (ours, theirs) = (self.parts.get(name), other.parts.get(name));
            if ours == theirs {
                continue;
            }
            let absent = if name.0 == Differs::Visits { "0" } else { "absent" };
            let told =
                |part: Option<&Part>| one_line(part.map_or(absent, Part::told), SHOWN_CHARS_MAX);
            let (expected, mut found_now) = (told(ours), told(theirs));
            if expected == found_now {
                found_now.push_str(", other content");
            }
            let (kind, name) = name.clone();
            found.push(CrashDifference { kind, name, expected, found: found_now });
        }
        found
    }
}
