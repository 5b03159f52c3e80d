//! Gates: the conditions that must hold before the scheduler starts a turn at a node (X18, D17).
//!
//! `why` shows the same conditions, so that its answer matches the scheduler.

use materia_contract::{Control, NodeMode, Pace, Trigger};

use crate::ask::approval;
use crate::ask::budget::{self, Asks};
use crate::state::{Branch, Checkout, Phase, Run, Turn};

/// A condition of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// Something waits there that its trigger asks for.
    Input,
    /// The pace is AUTO.
    Pace,
    /// Its mode is `auto`, or its control makes it so.
    Mode,
    /// Its control does not leave it to a person.
    Control,
    /// Its trigger lets the scheduler start it.
    Trigger,
    /// It runs fewer turns than it may.
    Room,
    /// The nodes that it depends on have completed a turn.
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

    /// Whether it holds for the node at this place of the plan and what waits there.
    #[must_use]
    pub fn holds(self, run: &Run, index: usize) -> bool {
        self.holds_for(run, index, Start::Input)
    }

    fn holds_for(self, run: &Run, index: usize, start: Start) -> bool {
        let (_, node) = run.node(index);
        let state = &run.nodes[index];
        match self {
            Self::Input => match node.trigger {
                Trigger::Scheduled => state.tick_owed,
                Trigger::OnAnyInput | Trigger::ManualOnly => run.oldest_input(index).is_some(),
            },
            Self::Pace => run.pace == Pace::Auto,
            Self::Mode => node.mode == NodeMode::Auto || node.control == Some(Control::Automatic),
            Self::Control => node.control != Some(Control::Manual),
            Self::Trigger => node.trigger != Trigger::ManualOnly,
            Self::Room => has_room(run, index),
            Self::Dependencies => unmet(run, index).is_none(),
            Self::Budget => budget::node_exhausted(run, index, start.asks()).is_none(),
            Self::RunBudget => budget::exhausted(run).is_none(),
            Self::Concurrency => !is_full(run),
            Self::Approval => approval::given(run, index),
            Self::Running => run.phase == Phase::Running,
        }
    }
}

/// The ways in which a turn can start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// A node takes what waits there.
    Input,
    /// A person asked for it.
    Asked,
    /// A further attempt at a turn that has its inputs, its consent and its place.
    Again {
        /// Whether a person asked for that turn.
        by_hand: bool,
        /// Whether it counts like a new turn.
        asks: Asks,
    },
    /// The next element of a `foreach` that was entered.
    Element {
        /// Whether a person asked for the first one.
        by_hand: bool,
    },
}

impl Start {
    /// The gates of this kind of start, in the order in which `why` names them. The scheduler and `why` use this one
    /// table.
    fn gates(self) -> &'static [Gate] {
        use Gate::{Budget, Concurrency, Pace, Room, RunBudget, Running};
        match self {
            Self::Input => &Gate::ALL,
            Self::Asked => &[Room, Budget, RunBudget, Concurrency, Running],
            Self::Again { by_hand: false, .. } | Self::Element { by_hand: false } => {
                &[Pace, Budget, RunBudget, Concurrency, Running]
            }
            // Retries and further elements of a turn that a person asked for start at every pace.
            Self::Again { by_hand: true, .. } | Self::Element { by_hand: true } => {
                &[Budget, RunBudget, Concurrency, Running]
            }
        }
    }

    fn asks(self) -> Asks {
        match self {
            Self::Input | Self::Asked | Self::Element { .. } => Asks::Turn,
            Self::Again { asks, .. } => asks,
        }
    }

    /// The first condition of it, beside these, that does not hold at a node.
    pub(crate) fn barred(self, run: &Run, index: usize, beside: &[Gate]) -> Option<Gate> {
        let gates = self.gates().iter().filter(|gate| !beside.contains(gate));
        gates.copied().find(|gate| !gate.holds_for(run, index, self))
    }
}

/// Whether the run has as many turns in flight as it may. While the files of its workspace are put back for a turn, or
/// its branch is published, or left its base, nothing else starts.
pub(crate) fn is_full(run: &Run) -> bool {
    let puts_back = |turn: &Turn| turn.files.as_ref().is_some_and(|files| files.put_back);
    run.turns.len() >= run.plan().limits.max_concurrent_turns as usize
        || run.files.as_ref().is_some_and(|files| {
            files.off_base
                || files.branch == Branch::Publishing
                || run.turns.values().any(|turn| puts_back(turn))
                || (files.checkout == Checkout::PutBack && !run.turns.is_empty())
        })
}

/// Whether a node may have one more turn in flight. A turn that is to be tried again keeps its place.
fn has_room(run: &Run, index: usize) -> bool {
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
    Start::Input.barred(run, index, &[])
}
