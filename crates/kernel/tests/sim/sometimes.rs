//! Rare states that a good simulation must have reached.

use std::collections::BTreeMap;

/// How often each state was seen.
#[derive(Debug, Default)]
pub(crate) struct Sometimes(BTreeMap<String, u64>);

impl Sometimes {
    pub(crate) fn note(&mut self, what: &str) {
        match self.0.get_mut(what) {
            Some(count) => *count += 1,
            None => {
                self.0.insert(what.to_owned(), 1);
            }
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (what, count) in other.0 {
            *self.0.entry(what).or_default() += count;
        }
    }

    pub(crate) fn count(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or(0)
    }

    /// Expected states that were never seen.
    pub(crate) fn missing(&self) -> Vec<&str> {
        let types = materia_contract::EventBody::TYPES.iter();
        types.chain(EXPECTED).copied().filter(|what| self.count(what) == 0).collect()
    }
}

impl std::fmt::Display for Sometimes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (what, count) in &self.0 {
            writeln!(f, "{count:>9}  {what}")?;
        }
        Ok(())
    }
}

/// States beside the event types.
const EXPECTED: &[&str] = &[
    "approval asked for again",
    "approval voided by a new payload",
    "approved turn ran",
    "bounded way out of a loop stopped",
    "clock went back",
    "cycle without a bound stopped",
    "crash before the decision was kept",
    "crash with a snapshot",
    "crash with a timer pending",
    "crash with a turn in flight",
    "debounce fired",
    "deduplicated by ContentHash",
    "deduplicated by PayloadId",
    "deduplicated within a window",
    "dropped Busy on DropIfBusy",
    "dropped Overflow on DropIfBusy",
    "dropped Overflow on Queue",
    "evidence of a failed utility",
    "exit code says Some(false)",
    "exit code says Some(true)",
    "failed as contract_error",
    "failed as edge_exhausted",
    "failed as graph_failed",
    "failed as no_advance",
    "failed as provider_failed",
    "failed as utility_failed",
    "failed as utility_timeout",
    "failure led on",
    "failure led to fail",
    "recast after a way to fail",
    "foreach over nothing",
    "fork carried on",
    "further attempt by hand in INTERACTIVE",
    "helped with Approval",
    "helped with Budget",
    "helped with Interactive",
    "helped with Manual",
    "helped with MultiTurn",
    "helped with RunFor",
    "helped with Stall",
    "helped with Trust",
    "interrupted by Aborted",
    "interrupted by Crash",
    "interrupted by RunFailed",
    "interrupted by RunFor",
    "interrupted by Stopped",
    "interrupted by Trust",
    "loop over nothing",
    "mode Pace(Auto) by person",
    "mode Pace(Auto) by resume",
    "mode Pace(Auto) by timeline",
    "mode Pace(Interactive) by person",
    "mode Pace(Interactive) by stall",
    "moment with reports, acts and a timer",
    "overflow DropNewest",
    "overflow DropOldest",
    "payload id offered again",
    "rejected: late report",
    "rejected: nothing to approve",
    "rejected: the run has ended",
    "rested after the faults stopped",
    "retry fired",
    "session lost",
    "superseded on Debounce",
    "superseded on Latest",
    "tick by schedule fired",
    "tick due while the node is full",
    "tick fired",
    "tick merged with one that is owed",
    "timer moved",
    "turn again after a broken contract",
    "turn again after a failure",
    "turn again after an interruption",
    "turn by hand",
    "turn by hand in INTERACTIVE",
    "turn by input",
    "turn of a foreach",
    "two turns of a node in flight",
    "utility tried again",
    "waiting for Approval",
    "waiting for Budget",
    "waiting for Interactive",
    "waiting for Manual",
    "waiting for MultiTurn",
    "waiting for RunFor",
    "waiting for Stall",
    "waiting for Trust",
    "withheld",
];
