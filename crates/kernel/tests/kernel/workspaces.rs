//! Runs in a workspace of their own: which files each event names (W4, W5, W7, W10).

use materia_contract::{
    Condition, Do, Event, EventBody, FileState, FilesFound, GoOnFrom, Identity, InterruptReason,
    JOURNAL_VERSION, OwnWorkspace, Plan, RunCreated, RunId, RunPlace, TurnInterrupted, TurnOutput,
    TurnStarted, WaitReason, WorkspacePublished,
};
use materia_kernel::{Effect, Input, Phase, Rejection, Run, TurnOutcome, decide, outstanding};
use materia_verifier::Verifier;

use crate::play::{Kept, NodeExt as _, created, keep, plan, recomputed, utility};

use Condition::Always;

fn files(name: &str) -> FileState {
    let id = |what: &str| format!("{what}-{name}");
    FileState { tree: id("tree"), head: id("head"), refs: id("refs") }
}

fn own(created: RunCreated) -> RunCreated {
    let workspace = OwnWorkspace {
        kind: "own".into(),
        base: "head-0".into(),
        files: files("0"),
        git: "2.47.3".into(),
        identity: Identity { name: "materia".into(), email: "materia@localhost".into() },
    };
    RunCreated { workspace: Some(Box::new(workspace)), journal_version: JOURNAL_VERSION, ..created }
}

/// A run in a workspace, with all decisions as a journal keeps them.
struct Stage {
    run: Run,
    now: i64,
    journal: Vec<Kept>,
}

impl Stage {
    fn of(plan: Plan) -> Self {
        let mut stage = Self { run: Run::new(RunId::new("r")), now: 1_000, journal: Vec::new() };
        stage.take(Input::Create(own(created(plan)).into()));
        stage
    }

    fn take(&mut self, input: Input) -> Vec<Event> {
        self.now += 1_000;
        self.journal.push(keep(&mut self.run, self.now, input));
        self.journal.last().unwrap().1.clone()
    }

    fn turns(&self) -> Vec<u64> {
        outstanding(&self.run)
            .filter_map(|effect| match effect {
                Effect::StartTurn(turn) => Some(turn),
                Effect::WakeAt(_) | Effect::Publish => None,
            })
            .collect()
    }

    /// The oldest turn in flight ends and leaves these files.
    fn end(&mut self, name: &str) -> Vec<Event> {
        self.end_so(name, false)
    }

    fn end_so(&mut self, name: &str, off_base: bool) -> Vec<Event> {
        let mut output = TurnOutput { output: "{}".into(), ..TurnOutput::default() };
        output.note_files(files(name), off_base);
        let turn = self.turns()[0];
        self.take(Input::report(turn, TurnOutcome::Ended(output)))
    }

    /// Whoever takes the run up finds these files.
    fn resume(&mut self, name: &str, go_on: GoOnFrom) -> Vec<Event> {
        let files = Some(FilesFound { files: files(name), go_on, changed: false });
        let place = RunPlace { files, ..RunPlace::named() };
        self.take(Input::taken_up(Do::Resume { pace: None }, place))
    }

    fn publish(&mut self) -> Vec<Event> {
        let (branch, commit) = ("materia/r".to_owned(), "c".to_owned());
        self.take(Input::Published(Box::new(WorkspacePublished { branch, commit, kept: None })))
    }

    fn waits_for(&self) -> Option<WaitReason> {
        match self.run.phase() {
            Phase::Waiting(waiting) => Some(waiting.reason),
            _ => None,
        }
    }

    /// Both who take the decisions again find nothing wrong.
    fn verify(&self) {
        recomputed("r", &self.journal).unwrap();
        let mut opinion = Verifier::new(RunId::new("r"));
        for (decided, events) in &self.journal {
            for event in events {
                opinion.see(event).unwrap();
            }
            opinion.decided(decided).unwrap();
        }
    }
}

/// The turn that starts among these events.
fn started(events: &[Event]) -> &TurnStarted {
    let found = events.iter().find_map(|event| match &event.body {
        EventBody::TurnStarted(data) => Some(data),
        _ => None,
    });
    found.expect("a turn starts")
}

fn interrupted(events: &[Event]) -> Vec<&TurnInterrupted> {
    let found = events.iter().filter_map(|event| match &event.body {
        EventBody::TurnInterrupted(data) => Some(data),
        _ => None,
    });
    found.collect()
}

fn kinds(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(|event| event.body.type_name()).collect()
}

fn line() -> Plan {
    plan([("a", utility().edge(Always, "b")), ("b", utility())])
}

fn side_by_side() -> Plan {
    let a = utility().all().edge(Always, "b").edge(Always, "c");
    plan([("a", a), ("b", utility()), ("c", utility())])
}

#[test]
fn a_turn_begins_with_the_files_that_the_last_one_left_and_the_branch_is_published() {
    let mut stage = Stage::of(line());
    assert_eq!(started(&stage.journal[0].1).files(), Some(files("0")));
    let events = stage.end("1");
    assert_eq!(started(&events).files(), Some(files("1")));
    assert!(!started(&events).put_back);
    let events = stage.end("2");
    assert_eq!(kinds(&events).last(), Some(&"workspace.publishing"));
    assert_eq!(stage.run.phase(), &Phase::Running);
    assert!(outstanding(&stage.run).eq([Effect::Publish]));
    assert_eq!(kinds(&stage.publish()), ["workspace.published", "run.completed"]);
    stage.verify();
}

#[test]
fn an_interrupted_turn_begins_again_with_the_files_that_it_began_with() {
    let mut stage = Stage::of(line());
    stage.end("1");
    let events = stage.resume("half", GoOnFrom::Usual);
    let lost = interrupted(&events);
    assert_eq!(lost.len(), 1);
    assert_eq!((&lost[0].files, lost[0].put_back), (&Some(files("half")), Some(true)));
    let again = started(&events);
    assert_eq!((again.attempt, again.files(), again.put_back), (2, Some(files("1")), true));
    // Another crash before the files were put back: the same again.
    let events = stage.resume("half", GoOnFrom::Usual);
    let again = started(&events);
    assert_eq!((again.attempt, again.files(), again.put_back), (3, Some(files("1")), true));
    stage.end("2");
    stage.publish();
    assert_eq!(stage.run.phase(), &Phase::Completed);
    stage.verify();
}

#[test]
fn nothing_is_put_back_where_two_turns_were_in_flight() {
    let mut stage = Stage::of(side_by_side());
    stage.end("1");
    assert_eq!(stage.turns().len(), 2);
    let events = stage.resume("half", GoOnFrom::Usual);
    let lost = interrupted(&events);
    assert!(lost.iter().all(|one| one.put_back == Some(false)), "{lost:?}");
    assert_eq!(lost.len(), 2);
    let again = started(&events);
    assert_eq!((again.files(), again.put_back), (Some(files("half")), false));
    assert_eq!(stage.turns().len(), 2, "they run beside each other again");
    stage.verify();
}

#[test]
fn a_turn_that_was_in_flight_beside_another_for_a_while_is_not_put_back() {
    let mut stage = Stage::of(side_by_side());
    stage.end("1");
    stage.end("2");
    let events = stage.resume("half", GoOnFrom::Usual);
    assert_eq!(interrupted(&events)[0].put_back, Some(false));
    assert_eq!(started(&events).files(), Some(files("half")));
    stage.verify();
}

#[test]
fn while_files_are_put_back_nothing_else_starts() {
    let mut stage = Stage::of(side_by_side());
    stage.resume("half", GoOnFrom::Usual);
    stage.end("1");
    assert_eq!(stage.turns().len(), 2, "once it has ended both others start");
    stage.verify();
}

#[test]
fn files_that_somebody_changed_wait_for_a_person_who_decides() {
    for (go_on, name, put_back) in
        [(GoOnFrom::Usual, "theirs", false), (GoOnFrom::PutBack, "0", true)]
    {
        let mut stage = Stage::of(line());
        let turn = stage.turns()[0];
        let (message, changed) =
            ("somebody changed it".to_owned(), Some(Box::new(files("theirs"))));
        let reports = Vec::new();
        let events = stage.take(Input::Withheld { reports, turn, message, files: changed });
        assert_eq!(interrupted(&events)[0].reason, InterruptReason::Workspace);
        assert_eq!(stage.waits_for(), Some(WaitReason::Workspace));
        let events = stage.resume("theirs", go_on);
        let again = started(&events);
        assert_eq!((again.files(), again.put_back), (Some(files(name)), put_back));
        stage.verify();
    }
}

#[test]
fn a_workspace_that_was_made_again_goes_on_from_its_base() {
    let mut stage = Stage::of(line());
    stage.end("1");
    let events = stage.resume("0", GoOnFrom::Found);
    assert_eq!((started(&events).files(), started(&events).put_back), (Some(files("0")), false));
    stage.verify();
}

#[test]
fn a_head_that_left_its_base_waits_for_a_person() {
    let mut stage = Stage::of(line());
    stage.end_so("away", true);
    assert_eq!(stage.waits_for(), Some(WaitReason::Workspace));
    let events = stage.resume("mended", GoOnFrom::Usual);
    assert_eq!(started(&events).files(), Some(files("mended")));
    stage.verify();
}

#[test]
fn a_branch_that_cannot_be_published_waits_and_is_tried_again() {
    let mut stage = Stage::of(line());
    stage.end("1");
    stage.end("2");
    stage.take(Input::Unpublished { message: "there is such a branch".into() });
    assert_eq!(stage.waits_for(), Some(WaitReason::Workspace));
    let refused = decide(&stage.run, 99_000, Input::Unpublished { message: "again".into() });
    assert!(refused.is_err());
    let events = stage.resume("2", GoOnFrom::Usual);
    assert_eq!(kinds(&events), ["run.resumed", "workspace.publishing"]);
    // A crash while it is being published.
    let events = stage.resume("2", GoOnFrom::Usual);
    assert_eq!(kinds(&events), ["run.resumed", "workspace.publishing"]);
    stage.publish();
    assert_eq!(stage.run.phase(), &Phase::Completed);
    stage.verify();
}

#[test]
fn a_run_without_a_workspace_names_no_files() {
    let mut run = Run::new(RunId::new("r"));
    let created = created(line());
    let (_, events) = keep(&mut run, 1_000, Input::Create(created.into()));
    assert_eq!(started(&events).files(), None);
    assert!(!events.iter().any(|event| event.body.data_json().contains("\"tree\"")));
    let refused = decide(&run, 2_000, Input::Unpublished { message: "x".into() });
    assert_eq!(refused, Err(Rejection::NotPublishing));
}

#[test]
fn changes_that_a_person_made_while_the_run_rested_are_kept() {
    for (go_on, name, put_back) in
        [(GoOnFrom::Usual, "theirs", false), (GoOnFrom::PutBack, "0", true)]
    {
        let mut stage = Stage::of(line());
        let (reports, message) = (Vec::new(), "for now".to_owned());
        stage.take(Input::Stopped { reports, message });
        let found = Some(FilesFound { files: files("theirs"), go_on, changed: true });
        let place = RunPlace { files: found, ..RunPlace::named() };
        let events = stage.take(Input::taken_up(Do::Resume { pace: None }, place));
        let again = started(&events);
        assert_eq!((again.files(), again.put_back), (Some(files(name)), put_back));
        stage.verify();
    }
}
