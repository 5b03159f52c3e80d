//! How a turn ended, in one word.

use crate::enum_words::words;

words!(
    /// How an attempt ended.
    Outcome {
        /// With a result.
        Completed = "completed",
        /// With an output that broke its contract.
        Rejected = "rejected",
        /// Without a result.
        Failed = "failed",
        /// With an unknown result.
        Interrupted = "interrupted",
        /// Not yet.
        Running = "running",
    }
);

impl Outcome {
    /// The word for people, with the verdict of the turn.
    pub fn with_verdict(self, satisfied: Option<bool>) -> &'static str {
        match (self, satisfied) {
            (Self::Completed, Some(true)) => "satisfied",
            (Self::Completed, Some(false)) => "not satisfied",
            (outcome, _) => outcome.word(),
        }
    }
}
