//! Applies events about the files of a workspace.

use materia_contract::{
    InterruptReason, RunResumed, RunWaiting, TurnInterrupted, TurnOutput, TurnStarted, WaitReason,
};

use crate::state::{Branch, Checkout, Run, Turn, TurnFiles};

/// The files that a turn begins with. Turns that are in flight together are no longer alone.
pub(super) fn started(run: &mut Run, data: &TurnStarted) -> Option<Box<TurnFiles>> {
    let start = data.files()?;
    let files = run.files.as_mut()?;
    files.branch = Branch::Own;
    if data.put_back {
        files.checkout = Checkout::Same;
    }
    let alone = run.turns.is_empty();
    for turn in run.turns.values_mut() {
        if let Some(files) = &mut turn.files {
            files.alone = false;
        }
    }
    Some(Box::new(TurnFiles { start, put_back: data.put_back, alone }))
}

/// A turn ended by itself.
pub(super) fn ended(run: &mut Run, report: &TurnOutput) {
    let at = run.instant;
    if let (Some(files), Some(left)) = (&mut run.files, report.files_left()) {
        files.left(left, at, report.off_base);
    }
}

pub(super) fn interrupted(run: &mut Run, turn: &Turn, data: &TurnInterrupted) {
    let at = run.instant;
    let (Some(files), Some(began)) = (&mut run.files, &turn.files) else { return };
    let found = data.files.clone();
    if data.reason == InterruptReason::Workspace {
        files.checkout = found.map_or(Checkout::Unknown, Checkout::Changed);
    } else if data.put_back == Some(true) {
        (files.last, files.checkout) = (began.start.clone(), Checkout::PutBack);
    } else if let Some(found) = found {
        (files.last, files.at, files.checkout) = (found, at, Checkout::Same);
    } else {
        files.checkout = Checkout::Unknown;
    }
}

/// The branch could not be published. The command that resumes the run decides which files are used.
pub(super) fn waits(run: &mut Run, data: &RunWaiting) {
    let Some(files) = run.files.as_mut().filter(|_| data.reason == WaitReason::Workspace) else {
        return;
    };
    if files.branch == Branch::Publishing && files.checkout == Checkout::Same {
        files.checkout = Checkout::Unknown;
    }
}

pub(super) fn resumed(run: &mut Run, data: &RunResumed) {
    let at = run.instant;
    let Some(files) = &mut run.files else { return };
    files.off_base = false;
    if files.branch == Branch::Publishing {
        files.branch = Branch::Own;
    }
    if let Some(from) = &data.files {
        (files.last, files.at, files.checkout) = (from.clone(), at, Checkout::Same);
    } else if data.put_back {
        files.checkout = Checkout::PutBack;
    }
}

pub(super) fn branch(run: &mut Run, branch: Branch) {
    if let Some(files) = &mut run.files {
        files.branch = branch;
    }
}
