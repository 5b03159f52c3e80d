//! Facts from the events that an explanation needs: one pass, the newest of each kind.

use std::collections::BTreeMap;

use materia_contract::{
    Cause, DropReason, EdgeId, Event, EventBody, Mode, NodeId, RouteSelected, Timer, Uuid,
};

/// The newest facts about turns, routes, payloads and modes.
#[derive(Debug, Default, Clone)]
pub(super) struct Trail {
    /// The newest turn of each node.
    pub(super) turns: BTreeMap<NodeId, LastTurn>,
    pub(super) routes: BTreeMap<NodeId, Chosen>,
    /// Loops that were left, with the event and the way they were left by.
    pub(super) left: BTreeMap<String, (u64, String)>,
    /// Where each payload came from.
    pub(super) sent: BTreeMap<Uuid, Sent>,
    /// The newest payload of each edge, and its state.
    pub(super) edges: BTreeMap<EdgeId, Crossing>,
    pub(super) marks: BTreeMap<NodeId, Marks>,
    /// The newest event about the run as a whole, and its word.
    pub(super) status: Option<(u64, &'static str)>,
    /// The event that set the pace, and why.
    pub(super) pace: Option<(u64, String)>,
    /// The newest event about the run's budget.
    pub(super) budget: Option<u64>,
}

/// A choice of a way, and the event that records it.
pub(super) type Chosen = (u64, RouteSelected);

/// Where a payload came from.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    /// The event that sent it.
    pub(super) seq: u64,
    /// The event that attached it to its node.
    pub(super) delivered: Option<u64>,
    pub(super) by: Sender,
}

/// Who sent a payload.
#[derive(Debug, Clone)]
pub(super) enum Sender {
    /// A node over an edge, with the choice that took it.
    Node(EdgeId, NodeId, Option<Box<Chosen>>),
    /// A person.
    Person,
    /// The interval of a scheduled node.
    Timer,
}

/// State of the newest payload that crossed an edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crossing {
    payload: Uuid,
    pub(super) seq: u64,
    pub(super) fate: Fate,
    /// The newest payload of the edge that no turn will consume: its event, and why.
    pub(super) lost: Option<(u64, Fate)>,
}

/// States of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Sent,
    Delivered,
    Consumed,
    Superseded,
    Dropped(DropReason),
    /// A person skipped the item that it waited for.
    Skipped,
    Deduplicated,
    Filtered,
}

impl Fate {
    /// The state in words.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Sent => "is on its way",
            Self::Delivered => "waits",
            Self::Consumed => "was taken by a turn",
            Self::Superseded => "was superseded by a newer one",
            Self::Dropped(DropReason::Overflow) => "was dropped: the edge was full",
            Self::Dropped(DropReason::Busy) => "was dropped: the socket was busy",
            Self::Skipped => "went with an item that a person skipped",
            Self::Deduplicated => "was left out: it equals one that was accepted before",
            Self::Filtered => "was left out by the transform of the edge",
        }
    }
}

/// The newest turn of a node.
#[derive(Debug, Clone)]
pub(super) struct LastTurn {
    pub(super) seq: u64,
    pub(super) visit: u32,
    pub(super) attempt: u32,
    pub(super) cause: Cause,
    pub(super) consumed: Vec<Uuid>,
    pub(super) end: Option<(u64, &'static str)>,
}

/// Events about a node that its conditions look back to.
#[derive(Debug, Default, Clone)]
pub(super) struct Marks {
    /// Its first completed turn.
    pub(super) completed: Option<u64>,
    /// The newest word about consent.
    pub(super) approval: Option<(u64, &'static str)>,
    pub(super) blocked: Option<u64>,
    pub(super) budget: Option<u64>,
    pub(super) requested: Option<u64>,
    /// The newest move of its `foreach`.
    pub(super) cursor: Option<u64>,
    /// The newest timer that was set for it, or that fired.
    pub(super) timer: Option<u64>,
}

impl Trail {
    /// Takes one event in.
    pub(super) fn note(&mut self, event: &Event) {
        self.note_run(event);
        self.note_turn(event);
        self.note_payload(event);
        self.note_marks(event);
    }

    fn note_run(&mut self, event: &Event) {
        let (seq, kind) = (event.seq, event.body.type_name());
        if let Some(word) = kind.strip_prefix("run.") {
            self.status = Some((seq, word));
        }
        match (&event.body, &event.node) {
            (EventBody::RunCreated(_), _) => {
                self.pace = Some((seq, "as it began".to_owned()));
            }
            (EventBody::ModeChanged(data), _) => {
                if let Mode::Pace(_) = data.value {
                    self.pace = Some((seq, data.reason.clone()));
                }
            }
            (EventBody::BudgetWarned(_) | EventBody::StorageMeasured(_), _)
            | (EventBody::BudgetChanged(_), None) => {
                self.budget = Some(seq);
            }
            (EventBody::LoopExhausted(data), _) => {
                self.left.insert(data.region.clone(), (seq, data.to.clone()));
            }
            _ => {}
        }
    }

    fn note_turn(&mut self, event: &Event) {
        match (&event.body, &event.node) {
            (EventBody::TurnStarted(data), Some(node)) => {
                let turn = LastTurn {
                    seq: event.seq,
                    visit: data.visit,
                    attempt: data.attempt,
                    cause: data.cause.clone(),
                    consumed: data.consumed.clone(),
                    end: None,
                };
                self.turns.insert(node.clone(), turn);
            }
            (EventBody::TurnCompleted(data), Some(node)) => self.ended(node, data.turn, event),
            (EventBody::TurnFailed(data), Some(node)) => self.ended(node, data.turn, event),
            (EventBody::TurnInterrupted(data), Some(node)) => self.ended(node, data.turn, event),
            (EventBody::RouteSelected(data), Some(node)) => {
                self.routes.insert(node.clone(), (event.seq, data.clone()));
            }
            _ => {}
        }
    }

    fn ended(&mut self, node: &NodeId, turn: u64, event: &Event) {
        let word = event.body.type_name().trim_start_matches("turn.");
        if let Some(last) = self.turns.get_mut(node).filter(|last| last.seq == turn) {
            last.end = Some((event.seq, word));
        }
    }

    fn note_payload(&mut self, event: &Event) {
        let seq = event.seq;
        match (&event.body, &event.node) {
            (EventBody::HandoffSent(data), Some(from)) => {
                // The newest choice of the sender is the one that sent it.
                let chosen = self.routes.get(from).filter(|_| data.offered.is_none()).cloned();
                let by = Sender::Node(data.edge_id.clone(), from.clone(), chosen.map(Box::new));
                self.sent.insert(data.payload_id, Sent { seq, delivered: None, by });
                let lost = self.edges.get(&data.edge_id).and_then(|before| before.lost);
                let crossing = Crossing { payload: data.payload_id, seq, fate: Fate::Sent, lost };
                self.edges.insert(data.edge_id.clone(), crossing);
            }
            (EventBody::TimerFired(data), _) => {
                if let (Timer::Tick, Some(id)) = (&data.timer, data.payload_id) {
                    self.sent.insert(id, Sent { seq, delivered: None, by: Sender::Timer });
                }
            }
            (EventBody::PayloadDelivered(data), _) => {
                let person = || Sent { seq, delivered: None, by: Sender::Person };
                let sent = self.sent.entry(data.payload_id).or_insert_with(person);
                sent.delivered = Some(seq);
                if let Some(edge) = &data.edge_id {
                    self.fell(edge, data.payload_id, seq, Fate::Delivered);
                }
            }
            (EventBody::PayloadConsumed(data), _) => {
                let sender = self.sent.get(&data.payload_id).map(|sent| sent.by.clone());
                if let Some(Sender::Node(edge, _, _)) = sender {
                    self.fell(&edge, data.payload_id, seq, Fate::Consumed);
                }
            }
            (EventBody::PayloadSuperseded(data), _) => {
                self.fell(&data.edge_id, data.payload_id, seq, Fate::Superseded);
            }
            (EventBody::PayloadDropped(data), _) => {
                let fate = Fate::Dropped(data.reason);
                self.fell(&data.edge_id, data.payload_id, seq, fate);
            }
            (EventBody::ItemSkipped(data), _) => {
                for id in &data.dropped {
                    let sender = self.sent.get(id).map(|sent| sent.by.clone());
                    if let Some(Sender::Node(edge, _, _)) = sender {
                        self.fell(&edge, *id, seq, Fate::Skipped);
                    }
                }
            }
            (EventBody::PayloadDeduplicated(data), _) => {
                self.fell(&data.edge_id, data.payload_id, seq, Fate::Deduplicated);
            }
            (EventBody::PayloadFiltered(data), _) => {
                self.fell(&data.edge_id, data.payload_id, seq, Fate::Filtered);
            }
            _ => {}
        }
    }

    /// Something became of a payload of an edge.
    fn fell(&mut self, edge: &EdgeId, payload: Uuid, seq: u64, fate: Fate) {
        let Some(crossing) = self.edges.get_mut(edge) else { return };
        if crossing.payload == payload {
            (crossing.seq, crossing.fate) = (seq, fate);
        }
        match fate {
            Fate::Sent | Fate::Delivered | Fate::Consumed => {}
            Fate::Superseded
            | Fate::Dropped(_)
            | Fate::Skipped
            | Fate::Deduplicated
            | Fate::Filtered => {
                crossing.lost = Some((seq, fate));
            }
        }
    }

    fn note_marks(&mut self, event: &Event) {
        let Some(node) = &event.node else { return };
        let seq = event.seq;
        let change: fn(&mut Marks, u64) = match (&event.body, ()) {
            (EventBody::TurnCompleted(_), ()) => |marks, seq| {
                marks.completed = marks.completed.or(Some(seq));
            },
            (EventBody::ApprovalRequested(_), ()) => {
                |marks, seq| marks.approval = Some((seq, "asked"))
            }
            (EventBody::ApprovalGiven(_), ()) => |marks, seq| marks.approval = Some((seq, "given")),
            (EventBody::ApprovalDenied(_), ()) => {
                |marks, seq| marks.approval = Some((seq, "refused"))
            }
            (EventBody::NodeBlocked(_), ()) => |marks, seq| marks.blocked = Some(seq),
            (EventBody::BudgetChanged(_), ()) => |marks, seq| {
                (marks.budget, marks.blocked) = (Some(seq), None);
            },
            (EventBody::TurnRequested(_), ()) => |marks, seq| marks.requested = Some(seq),
            (EventBody::CursorAdvanced(data), ()) if data.region.is_none() => {
                |marks, seq| marks.cursor = Some(seq)
            }
            (EventBody::TimerSet(_) | EventBody::TimerFired(_), ()) => {
                |marks, seq| marks.timer = Some(seq)
            }
            _ => return,
        };
        change(self.marks.entry(node.clone()).or_default(), seq);
    }

    /// The facts about a node; most nodes have none.
    pub(super) fn marks(&self, node: &NodeId) -> Marks {
        self.marks.get(node).cloned().unwrap_or_default()
    }
}
