//! What must hold for the scheduler to start a turn at a node (X18, D17), one condition at a time.
//!
//! `why` shows the same conditions, so that what it says is what the scheduler did.

use materia_contract::{Control, NodeMode, Pace, Trigger};

use crate::budget::{self, Asks};
use crate::{Phase, Run, approval};

/// A condition of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// Something waits there that its trigger asks for.
    Input,
    /// The pace is AUTO.
    Pace,
    /// Its mode is `auto`.
    Mode,
    /// No person has taken it over.
    Control,
    /// Its trigger lets the scheduler start it.
    Trigger,
    /// It runs fewer turns than it may.
    Room,
    /// What it depends on has completed a turn.
    Dependencies,
    /// It has not spent its budget.
    Budget,
    /// The run has not spent its budget.
    RunBudget,
    /// The run has fewer turns in flight than it may.
    Concurrency,
    /// A person has consented to exactly this turn, where one must.
    Approval,
    /// The run goes on.
    Running,
}

impl Gate {
    /// All of them, in the order in which they are named to a person.
    pub const ALL: [Self; 12] = [
        Self::Input,
        Self::Pace,
        Self::Mode,
        Self::Control,
        Self::Trigger,
        Self::Room,
        Self::Dependencies,
        Self::Budget,
        Self::RunBudget,
        Self::Concurrency,
        Self::Approval,
        Self::Running,
    ];

    /// Whether it holds for the node at this place of the plan.
    #[must_use]
    pub fn holds(self, run: &Run, index: usize) -> bool {
        let (_, node) = run.node(index);
        let state = &run.nodes[index];
        match self {
            Self::Input => match node.trigger {
                Trigger::Scheduled => state.tick_owed,
                Trigger::OnAnyInput | Trigger::ManualOnly => run.oldest_input(index).is_some(),
            },
            Self::Pace => run.pace == Pace::Auto,
            Self::Mode => node.mode == NodeMode::Auto,
            Self::Control => node.control != Some(Control::Manual),
            Self::Trigger => node.trigger != Trigger::ManualOnly,
            Self::Room => has_room(run, index),
            Self::Dependencies => unmet(run, index).is_none(),
            Self::Budget => budget::node_exhausted(run, index, Asks::Turn).is_none(),
            Self::RunBudget => budget::exhausted(run).is_none(),
            Self::Concurrency => run.turns.len() < run.plan().limits.max_concurrent_turns as usize,
            Self::Approval => approval::given(run, index),
            Self::Running => run.phase == Phase::Running,
        }
    }
}

/// Whether a node may have one more turn in flight. A turn that is to be tried again keeps its place.
pub(crate) fn has_room(run: &Run, index: usize) -> bool {
    let state = &run.nodes[index];
    let taken = state.in_flight.0.len() + run.held.count_of(index);
    state.foreach.is_none() && taken < run.node(index).1.max_in_flight as usize
}

/// A node on which this one depends and which has not completed a turn.
#[must_use]
pub fn unmet(run: &Run, index: usize) -> Option<&materia_contract::NodeId> {
    let needed = run.node(index).1.depends_on.iter();
    needed.into_iter().find(|node| run.nodes[run.index_of(node)].completed == 0)
}

/// The first condition that does not hold; `None` if the scheduler starts a turn there.
#[must_use]
pub fn barred(run: &Run, index: usize) -> Option<Gate> {
    Gate::ALL.into_iter().find(|gate| !gate.holds(run, index))
}

/// The first condition beside these that does not hold.
pub(crate) fn barred_but_for(run: &Run, index: usize, but_for: &[Gate]) -> Option<Gate> {
    let gates = Gate::ALL.into_iter().filter(|gate| !but_for.contains(gate));
    gates.into_iter().find(|gate| !gate.holds(run, index))
}
