//! Newest results of a node, by which repetition shows (D23).

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use materia_contract::TurnCompleted;
use serde_json::Value;

use crate::parts::ItemId;

/// Equal outputs, diffs and reasons in a row, and outputs in alternation, that show it.
const EQUAL_OUTPUTS: usize = 3;
const EQUAL_DIFFS: usize = 2;
const EQUAL_FAILURES: usize = 3;
const ALTERNATING: usize = 4;

/// Hashes of the newest results of a node, each with its turn.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    item: Option<ItemId>,
    pub(crate) outputs: VecDeque<(u64, u64)>,
    diffs: VecDeque<(u64, u64)>,
    failures: VecDeque<(u64, u64)>,
}

impl Traces {
    /// Notes the result of a turn.
    pub(crate) fn note(
        &mut self,
        item: Option<ItemId>,
        data: &TurnCompleted,
        json: Option<&Value>,
    ) {
        if self.item != item {
            *self = Self { item, ..Self::default() };
        }
        let text = data.report.output.as_str();
        keep(&mut self.outputs, ALTERNATING, data.turn, text);
        match data.report.artifacts.iter().find(|artifact| artifact.kind == "diff") {
            Some(diff) => keep(&mut self.diffs, EQUAL_DIFFS, data.turn, &diff.content),
            None => self.diffs.clear(),
        }
        if data.satisfied == Some(false) {
            let context = json.and_then(|json| json.get("context")).and_then(Value::as_str);
            keep(&mut self.failures, EQUAL_FAILURES, data.turn, context.unwrap_or(text));
        } else {
            self.failures.clear();
        }
    }

    /// The turns that show that nothing gets on.
    pub(crate) fn evidence(&self) -> Option<Vec<u64>> {
        let alternate = self.outputs.len() == ALTERNATING
            && self.outputs[0].1 == self.outputs[2].1
            && self.outputs[1].1 == self.outputs[3].1;
        equal(&self.outputs, EQUAL_OUTPUTS)
            .or_else(|| alternate.then(|| self.outputs.iter().map(|(turn, _)| *turn).collect()))
            .or_else(|| equal(&self.diffs, EQUAL_DIFFS))
            .or_else(|| equal(&self.failures, EQUAL_FAILURES))
    }
}

fn keep(newest: &mut VecDeque<(u64, u64)>, most: usize, turn: u64, text: &str) {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    if newest.len() == most {
        newest.pop_front();
    }
    newest.push_back((turn, hasher.finish()));
}

fn equal(newest: &VecDeque<(u64, u64)>, count: usize) -> Option<Vec<u64>> {
    let from = newest.len().checked_sub(count)?;
    let same = newest.range(from..).all(|(_, hash)| *hash == newest[from].1);
    same.then(|| newest.range(from..).map(|(turn, _)| *turn).collect())
}
