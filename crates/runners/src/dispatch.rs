//! Hands each turn to the runner of its kind.

use std::sync::Arc;
use std::time::Duration;

use materia_contract::{ErrorCode, TurnOutput};
use materia_engine::{BoxFuture, Runner, TurnFault, TurnJob, TurnOrder, TurnReport, Work};

use crate::leaving;

/// All runners of a process, as one.
#[derive(Clone)]
pub struct Runners {
    /// Runs local programs.
    pub utility: Arc<dyn Runner>,
    /// Asks agents; absent where nothing is there to ask.
    pub agent: Option<Arc<dyn Runner>>,
}

impl Runner for Runners {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        // A script says itself what its turns leave.
        let scripted = matches!(job.work, Work::Agent { script: Some(_), .. });
        if job.leaves.any() && !scripted && !job.virtual_time {
            let turn = self.bare(job.clone());
            return leaving::performed(job, turn);
        }
        self.bare(job)
    }

    fn rejoin(&self, job: TurnJob) -> BoxFuture<'static, Option<BoxFuture<'static, TurnReport>>> {
        match (&job.work, &self.agent) {
            (Work::Utility { .. }, _) => self.utility.rejoin(job),
            (Work::Agent { .. }, Some(agent)) => agent.rejoin(job),
            (Work::Agent { .. }, None) => Box::pin(std::future::ready(None)),
        }
    }

    fn land(&self, order: &TurnOrder, report: TurnReport) -> TurnReport {
        match (&order.work, &self.agent) {
            (Work::Utility { .. }, _) => self.utility.land(order, report),
            (Work::Agent { .. }, Some(agent)) => agent.land(order, report),
            (Work::Agent { .. }, None) => report,
        }
    }
}

impl Runners {
    /// The turn itself, whatever else somebody wants of it.
    fn bare(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        match (&job.work, &self.agent) {
            (Work::Utility { .. }, _) => self.utility.run(job),
            (Work::Agent { .. }, Some(agent)) => agent.run(job),
            (Work::Agent { .. }, None) => {
                let message = format!(
                    "socket `{}` asks an agent, and nobody is there to be asked; \
                     `--script FILE` answers in its place",
                    job.node
                );
                let report = faulted(ErrorCode::ProviderFailed, message);
                Box::pin(std::future::ready(report))
            }
        }
    }
}

/// The report of a turn that came to nothing, before anything was done.
pub(crate) fn faulted(code: ErrorCode, message: String) -> TurnReport {
    let report = Box::new(TurnOutput::default());
    TurnReport { outcome: Err(TurnFault { code, message, report }), after: Duration::ZERO }
}
