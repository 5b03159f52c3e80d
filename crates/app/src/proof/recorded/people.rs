//! Acts of people on a cast, as entries of a timeline.

use crate::proof::play::Acts;
use materia_contract::{Acting, Decided, Do, Event, EventBody, Mode, RecordedInput, TimelineEntry};

/// Whether no timeline can do this.
fn needs_command(act: &Do) -> bool {
    matches!(act, Do::Recast | Do::Revive | Do::Abort { .. })
}

#[derive(Default)]
pub(super) struct People {
    acts: Acts,
    /// Whether the run has come to rest.
    rests: bool,
    /// Whether it has ended.
    ended: bool,
    /// The timeline of the cast has thrown its memory away; that it is taken up again is part of that.
    crashed: bool,
    halted: Option<Halted>,
    obstacles: Vec<String>,
}

/// A run that was stopped, and not by itself.
struct Halted {
    at_ms: u64,
    /// Whether turns were interrupted.
    interrupted: bool,
    /// Why that cannot be the end of a script; nothing where it can.
    why: Option<&'static str>,
}

impl People {
    /// Whether the run rests, and this decision does not come from its timeline.
    pub(super) fn at_rest(&self, decided: &Decided) -> bool {
        let RecordedInput::Moment(moment) = &decided.input else { return self.ended };
        self.ended || (self.rests && moment.acts.iter().any(|acting| needs_command(&acting.act)))
    }

    pub(super) fn decision(&mut self, now: u64, decided: &Decided, events: &[Event]) {
        let interrupted =
            events.iter().any(|event| matches!(event.body, EventBody::TurnInterrupted(_)));
        let halts = |why| Halted { at_ms: now, interrupted, why };
        match &decided.input {
            RecordedInput::RunForElapsed => self.halted = Some(halts(None)),
            // Its pace was changed before; what was ended runs again where it goes on.
            RecordedInput::Stopped { .. } => {
                if interrupted {
                    self.acts.timeline.push(TimelineEntry { at_ms: now, act: Do::Crash });
                }
            }
            RecordedInput::Withheld { .. } => {
                self.halted = Some(halts(Some("a turn was withheld, which no script can do")));
            }
            RecordedInput::Moment(moment) => {
                self.goes_on();
                for acting in &moment.acts {
                    self.act(now, acting, events, interrupted);
                }
            }
            RecordedInput::Published(_) | RecordedInput::Unpublished { .. } => self.goes_on(),
            RecordedInput::Create(_)
            | RecordedInput::SetAgents(_)
            | RecordedInput::Measured(_)
            | RecordedInput::Idle => {}
        }
        for event in events {
            let waits = matches!(event.body, EventBody::RunWaiting(_));
            let ends = matches!(
                event.body,
                EventBody::RunFailed(_) | EventBody::RunCompleted(_) | EventBody::RunAborted(_)
            );
            if waits || ends {
                (self.rests, self.ended) = (true, ends);
            }
        }
    }

    /// A run that was stopped goes on: what was interrupted runs again.
    fn goes_on(&mut self) {
        if let Some(Halted { at_ms, interrupted: true, .. }) = self.halted.take() {
            self.acts.timeline.push(TimelineEntry { at_ms, act: Do::Crash });
        }
    }

    fn act(&mut self, at_ms: u64, acting: &Acting, events: &[Event], interrupted: bool) {
        let (rested, ended) = (std::mem::take(&mut self.rests), std::mem::take(&mut self.ended));
        if ended || needs_command(&acting.act) {
            if !rested {
                self.acts.run_for_ms = Some(at_ms);
            }
            self.acts.then.push(acting.act.clone());
            return;
        }
        let mut add = |act: Do| self.acts.timeline.push(TimelineEntry { at_ms, act });
        match &acting.act {
            Do::Resume { .. } => {
                if interrupted && !std::mem::take(&mut self.crashed) {
                    add(Do::Crash);
                }
                self.crashed = false;
                self.paces(at_ms, events);
            }
            Do::Crash => {
                add(Do::Crash);
                self.crashed = true;
            }
            // The question has another hash where the events have other numbers.
            Do::Trigger { node, message, approve, .. } => {
                let (node, message, approve) = (node.clone(), message.clone(), *approve);
                add(Do::Trigger { node, message, approve, hash: None });
            }
            Do::Approve { node, .. } => add(Do::approve(node.clone())),
            Do::Deny { node, reason, route, .. } => {
                let (node, reason, route) = (node.clone(), reason.clone(), *route);
                add(Do::Deny { node, hash: None, reason, route });
            }
            act @ (Do::Offer { .. }
            | Do::Mode { .. }
            | Do::Pause
            | Do::GlobalMode { .. }
            | Do::Say { .. }
            | Do::Continue { .. }
            | Do::Budget { .. }
            | Do::NodeBudget { .. }
            | Do::Skip { .. }) => add(act.clone()),
            Do::Stop { .. } => self.paces(at_ms, events),
            // Commands on a run at rest were taken above.
            Do::Recast | Do::Revive | Do::Abort { .. } => {}
        }
    }

    /// Changes the pace as these events do.
    fn paces(&mut self, at_ms: u64, events: &[Event]) {
        for event in events {
            if let EventBody::ModeChanged(changed) = &event.body
                && let Mode::Pace(value) = changed.value
            {
                self.acts.timeline.push(TimelineEntry { at_ms, act: Do::Mode { value } });
            }
        }
    }

    /// The acts, and those that cannot be done again.
    pub(super) fn finish(mut self) -> (Acts, Vec<String>) {
        match self.halted {
            Some(Halted { why: Some(why), .. }) => self.obstacles.push(why.to_owned()),
            Some(Halted { at_ms, why: None, .. }) => self.acts.run_for_ms = Some(at_ms),
            None => {}
        }
        (self.acts, self.obstacles)
    }
}
