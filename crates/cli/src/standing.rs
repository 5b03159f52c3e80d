//! Where a cast stands, and the commands by which a person can bring it on.

use materia_contract::{
    Amount, Approval, Budget, Node, NodeId, RunFailed, RunId, RunWaiting, UsageTotals, WaitReason,
};
use materia_kernel::{Phase, Run};

use crate::project::Project;

/// Where a cast stands.
pub(crate) struct Standing<'a> {
    id: &'a RunId,
    phase: &'a Phase,
    budget: Budget,
    usage: UsageTotals,
    /// The socket that it waits at, as it was configured.
    at: Option<(&'a NodeId, &'a Node)>,
}

impl<'a> Standing<'a> {
    /// That of a run.
    pub(crate) fn of(run: &'a Run) -> Self {
        let at = match run.phase() {
            Phase::Waiting(RunWaiting { node: Some(node), .. }) => Some(node),
            Phase::Waiting(_)
            | Phase::New
            | Phase::Running
            | Phase::Completed
            | Phase::Failed(_)
            | Phase::Aborted => None,
        };
        let plan = run.created().map(|created| &created.plan);
        Self {
            id: run.id(),
            phase: run.phase(),
            budget: run.budget(),
            usage: run.usage(),
            at: at.zip(plan).and_then(|(node, plan)| plan.nodes.get_key_value(node)),
        }
    }

    /// The commands that bring it on, the likeliest first, without the word `materia`.
    pub(crate) fn onward(&self) -> Vec<String> {
        let about = |name: &str| format!("{name} {}", self.id);
        match self.phase {
            Phase::Running => vec![about("resume")],
            // A bound was reached: more of the same is a person's decision.
            Phase::Failed(RunFailed { edge_id: Some(_), .. }) => vec![about("revive")],
            // Files show more only where a turn failed, and only a turn can be tried again.
            Phase::Failed(error) if !error.artifacts.is_empty() => vec![about("recast")],
            Phase::New | Phase::Completed | Phase::Failed(_) | Phase::Aborted => Vec::new(),
            Phase::Waiting(RunWaiting { reason, .. }) => match reason {
                WaitReason::MultiTurn => {
                    vec![format!("say {} \"…\"", self.id), about("continue")]
                }
                WaitReason::Budget => vec![format!("budget {}{}", self.id, self.larger())],
                WaitReason::Approval | WaitReason::Manual => self.by_hand(*reason),
                WaitReason::Interactive | WaitReason::Stall | WaitReason::RunFor => {
                    vec![about("resume")]
                }
            },
        }
    }

    /// What a person can do at the socket that waits for one.
    fn by_hand(&self, reason: WaitReason) -> Vec<String> {
        let about = |name: &str, node: &NodeId| format!("{name} {} {node}", self.id);
        match self.at {
            Some((id, _)) if reason == WaitReason::Manual => vec![about("trigger", id)],
            Some((id, node)) if node.approval == Some(Approval::Before) => {
                vec![about("approve", id), about("deny", id)]
            }
            // A turn that was interrupted and asks before it runs again.
            Some(_) | None => vec![format!("resume {}", self.id)],
        }
    }

    /// Twice what is spent, for each bound of the cast that is; otherwise it is one of a socket.
    fn larger(&self) -> String {
        let (budget, usage) = (self.budget, self.usage);
        let tokens = budget.max_tokens.filter(|limit| usage.tokens >= *limit);
        let tokens = tokens.map(|_| format!(" --max-tokens {}", twice(usage.tokens)));
        let cost = budget.max_cost.zip(usage.cost).filter(|(limit, spent)| spent >= limit);
        let cost = cost.map(|(_, spent)| twice_cost(spent));
        let cost = cost.map(|cost| format!(" --max-cost {cost}"));
        let turns = budget.max_turns.filter(|limit| usage.turns >= *limit);
        let turns = turns.map(|_| format!(" --max-turns {}", twice(usage.turns)));
        let bounds: String = [tokens, cost, turns].into_iter().flatten().collect();
        if bounds.is_empty() { self.larger_here() } else { bounds }
    }

    /// The bounds of the socket that has spent its own.
    fn larger_here(&self) -> String {
        let Some((id, node)) = self.at else { return String::new() };
        let budgets = node.budgets.unwrap_or_default();
        let bounds = [
            budgets.time_ms.map(|_| " --max-time-ms …"),
            budgets.cost.map(|_| " --max-cost …"),
            budgets.turns.map(|_| " --max-turns …"),
        ];
        format!(" --node {id}{}", bounds.into_iter().flatten().collect::<String>())
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

fn twice_cost(spent: Amount) -> Amount {
    if spent > Amount::default() { spent.saturating_add(spent) } else { Amount::from(1_u64) }
}

fn twice(spent: u64) -> u64 {
    spent.max(1).saturating_mul(2)
}
