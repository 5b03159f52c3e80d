//! Status of a cast, and the next commands of a person.
//!
//! The result is data: the command line prints commands, the page shows buttons.

pub use materia_contract::api::{Next, NodeBound};
use materia_contract::{
    Amount, Approval, Budget, Do, Node, NodeId, RunFailed, RunId, RunWaiting, UsageTotals,
    WaitReason,
};
use materia_kernel::{Phase, Question, Run, could_skip, question};

/// Where a cast stands.
#[derive(Debug)]
pub struct NextSteps<'a> {
    id: &'a RunId,
    phase: &'a Phase,
    budget: Budget,
    usage: UsageTotals,
    /// How many megabytes would do, where it keeps as many as it may.
    more_storage_mb: Option<u64>,
    /// Whether what it keeps, or its disk, holds it.
    crowded: bool,
    /// The socket that it waits at, as it was configured.
    at: Option<(&'a NodeId, &'a Node)>,
    /// Question of that socket.
    asks: Option<Question<'a>>,
    /// Whether the item that it is at could be skipped.
    skippable: bool,
}

impl<'a> NextSteps<'a> {
    /// The next steps of a run.
    pub fn of(run: &'a Run) -> Self {
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
            more_storage_mb: run.more_storage_mb(),
            crowded: run.is_crowded(),
            at: at.zip(plan).and_then(|(node, plan)| plan.nodes.get_key_value(node)),
            asks: at.and_then(|node| question(run, node)),
            skippable: could_skip(run),
        }
    }

    /// The cast.
    pub fn id(&self) -> &'a RunId {
        self.id
    }

    /// Whether it runs, waits or has ended.
    pub fn phase(&self) -> &'a Phase {
        self.phase
    }

    /// Commands that continue the cast, the likeliest first.
    pub fn onward(&self) -> Vec<Next> {
        let resume = || Next::Do(Do::Resume { pace: None });
        match self.phase {
            Phase::Running => vec![resume()],
            // A bound was reached: more of the same is a person's decision.
            Phase::Failed(RunFailed { edge_id: Some(_), .. }) => self.or_skip(Do::Revive.into()),
            // Files show more only where a turn failed, and only a turn can be tried again.
            Phase::Failed(error) if !error.artifacts.is_empty() => self.or_skip(Do::Recast.into()),
            Phase::New | Phase::Completed | Phase::Failed(_) | Phase::Aborted => Vec::new(),
            Phase::Waiting(RunWaiting { reason, .. }) => match reason {
                WaitReason::MultiTurn => vec![Next::Say, Do::Continue { node: None }.into()],
                // Only the owner of the disk can free space on it.
                WaitReason::Budget if self.crowded && self.more_storage_mb.is_none() => {
                    vec![resume()]
                }
                WaitReason::Budget => vec![self.larger()],
                WaitReason::Approval | WaitReason::Manual => {
                    let by_hand = self.by_hand(*reason);
                    // A turn that was interrupted and asks before it runs again.
                    if by_hand.is_empty() { vec![resume()] } else { by_hand }
                }
                WaitReason::Stall => self.or_skip(resume()),
                WaitReason::Workspace => vec![resume(), Next::PutBack { put_back: true }],
                WaitReason::Interactive | WaitReason::RunFor | WaitReason::Trust => {
                    vec![resume()]
                }
            },
        }
    }

    /// One way on, and beside it to leave the item where it is and go on with the next.
    fn or_skip(&self, next: Next) -> Vec<Next> {
        let skip = self.skippable.then(|| Do::Skip { region: None, reason: None }.into());
        [Some(next), skip].into_iter().flatten().collect()
    }

    /// Commands at the socket that waits for a person.
    fn by_hand(&self, reason: WaitReason) -> Vec<Next> {
        match self.at {
            Some((id, _)) if reason == WaitReason::Manual => {
                let (approve, hash) = (self.asks.is_some(), None);
                vec![Do::Trigger { node: id.clone(), message: None, approve, hash }.into()]
            }
            // What was refused can only be allowed after all.
            Some((id, _)) if self.asks.is_some_and(|asks| asks.denied) => {
                vec![Do::approve(id.clone()).into()]
            }
            Some((id, node)) if node.approval == Some(Approval::Before) => {
                vec![Do::approve(id.clone()).into(), Do::deny(id.clone()).into()]
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// Twice what is spent, for each bound of the cast that is; otherwise it is one of a socket.
    fn larger(&self) -> Next {
        let (budget, usage) = (self.budget, self.usage);
        let tokens = budget.max_tokens.filter(|limit| usage.tokens >= *limit);
        let cost = budget.max_cost.zip(usage.cost).filter(|(limit, spent)| spent >= limit);
        let turns = budget.max_turns.filter(|limit| usage.turns >= *limit);
        let larger = Budget {
            max_tokens: tokens.map(|_| twice(usage.tokens)),
            max_cost: cost.map(|(_, spent)| twice_cost(spent)),
            max_turns: turns.map(|_| twice(usage.turns)),
            max_storage_mb: self.more_storage_mb,
            warn_at_percent: None,
        };
        match self.at {
            Some((id, node)) if larger == Budget::default() => {
                Next::NodeBudget { node: id.clone(), bounds: bounds(node) }
            }
            Some(_) | None => Do::Budget { budget: larger }.into(),
        }
    }
}

/// The bounds that a socket has of its own.
fn bounds(node: &Node) -> Vec<NodeBound> {
    let budgets = node.budgets.unwrap_or_default();
    let bounds = [
        budgets.time_ms.map(|_| NodeBound::TimeMs),
        budgets.cost.map(|_| NodeBound::Cost),
        budgets.turns.map(|_| NodeBound::Turns),
    ];
    bounds.into_iter().flatten().collect()
}

fn twice_cost(spent: Amount) -> Amount {
    if spent > Amount::default() { spent.saturating_add(spent) } else { Amount::from(1_u64) }
}

fn twice(spent: u64) -> u64 {
    spent.max(1).saturating_mul(2)
}
