//! Liveness: after the faults stop, the run must come to rest, and go on when a person helps.

use materia_contract::{
    Amount, Budget, Do, NodeBudgets, NodeId, Pace, RunWaiting, StorageMeasured, WaitReason,
};
use materia_kernel::{Acting, Input, Moment, Phase, is_idle};
use materia_verifier::Life;

use crate::answers::Mood;
use crate::files;
use crate::world::{World, resume};

/// A disk with room.
const ROOMY: StorageMeasured =
    StorageMeasured { used_mb: 0, free_mb: 1_000, floor_mb: 64, disk: None };

/// Turns that whoever helps a run pays for.
const FURTHER_TURNS: u64 = 25;

/// How many instants a run may need to come to rest.
const LIVENESS_ROUNDS_MAX: usize = 120;

/// How many instants one that nothing bounds is watched.
const ENDLESS_ROUNDS: usize = 12;

/// How often a waiting run is helped.
const HELPINGS: usize = 2;

impl World<'_> {
    /// Whether nothing in the rules bounds the run: ticks never end.
    fn may_go_on_for_ever(&self) -> bool {
        let ticks =
            |node: &materia_contract::Node| node.interval_ms.is_some() || node.cron.is_some();
        self.plan().nodes.values().any(ticks) || self.loops_overlap()
    }

    /// Whether two loops share nodes and neither lies inside the other. The compiler makes no such plan: each can enter
    /// the other anew for ever, and every entry has items of its own.
    fn loops_overlap(&self) -> bool {
        let loops: Vec<_> = self.plan().loops.values().map(|region| &region.members).collect();
        let inside = |one: &[NodeId], other: &[NodeId]| one.iter().all(|id| other.contains(id));
        let apart = |one: &[NodeId], other: &[NodeId]| !one.iter().any(|id| other.contains(id));
        let fit = |one: &[NodeId], other: &[NodeId]| {
            inside(one, other) || inside(other, one) || apart(one, other)
        };
        loops.iter().enumerate().any(|(at, one)| loops[..at].iter().any(|other| !fit(one, other)))
    }

    /// Faults stop and everything outstanding is answered: the run comes to rest.
    pub(crate) fn settle_down(&mut self) {
        let endless = self.may_go_on_for_ever();
        for round in 0..LIVENESS_ROUNDS_MAX {
            if self.opinion.life() != Life::Running {
                self.seen.note("rested after the faults stopped");
                return;
            }
            let in_flight: Vec<u64> = self.opinion.turns().map(|(turn, _)| turn).collect();
            let reached = self.run.timeline_reached();
            if endless && round > ENDLESS_ROUNDS {
                assert!(self.take(Input::RunForElapsed));
            } else if reached < self.run.created().unwrap().timeline {
                let act = Do::Mode { value: Pace::Auto };
                let acts = vec![Acting { timeline: Some(reached), ..Acting::person(act) }];
                assert!(self.take(Input::Moment(Moment { reports: Vec::new(), acts })));
            } else if !in_flight.is_empty() {
                self.now += 1;
                let reports = in_flight.iter().map(|turn| self.report(*turn, Mood::Calm));
                let reports = reports.collect();
                assert!(self.take(Input::reports(reports)));
            } else if self.run.is_publishing() {
                assert!(self.take(files::published()));
            } else if is_idle(&self.run) {
                assert!(self.take(Input::Idle));
            } else {
                let due = self.opinion.timers().next();
                let due = due.expect("a run that is not idle waits for a turn or a timer");
                self.now = self.now.max(due);
                assert!(self.take(Input::tick()));
            }
        }
        panic!("the run does not come to rest: {:?}", self.run.phase());
    }

    /// Whoever a run waits for does what it asks: something runs on that account.
    pub(crate) fn help(&mut self) {
        for _ in 0..HELPINGS {
            let Phase::Waiting(waiting) = self.run.phase().clone() else { return };
            self.now += 1;
            let before = self.journal.len();
            self.do_what_is_asked(&waiting);
            let begun = self.journal[before..].iter().any(|event| {
                let kind = event.body.type_name();
                // Words that came while it waited make another question of it.
                matches!(
                    kind,
                    "turn.started" | "cursor.advanced" | "socket.finished" | "approval.requested"
                )
            });
            // What holds it now may be something else, behind what it told of.
            let told = match self.run.phase() {
                Phase::Waiting(now) => now.reason != waiting.reason || now.node != waiting.node,
                Phase::New
                | Phase::Running
                | Phase::Completed
                | Phase::Failed(_)
                | Phase::Aborted => true,
            };
            assert!(begun || told, "nothing came of helping: {waiting:?}");
            self.seen.note(&format!("helped with {:?}", waiting.reason));
            self.settle_down();
        }
    }

    fn do_what_is_asked(&mut self, waiting: &RunWaiting) {
        match (waiting.reason, &waiting.node) {
            (WaitReason::Manual, Some(node)) => {
                let (node, message) = (node.clone(), None);
                let asked = Do::Trigger { node, message, approve: true, hash: None };
                assert!(self.take(Input::act(asked)));
            }
            (WaitReason::Approval, Some(node)) => {
                // A turn that was interrupted and asks first has nothing to approve.
                if !self.take(Input::act(Do::approve(node.clone()))) {
                    assert!(self.take(resume(Some(Pace::Auto))));
                }
            }
            (WaitReason::Budget, node) => {
                // Somebody makes room on the disk.
                let _ = self.take(Input::Measured(ROOMY));
                let turns = self.paid_for();
                let most = Budget {
                    max_tokens: Some(u64::MAX),
                    max_cost: Some(Amount::from(1_000_000_u64)),
                    max_turns: Some(turns),
                    warn_at_percent: None,
                    max_storage_mb: Some(u64::MAX),
                };
                assert!(self.take(Input::act(Do::Budget { budget: most })));
                self.give(node.as_ref());
                assert!(self.take(resume(Some(self.opinion.pace()))));
            }
            (WaitReason::MultiTurn, Some(node)) => {
                assert!(self.take(Input::act(Do::Continue { node: Some(node.clone()) })));
            }
            (
                WaitReason::Interactive
                | WaitReason::Stall
                | WaitReason::RunFor
                | WaitReason::Trust
                | WaitReason::Workspace
                | WaitReason::Manual
                | WaitReason::Approval
                | WaitReason::MultiTurn,
                _,
            ) => assert!(self.take(resume(Some(Pace::Auto)))),
        }
    }

    /// A little more than so far, not all there is: a graph may go round as long as it is paid for.
    fn paid_for(&self) -> u64 {
        let begun = self.journal.iter().filter(|event| event.body.type_name() == "turn.started");
        begun.count() as u64 + FURTHER_TURNS
    }

    fn give(&mut self, node: Option<&NodeId>) {
        if let Some(node) = node {
            let budgets = NodeBudgets {
                turns: Some(self.paid_for()),
                time_ms: Some(u64::MAX),
                cost: Some(Amount::from(1_000_000_u64)),
            };
            assert!(self.take(Input::act(Do::NodeBudget { node: node.clone(), budgets })));
        }
    }
}
