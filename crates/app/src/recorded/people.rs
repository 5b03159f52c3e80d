//! Acts of people on a cast, as entries of a timeline.

use materia_contract::{Acting, Decided, Do, Event, EventBody, Mode, RecordedInput, TimelineEntry};

#[derive(Default)]
pub(super) struct People {
    timeline: Vec<TimelineEntry>,
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
    pub(super) fn decision(&mut self, now: u64, decided: &Decided, events: &[Event]) {
        let interrupted =
            events.iter().any(|event| matches!(event.body, EventBody::TurnInterrupted(_)));
        let halts = |why| Halted { at_ms: now, interrupted, why };
        match &decided.input {
            RecordedInput::RunForElapsed => self.halted = Some(halts(None)),
            RecordedInput::Stopped { .. } => {
                self.halted = Some(halts(Some("a person stopped it, which no timeline can do")));
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
    }

    /// A run that was stopped goes on: what was interrupted runs again.
    fn goes_on(&mut self) {
        if let Some(Halted { at_ms, interrupted: true, .. }) = self.halted.take() {
            self.timeline.push(TimelineEntry { at_ms, act: Do::Crash });
        }
    }

    fn act(&mut self, at_ms: u64, acting: &Acting, events: &[Event], interrupted: bool) {
        let mut add = |act: Do| self.timeline.push(TimelineEntry { at_ms, act });
        match &acting.act {
            Do::Resume { .. } => {
                if interrupted && !std::mem::take(&mut self.crashed) {
                    add(Do::Crash);
                }
                self.crashed = false;
                for event in events {
                    if let EventBody::ModeChanged(changed) = &event.body
                        && let Mode::Pace(value) = changed.value
                    {
                        self.timeline.push(TimelineEntry { at_ms, act: Do::Mode { value } });
                    }
                }
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
            act @ (Do::Recast | Do::Revive | Do::Stop { .. } | Do::Abort { .. }) => {
                let name = act.name();
                self.obstacles.push(format!("a person did `{name}`, which no timeline can do"));
            }
        }
    }

    /// The timeline, the configured end of the run, and the acts that cannot be replayed.
    pub(super) fn finish(mut self) -> (Vec<TimelineEntry>, Option<u64>, Vec<String>) {
        let run_for = match self.halted {
            Some(Halted { why: Some(why), .. }) => {
                self.obstacles.push(why.to_owned());
                None
            }
            Some(Halted { at_ms, why: None, .. }) => Some(at_ms),
            None => None,
        };
        (self.timeline, run_for, self.obstacles)
    }
}
