//! Every recording comes to what really happened, whatever the exit code said.

use materia_contract::FailureClass;
use materia_runners::agents::{Ask, Exit, Prices, Totals};
use serde_json::json;

use super::{FRESH, ask, code, play, resumed, signal};

const OK: &str = r#"{"satisfied": true, "context": "ok"}"#;

fn fails(agent: &str, name: &str, ask: &Ask, exit: Exit, class: FailureClass) {
    let ended = play(agent, name, ask, exit);
    let fault = ended.outcome.expect_err(name);
    assert_eq!(fault.class, class, "{agent}/{name}: {}", fault.message);
    assert!(!fault.message.is_empty());
    let lost = class == FailureClass::SessionLost;
    assert!(!lost || ended.session.is_none(), "{agent}/{name} keeps a session that is gone");
}

#[test]
fn good_turns_are_good_whatever_the_exit_code() {
    for agent in ["claude", "codex", "gemini", "pi"] {
        for exit in [code(0), code(1), signal(9), Exit::default()] {
            let ended = play(agent, "first", &ask(), exit);
            assert_eq!(ended.outcome.unwrap().text, OK, "{agent}");
            assert_eq!(ended.session.unwrap().agent, agent);
        }
    }
}

#[test]
fn failures_of_claude_have_their_class() {
    use FailureClass::{Auth, Contract, Permanent, RateLimit, SessionLost, Transient};
    for (name, exit, class) in [
        ("error400", code(1), Permanent),
        // These two end in the middle of endless tries.
        ("error401", signal(15), Auth),
        ("error529", signal(15), Transient),
        ("end401", code(1), Auth),
        ("end429", code(1), RateLimit),
        ("drop", code(1), Transient),
        ("budget", code(1), Permanent),
        ("maxturns", code(1), Permanent),
        ("badsession", code(1), SessionLost),
        ("dupsession", code(1), SessionLost),
        ("badflag", code(1), Permanent),
        ("bypass-root", code(1), Permanent),
        ("silent", code(0), Contract),
        ("kill-sig15", code(143), Transient),
        // Interrupted, it ends with 0.
        ("kill-tool-sig2", code(0), Transient),
    ] {
        fails("claude", name, &ask(), exit, class);
    }
}

#[test]
fn failures_of_codex_have_their_class() {
    use FailureClass::{Auth, Permanent, RateLimit, SessionLost, Transient};
    for (name, exit, class) in [
        ("error400", code(1), Permanent),
        ("error401", code(1), Auth),
        ("error429", code(1), RateLimit),
        ("error500", code(1), Transient),
        ("drop", code(1), Transient),
        ("badsession", code(1), SessionLost),
        ("badflag", code(2), Permanent),
        ("badconfig", code(1), Permanent),
        ("nogit", code(1), Permanent),
        ("kill-sig2", code(1), Transient),
    ] {
        fails("codex", name, &ask(), exit, class);
    }
}

#[test]
fn failures_of_gemini_have_their_class() {
    use FailureClass::{Auth, Permanent, RateLimit, SessionLost, Transient};
    for (name, exit, class) in [
        ("error400", code(144), Permanent),
        ("error401", code(145), Auth),
        ("error429", code(173), RateLimit),
        ("error503", signal(15), Transient),
        ("error503-max2", code(247), Transient),
        ("drop", code(1), Transient),
        ("badsession", code(42), SessionLost),
        ("dupsession", code(42), SessionLost),
        ("noauth", code(41), Auth),
        ("untrusted", code(55), Permanent),
        ("badflag", code(1), Permanent),
        ("silent", code(0), Transient),
        // Stopped, it ends with 0 and says nothing.
        ("kill-sig2", code(0), Transient),
    ] {
        fails("gemini", name, &ask(), exit, class);
    }
}

#[test]
fn failures_of_pi_have_their_class_though_it_always_ends_with_0() {
    use FailureClass::{Auth, Permanent, RateLimit, SessionLost, Transient};
    for (name, class) in [
        ("error400", Permanent),
        ("error401", Auth),
        ("error429", RateLimit),
        ("drop", Transient),
        ("kill-sig9", Transient),
        ("kill-tool-sig2", Transient),
        ("badsession", SessionLost),
        ("badflag", Permanent),
    ] {
        fails("pi", name, &ask(), code(0), class);
    }
}

#[test]
fn a_session_that_pi_began_anew_instead_of_going_on_is_lost() {
    let again = resumed("pi", "kill-9", None);
    fails("pi", "resume-after-kill", &again, code(0), FailureClass::SessionLost);
    // Asked for a fresh one, the same words are no failure.
    assert!(play("pi", "resume-after-kill", &ask(), code(0)).outcome.is_ok());
}

#[test]
fn an_exit_code_alone_tells_a_class_only_where_nothing_else_does() {
    let end = |status: i32| {
        let reader = super::adapter("gemini").reader(&ask());
        reader.finish(code(status)).outcome.unwrap_err().class
    };
    assert_eq!(end(145), FailureClass::Auth);
    assert_eq!(end(173), FailureClass::RateLimit);
    assert_eq!(end(247), FailureClass::Transient);
    assert_eq!(end(0), FailureClass::Transient);
}

#[test]
fn an_answer_under_a_schema_is_the_checked_object() {
    let schema = json!({ "type": "object", "properties": { "satisfied": { "type": "boolean" } } });
    let asked = Ask { schema: Some(schema), ..ask() };
    let answer = play("claude", "jsonschema", &asked, code(0)).outcome.unwrap();
    assert_eq!(answer.structured, Some(json!({ "satisfied": true, "context": "ok" })));
    assert_eq!(answer.text, r#"{"satisfied":true,"context":"ok"}"#);
    // It corrected itself before it answered.
    let answer = play("claude", "jsonschema-bad", &asked, code(0)).outcome.unwrap();
    assert_eq!(answer.structured, Some(json!({ "satisfied": true, "context": "fixed" })));
    // It did not obey; the text goes to whoever looks for an object in it.
    for agent in ["claude", "codex"] {
        let answer = play(agent, "prose", &asked, code(0)).outcome.unwrap();
        assert_eq!((answer.text.as_str(), answer.structured), ("just prose", None), "{agent}");
    }
}

#[test]
fn a_denied_tool_is_a_note_and_no_failure() {
    let answer = play("claude", "dontask", &ask(), code(0)).outcome.unwrap();
    assert_eq!(answer.notes.len(), 1, "{:?}", answer.notes);
    assert!(answer.notes[0].contains("Bash"), "{:?}", answer.notes);
}

fn figures(agent: &str, name: &str, ask: &Ask) -> (Option<u64>, Option<u64>, Option<u64>) {
    let usage = play(agent, name, ask, code(0)).usage;
    (usage.input_tokens, usage.cached_tokens, usage.output_tokens)
}

#[test]
fn a_turn_reports_what_it_used_itself() {
    for agent in ["claude", "codex", "gemini", "pi"] {
        assert_eq!(figures(agent, "first", &ask()), (Some(1_200), Some(200), Some(20)), "{agent}");
    }
    for (agent, name) in
        [("claude", "write-acceptedits"), ("gemini", "yolo-write"), ("pi", "write")]
    {
        assert_eq!(figures(agent, name, &ask()), (Some(3_600), Some(600), Some(60)), "{agent}");
    }
    assert_eq!(figures("codex", "ro-exec", &ask()), (Some(2_400), Some(400), Some(40)));
}

#[test]
fn a_resumed_turn_reports_the_difference_to_the_turn_before() {
    for agent in ["claude", "codex", "gemini", "pi"] {
        let before = play(agent, "first", &ask(), code(0)).session.unwrap();
        let again = resumed(agent, &before.id, before.totals);
        let ended = play(agent, "resume", &again, code(0));
        let used = (ended.usage.input_tokens, ended.usage.output_tokens);
        assert_eq!(used, (Some(1_200), Some(20)), "{agent}");
        if let Some(cost) = ended.usage.cost.filter(|_| agent == "claude") {
            assert!((cost - 0.002_22).abs() < 1e-9, "{cost}");
        }
    }
    let again = resumed("codex", "x", Some(Totals::default()));
    let after = play("codex", "resume", &again, code(0)).session.unwrap().totals.unwrap();
    assert_eq!((after.input_tokens, after.output_tokens), (2_400, 40));
}

#[test]
fn a_turn_whose_session_forgot_its_total_is_of_unknown_use() {
    assert_eq!(figures("codex", "resume", &resumed("codex", "x", None)), (None, None, None));
    // Claude Code says what the turn itself used, too.
    let claude = play("claude", "resume", &resumed("claude", "x", None), code(0)).usage;
    assert_eq!(claude.input_tokens, Some(1_200));
    assert!((claude.cost.unwrap() - 0.002_22).abs() < 1e-9);
}

#[test]
fn a_turn_that_failed_keeps_the_total_of_its_session() {
    let totals = Some(Totals { input_tokens: 7, ..Totals::default() });
    for (agent, name) in [("codex", "error500"), ("claude", "kill-sig15")] {
        let ended = play(agent, name, &resumed(agent, "x", totals), code(1));
        assert_eq!(ended.session.unwrap().totals, totals, "{agent}");
        assert_eq!(ended.usage.turn(), None, "{agent}");
    }
}

#[test]
fn costs_are_reported_or_priced_or_unknown() {
    let cost = |agent: &str, ask: &Ask| {
        let usage = play(agent, "first", ask, code(0)).usage;
        (usage.cost, usage.priced)
    };
    assert_eq!(cost("claude", &ask()), (Some(0.002_22), None));
    assert_eq!(cost("pi", &ask()), (Some(0.003_36), None));
    // Codex names no model, so that without one there is no price.
    assert_eq!(cost("codex", &ask()), (None, None));
    let chosen = Ask { model: Some("gpt-5".to_owned()), ..ask() };
    let (priced, date) = cost("codex", &chosen);
    assert!((priced.unwrap() - (1_000.0 * 1.25 + 200.0 * 0.125 + 20.0 * 10.0) / 1e6).abs() < 1e-12);
    assert_eq!(date.as_deref(), Some("2025-12-01"));
    let (priced, _) = cost("gemini", &ask());
    assert!((priced.unwrap() - (1_000.0 * 0.3 + 200.0 * 0.03 + 20.0 * 2.5) / 1e6).abs() < 1e-12);
    let own = json!({ "date": "2026-11-01", "models": { "gemini-2.5-flash": { "input": 1, "output": 1 } } });
    let mut dear = ask();
    dear.settings.prices = Prices::with(serde_json::from_value(own).unwrap());
    let (priced, date) = cost("gemini", &dear);
    assert!((priced.unwrap() - 0.001_22).abs() < 1e-12);
    assert_eq!(date.as_deref(), Some("2026-11-01"));
}

#[test]
fn sessions_bear_the_name_that_the_program_gave_them() {
    let id = |agent: &str| play(agent, "first", &ask(), code(0)).session.unwrap().id;
    assert_eq!(id("claude"), "11111111-1111-4111-8111-111111111111");
    assert_eq!(id("codex"), "01a1dc94-2093-7ca1-a860-b9504fc6663c");
    assert_eq!(id("gemini"), "33333333-1111-4111-8111-111111111111");
    assert_eq!(id("pi"), "node-a-1");
    assert_ne!(id("claude"), FRESH.to_string());
}
