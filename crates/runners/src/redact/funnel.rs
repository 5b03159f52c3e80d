//! The one way by which the report of a turn gets out of here.

use materia_contract::{TurnOutput, text_hash};
use materia_engine::{TurnReport, Work};

use super::Secrets;

impl Secrets {
    /// The secrets that a turn could give away: those of this process, and those that its author hands it.
    pub fn of_work(work: &Work) -> Self {
        match work {
            Work::Utility { manner, .. } => Self::of_process().and(&manner.env),
            Work::Agent { .. } => Self::of_process(),
        }
    }

    /// A report without secrets: what comes out here is what is routed, and what is kept.
    pub fn report(&self, mut report: TurnReport) -> TurnReport {
        match &mut report.outcome {
            Ok(output) => self.output(output),
            Err(fault) => {
                self.clean(&mut fault.message);
                self.output(&mut fault.report);
            }
        }
        report
    }

    fn output(&self, output: &mut TurnOutput) {
        self.clean(&mut output.output);
        self.clean(&mut output.stderr);
        if let Some(whole) = &mut output.whole {
            self.clean(whole);
        }
        for note in &mut output.notes {
            self.clean(note);
        }
        for artifact in &mut output.artifacts {
            if self.clean(&mut artifact.content) {
                artifact.hash = text_hash(&artifact.content);
            }
        }
    }

    /// Takes secrets out of a text; says whether there were any.
    fn clean(&self, text: &mut String) -> bool {
        let cleaned = match self.remove(text) {
            std::borrow::Cow::Borrowed(_) => return false,
            std::borrow::Cow::Owned(cleaned) => cleaned,
        };
        *text = cleaned;
        true
    }
}
