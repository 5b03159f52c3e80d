//! Runs in a workspace of their own: the files that turns leave, and the files that a resumed run finds.

use materia_contract::{
    FileState, FilesFound, GoOnFrom, Identity, JOURNAL_VERSION, OwnWorkspace, RunCreated,
    WorkspacePublished,
};
use materia_kernel::{Acting, Input, Moment, Report, Run, TurnOutcome};

/// How many different states the files have.
const STATES: usize = 7;

fn state(nth: usize) -> FileState {
    let id = |what: &str| format!("{what}{}", nth % STATES);
    FileState { tree: id("tree"), head: id("head"), refs: id("refs") }
}

/// Gives a run a workspace of its own.
pub(crate) fn own(created: &mut RunCreated) {
    let identity = Identity { name: "m".into(), email: "m@localhost".into() };
    let (kind, base, git) = ("own".into(), "head0".into(), "2.47.3".into());
    let files = state(0);
    created.workspace = Some(Box::new(OwnWorkspace { kind, base, files, git, identity }));
    created.journal_version = JOURNAL_VERSION;
}

/// An input as a run in a workspace gets it: with the files that were found. `nth` decides which.
pub(crate) fn found(run: &Run, nth: usize, mut input: Input) -> Input {
    if run.files().is_none() {
        return input;
    }
    match &mut input {
        Input::Moment(Moment { reports, acts }) => {
            left(reports, nth);
            for Acting { place, .. } in acts {
                let go_on = match nth % 11 {
                    9 => GoOnFrom::PutBack,
                    10 => GoOnFrom::Found,
                    _ => GoOnFrom::Usual,
                };
                if let Some(place) = place {
                    place.files =
                        Some(FilesFound { files: state(nth), go_on, changed: nth % 5 == 4 });
                }
            }
        }
        Input::Stopped { reports, .. } => left(reports, nth),
        Input::Withheld { reports, files, .. } => {
            left(reports, nth);
            *files = nth.is_multiple_of(2).then(|| Box::new(state(nth + 1)));
        }
        _ => {}
    }
    input
}

/// The files that turns leave; seldom HEAD has left its base.
fn left(reports: &mut [Report], nth: usize) {
    for (place, report) in reports.iter_mut().enumerate() {
        let output = match &mut report.outcome {
            TurnOutcome::Ended(output) => output,
            TurnOutcome::Faulted { report, .. } => report,
        };
        output.note_files(state(nth + place), nth % 31 == 30);
    }
}

pub(crate) fn published() -> Input {
    let (branch, commit, kept) = ("materia/sim".into(), "c".into(), None);
    Input::Published(Box::new(WorkspacePublished { branch, commit, kept }))
}

pub(crate) fn unpublished() -> Input {
    Input::Unpublished { message: "there is such a branch".into() }
}
