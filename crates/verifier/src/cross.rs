//! Payloads on an edge, and their delivery (D9–D14).

use std::fmt::Write as _;

use materia_contract::{
    DedupeBy, Delivery, DeliveryMode, DropReason, EnvelopeKind, Event, EventBody, HandoffSent,
    OutputSelector, Overflow, Parse, PayloadContent, PayloadStatus, Uuid,
};
use serde_json::Value;

use crate::owed::{Obligation, Outcome, Paid};
use crate::parts::Waiting;
use crate::shorten::is_preview;
use crate::state::{Caught, Verifier};
use crate::timers::micros;
use crate::trail::Trail;
use crate::wiring::Wiring;
use crate::{Checked, hold};

/// Accepted payloads that are remembered within a window, at the most.
const ACCEPTED_MAX: usize = 4_096;

impl Verifier {
    /// A node sends what its turn put out.
    pub(crate) fn sends(
        &mut self,
        chart: &Wiring,
        result: Outcome,
        way: usize,
        to: usize,
        event: &Event,
        data: &HandoffSent,
    ) -> Checked {
        hold!(self, self.here(chart, event)? == result.node, "another socket sends it");
        hold!(self, data.offered.is_none(), "a turn of the run put it out; nobody offers it");
        hold!(self, data.turn == result.turn, "it carries what another turn put out");
        self.is_own_id(data.payload_id)?;
        let kind = match chart.node(result.node).parse {
            Parse::Json => EnvelopeKind::Handoff,
            Parse::Text => EnvelopeKind::Message,
        };
        hold!(self, data.kind == kind, "its sender puts out another kind of payload");
        let failed = self.caught.as_ref().filter(|caught| Some(caught.turn) == result.turn);
        if let Some(caught) = failed {
            let told = data.mapped.as_deref().is_some_and(|mapped| tells(mapped, caught));
            hold!(self, self.redacted || told, "what leads on from a failure tells of another one");
        } else {
            let transform = chart.delivery(way).transform.as_ref();
            let maps = transform.is_some_and(|transform| !transform.map.is_empty());
            self.is_mapped(data, maps)?;
        }
        let sent = match (&data.mapped, data.turn) {
            (Some(mapped), _) => says(mapped),
            (None, Some(_)) => self.forwarded(chart.node(result.node).output_selector),
            (None, None) => String::new(),
        };
        hold!(
            self,
            self.redacted || is_preview(&data.preview, &sent),
            "its preview is not what was forwarded"
        );
        let trail = self.crossing.clone();
        self.crosses(chart, way, to, event, data, trail)
    }

    /// The text of the last output that a selector forwards, as shown to people (D45).
    fn forwarded(&self, selector: OutputSelector) -> String {
        let last = &self.last;
        let text = last.text.as_deref().unwrap_or_default();
        let artifact = |kind: &str| {
            let found = last.artifacts.iter().find(|(known, _)| known == kind);
            found.map_or_else(String::new, |(_, beginning)| beginning.clone())
        };
        match selector {
            OutputSelector::MessageFinal | OutputSelector::Composite => {
                let answer = last.json.as_deref().filter(|_| last.own_json);
                let told = answer.map(context_and_items).filter(|told| !told.trim().is_empty());
                told.unwrap_or_else(|| text.to_owned())
            }
            OutputSelector::StructuredOutput => {
                last.object.as_deref().unwrap_or_default().to_owned()
            }
            OutputSelector::ArtifactsDiff => artifact("diff"),
            OutputSelector::ArtifactsLogs => artifact("logs"),
        }
    }

    /// A command puts a payload on an edge.
    pub(crate) fn offered(&mut self, event: &Event, data: &HandoffSent) -> Checked {
        let chart = self.chart()?;
        let Some(offered) = &data.offered else {
            return Err(self.objection("no turn that is being routed sends that"));
        };
        let way = chart.ways.get_index_of(&data.edge_id);
        let Some(way) = way.filter(|way| chart.edge(*way).is_some()) else {
            return Err(self.objection(format!("the plan has no edge `{}`", data.edge_id)));
        };
        let Some(to) = chart.ways[way].to else {
            return Err(self.objection("what is offered to the end goes nowhere"));
        };
        hold!(self, self.here(&chart, event)? == chart.ways[way].from, "the edge leaves elsewhere");
        hold!(self, data.turn.is_none(), "what is offered is no output of a turn");
        self.decision.offered = (self.decision.offered.0 + 1, self.seq);
        match offered.payload_id {
            Some(id) => hold!(self, id == data.payload_id, "it was offered under another id"),
            None => self.is_own_id(data.payload_id)?,
        }
        let default = if offered.structured.is_some() {
            EnvelopeKind::Handoff
        } else {
            EnvelopeKind::Message
        };
        hold!(self, data.kind == offered.kind.unwrap_or(default), "it is of another kind");
        let sent = data.mapped.as_deref().map_or_else(|| says(&offered.content()), says);
        hold!(
            self,
            self.redacted || is_preview(&data.preview, &sent),
            "its preview is not what was offered"
        );
        let transform = chart.delivery(way).transform.as_ref();
        let maps = transform.is_some_and(|transform| !transform.map.is_empty());
        self.is_mapped(data, maps)?;
        self.crosses(&chart, way, to, event, data, Trail::default())
    }

    fn is_mapped(&self, data: &HandoffSent, maps: bool) -> Checked {
        hold!(
            self,
            data.mapped.is_some() == maps,
            "what it says is replaced where its edge does so"
        );
        Ok(())
    }

    fn crosses(
        &mut self,
        chart: &Wiring,
        way: usize,
        to: usize,
        event: &Event,
        data: &HandoffSent,
        trail: Trail,
    ) -> Checked {
        let delivery = chart.delivery(way);
        hold!(self, data.edge_id == *chart.way_id(way), "it crosses another edge");
        hold!(self, data.to == *chart.name(to), "the edge leads to `{}`", chart.name(to));
        let transform = delivery.transform.as_ref();
        let same = match delivery.dedupe_by {
            DedupeBy::None => data.sameness.is_none(),
            DedupeBy::PayloadId => data.sameness.as_deref() == Some(&*data.payload_id.to_string()),
            DedupeBy::ContentHash => data.sameness.is_some(),
        };
        hold!(self, same, "what makes it the same as another is not what its edge compares");
        let accepted = data.sameness.is_some();
        if let Some(key) = &data.sameness {
            self.remember(delivery, way, event, data.payload_id, key);
        }
        let (id, ts) = (data.payload_id, event.ts);
        let bound = chart.edge(way).and_then(|edge| edge.max_traversals);
        let trail = trail.up_to(chart.coming(to, Some(way)), bound);
        let payload = Waiting { id, ts, way: Some(way), tick: false, trail };
        let on = &mut self.ways[way];
        on.pending = on.pending.saturating_add(1);
        let filter = transform.is_some_and(|transform| transform.guard.is_some());
        self.owed.push(Obligation::Fate { way, to, payload, filter, accepted });
        Ok(())
    }

    fn remember(&mut self, delivery: &Delivery, way: usize, event: &Event, id: Uuid, key: &str) {
        let since = delivery.dedupe_window_ms.map(|window| event.ts.saturating_sub(micros(window)));
        let keep = if since.is_some() { ACCEPTED_MAX } else { 2 };
        let accepted = &mut self.ways[way].accepted;
        while accepted.len() >= keep
            || accepted.front().zip(since).is_some_and(|((_, at, _), since)| *at < since)
        {
            accepted.pop_front();
        }
        accepted.push_back((id, event.ts, key.to_owned()));
    }

    /// The accepted payload that the newest one equals.
    fn equals(&self, way: usize) -> Option<Uuid> {
        let accepted = &self.ways[way].accepted;
        let (_, _, newest) = accepted.back()?;
        let mut earlier = accepted.iter().rev().skip(1);
        earlier.find(|(_, _, key)| key == newest).map(|(id, _, _)| *id)
    }

    /// Checks that a payload is delivered, dropped or kept as the edge's rule says.
    #[expect(clippy::too_many_arguments, reason = "one debt, taken apart")]
    pub(crate) fn fate(
        &mut self,
        chart: &Wiring,
        way: usize,
        to: usize,
        payload: Waiting,
        filter: bool,
        accepted: bool,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let (id, delivery) = (payload.id, chart.delivery(way));
        if filter
            && let Some(event) = event
            && let EventBody::PayloadFiltered(data) = &event.body
        {
            self.is_of(chart, way, to, event, (data.payload_id, &data.edge_id), id)?;
            self.goes(way, true, id);
            return Ok(Paid::Yes);
        }
        if accepted && let Some(equal) = self.equals(way) {
            let what = format!("noting that it equals {equal}");
            let Some(event) = event else { return Err(self.due(&what, None)) };
            let EventBody::PayloadDeduplicated(data) = &event.body else {
                return Err(self.due(&what, Some(event)));
            };
            self.is_of(chart, way, to, event, (data.payload_id, &data.edge_id), id)?;
            hold!(self, data.of == equal, "the accepted payload that it equals is {equal}");
            self.goes(way, true, id);
            return Ok(Paid::Yes);
        }
        let most = delivery.max_buffered;
        match delivery.mode {
            DeliveryMode::DropIfBusy if self.nodes[to].in_flight > 0 => {
                self.drops(chart, way, to, id, DropReason::Busy, event)?;
                self.goes(way, true, id);
                Ok(Paid::Yes)
            }
            DeliveryMode::Queue | DeliveryMode::DropIfBusy => {
                if self.ways[way].pending <= most {
                    return self.attached(chart, to, payload, event);
                }
                let attached = &self.nodes[to].attached;
                let oldest = match delivery.overflow {
                    Overflow::DropNewest => None,
                    Overflow::DropOldest => attached.iter().position(|one| one.way == Some(way)),
                };
                // Of two with one id it is the newer that goes, whatever the rule.
                let oldest = oldest.filter(|place| attached[*place].id != id);
                let going = oldest.map_or(id, |place| attached[place].id);
                self.drops(chart, way, to, going, DropReason::Overflow, event)?;
                self.goes(way, oldest.is_none(), going);
                if let Some(place) = oldest {
                    self.nodes[to].attached.remove(place);
                    self.owed.push(Obligation::Fate {
                        way,
                        to,
                        payload,
                        filter: false,
                        accepted: false,
                    });
                }
                Ok(Paid::Yes)
            }
            DeliveryMode::Latest | DeliveryMode::Debounce => {
                self.keeps_newest(chart, way, to, payload, event)
            }
        }
    }

    /// A payload has left its way without being consumed.
    fn goes(&mut self, way: usize, newest: bool, id: Uuid) {
        let on = &mut self.ways[way];
        on.pending = on.pending.saturating_sub(1);
        if newest && on.accepted.back().is_some_and(|(last, _, _)| *last == id) {
            on.accepted.pop_back();
        }
    }

    fn is_of(
        &self,
        chart: &Wiring,
        way: usize,
        to: usize,
        event: &Event,
        found: (Uuid, &materia_contract::EdgeId),
        id: Uuid,
    ) -> Checked {
        hold!(self, found.0 == id, "that becomes of another payload: {id}");
        let right = *found.1 == *chart.way_id(way) && self.here(chart, event)? == to;
        hold!(self, right, "the payload is on another edge");
        Ok(())
    }

    fn drops(
        &self,
        chart: &Wiring,
        way: usize,
        to: usize,
        id: Uuid,
        reason: DropReason,
        event: Option<&Event>,
    ) -> Checked {
        let what = "the drop of a payload that finds no room";
        let Some(event) = event else { return Err(self.due(what, None)) };
        let EventBody::PayloadDropped(data) = &event.body else {
            return Err(self.due(what, Some(event)));
        };
        self.is_of(chart, way, to, event, (data.payload_id, &data.edge_id), id)?;
        hold!(self, data.reason == reason, "it is dropped for another reason");
        Ok(())
    }

    /// On `latest` and `debounce` edges the newest takes the place of the oldest that wait.
    fn keeps_newest(
        &mut self,
        chart: &Wiring,
        way: usize,
        to: usize,
        payload: Waiting,
        event: Option<&Event>,
    ) -> Checked<Paid> {
        let (delivery, on) = (chart.delivery(way), &self.ways[way]);
        let front = on.waiting.front().filter(|_| on.pending > delivery.max_buffered);
        if let Some(front) = front.map(|front| front.id) {
            let what = "the replacement of an older payload";
            let Some(event) = event else { return Err(self.due(what, None)) };
            let EventBody::PayloadSuperseded(data) = &event.body else {
                return Err(self.due(what, Some(event)));
            };
            self.is_of(chart, way, to, event, (data.payload_id, &data.edge_id), front)?;
            hold!(self, data.by == payload.id, "another payload took its place");
            self.ways[way].waiting.pop_front();
            self.goes(way, false, front);
            self.owed.push(Obligation::Fate { way, to, payload, filter: false, accepted: false });
            return Ok(Paid::Yes);
        }
        if delivery.mode == DeliveryMode::Debounce {
            let what = "the timer of a quiet period";
            let Some(event) = event else { return Err(self.due(what, None)) };
            self.ways[way].waiting.push_back(payload);
            self.looks_at(chart, to);
            return self.quiet(chart, way, event);
        }
        self.ways[way].waiting.push_back(payload);
        self.looks_at(chart, to);
        Ok(Paid::Void)
    }
}

/// Whether a payload says of a failure what is to be said (D61).
fn tells(content: &PayloadContent, caught: &Caught) -> bool {
    let PayloadContent { message, structured, artifacts, status } = content;
    let reason = Some(caught.code.word().to_owned());
    *message == Some(caught.message.clone())
        && structured.is_none()
        && artifacts.is_empty()
        && *status == Some(PayloadStatus { ok: false, reason })
}

/// The text of a content: its message, otherwise its value as JSON.
fn says(content: &PayloadContent) -> String {
    match (&content.message, &content.structured) {
        (Some(message), _) if !message.trim().is_empty() => message.clone(),
        (_, Some(value)) => value.to_string(),
        (_, None) => String::new(),
    }
}

/// The `context` of an answer and its work items, numbered.
fn context_and_items(answer: &Value) -> String {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut told = text(answer.get("context"));
    let items = answer.get("workItems").and_then(Value::as_array);
    for (place, item) in items.into_iter().flatten().enumerate() {
        let between = match place {
            0 if told.trim().is_empty() => "",
            0 => "\n\n",
            _ => "\n",
        };
        let (title, context) = (text(item.get("title")), text(item.get("context")));
        let number = place + 1;
        let _ = write!(told, "{between}{number}. {title}: {context}");
    }
    told
}
