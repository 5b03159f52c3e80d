//! The fold over the messages of a run and its inbox, in the order of the stream.

use std::collections::{HashMap, VecDeque};

use materia_contract::{Answer, CastStatus, CommandId, Receipt};
use materia_engine::refusal_of_ended;

use crate::message::{Home, Kind, LastEvent, Meta};

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
    /// All messages up to this one are known, of the run and of its inbox.
    pub(crate) upto: u64,
    /// The last message of the run that is known: up to it those of the run are, also behind `upto`.
    pub(crate) run_last: u64,
    /// The last mark: the newest lease.
    pub(crate) epoch: u64,
    pub(crate) last: Option<LastEvent>,
    pub(crate) status: Option<CastStatus>,
    pub(crate) verdict: Option<bool>,
    /// The message with which the run began.
    pub(crate) created: Option<u64>,
    /// Where its project is.
    pub(crate) home: Option<Home>,
    /// Where the run went on, if it was copied to another journal.
    pub(crate) moved: Option<String>,
    pub(crate) waiting: Vec<Waiting>,
    pub(crate) receipts: HashMap<CommandId, Receipt>,
    /// Messages of the run that are none of ours.
    pub(crate) foreign: Vec<u64>,
    /// The status of the run at `upto`.
    status_read: Option<CastStatus>,
    /// Messages that were written here, behind `upto`, as far as they say something of commands in the inbox.
    own: VecDeque<(u64, Meta)>,
}

impl Log {
    /// The place of the last event; 0 before the first.
    pub(crate) fn place(&self) -> u64 {
        self.last.map_or(0, |last| last.seq)
    }

    /// The next message in the order of the stream that was not written here; `meta` is `None` where it is none of ours.
    pub(crate) fn take(&mut self, sequence: u64, of_run: bool, meta: Option<&Meta>) {
        if sequence <= self.upto {
            return;
        }
        self.reach(sequence);
        let meta = meta.filter(|meta| (meta.kind == Kind::Command) != of_run);
        let fits = !of_run || self.follow(sequence, meta);
        if let Some(meta) = meta.filter(|_| fits) {
            self.fold(sequence, of_run, meta);
        }
    }

    /// A message of the run that was written here, right behind the last one of the run.
    pub(crate) fn wrote(&mut self, sequence: u64, meta: &Meta) {
        self.follow(sequence, Some(meta));
        let before = self.own.back().map_or(self.status_read, |(_, meta)| meta.status);
        if meta.status != before || meta.ends || meta.receipt.is_some() || meta.command.is_some() {
            self.own.push_back((sequence, meta.clone()));
        }
    }

    /// All messages of the inbox up to the last one of the run that is known were taken.
    pub(crate) fn reach_run(&mut self) {
        self.reach(self.run_last);
    }

    /// Goes to a place in the stream, past the messages that were written here.
    fn reach(&mut self, to: u64) {
        while let Some((sequence, meta)) = self.own.pop_front_if(|(sequence, _)| *sequence <= to) {
            self.fold(sequence, true, &meta);
        }
        self.upto = self.upto.max(to);
    }

    /// Applies a message to the commands in the inbox.
    fn fold(&mut self, sequence: u64, of_run: bool, meta: &Meta) {
        match meta.kind {
            Kind::Command => self.posted(sequence, meta),
            Kind::Withdrawn => self.waiting.retain(|one| Some(&one.id) != meta.command.as_ref()),
            Kind::Decision | Kind::Mark | Kind::Moved => {}
        }
        if let Some(receipt) = &meta.receipt {
            self.waiting.retain(|one| one.id != receipt.command);
        }
        if of_run {
            self.status_read = meta.status.or(self.status_read);
            if meta.ends {
                self.refuse_all();
            }
        }
    }

    /// A message of the run that is not known yet; says whether it is one of ours.
    fn follow(&mut self, sequence: u64, meta: Option<&Meta>) -> bool {
        self.run_last = sequence;
        let Some(meta) = meta.filter(|meta| self.fits(meta)) else {
            self.foreign.push(sequence);
            return false;
        };
        if meta.kind == Kind::Mark {
            self.epoch = sequence;
            // Only marks before the first event have one: the last of them was made by the process that began the run.
            if meta.home.is_some() {
                self.home.clone_from(&meta.home);
            }
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
        true
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
        log.wrote(3, &ended);
        log.take(2, false, Some(&command("between")));
        assert_eq!(log.waiting.len(), 2);
        log.reach_run();
        assert_eq!((log.upto, log.waiting.len()), (3, 0));
        log.take(4, false, Some(&command("behind")));
        log.take(5, false, Some(&command("revive")));
        let waiting: Vec<&str> = log.waiting.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(waiting, ["revive"]);
        assert_eq!(log.receipts.len(), 3);
    }
}
