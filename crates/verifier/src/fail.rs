//! Edges to `fail`: the run fails, and its turn can be started again (D65).

use materia_contract::{ErrorCode, Event, EventBody};
use serde_json::Value;

use crate::owed::{Obligation, Outcome, Paid};
use crate::parts::{ItemId, ListId};
use crate::shorten::is_reason_of;
use crate::state::{Held, Verifier, Why};
use crate::wiring::Wiring;
use crate::{Checked, hold};

impl Verifier {
    /// The turn that led there is held, as one that failed is.
    pub(crate) fn leads_to_fail(&mut self, result: Outcome) {
        let done = self.nodes[result.node].done.take();
        if let Some((started, turn)) = done.filter(|(started, _)| Some(*started) == result.turn) {
            self.holds(Held { started, turn, why: Why::Failed, released: false });
        }
        self.owed.push(Obligation::GivesUp { result });
    }

    /// The run fails; its message is what the socket said.
    pub(crate) fn gives_up(
        &mut self,
        chart: &Wiring,
        result: Outcome,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        if let Some(EventBody::RunFailed(data)) = event.map(|event| &event.body) {
            let said = self.said_by(result);
            let caught = self.caught.as_ref().is_some_and(|it| Some(it.turn) == result.turn);
            let by_exit_code = !caught && chart.node(result.node).verdict.is_some();
            let right = said.trim().is_empty() || is_reason_of(&data.message, &said, by_exit_code);
            hold!(self, self.redacted || right, "the socket said something else");
        }
        let paid = self.failing(chart, ErrorCode::GraphFailed, result.node, None, event)?;
        // A turn was interrupted, and the failure is still to come.
        if let Some(last @ Obligation::Failing { code: ErrorCode::GraphFailed, .. }) =
            self.owed.last_mut()
        {
            *last = Obligation::GivesUp { result };
        }
        Ok(paid)
    }

    fn said_by(&self, result: Outcome) -> String {
        let Some(turn) = result.turn else { return String::new() };
        if let Some(caught) = self.caught.as_ref().filter(|caught| caught.turn == turn) {
            return caught.message.clone();
        }
        let text = self.last.text.as_deref().unwrap_or_default();
        let own = self.last.json.as_deref().filter(|_| self.last.own_json).cloned();
        let object = own.or_else(|| serde_json::from_str::<Value>(text.trim()).ok());
        let context = object.as_ref().and_then(|it| it.get("context")).and_then(Value::as_str);
        context.filter(|context| !context.trim().is_empty()).unwrap_or(text).to_owned()
    }

    /// A run goes on that a way to `fail` ended: the loop around the turn stands at its item again.
    pub(crate) fn goes_back(&mut self) {
        if !std::mem::take(&mut self.gave_up) {
            return;
        }
        for held in self.held.iter().filter(|held| held.why == Why::Failed) {
            if let Some(ItemId { list: ListId::Loop(region), entry, index }) = held.turn.about
                && self.loops[region].entry == entry
            {
                self.loops[region].index = index;
            }
        }
    }
}
