use super::*;

const VOICE: Voice = Voice { label: "Agent", log_in: "log in with `agent login`" };

#[test]
fn a_complaint_is_classed_by_its_words_and_its_status() {
    for (text, class) in [
        ("unexpected status 401 Unauthorized: no", FailureClass::Auth),
        ("API Error: 403 no", FailureClass::Auth),
        ("exceeded retry limit, last status: 429 Too Many Requests", FailureClass::RateLimit),
        ("You've hit your usage limit. Try again in 2 hours.", FailureClass::RateLimit),
        ("API Error: 529 overloaded", FailureClass::Transient),
        ("stream disconnected before completion", FailureClass::Transient),
        ("API Error: 400 fake error 400", FailureClass::Permanent),
        ("prompt is too long: 210000 tokens", FailureClass::Permanent),
        ("No conversation found with session ID: x", FailureClass::SessionLost),
        ("something nobody has seen before", FailureClass::Transient),
    ] {
        assert_eq!(VOICE.complaint(text, &Hints::default()).class, class, "{text}");
    }
}

#[test]
fn a_limit_names_when_it_ends() {
    let fault = VOICE.complaint("usage limit: try again in 2 hours", &Hints::default());
    assert_eq!(fault.retry_after, Some(Duration::from_hours(2)));
    let fault = VOICE.complaint("Usage limit reached|1794800000", &Hints::default());
    assert_eq!(fault.until, Some(1_794_800_000));
}

#[test]
fn a_refused_login_says_how_to_log_in() {
    let fault = VOICE.complaint("401 unauthorized", &Hints::default());
    assert_eq!(
        fault.message,
        "Agent is not logged in (401 unauthorized); log in with `agent login`"
    );
}

#[test]
fn a_hung_program_that_told_why_has_that_class() {
    let hints = Hints { status: Some(401), ..Hints::default() };
    let exit = Exit { signal: Some(15), cut: Some(Cut::Idle), ..Exit::default() };
    assert_eq!(VOICE.unfinished(exit, &hints).class, FailureClass::Auth);
    assert_eq!(VOICE.unfinished(exit, &Hints::default()).class, FailureClass::Transient);
}

#[test]
fn a_number_inside_a_longer_word_is_no_status() {
    assert_eq!(status_in("error 5031 or abc503 or v4.0.4"), None);
    assert_eq!(status_in("(503)"), Some(503));
}
