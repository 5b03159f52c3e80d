//! Every payload ends exactly once, and by the rule of its edge (D9–D14).

use materia_contract::time::Micros;
use materia_contract::{
    Consume, DedupeBy, Delivery, DeliveryMode, DropReason, EdgeId, Event, EventBody, NodeId,
    Overflow, Timer, Trigger, Uuid,
};

use super::{Ledger, here, timer_name};
use crate::sometimes::Sometimes;

/// One time that a payload came to be. An offered one may come again under the same id.
#[derive(Debug, Clone)]
pub(crate) struct Occurrence {
    pub(crate) edge: Option<EdgeId>,
    pub(crate) to: NodeId,
    pub(crate) ts: Micros,
    pub(crate) stage: Stage,
    tick: bool,
    /// Whether its node had a turn in flight when it came.
    to_busy: bool,
}

/// How far a payload has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Sent,
    Delivered,
    Ended,
}

impl Ledger {
    pub(super) fn arises(&mut self, id: Uuid, edge: Option<EdgeId>, to: &NodeId, ts: Micros) {
        let to_busy = self.in_flight(to) > 0;
        let one = Occurrence { edge, to: to.clone(), ts, stage: Stage::Sent, tick: false, to_busy };
        self.payloads.entry(id).or_default().push(one);
    }

    pub(super) fn payload_event(&mut self, event: &Event, seen: &mut Sometimes) {
        match &event.body {
            EventBody::HandoffSent(data) => {
                let again = self.payloads.contains_key(&data.payload_id);
                assert!(!again || data.offered.is_some(), "only an offered payload comes twice");
                if again {
                    seen.note("payload id offered again");
                }
                self.arises(data.payload_id, Some(data.edge_id.clone()), &data.to, event.ts);
                let accepted = &mut self.edges.entry(data.edge_id.clone()).or_default().accepted;
                accepted.push((data.payload_id, event.ts));
            }
            EventBody::MessageReceived(data) => {
                self.arises(data.payload_id, None, here(event), event.ts);
            }
            EventBody::TurnRequested(data) => {
                if let Some(id) = data.payload_id {
                    self.arises(id, None, here(event), event.ts);
                }
            }
            EventBody::TimerFired(data) => {
                if let Some(id) = data.payload_id {
                    assert_eq!(data.timer, Timer::Tick, "only a tick brings a payload");
                    self.arises(id, None, here(event), event.ts);
                    self.payloads.get_mut(&id).unwrap().last_mut().unwrap().tick = true;
                }
            }
            EventBody::PayloadDelivered(data) => {
                let node = here(event).clone();
                if let Some(edge) = &data.edge_id {
                    self.may_attach(edge, data.payload_id);
                }
                self.moves(
                    data.payload_id,
                    data.edge_id.as_ref(),
                    &node,
                    Stage::Sent,
                    Stage::Delivered,
                );
            }
            EventBody::PayloadConsumed(data) => {
                let node = here(event).clone();
                self.consumed(data.payload_id, &node);
            }
            EventBody::PayloadSuperseded(data) => {
                let mode = self.delivery(&data.edge_id).mode;
                let replaces = matches!(mode, DeliveryMode::Latest | DeliveryMode::Debounce);
                assert!(replaces, "nothing is superseded on a {mode:?} edge");
                self.ends(data.payload_id, &data.edge_id, &[Stage::Sent]);
                let by = self.waiting_on(&data.edge_id).into_iter().any(|(id, _)| id == data.by);
                assert!(by, "what supersedes it waits on the same edge");
                seen.note(&format!("superseded on {mode:?}"));
            }
            EventBody::PayloadDropped(data) => {
                self.dropped(data.payload_id, &data.edge_id, data.reason, seen);
            }
            EventBody::PayloadDeduplicated(data) => {
                self.deduplicated(data.payload_id, &data.edge_id, data.of, event.ts, seen);
            }
            EventBody::PayloadFiltered(data) => {
                let transform = self.delivery(&data.edge_id).transform;
                assert!(transform.is_some_and(|one| one.guard.is_some()), "something filters it");
                self.ends(data.payload_id, &data.edge_id, &[Stage::Sent]);
                self.unaccept(data.payload_id, &data.edge_id);
            }
            _ => {}
        }
    }

    /// The rule by which payloads wait on an edge.
    fn delivery(&self, edge: &EdgeId) -> Delivery {
        let mut edges = self.plan.nodes.values().flat_map(|node| &node.edges);
        edges.find(|one| one.id == *edge).map(|one| one.delivery.clone()).unwrap_or_default()
    }

    /// Payloads on an edge that have not come to an end, oldest first.
    fn waiting_on(&self, edge: &EdgeId) -> Vec<(Uuid, &Occurrence)> {
        let mut waiting: Vec<(Uuid, &Occurrence)> = self
            .payloads
            .iter()
            .flat_map(|(id, occurrences)| occurrences.iter().map(|one| (*id, one)))
            .filter(|(_, one)| one.stage != Stage::Ended && one.edge.as_ref() == Some(edge))
            .collect();
        waiting.sort_by_key(|(id, one)| (one.ts, *id));
        waiting
    }

    fn may_attach(&self, edge: &EdgeId, id: Uuid) {
        let delivery = self.delivery(edge);
        if delivery.mode == DeliveryMode::Debounce {
            let timer = timer_name(&Timer::Debounce { edge_id: edge.clone() });
            let running = self.timers.keys().any(|(_, name)| *name == timer);
            assert!(!running, "{id} was attached before its quiet period was over");
        }
        if delivery.mode == DeliveryMode::DropIfBusy {
            let one = self.payloads[&id].iter().rfind(|one| one.stage == Stage::Sent);
            assert!(!one.unwrap().to_busy, "{id} went to a busy node");
        }
    }

    fn moves(&mut self, id: Uuid, edge: Option<&EdgeId>, to: &NodeId, from: Stage, stage: Stage) {
        let occurrences = self.payloads.get_mut(&id).expect("a payload comes to be first");
        let found = occurrences.iter_mut().find(|one| {
            one.stage == from && one.to == *to && (edge.is_none() || one.edge.as_ref() == edge)
        });
        let Some(found) = found else {
            panic!("{id} cannot come to {stage:?} at {to}: {:?}", self.payloads[&id])
        };
        found.stage = stage;
    }

    fn consumed(&mut self, id: Uuid, node: &NodeId) {
        self.moves(id, None, node, Stage::Delivered, Stage::Ended);
        // A `foreach` takes its inputs when it is entered, and runs when there is room, or never.
        if self.plan_of(node).foreach.is_none() {
            self.taken.push(id);
        }
    }

    fn ends(&mut self, id: Uuid, edge: &EdgeId, from: &[Stage]) {
        let occurrences = self.payloads.get_mut(&id).expect("a payload comes to be first");
        // The newest is the one that finds no room; an older one goes from the front.
        let found = occurrences
            .iter_mut()
            .find(|one| from.contains(&one.stage) && one.edge.as_ref() == Some(edge));
        let Some(found) = found else {
            panic!("{id} cannot end on {edge}: {:?}", self.payloads[&id])
        };
        found.stage = Stage::Ended;
    }

    fn unaccept(&mut self, id: Uuid, edge: &EdgeId) {
        let accepted = &mut self.edges.get_mut(edge).expect("it was sent").accepted;
        if accepted.last().is_some_and(|(last, _)| *last == id) {
            accepted.pop();
        }
    }

    fn dropped(&mut self, id: Uuid, edge: &EdgeId, reason: DropReason, seen: &mut Sometimes) {
        let delivery = self.delivery(edge);
        seen.note(&format!("dropped {reason:?} on {:?}", delivery.mode));
        match reason {
            DropReason::Busy => {
                assert_eq!(delivery.mode, DeliveryMode::DropIfBusy);
                let one = self.payloads[&id].last().expect("it was sent");
                assert!(one.to_busy, "{id} was dropped as if its node were busy");
                self.ends(id, edge, &[Stage::Sent]);
                self.unaccept(id, edge);
            }
            DropReason::Overflow => {
                let waits = matches!(delivery.mode, DeliveryMode::Queue | DeliveryMode::DropIfBusy);
                assert!(waits, "{:?} does not overflow", delivery.mode);
                let waiting = self.waiting_on(edge);
                assert!(waiting.len() > delivery.max_buffered as usize, "there was room for {id}");
                let (oldest, newest) = (waiting[0].0, waiting[waiting.len() - 1].0);
                let expected = match delivery.overflow {
                    Overflow::DropNewest => newest,
                    Overflow::DropOldest => oldest,
                };
                assert_eq!(id, expected, "{:?}", delivery.overflow);
                seen.note(&format!("overflow {:?}", delivery.overflow));
                // Of two with one id it is the newer that goes, whatever the rule.
                let newest = id == newest;
                let stage = if newest { Stage::Sent } else { Stage::Delivered };
                self.ends(id, edge, &[stage]);
                if newest {
                    self.unaccept(id, edge);
                }
            }
        }
    }

    fn deduplicated(
        &mut self,
        id: Uuid,
        edge: &EdgeId,
        of: Uuid,
        ts: Micros,
        seen: &mut Sometimes,
    ) {
        let delivery = self.delivery(edge);
        assert_ne!(delivery.dedupe_by, DedupeBy::None, "nobody asked for that");
        if delivery.dedupe_by == DedupeBy::PayloadId {
            assert_eq!(id, of, "ids are what is compared");
        }
        self.ends(id, edge, &[Stage::Sent]);
        self.unaccept(id, edge);
        let accepted = &self.edges[edge].accepted;
        match delivery.dedupe_window_ms {
            None => assert_eq!(accepted.last().map(|(last, _)| *last), Some(of), "the last one"),
            Some(window) => {
                let since = ts - i64::try_from(window).unwrap() * 1_000 - 1_000;
                let found = accepted.iter().any(|(one, at)| *one == of && *at >= since);
                assert!(found, "within the window");
                seen.note("deduplicated within a window");
            }
        }
        seen.note(&format!("deduplicated by {:?}", delivery.dedupe_by));
    }

    /// No edge holds more than it may (D10).
    pub(super) fn edges_keep_their_bounds(&self) {
        for edge in self.edges.keys() {
            let (waiting, delivery) = (self.waiting_on(edge), self.delivery(edge));
            assert!(
                waiting.len() <= delivery.max_buffered as usize,
                "{edge} holds {} payloads of {}: {waiting:?}",
                waiting.len(),
                delivery.max_buffered
            );
            let attaches_late =
                matches!(delivery.mode, DeliveryMode::Latest | DeliveryMode::Debounce);
            for (id, one) in waiting {
                let expected = if attaches_late { Stage::Sent } else { Stage::Delivered };
                // A failed run may have stopped between attaching and taking.
                let failed = self.life == super::Life::Failed;
                assert!(one.stage == expected || failed, "{id} on {edge}: {one:?}");
            }
        }
    }

    /// Payloads that a turn of a node could take now, in the order in which it would (X22).
    pub(super) fn eligible(&self, node: &NodeId) -> Vec<Uuid> {
        let mut found: Vec<(Micros, Uuid)> = Vec::new();
        for (id, occurrences) in &self.payloads {
            for one in occurrences.iter().filter(|one| one.to == *node) {
                let quiet = one.edge.as_ref().is_some_and(|edge| {
                    let timer = timer_name(&Timer::Debounce { edge_id: edge.clone() });
                    self.timers.keys().any(|(_, name)| *name == timer)
                });
                if one.stage != Stage::Ended && !quiet {
                    found.push((one.ts, *id));
                }
            }
        }
        found.sort_unstable();
        found.into_iter().map(|(_, id)| id).collect()
    }

    /// Whether a turn of a node would take just these now.
    pub(super) fn would_take(&self, node: &NodeId, payloads: &[Uuid]) -> bool {
        let all = self.eligible(node);
        if self.plan_of(node).trigger == Trigger::Scheduled && self.ticks_owed(node) == 0 {
            return false;
        }
        match self.plan_of(node).consume {
            Consume::All => !payloads.is_empty() && payloads == all,
            Consume::One => {
                let ticks = payloads.iter().filter(|id| self.is_tick(**id)).count();
                let of_them = payloads.iter().all(|id| all.contains(id));
                of_them && !payloads.is_empty() && payloads.len() - ticks <= 1
            }
        }
    }

    /// Whether a payload is a tick.
    pub(super) fn is_tick(&self, id: Uuid) -> bool {
        self.payloads[&id].iter().any(|one| one.tick)
    }

    /// How many ticks a node still has to take.
    pub(super) fn ticks_owed(&self, node: &NodeId) -> usize {
        let all = self.payloads.values().flatten();
        all.filter(|one| one.tick && one.to == *node && one.stage != Stage::Ended).count()
    }

    /// When a payload that is about to be consumed came to be.
    pub(super) fn came_at(&self, id: Uuid) -> Micros {
        self.payloads[&id][0].ts
    }
}
