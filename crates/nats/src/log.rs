//! The fold over the messages of a run and its inbox, in the order of the stream.

use std::collections::HashMap;

use materia_contract::{Answer, CastStatus, CommandId, Receipt};
use materia_engine::refusal_of_ended;

use crate::message::{Kind, LastEvent, Meta};

/// A command that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Its message.
    pub(crate) sequence: u64,
    pub(crate) id: CommandId,
    pub(crate) body: Option<String>,
}

/// How a run stands, as far as its messages were read.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// The last message that was read, of the run or of its inbox.
    pub(crate) upto: u64,
    /// The last message of the run that is known. Those that were written here are known before they are read.
    pub(crate) run_last: u64,
    /// The last mark: the newest lease.
    pub(crate) epoch: u64,
    pub(crate) last: Option<LastEvent>,
    pub(crate) status: Option<CastStatus>,
    pub(crate) verdict: Option<bool>,
    /// The message with which the run began.
    pub(crate) created: Option<u64>,
    /// Where the run went on, if it was copied to another journal.
    pub(crate) moved: Option<String>,
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) receipts: HashMap<CommandId, Receipt>,
    /// Messages of the run that are none of ours.
    pub(crate) foreign: Vec<u64>,
    /// The status behind the last message that was read.
    status_read: Option<CastStatus>,
}

impl Log {
    /// The place of the last event; 0 before the first.
    pub(crate) fn place(&self) -> u64 {
        self.last.map_or(0, |last| last.seq)
    }

    /// The next message in the order of the stream; `meta` is `None` where it is none of ours.
    pub(crate) fn take(&mut self, sequence: u64, of_run: bool, meta: Option<&Meta>) {
        if sequence <= self.upto {
            return;
        }
        self.upto = sequence;
        let meta = meta.filter(|meta| (meta.kind == Kind::Command) != of_run);
        if of_run {
            self.written(sequence, meta);
        }
        let Some(meta) = meta else { return };
        match meta.kind {
            Kind::Command => self.posted(sequence, meta),
            Kind::Withdrawn => self.waiting.retain(|one| Some(&one.id) != meta.command.as_ref()),
            Kind::Decision | Kind::Mark | Kind::Moved => {}
        }
        if let Some(receipt) = &meta.receipt {
            self.waiting.retain(|one| one.id != receipt.command);
        }
        if of_run && !self.foreign.contains(&sequence) {
            self.status_read = meta.status.or(self.status_read);
            if meta.ends {
                self.refuse_all();
            }
        }
    }

    /// A message of the run that was written here, or is read for the first time.
    pub(crate) fn written(&mut self, sequence: u64, meta: Option<&Meta>) {
        if sequence <= self.run_last {
            return;
        }
        self.run_last = sequence;
        let Some(meta) = meta.filter(|meta| self.fits(meta)) else {
            self.foreign.push(sequence);
            return;
        };
        if meta.kind == Kind::Mark {
            self.epoch = sequence;
        }
        if meta.first == 1 {
            self.created = Some(sequence);
        }
        if meta.first > 0 {
            self.last = meta.last;
        }
        if meta.kind == Kind::Moved {
            self.moved.clone_from(&meta.body);
        }
        self.status = meta.status.or(self.status);
        self.verdict = meta.verdict.or(self.verdict);
        if let Some(receipt) = &meta.receipt {
            self.receipts.insert(receipt.command.clone(), receipt.clone());
        }
    }

    /// Whether a message goes on where the run is.
    fn fits(&self, meta: &Meta) -> bool {
        meta.first == 0 || meta.first == self.place() + 1
    }

    fn posted(&mut self, sequence: u64, meta: &Meta) {
        let Some(id) = meta.command.clone() else { return };
        let known = self.waiting.iter().any(|one| one.id == id) || self.receipts.contains_key(&id);
        if known {
            return;
        }
        let one = Waiting { sequence, id, body: meta.body.clone() };
        let refusal = self.status_read.and_then(refusal_of_ended);
        match refusal.filter(|_| !meta.revives) {
            Some(reason) => self.refuse(one, reason),
            None => self.waiting.push(one),
        }
    }

    /// A run that has ended refuses what waits.
    fn refuse_all(&mut self) {
        let Some(reason) = self.status_read.and_then(refusal_of_ended) else { return };
        for one in std::mem::take(&mut self.waiting) {
            self.refuse(one, reason.clone());
        }
    }

    fn refuse(&mut self, one: Waiting, reason: String) {
        let Waiting { id, body, .. } = one;
        let receipt = Receipt { command: id.clone(), body, answer: Answer::Refused { reason } };
        self.receipts.entry(id).or_insert(receipt);
    }
}

#[cfg(test)]
mod tests {
    use materia_contract::ChainHash;

    use super::*;

    fn decision(first: u64, status: Option<CastStatus>) -> Meta {
        let last = Some(LastEvent { seq: first, ts: 0, hash: ChainHash([0; 32]) });
        let ends = status.is_some();
        Meta { first, last, status, ends, ..Meta::new(Kind::Decision, 0, "d".into()) }
    }

    fn command(id: &str) -> Meta {
        let command = CommandId::parse(id).ok();
        Meta { command, revives: id == "revive", ..Meta::new(Kind::Command, 0, id.into()) }
    }

    #[test]
    fn messages_of_others_are_skipped() {
        let mut log = Log::default();
        log.take(1, true, Some(&decision(1, None)));
        log.take(2, true, None);
        log.take(3, true, Some(&decision(5, None)));
        log.take(4, true, Some(&command("a")));
        log.take(5, false, Some(&decision(2, None)));
        log.take(6, true, Some(&decision(2, None)));
        assert_eq!((log.place(), log.run_last, log.created), (2, 6, Some(1)));
        assert_eq!(log.foreign, [2, 3, 4]);
        assert!(log.waiting.is_empty());
    }

    #[test]
    fn the_order_of_the_stream_says_what_an_end_refuses() {
        let mut log = Log::default();
        let ended = decision(1, Some(CastStatus::Aborted));
        log.take(1, false, Some(&command("before")));
        // The end was written here, and is known before the command in front of it is read.
        log.written(3, Some(&ended));
        log.take(2, false, Some(&command("between")));
        assert_eq!(log.waiting.len(), 2);
        log.take(3, true, Some(&ended));
        log.take(4, false, Some(&command("behind")));
        log.take(5, false, Some(&command("revive")));
        let waiting: Vec<&str> = log.waiting.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(waiting, ["revive"]);
        assert_eq!(log.receipts.len(), 3);
    }
}
