//! Obligations: events that a decision must still contain.
//!
//! They are a stack. An event fulfils the topmost that requires one; an obligation that turns out to require nothing
//! is dropped. None that requires an event may be left at the end of the decision.

use materia_contract::Event;

use crate::owed::Obligation;
use crate::owed::Outcome;
use crate::owed::Paid;
use crate::state::Verifier;
use crate::{Checked, Objection};

impl Verifier {
    /// Whether the event pays a debt. At the end of a decision there is no event, and nothing may be
    /// asked for.
    pub(crate) fn pays(&mut self, event: Option<&Event>) -> Checked<bool> {
        while let Some(owed) = self.owed.pop() {
            let chart = self.chart()?;
            let paid = match owed {
                Obligation::Attached { node, payload } => {
                    self.attached(&chart, node, payload, event)?
                }
                Obligation::Retry { node, turn, at, wait } => {
                    self.retry_set(&chart, node, turn, (at, wait), event)?
                }
                Obligation::Tick { node } => self.tick_set(&chart, node, event)?,
                Obligation::Answer { turn, says, refused } => {
                    self.answer(turn, &says, refused, event)?
                }
                Obligation::Ignored { node, turn, fields } => {
                    self.ignored(&chart, node, turn, &fields, event)?
                }
                Obligation::Patch(patch) => self.patched(&chart, *patch, event)?,
                Obligation::Watch { node } => self.watched(&chart, node, event)?,
                Obligation::Leave { node, turn, verdict, element } => {
                    let result = Outcome { node, turn, verdict };
                    self.leaves(&chart, result, element, event)?
                }
                Obligation::MovesOn { node, region } => {
                    self.moves_on(&chart, node, region, event)?
                }
                Obligation::Routes { result, ways, from } => {
                    self.routes(&chart, result, ways, from, event)?
                }
                Obligation::LeadsOn { node, turn } => self.leads_on(&chart, node, turn, event)?,
                Obligation::FollowUp { result, way } => {
                    self.follow_up(&chart, result, way, event)?
                }
                Obligation::Arrive { result, way, to, exited, enters } => {
                    self.arrives(&chart, result, way, to, exited, enters, event)?
                }
                Obligation::Enter { region } => {
                    self.enters(&chart, region, event).map(|_| Paid::Yes)?
                }
                Obligation::Exit { exit, said } => self.exits(&chart, exit, said, event)?,
                Obligation::Fate { way, to, payload, filter, accepted } => {
                    self.fate(&chart, way, to, payload, filter, accepted, event)?
                }
                Obligation::Start(starting) => self.goes_on_starting(&chart, starting, event)?,
                Obligation::Failing { code, socket, way } => {
                    self.failing(&chart, code, socket, way, event)?
                }
                Obligation::GivesUp { result } => self.gives_up(&chart, result, event)?,
                Obligation::NoList => self.cannot_iterate(&chart, event)?,
            };
            if let Paid::Yes = paid {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// An objection: something else is due here.
    pub(crate) fn due(&self, what: &str, event: Option<&Event>) -> Objection {
        match event {
            Some(event) => {
                let kind = event.body.type_name();
                self.objection(format!("{what} is due here, and this is `{kind}`"))
            }
            None => self.objection(format!("its decision ends behind it, but {what} is due")),
        }
    }

    /// An objection: it is the right kind of event, with something wrong in it.
    pub(crate) fn other(&self, what: &str, part: &str) -> Objection {
        self.objection(format!("{what} is due here, and {part} differs"))
    }
}
