//! Where a cast stands, and the commands by which a person can bring it on.

use materia_contract::{Budget, RunFailed, RunId, RunWaiting, UsageTotals, WaitReason};
use materia_kernel::{Phase, Run};

use crate::project::Project;

/// Where a cast stands.
pub(crate) struct Standing<'a> {
    id: &'a RunId,
    phase: &'a Phase,
    budget: Budget,
    usage: UsageTotals,
}

impl<'a> Standing<'a> {
    /// That of a run.
    pub(crate) fn of(run: &'a Run) -> Self {
        Self { id: run.id(), phase: run.phase(), budget: run.budget(), usage: run.usage() }
    }

    /// The commands that bring it on, the likeliest first, without the word `materia`.
    pub(crate) fn onward(&self) -> Vec<String> {
        let about = |name: &str| format!("{name} {}", self.id);
        match self.phase {
            Phase::New | Phase::Completed | Phase::Aborted => Vec::new(),
            Phase::Running => vec![about("resume")],
            // A bound was reached: more of the same is a person's decision.
            Phase::Failed(RunFailed { edge_id: Some(_), .. }) => vec![about("revive")],
            // Files show more only where a turn failed, and only a turn can be tried again.
            Phase::Failed(error) if !error.artifacts.is_empty() => vec![about("recast")],
            Phase::Failed(_) => Vec::new(),
            Phase::Waiting(RunWaiting { reason, .. }) => match reason {
                WaitReason::MultiTurn => {
                    vec![format!("say {} \"…\"", self.id), about("continue")]
                }
                WaitReason::Budget => vec![format!("budget {}{}", self.id, self.larger())],
                WaitReason::Interactive
                | WaitReason::Approval
                | WaitReason::Stall
                | WaitReason::Manual
                | WaitReason::RunFor => vec![about("resume")],
            },
        }
    }

    /// Twice what is spent, for each bound that is.
    fn larger(&self) -> String {
        let (budget, usage) = (self.budget, self.usage);
        let mut words = String::new();
        let mut add = |name: &str, value: String| words.push_str(&format!(" --max-{name} {value}"));
        if let Some(limit) = budget.max_tokens.filter(|limit| usage.tokens >= *limit) {
            add("tokens", usage.tokens.max(limit).max(1).saturating_mul(2).to_string());
        }
        if let (Some(limit), Some(spent)) = (budget.max_cost, usage.cost)
            && spent >= limit
        {
            let larger = spent * 2.0;
            add("cost", if larger > 0.0 { larger.to_string() } else { "1".to_owned() });
        }
        if let Some(limit) = budget.max_turns.filter(|limit| usage.turns >= *limit) {
            add("turns", usage.turns.max(limit).max(1).saturating_mul(2).to_string());
        }
        words
    }

    /// One sentence: how it stands and what can be done.
    pub(crate) fn advice(&self, project: &Project) -> String {
        let ways: Vec<String> =
            self.onward().iter().map(|way| format!("`{}`", project.command(way))).collect();
        let show = format!("`{}`", project.command(&format!("show {}", self.id)));
        let ended = format!("{show} tells how it ended, `materia cast` begins a new one");
        let ways = ways.join(" or ");
        match self.phase {
            Phase::New | Phase::Completed => ended,
            Phase::Aborted => format!("it was aborted for good; {ended}"),
            Phase::Failed(_) if ways.is_empty() => ended,
            Phase::Failed(error) => format!("it failed ({}): {ways} goes on", error.code.word()),
            Phase::Running => format!("it was broken off: {ways} goes on"),
            Phase::Waiting(_) => format!("it waits: {ways} goes on"),
        }
    }
}
