//! Hands each turn to the runner of its kind.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use materia_contract::{ErrorCode, MOCK, RunId, TurnOutput};
use materia_engine::{BoxFuture, Runner, TurnFault, TurnJob, TurnOrder, TurnReport, Work};

use crate::redact::Secrets;
use crate::{leftovers, spending};

/// All runners of a process, as one.
#[derive(Clone)]
pub struct Runners {
    /// Runs local programs.
    pub utility: Arc<dyn Runner>,
    /// Answers turns from a script; absent where there is none.
    pub scripted: Option<Arc<dyn Runner>>,
    /// Answers for the provider `mock`.
    pub mock: Option<Arc<dyn Runner>>,
    /// Asks agents; absent where nothing is there to ask.
    pub agent: Option<Arc<dyn Runner>>,
}

impl Runner for Runners {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        // Secrets are removed from every report, whichever runner made it.
        let secrets = Secrets::of_work(&job.work);
        let turn = self.bare(job);
        Box::pin(async move { secrets.report(spending::held(turn.await)) })
    }

    fn clear(&self, run: &RunId, run_dir: &Path) -> BoxFuture<'static, Result<(), String>> {
        let (run, run_dir) = (run.clone(), run_dir.to_owned());
        Box::pin(async move {
            let swept = tokio::task::spawn_blocking(move || leftovers::sweep(&run, &run_dir)).await;
            swept.unwrap_or_else(|error| Err(error.to_string()))
        })
    }

    fn rejoin(&self, job: TurnJob) -> BoxFuture<'static, Option<BoxFuture<'static, TurnReport>>> {
        let runner = self.of(&job).cloned();
        Box::pin(async move { runner?.rejoin(job).await })
    }

    fn land(&self, order: &TurnOrder, report: TurnReport) -> TurnReport {
        match self.of(order) {
            Some(runner) => {
                let landed = spending::held(runner.land(order, report));
                Secrets::of_work(&order.work).report(landed)
            }
            None => report,
        }
    }
}

impl Runners {
    /// The runner of a turn. A script comes first; if there is no agent either, the script reports the missing answer.
    fn of(&self, order: &TurnOrder) -> Option<&Arc<dyn Runner>> {
        match &order.work {
            Work::Utility { script: None, .. } => Some(&self.utility),
            // Never its program: the user approved the cast with the script as the answer.
            Work::Utility { script: Some(_), .. } => self.scripted.as_ref(),
            Work::Agent { script: Some(_), .. } => self.scripted.as_ref().or(self.agent.as_ref()),
            Work::Agent { provider, .. } if provider.as_deref() == Some(MOCK) => self.mock.as_ref(),
            Work::Agent { .. } => self.agent.as_ref().or(self.scripted.as_ref()),
        }
    }

    /// Runs the turn itself; the caller redacts its report.
    fn bare(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        if let Some(runner) = self.of(&job) {
            return runner.run(job);
        }
        let (code, message) = match &job.work {
            Work::Utility { .. } => (
                ErrorCode::ScriptExhausted,
                format!("the script that answers socket `{}` is not there", job.node),
            ),
            Work::Agent { .. } => (
                ErrorCode::ProviderFailed,
                format!(
                    "socket `{}` asks an agent, and nobody is there to be asked; \
                     `--script FILE` answers in its place",
                    job.node
                ),
            ),
        };
        let report = faulted(code, message);
        Box::pin(std::future::ready(report))
    }
}

/// The report of a turn that failed before it started.
pub(crate) fn faulted(code: ErrorCode, message: String) -> TurnReport {
    let report = Box::new(TurnOutput::default());
    let fault = TurnFault { code, message, report, withheld: false };
    TurnReport { outcome: Err(fault), after: Duration::ZERO }
}
