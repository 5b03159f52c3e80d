//! Checks at the end of a decision.

use materia_contract::{Acting, Decided, Do, MomentOf, NextTick, RecordedInput, ReportedIn};

use crate::files;
use crate::state::Life;
use crate::state::{Decision, Verifier};
use crate::{Checked, Objection, hold};

impl Verifier {
    /// A decision has ended; the kept input says when it was taken and on what.
    pub fn decided(&mut self, decided: &Decided) -> Result<(), Objection> {
        if self.decision.first == 0 {
            return Ok(());
        }
        self.pays(None)?;
        hold!(self, decided.is_of_these_rules(), "it was decided by other rules than these");
        let decision = std::mem::replace(&mut self.decision, Decision::new());
        at_its_instant(&decision, decided)?;
        self.in_its_time(&decision, decided)?;
        self.cut_where_it_was_forked(&decision, decided)?;
        self.rests_on(&decision, &decided.input)?;
        is_told(&decision, decided)?;
        // A stop starts no turn, and ends the turns in flight before the run rests (D57).
        let stops = alone(&decided.input).is_some_and(|it| matches!(it.act, Do::Stop { .. }));
        if self.life == Life::Running && !stops && !decision.only_agents {
            if is_instant(&decided.input) {
                let due = self.timers.first().filter(|(at, _, _)| *at <= decided.at);
                hold!(
                    self,
                    due.is_none(),
                    "the decision ends with a timer that was due and did not fire"
                );
            }
            // Where a fork has cut it, what it would have started is left to the fork.
            match decided.until {
                None => self.leaves_nothing_undone()?,
                Some(until) => hold!(
                    self,
                    (decision.first..=self.seq).contains(&until)
                        || reports_before(&decision, decided),
                    "it was cut at an event that is none of its own"
                ),
            }
        }
        Ok(())
    }

    /// Time does not go back from one decision to the next, and never falls behind the clock on the wall; a simulated clock
    /// is the one on the wall.
    fn in_its_time(&mut self, decision: &Decision, decided: &Decided) -> Checked {
        let object = |what: String| Err(Objection { seq: decision.first, what });
        let (at, wall) = (decided.at, decision.wall);
        if let Some(before) = self.instant.replace(at).filter(|before| at < *before) {
            return object(format!("it was decided at {at}, before what it follows on ({before})"));
        }
        if wall > at || (self.beginning.simulated && wall != at) {
            return object(format!("the clock on the wall shows {wall}, and it was {at}"));
        }
        Ok(())
    }

    /// A fork has decisions that were cut, among those that it shares. A run that is handed over starts nothing with its
    /// creation, or with the last reports of its turns.
    fn cut_where_it_was_forked(&self, decision: &Decision, decided: &Decided) -> Checked {
        let Some(until) = decided.until else { return Ok(()) };
        let handed_over = (until == 1 && decision.first == 1) || reports_before(decision, decided);
        let shared = self.beginning.forked_at.is_some_and(|seq| decision.first <= seq);
        if handed_over || shared {
            return Ok(());
        }
        let what = "it says that it was cut, and the run was not forked there".to_owned();
        Err(Objection { seq: decision.first, what })
    }

    /// Nothing could have started that did not; what is to be said was said.
    fn leaves_nothing_undone(&self) -> Checked {
        let chart = self.chart()?;
        if !self.is_full(&chart) && !self.run_is_spent() {
            let nodes = self.ready.iter().copied();
            let started = self
                .startable_request(&chart)
                .or_else(|| self.startable_element(&chart))
                .or_else(|| nodes.into_iter().find(|node| self.would_start(&chart, *node)));
            if let Some(node) = started {
                let name = chart.name(node);
                return Err(self.objection(format!("the decision ends, but `{name}` could start")));
            }
            let again = self.startable_again(&chart);
            hold!(self, again.is_none(), "the decision ends, but a turn could be tried again");
        }
        let unwarned = self.unwarned();
        hold!(self, unwarned.is_none(), "the decision ends without a warning that is due");
        let moves = !self.turns.is_empty()
            || !self.timers.is_empty()
            || self.is_publishing()
            || self.timeline < self.beginning.timeline;
        hold!(
            self,
            moves,
            "the decision ends with nothing left to happen, and the run does not rest"
        );
        Ok(())
    }

    /// Checks that the recorded input matches the events.
    fn rests_on(&self, decision: &Decision, input: &RecordedInput) -> Checked {
        let object = |seq: u64, what: &str| Err(Objection { seq, what: what.to_owned() });
        let opening = decision.opening.unwrap_or_default();
        if let Some(seq) = decision.stopped
            && !matches!(input, RecordedInput::Stopped { .. })
        {
            return object(
                seq,
                "a run in AUTO waits because a person stopped it, which nobody did",
            );
        }
        let (withheld, distrusts) = (decision.withheld.first(), decision.distrusts);
        if let Some(seq) = withheld.map(|(_, _, seq)| *seq).or(distrusts.map(|(seq, _)| seq))
            && !matches!(input, RecordedInput::Withheld { .. })
        {
            return object(seq, "nobody found that something was not approved");
        }
        acted(decision, input)?;
        files::are_those_found(decision, input)?;
        let fits = match input {
            RecordedInput::Create(_) => opening == "run.created",
            RecordedInput::SetAgents(_) => opening == "agents.chosen",
            RecordedInput::Measured(_) => opening == "storage.measured",
            RecordedInput::Idle => {
                matches!(opening, "run.waiting" | "run.completed" | "workspace.publishing")
            }
            RecordedInput::Published(_) => opening == "workspace.published",
            RecordedInput::Unpublished { .. } => opening == "run.waiting",
            RecordedInput::RunForElapsed => matches!(opening, "turn.interrupted" | "run.waiting"),
            RecordedInput::Stopped { reports, .. } => {
                self.ended_as_reported(decision, reports)?;
                !reports.is_empty() || matches!(opening, "turn.interrupted" | "run.waiting")
            }
            RecordedInput::Withheld { reports, turn, .. } => {
                self.ended_as_reported(decision, reports)?;
                let waits = match decision.withheld.as_slice() {
                    [(one, node, _)] => {
                        one == turn && distrusts.is_some_and(|(_, waiting)| waiting == *node)
                    }
                    _ => false,
                };
                self.life == Life::Failed || waits
            }
            RecordedInput::Moment(MomentOf { reports, acts }) => {
                self.ended_as_reported(decision, reports)?;
                if let Some(acting) = alone(input) {
                    let due = u32::from(acting.timeline.is_some());
                    let reached = self.life == Life::Failed || decision.reached == due;
                    return if reached && (!reports.is_empty() || leads_to(acting, opening)) {
                        Ok(())
                    } else {
                        object(decision.first, "its input leads to something else")
                    };
                }
                let entries = acts.iter().filter(|acting| acting.timeline.is_some()).count();
                self.life == Life::Failed || entries == decision.reached as usize
            }
        };
        let ends = match input {
            RecordedInput::Create(_)
            | RecordedInput::Moment(_)
            | RecordedInput::Stopped { .. }
            | RecordedInput::Withheld { .. } => true,
            RecordedInput::SetAgents(_)
            | RecordedInput::Measured(_)
            | RecordedInput::Published(_)
            | RecordedInput::Unpublished { .. }
            | RecordedInput::RunForElapsed
            | RecordedInput::Idle => decision.ends.is_empty(),
        };
        if fits && ends {
            Ok(())
        } else {
            object(decision.first, "its input leads to something else")
        }
    }
    /// The turns that ended are those that were reported, and each as it was.
    fn ended_as_reported(&self, decision: &Decision, reports: &[ReportedIn]) -> Checked {
        let object = |seq: u64, what: &str| Err(Objection { seq, what: what.to_owned() });
        let reported = reports.iter().map(|one| (one.turn, one.event));
        let mut ends = decision.ends.iter().map(|(turn, event, _)| (*turn, *event));
        if !reported.clone().eq(ends.clone()) {
            // The first end that was not reported, or where one is missing the last event.
            let other = ends.clone().zip(reported).find(|(end, report)| end != report);
            let more = ends.nth(reports.len()).map(|(_, event)| event);
            let seq = other.map(|((_, event), _)| event).or(more).unwrap_or(self.seq);
            return object(seq, "other turns ended than its input reports");
        }
        if let Some(seq) = decision.kept_contract {
            let reported = reports.iter().find(|one| one.event == seq);
            if reported.is_some_and(|one| !one.faulted) {
                return object(seq, "the turn failed for its contract, which its output keeps");
            }
        }
        Ok(())
    }
}

/// Whether these are reports of turns, cut in front of the first event: nothing was started.
fn reports_before(decision: &Decision, decided: &Decided) -> bool {
    let RecordedInput::Moment(moment) = &decided.input else { return false };
    decided.until.is_some_and(|until| until + 1 == decision.first)
        && moment.acts.is_empty()
        && !moment.reports.is_empty()
}

/// The act of a decision that is taken alone, if it is one.
fn alone(input: &RecordedInput) -> Option<&Acting> {
    let RecordedInput::Moment(MomentOf { acts, .. }) = input else { return None };
    acts.iter().find(|acting| !acting.act.is_of_an_instant())
}

/// Whether it is an instant, with timers that are due and all.
fn is_instant(input: &RecordedInput) -> bool {
    matches!(input, RecordedInput::Moment(_)) && alone(input).is_none()
}

/// Whether what is done alone begins with such an event.
fn leads_to(acting: &Acting, opening: &str) -> bool {
    if acting.timeline.is_some() {
        return opening == "timeline.reached";
    }
    match &acting.act {
        Do::Revive => opening == "run.revived",
        Do::Skip { .. } => opening == "item.skipped",
        Do::Budget { .. } | Do::NodeBudget { .. } => opening == "budget.changed",
        Do::Abort { .. } => matches!(opening, "turn.interrupted" | "run.aborted"),
        Do::Stop { .. } => matches!(
            opening,
            "mode.changed"
                | "run.waiting"
                | "run.completed"
                | "workspace.publishing"
                | "budget.warned"
                | "node.blocked"
                | "approval.requested"
        ),
        Do::Resume { .. } if acting.place.is_some() => {
            matches!(opening, "turn.interrupted" | "run.resumed")
        }
        Do::Resume { .. } => matches!(opening, "run.resumed" | "mode.changed"),
        Do::Recast => opening == "run.resumed",
        Do::Say { .. } => opening == "message.received",
        Do::Continue { .. } => matches!(opening, "run.resumed" | "socket.finished"),
        Do::Offer { .. }
        | Do::Trigger { .. }
        | Do::Approve { .. }
        | Do::Deny { .. }
        | Do::Mode { .. }
        | Do::Pause
        | Do::GlobalMode { .. }
        | Do::Crash => false,
    }
}

/// Checks that the events contain no action that is missing in the input.
fn acted(decision: &Decision, input: &RecordedInput) -> Checked {
    let acts = match input {
        RecordedInput::Moment(moment) => moment.acts.as_slice(),
        RecordedInput::Create(_)
        | RecordedInput::SetAgents(_)
        | RecordedInput::Measured(_)
        | RecordedInput::Stopped { .. }
        | RecordedInput::Withheld { .. }
        | RecordedInput::Published(_)
        | RecordedInput::Unpublished { .. }
        | RecordedInput::RunForElapsed
        | RecordedInput::Idle => &[],
    };
    let count = |of: fn(&Do) -> bool| acts.iter().filter(|acting| of(&acting.act)).count();
    let changes_mode = |act: &Do| {
        matches!(
            act,
            Do::Mode { .. }
                | Do::Pause
                | Do::GlobalMode { .. }
                | Do::Resume { .. }
                | Do::Skip { .. }
                | Do::Stop { .. }
        )
    };
    let answers = |act: &Do| {
        matches!(act, Do::Approve { .. } | Do::Deny { .. } | Do::Trigger { approve: true, .. })
    };
    let instant = is_instant(input);
    let most = [
        (decision.requested, count(|act| matches!(act, Do::Trigger { .. }))),
        (decision.offered, count(|act| matches!(act, Do::Offer { .. }))),
        (decision.answered, count(answers)),
        (decision.modes, count(changes_mode)),
        // Where a run begins, only ticks at the start are due (D71).
        (decision.fired, if instant || decision.first == 1 { usize::MAX } else { 0 }),
    ];
    let more = most.into_iter().find(|((done, _), most)| done > most);
    let Some(((_, seq), _)) = more else { return Ok(()) };
    Err(Objection { seq, what: "what its decision rests on does not ask for that".to_owned() })
}

/// The ticks of schedules are exactly those that the caller gave (D63).
fn is_told(decision: &Decision, decided: &Decided) -> Checked {
    let object = |seq: u64, what: &str| Err(Objection { seq, what: what.to_owned() });
    for (seq, set) in &decision.scheduled {
        if !decided.ticks.contains(set) {
            return object(*seq, "nobody told the decision that the schedule comes round then");
        }
    }
    // If the run failed at once, the given ticks are unused.
    let set = |tick: &&NextTick| decision.scheduled.iter().any(|(_, set)| set == *tick);
    if decision.scheduled.is_empty() || decided.ticks.iter().all(|tick| set(&tick)) {
        return Ok(());
    }
    object(decision.first, "the decision was told of schedules that did not come round")
}

/// The instant of the decision explains every time in it.
fn at_its_instant(decision: &Decision, decided: &Decided) -> Checked {
    let object = |seq: u64, what: String| Err(Objection { seq, what });
    let at = decided.at;
    if decision.first_ts != at.max(decision.ts_before.saturating_add(1)) {
        let what = format!("its logical time does not follow from {at}, when it was decided");
        return object(decision.first, what);
    }
    if let Some((seq, says)) = decision.claims.iter().find(|(_, says)| *says != at) {
        return object(*seq, format!("it says that it was decided at {says}, which was {at}"));
    }
    if let Some((seq, past)) = decision.past.filter(|(_, past)| *past > at) {
        return object(seq, format!("it needs {past} to have come, and it was {at}"));
    }
    if let Some((seq, to_come)) = decision.to_come.filter(|(_, to_come)| *to_come < at) {
        return object(seq, format!("it lies in the past: {to_come} was over at {at}"));
    }
    Ok(())
}
