//! The provider `mock`: the least that keeps the contract of a node (D54), and no model.

use std::sync::Arc;
use std::time::Duration;

use materia_contract::{ErrorCode, Plan, TurnOutput};
use materia_engine::{BoxFuture, Runner, TurnJob, TurnReport};

use crate::dispatch::faulted;

/// Answers agent turns with the least that is asked for.
#[derive(Debug, Clone)]
pub struct MockRunner {
    plan: Arc<Plan>,
}

impl MockRunner {
    /// Answers for the nodes of a plan.
    pub fn new(plan: Arc<Plan>) -> Self {
        Self { plan }
    }
}

impl Runner for MockRunner {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        let report = if let Some(output) =
            self.plan.node(job.node.as_str()).map(materia_contract::Node::least_answer)
        {
            job.control.live.say(&output);
            let outcome = Ok(TurnOutput { output, ..TurnOutput::default() });
            TurnReport { outcome, after: Duration::ZERO }
        } else {
            let message = format!("the plan has no socket `{}`", job.node);
            faulted(ErrorCode::Internal, message)
        };
        Box::pin(std::future::ready(report))
    }
}
