//! The files of a run in a workspace of its own (W4, W5, W7, W10).

use std::collections::BTreeMap;

use materia_contract::{
    Acting, ErrorCode, FilesFound, GoOnFrom, InterruptReason, MomentOf, RecordedInput, RunCreated,
    RunResumed, TurnInterrupted, TurnOutput, TurnStarted,
};

use crate::held_files::{Files, Holds, OfTurn, Resumed};
use crate::state::{Decision, Life, Verifier};
use crate::wiring::Wiring;
use crate::{Checked, Objection, hold};

/// The first version of the event vocabulary that knows workspaces.
const SINCE_VERSION: u32 = 6;

impl Verifier {
    pub(crate) fn begins_with_files(&mut self, data: &RunCreated) -> Checked {
        let version = data.journal_version;
        let Some(own) = &data.workspace else {
            hold!(self, version < SINCE_VERSION, "version {version} is for runs with a workspace");
            return Ok(());
        };
        hold!(self, own.kind == "own", "its workspace is of a kind that nobody knows");
        hold!(self, version >= SINCE_VERSION, "version {version} knows no workspaces");
        self.files = Some(Box::new(Files {
            last: own.files.clone(),
            holds: Holds::Last,
            off_base: false,
            publishing: false,
            published: false,
            turns: BTreeMap::new(),
        }));
        Ok(())
    }

    /// Whether the run has as many turns in flight as it may, or its files let none start.
    pub(crate) fn is_full(&self, chart: &Wiring) -> bool {
        self.turns.len() >= chart.plan.limits.max_concurrent_turns as usize
            || self.files.as_ref().is_some_and(|files| {
                files.off_base
                    || files.publishing
                    || files.turns.values().any(|turn| turn.put_back)
                    || (files.holds == Holds::Leftovers && !files.turns.is_empty())
            })
    }

    /// Whether its branch is owed to the user's repository.
    pub fn is_publishing(&self) -> bool {
        self.life == Life::Running && self.files.as_ref().is_some_and(|files| files.publishing)
    }

    /// A turn begins with the files that the last event names.
    pub(crate) fn starts_with_files(&mut self, turn: u64, data: &TurnStarted) -> Checked {
        let named = data.files();
        let Some(files) = &self.files else {
            hold!(self, named.is_none() && !data.put_back, "the run has no workspace");
            return Ok(());
        };
        hold!(
            self,
            named.as_ref() == Some(&files.last),
            "it begins with other files than the last"
        );
        let leftovers = files.holds == Holds::Leftovers;
        hold!(self, !data.put_back || leftovers, "nothing was left that is to be put back");
        let Some(files) = &mut self.files else { return Ok(()) };
        let alone = files.turns.is_empty();
        for other in files.turns.values_mut() {
            other.alone = false;
        }
        if data.put_back {
            files.holds = Holds::Last;
        }
        files.published = false;
        let (start, put_back) = (files.last.clone(), data.put_back);
        let ran = put_back || !leftovers;
        files.turns.insert(turn, OfTurn { start, put_back, ran, alone });
        Ok(())
    }

    /// A turn ended and left files, which its report says; a failed look says none.
    pub(crate) fn leaves_files(
        &mut self,
        turn: u64,
        report: &TurnOutput,
        code: Option<ErrorCode>,
        by_runtime: bool,
    ) -> Checked {
        let left = report.files_left();
        let Some(files) = &mut self.files else {
            hold!(self, left.is_none() && !report.off_base, "the run has no workspace");
            return Ok(());
        };
        let of = files.turns.remove(&turn);
        if by_runtime {
            hold!(self, left.is_none() && !report.off_base, "the runtime leaves no files");
            return Ok(());
        }
        let Some(left) = left else {
            let unseen = code == Some(ErrorCode::Workspace);
            hold!(self, unseen, "it does not say which files it left");
            return Ok(());
        };
        files.holds = if report.off_base { Holds::Unknown } else { Holds::Last };
        (files.last, files.off_base) = (left, report.off_base);
        let ran = of.is_none_or(|of| of.ran);
        hold!(self, ran, "it ran on files that were not put back");
        Ok(())
    }

    /// An interrupted turn that was alone begins again with the files that it began with.
    pub(crate) fn interrupts_files(&mut self, data: &TurnInterrupted) -> Checked {
        let Some(files) = &mut self.files else {
            hold!(
                self,
                data.files.is_none() && data.put_back.is_none(),
                "the run has no workspace"
            );
            return Ok(());
        };
        let Some(of) = files.turns.remove(&data.turn) else { return Ok(()) };
        if let Some(found) = &data.files {
            self.decision.found.push((self.seq, found.clone()));
        }
        if data.reason == InterruptReason::Workspace {
            let Some(found) = data.files.clone() else {
                return Err(self.objection("it does not say which files were found"));
            };
            files.holds = Holds::Others(found);
            hold!(self, data.put_back.is_none(), "a person decides whether they are put back");
            return Ok(());
        }
        let right = data.put_back == Some(of.alone);
        if of.alone {
            (files.last, files.holds) = (of.start, Holds::Leftovers);
        } else if let Some(found) = data.files.clone() {
            (files.last, files.holds) = (found, Holds::Last);
        } else {
            files.holds = Holds::Unknown;
        }
        hold!(
            self,
            right,
            "files are put back where the turn was alone in flight, and nowhere else"
        );
        Ok(())
    }

    /// A run goes on from the last files, unless they are not known or a person decides otherwise.
    pub(crate) fn resumes_files(&mut self, data: &RunResumed) -> Checked {
        let Some(files) = &mut self.files else {
            hold!(self, data.files.is_none() && !data.put_back, "the run has no workspace");
            return Ok(());
        };
        (files.off_base, files.publishing) = (false, false);
        let others = match &files.holds {
            Holds::Others(others) => Some(others.clone()),
            Holds::Last | Holds::Leftovers | Holds::Unknown => None,
        };
        let leftovers = files.holds == Holds::Leftovers;
        let known = leftovers || files.holds == Holds::Last;
        if let Some(from) = &data.files {
            (files.last, files.holds) = (from.clone(), Holds::Last);
        } else if data.put_back {
            files.holds = Holds::Leftovers;
        }
        hold!(self, data.files.is_none() || !data.put_back, "it goes on from two states");
        hold!(
            self,
            others.is_none() || data.files.is_some() || data.put_back,
            "it does not say which files it goes on from"
        );
        self.decision.resumed = Some(Resumed {
            seq: self.seq,
            files: data.files.clone(),
            put_back: data.put_back,
            others,
            known,
            leftovers,
        });
        Ok(())
    }

    /// Whether the run waits for its workspace: it was changed from outside, it left its base, or its branch is not
    /// published.
    pub(crate) fn waits_for_workspace(&mut self, node: Option<usize>) -> bool {
        let withheld = self.decision.withheld.iter().any(|(_, of, _)| Some(*of) == node);
        if let (true, Some(node)) = (withheld, node) {
            self.decision.distrusts = Some((self.seq, node));
        }
        let Some(files) = &mut self.files else { return false };
        let unpublished = std::mem::take(&mut files.publishing);
        if unpublished && files.holds == Holds::Last {
            files.holds = Holds::Unknown;
        }
        withheld || files.off_base || unpublished
    }

    /// Whether a run that is complete but for its branch may say so: it publishes first.
    pub(crate) fn publishes(&mut self) -> Checked {
        let ready = self.files.as_ref().is_some_and(|files| !files.publishing && !files.published);
        hold!(self, ready, "there is no branch to publish");
        if let Some(files) = &mut self.files {
            files.publishing = true;
        }
        Ok(())
    }

    pub(crate) fn published(&mut self) -> Checked {
        hold!(self, self.is_publishing(), "its branch was not being published");
        if let Some(files) = &mut self.files {
            (files.publishing, files.published) = (false, true);
        }
        Ok(())
    }

    pub(crate) fn has_published(&self) -> bool {
        self.files.as_ref().is_none_or(|files| files.published)
    }
}

/// The files that a decision says were found are those of its input.
pub(crate) fn are_those_found(decision: &Decision, input: &RecordedInput) -> Checked {
    let object = |seq: u64, what: &str| Err(Objection { seq, what: what.to_owned() });
    let found = match input {
        RecordedInput::Moment(MomentOf { acts, .. }) => acts.iter().find_map(found_by),
        RecordedInput::Withheld { files, .. } => files.as_deref().map(|files| FilesFound {
            files: files.clone(),
            go_on: GoOnFrom::Usual,
            changed: false,
        }),
        RecordedInput::Create(_)
        | RecordedInput::SetAgents(_)
        | RecordedInput::Measured(_)
        | RecordedInput::Stopped { .. }
        | RecordedInput::Published(_)
        | RecordedInput::Unpublished { .. }
        | RecordedInput::RunForElapsed
        | RecordedInput::Idle => None,
    };
    let files = found.as_ref().map(|found| &found.files);
    if let Some((seq, _)) = decision.found.iter().find(|(_, one)| Some(one) != files) {
        return object(*seq, "other files were found than its input says");
    }
    let Some(resumed) = &decision.resumed else { return Ok(()) };
    let go_on = found.as_ref().map_or(GoOnFrom::Usual, |found| found.go_on);
    if resumed.put_back != (go_on == GoOnFrom::PutBack) {
        return object(resumed.seq, "files are put back where a person asks for it");
    }
    let Some(from) = &resumed.files else { return Ok(()) };
    let of_others = resumed.others.as_ref() == Some(from);
    let changed = found.as_ref().is_some_and(|found| found.changed);
    let may = !resumed.known || go_on == GoOnFrom::Found || (changed && resumed.leftovers);
    if may && (Some(from) == files || of_others) {
        return Ok(());
    }
    object(resumed.seq, "it goes on from files that nobody found")
}

fn found_by(acting: &Acting) -> Option<FilesFound> {
    acting.place.as_ref()?.files.clone()
}
