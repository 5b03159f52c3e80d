use materia_contract::{
    Actor, ChainHash, Decided, ErrorCode, Event, EventBody, Input, InputError, MomentOf, NodeId,
    RULES_VERSION, Record, RecordedInput, ReportedIn, RunCompleted, TurnCompleted, TurnFailed,
    TurnOutcome, TurnOutput,
};

fn event(seq: u64, body: impl Into<EventBody>) -> Event {
    Event { seq, ts: 1, wall: 1, node: Some(NodeId::new("a")), body: body.into() }
}

fn said(output: &str) -> TurnOutput {
    TurnOutput { output: output.to_owned(), ..TurnOutput::default() }
}

/// A decision whose events begin at place 20: a turn that began at 5 ends well, one that began at 6 badly.
fn events() -> Vec<Event> {
    let completed = TurnCompleted {
        turn: 5,
        visit: 1,
        attempt: 1,
        satisfied: None,
        object: None,
        context: None,
        work_items: None,
        report: said("done"),
    };
    let failed = TurnFailed {
        turn: 6,
        visit: 1,
        attempt: 1,
        code: ErrorCode::ContractError,
        message: "no object".to_owned(),
        repair: false,
        retry_at: None,
        session_lost: false,
        report: said("half"),
    };
    vec![event(20, completed), event(21, failed), event(22, RunCompleted {})]
}

fn restored(turn: u64, event: u64, faulted: bool) -> Result<TurnOutcome, InputError> {
    let reported = ReportedIn { turn, event, faulted };
    let moment = MomentOf { reports: vec![reported], acts: Vec::new() };
    let decided = Decided::now(1, RecordedInput::Moment(moment));
    let (events, origin) = (events(), ChainHash([0; 32]));
    let restored = decided.restored(&events);
    let text = decided.text();
    assert!(decided.is_text(&text, &mut b"used before".to_vec()));
    assert!(!decided.is_text(&text[1..], &mut Vec::new()));
    let records = Record::seal_decision(text, &events, origin);
    let text_of = |seq| {
        let record = records.iter().find(|record| record.seq == seq)?;
        Some((record.kind.as_str(), record.whole_data().ok()?))
    };
    assert_eq!(decided.restored_from(text_of), restored, "records say what their events say");
    let Input::Moment(MomentOf { mut reports, .. }) = restored? else { panic!("an instant") };
    let report = reports.remove(0);
    assert_eq!(report.turn, turn);
    Ok(report.outcome)
}

#[test]
fn a_report_is_read_from_the_event_that_it_names_and_from_no_other() {
    assert_eq!(restored(5, 20, false), Ok(TurnOutcome::Ended(said("done"))));
    // An output that breaks its contract was no fault of the runner.
    assert_eq!(restored(6, 21, false), Ok(TurnOutcome::Ended(said("half"))));
    let (code, message) = (ErrorCode::ContractError, "no object".to_owned());
    let faulted = TurnOutcome::Faulted { code, message, report: said("half") };
    assert_eq!(restored(6, 21, true), Ok(faulted));
    let others = [
        (5, 20, true),
        (6, 20, false),
        (5, 21, false),
        (5, 21, true),
        (5, 22, false),
        (5, 23, false),
        (5, 19, false),
    ];
    for (turn, event, faulted) in others {
        let found = restored(turn, event, faulted);
        assert_eq!(found, Err(InputError::NoReport { event, turn }), "{turn} {event} {faulted}");
    }
}

#[test]
fn a_decision_names_its_rules() {
    let error = Decided::read(r#"{"at":1,"input":"idle"}"#).unwrap_err();
    assert!(error.to_string().contains("rules"), "{error}");
    let now = Decided::now(1, RecordedInput::Idle);
    assert_eq!(now.text(), format!(r#"{{"at":1,"rules":{RULES_VERSION},"input":"idle"}}"#));
    assert!(now.is_of_these_rules());
    assert_eq!(Decided::read(&now.text()), Ok(now));
}

#[test]
fn actors_have_names() {
    let actors = [Actor::person(), Actor::TIMELINE, Actor::named("page")];
    assert_eq!(actors.each_ref().map(Actor::as_str), ["person", "timeline", "page"]);
}
