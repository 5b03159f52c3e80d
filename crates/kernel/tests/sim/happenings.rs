//! Steps of a simulated history: turns end, people act, processes die, time passes.

use materia_contract::{
    Budget, Do, EnvelopeKind, GlobalMode, NodeBudgets, NodeId, Offered, Pace, PayloadStatus,
    RunPlace, StorageMeasured, Uuid,
};
use materia_kernel::{Acting, Input, Moment, Report, Run, evolve, step};
use materia_verifier::Life;

use crate::answers::{self, Mood};
use crate::files;
use crate::graph;
use crate::world::{STOPPED, World, resume};

/// After how many events a turn is held back.
const WITHHELD_EVERY: usize = 61;

impl World<'_> {
    /// One thing happens, or several at one instant.
    pub(crate) fn move_on(&mut self) {
        self.pass_time();
        // Seldom, and without dice: all other histories stay as they are.
        if self.journal.len() % WITHHELD_EVERY == WITHHELD_EVERY - 1 {
            self.withhold();
        }
        if self.run.is_publishing() && self.dice.percent(70) {
            let input =
                if self.dice.percent(70) { files::published() } else { files::unpublished() };
            assert!(self.take(input), "a branch that is being published");
            return;
        }
        let choice = self.dice.weighted(&[
            (52, 0),
            (12, 1),
            (9, 2),
            (5, 3),
            (4, 4),
            (3, 5),
            (2, 6),
            (3, 7),
            (3, 8),
            (1, 9),
            (2, 10),
            (2, 11),
        ]);
        match choice {
            0 => self.moment(),
            1 => self.act(),
            2 => self.crash(),
            3 => self.late_report(),
            4 => {
                let pace = *self.dice.pick(&[None, Some(Pace::Auto), Some(Pace::Interactive)]);
                let live = self.dice.percent(40);
                let _ =
                    self.take(if live { Input::act(Do::Resume { pace }) } else { resume(pace) });
            }
            5 => self.stop(),
            6 => self.change_budget(),
            7 => {
                let node = self.dice.maybe(50, |_| ()).map(|()| self.some_node());
                let _ = self.take(Input::act(Do::Say { node, text: "and this".into() }));
            }
            8 => {
                let node = self.dice.maybe(30, |_| ()).map(|()| self.some_node());
                let _ = self.take(Input::act(Do::Continue { node }));
            }
            9 => {
                let ends = [
                    Input::RunForElapsed,
                    Input::act(Do::Abort { reason: Some("enough".into()) }),
                    Input::Idle,
                    Input::Idle,
                ];
                let input = self.dice.pick(&ends).clone();
                let _ = self.take(input);
            }
            10 => {
                let again = Input::taken_up(Do::Recast, RunPlace::named());
                let input = if self.dice.percent(50) { again } else { Input::act(Do::Revive) };
                let _ = self.take(input);
            }
            11 => {
                let region = self.dice.maybe(30, |_| ()).and_then(|()| self.some_loop());
                let _ = self.take(Input::act(Do::Skip { region, reason: None }));
            }
            _ => unreachable!("all choices are named"),
        }
        // A failed run is over for almost every input; people mostly try it again.
        if self.opinion.life() == Life::Failed && self.dice.percent(70) {
            let again = Input::taken_up(Do::Recast, RunPlace::named());
            let skip = Input::act(Do::Skip { region: None, reason: Some("enough of it".into()) });
            let skipped = self.dice.percent(20) && self.take(skip);
            if !skipped && !self.take(again) {
                let _ = self.take(Input::act(Do::Revive));
            }
        }
        if self.opinion.life() == Life::Waiting && self.dice.percent(40) {
            let skip = Input::act(Do::Skip { region: None, reason: None });
            if !(self.dice.percent(20) && self.take(skip)) {
                let _ = self.take(resume(None));
            }
        }
        if self.dice.percent(6) {
            let bytes = serde_json::to_vec(&self.run).unwrap();
            self.snapshot = Some((self.journal.len(), bytes));
        }
    }

    /// A turn is not started, because what it would run is not what somebody approved; others are ended, and some
    /// of them end by themselves before. It may be a turn that nobody waits for any more.
    fn withhold(&mut self) {
        let reports = self.some_reports(40);
        let in_flight: Vec<u64> = self.opinion.turns().map(|(turn, _)| turn).collect();
        let turn = if in_flight.is_empty() { 3 } else { *self.dice.pick(&in_flight) };
        if self.take(Input::Withheld { reports, turn, message: "it changed".into(), files: None }) {
            self.seen.note("withheld");
        }
    }

    /// Somebody stops the run, in the order of D57: turns that ended, then the word itself; some turns
    /// end by themselves before they are ended. The process may die on the way.
    fn stop(&mut self) {
        let reports = self.some_reports(30);
        let acts = vec![Acting::person(Do::Stop { message: None })];
        if !self.take(Input::Moment(Moment { reports, acts })) || self.dice.percent(15) {
            return;
        }
        if self.opinion.life() != Life::Running {
            self.seen.note("came to its end while it was stopped");
            return;
        }
        let reports = self.some_reports(40);
        if !reports.is_empty() {
            self.seen.note("turn ended by itself while it was stopped");
        }
        assert!(self.take(Input::Stopped { reports, message: STOPPED.into() }));
        assert_ne!(self.opinion.life(), Life::Running, "a run that was stopped rests");
    }

    /// Reports of some of the turns in flight.
    fn some_reports(&mut self, percent: u64) -> Vec<Report> {
        let in_flight: Vec<u64> = self.opinion.turns().map(|(turn, _)| turn).collect();
        let mut reports = Vec::new();
        for turn in in_flight {
            if self.dice.percent(percent) {
                reports.push(self.report(turn, Mood::Hostile));
            }
        }
        reports
    }

    fn pass_time(&mut self) {
        let first = self.opinion.timers().next();
        match (self.dice.below(20), first) {
            (0..6, Some(at)) => self.now = self.now.max(at),
            (6..9, _) => {}
            (9, _) if self.dice.percent(30) => {
                self.behind += i64::from(self.dice.within(1, 30_000));
                self.seen.note("clock went back");
            }
            (9, _) => self.now += i64::from(self.dice.within(1, 60_000)),
            (_, _) => self.now += i64::from(self.dice.within(1, 3_000)),
        }
    }

    /// Turns end and people act at one instant.
    fn moment(&mut self) {
        let mut reports = self.some_reports(55);
        if self.dice.percent(10) && !reports.is_empty() {
            // The same turn reports twice, with whatever it says the second time.
            let twice = reports[0].turn;
            reports.push(self.report(twice, Mood::Hostile));
        }
        let mut acts = Vec::new();
        if self.dice.percent(25) && matches!(self.opinion.life(), Life::Running | Life::Waiting) {
            let reached = self.run.timeline_reached();
            let left = self.run.created().unwrap().timeline - reached;
            if left > 0 && self.dice.percent(60) {
                let act = self.some_act();
                acts.push(Acting { timeline: Some(reached), ..Acting::person(act) });
            } else {
                acts.push(Acting::person(self.some_act()));
            }
        }
        let due = self.opinion.timers().any(|at| at <= self.now);
        if due && !reports.is_empty() && !acts.is_empty() {
            self.seen.note("moment with reports, acts and a timer");
        }
        let _ = self.take(Input::Moment(Moment { reports, acts }));
    }

    pub(crate) fn report(&mut self, turn: u64, mood: Mood) -> Report {
        let node = self.opinion.node_of(turn).expect("it is in flight");
        let plan = self.plan().nodes[node].clone();
        Report { turn, outcome: answers::outcome(&mut self.dice, &plan, mood) }
    }

    fn act(&mut self) {
        let act = self.some_act();
        let _ = self.take(Input::act(act));
    }

    fn some_node(&mut self) -> NodeId {
        let count = self.plan().nodes.len();
        let index = self.dice.below(count);
        self.plan().nodes.get_index(index).unwrap().0.clone()
    }

    fn some_loop(&mut self) -> Option<String> {
        let count = self.plan().loops.len();
        let index = self.dice.below(count.max(1));
        self.plan().loops.get_index(index).map(|(name, _)| name.clone())
    }

    fn some_act(&mut self) -> Do {
        let node = self.some_node();
        match self.dice.weighted(&[(6, 0), (4, 1), (5, 2), (2, 3), (3, 4), (2, 5)]) {
            0 => self.offer().unwrap_or(Do::trigger(node, None)),
            1 => {
                let message = self.dice.maybe(60, |_| "by hand".into());
                let (approve, hash) = (self.dice.percent(40), self.shown(&node));
                Do::Trigger { node, message, approve, hash }
            }
            2 => {
                let node = self.asking(node);
                let hash = self.shown(&node);
                Do::Approve { node, hash }
            }
            3 => {
                let node = self.asking(node);
                let (hash, route) = (self.shown(&node), self.dice.percent(50));
                let reason = self.dice.maybe(50, |_| "not \"now\"".into());
                Do::Deny { node, hash, reason, route }
            }
            4 => {
                let value = self.dice.weighted(&[(3, Pace::Auto), (2, Pace::Interactive)]);
                Do::Mode { value }
            }
            _ => {
                let modes = [GlobalMode::Planning, GlobalMode::Implementation];
                Do::GlobalMode { value: *self.dice.pick(&modes) }
            }
        }
    }

    /// Mostly a node that asks something.
    fn asking(&mut self, otherwise: NodeId) -> NodeId {
        let asks = materia_kernel::questions(&self.run).next().map(|it| it.node.clone());
        asks.filter(|_| self.dice.percent(60)).unwrap_or(otherwise)
    }

    /// The question that a person was shown: mostly none is named, or the newest; sometimes another.
    fn shown(&mut self, node: &NodeId) -> Option<String> {
        let newest = materia_kernel::question(&self.run, node).map(|it| it.hash.to_owned());
        self.dice.maybe(50, |_| ())?;
        newest.filter(|_| self.dice.percent(80)).or_else(|| Some("another".to_owned()))
    }

    fn offer(&mut self) -> Option<Do> {
        let edges: Vec<String> = self
            .plan()
            .nodes
            .values()
            .flat_map(|node| &node.edges)
            .filter(|edge| edge.to.is_some())
            .map(|edge| edge.id.to_string())
            .collect();
        if edges.is_empty() {
            return None;
        }
        let edge = self.dice.pick(&edges).clone();
        let dice = &mut self.dice;
        let payload = Offered {
            payload_id: dice.maybe(30, |dice| Uuid::from_u128(u128::from(dice.within(1, 3)))),
            kind: dice.maybe(10, |_| EnvelopeKind::Handoff),
            message: dice.maybe(80, |dice| (*dice.pick(&["a", "b"])).to_owned()),
            structured: dice.maybe(30, |_| serde_json::json!({ "context": "c" })),
            artifacts: Vec::new(),
            status: dice.maybe(40, |dice| PayloadStatus { ok: dice.percent(60), reason: None }),
        };
        Some(Do::Offer { edge, payload })
    }

    fn change_budget(&mut self) {
        let dice = &mut self.dice;
        if dice.percent(40) {
            let budget = Budget {
                max_turns: dice.maybe(60, |dice| u64::from(dice.within(1, 40))),
                max_storage_mb: dice.maybe(60, |dice| u64::from(dice.within(1, 4_000))),
                ..Budget::default()
            };
            let _ = self.take(Input::act(Do::Budget { budget }));
            return;
        }
        if dice.percent(20) {
            let storage = StorageMeasured {
                used_mb: u64::from(dice.within(0, 2_000)),
                free_mb: u64::from(dice.within(0, 200)),
                floor_mb: 64,
                disk: None,
            };
            let _ = self.take(Input::Measured(storage));
            return;
        }
        if dice.percent(25) {
            let agents = graph::answerers(dice, self.opinion.plan().expect("it was created"));
            let _ = self.take(Input::SetAgents(agents));
            return;
        }
        let budgets = NodeBudgets {
            turns: dice.maybe(70, |dice| u64::from(dice.within(1, 8))),
            ..NodeBudgets::default()
        };
        let node = self.some_node();
        let _ = self.take(Input::act(Do::NodeBudget { node, budgets }));
    }

    /// A turn that ended long ago, or never was, reports.
    fn late_report(&mut self) {
        let mut turns = self.ended.clone();
        turns.push(999_999);
        let turn = *self.dice.pick(&turns);
        let node = self.plan().nodes[0].clone();
        let outcome = answers::outcome(&mut self.dice, &node, Mood::Hostile);
        assert!(!self.take(Input::report(turn, outcome)), "a report that nobody waits for");
    }

    /// The process dies. What was not kept is gone; the rest is folded again, from a snapshot or from
    /// the beginning.
    fn crash(&mut self) {
        if self.dice.percent(30) {
            let in_flight = self.opinion.turns().next().map(|(turn, _)| turn);
            if let Some(turn) = in_flight {
                let report = self.report(turn, Mood::Hostile);
                let _ = step(&mut self.run, self.now, Input::reports(vec![report]));
                self.seen.note("crash before the decision was kept");
            }
        }
        let kept = self.snapshot.as_ref().filter(|_| self.dice.percent(50));
        let (mut run, place) = if let Some((place, bytes)) = kept {
            self.seen.note("crash with a snapshot");
            (serde_json::from_slice(bytes).unwrap(), *place)
        } else {
            (Run::new(self.id.clone()), 0)
        };
        for event in &self.journal[place..] {
            evolve(&mut run, event);
        }
        self.run = run;
        assert_eq!(self.run, self.folded, "a restart finds the run as it was");
        if self.opinion.timers().next().is_some() {
            self.seen.note("crash with a timer pending");
        }
        if self.opinion.turns().next().is_some() {
            self.seen.note("crash with a turn in flight");
        }
        if self.opinion.life() == Life::Running {
            assert!(self.take(resume(None)), "a run that lost its process is taken up");
        }
    }
}
