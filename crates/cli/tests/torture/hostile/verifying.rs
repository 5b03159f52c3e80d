//! `replay` of altered journals with all hashes recomputed.

use std::collections::BTreeSet;

use materia_contract::Decided;
use serde_json::{Value, json};

use super::Stage;
use super::people::Who;

/// Report of `replay --json` on a cast, with its exit status.
fn verdict(stage: &Stage, cast: &str) -> (i32, Value) {
    let ran = stage.run(&["replay", cast, "--json"]);
    (ran.exit, ran.json())
}

/// A cast that does not verify, and where.
fn fails(stage: &Stage, what: &str) -> u64 {
    let (exit, said) = verdict(stage, "c0");
    assert_eq!((exit, &said["ok"]), (1, &json!(false)), "{what}: {said}");
    assert!(said["fault"].as_str().is_some_and(|fault| fault.len() > 10), "{what}: {said}");
    said["seq"].as_u64().unwrap_or_else(|| panic!("{what}: {said}"))
}

/// The types of the events of a cast, in order.
fn kinds(stage: &Stage) -> Vec<String> {
    let mut kinds = Vec::new();
    stage.rewrite("c0", |record| kinds.push(record.kind.clone()));
    kinds
}

/// The present rules, as a decision names them.
fn rules() -> String {
    format!("\"rules\":{}", materia_contract::RULES_VERSION)
}

#[test]
fn what_these_rules_cannot_decide_is_neither_right_nor_wrong() {
    let stage = Stage::shipped(Who::Me);
    let (exit, said) = verdict(&stage, "c0");
    assert_eq!((exit, &said["ok"], &said["undecided"]), (0, &json!(true), &json!(0)), "{said}");
    let events = said["events"].clone();
    stage.forge("c0", |text| text.replace(&rules(), "\"rules\":99"));
    let (exit, said) = verdict(&stage, "c0");
    assert_eq!((exit, &said["ok"]), (4, &Value::Null), "{said}");
    assert_eq!((&said["undecided"], &said["events"]), (&events, &events), "{said}");
    let told = stage.run(&["replay", "c0"]).exits(4);
    assert!(told.out.contains("is undecided"), "{told:?}");
    // A newer version of the events likewise.
    let stage = Stage::shipped(Who::Me);
    stage.forge("c0", |text| text.replace("\"journalVersion\":5", "\"journalVersion\":77"));
    let (exit, said) = verdict(&stage, "c0");
    assert_eq!((exit, &said["ok"]), (4, &Value::Null), "{said}");
}

#[test]
fn rows_that_contradict_the_first_event_are_forged() {
    // Rules and versions of which no program had both.
    for (from, to) in [
        (rules(), "\"rules\":2"),
        (format!(",{}", rules()), ""),
        ("\"journalVersion\":5".to_owned(), "\"journalVersion\":4"),
        ("\"journalVersion\":5".to_owned(), "\"journalVersion\":2"),
    ] {
        let stage = Stage::shipped(Who::Me);
        stage.forge("c0", |text| text.replace(&from, to));
        assert_eq!(fails(&stage, to), 1);
    }
}

/// Other bytes for some data that mean the same, and how they differ.
type Way = (&'static str, fn(&str) -> String);

/// Bytes that mean the same as those which were written.
#[test]
fn an_event_in_other_bytes_is_not_what_was_written() {
    let ways: [Way; 5] = [
        ("an unknown field", |data| match data {
            "{}" => "{\"unknown\":1}".to_owned(),
            data => data.replacen('{', "{\"unknown\":1,", 1),
        }),
        ("a space", |data| data.replacen('{', "{ ", 1)),
        ("null", |data| match data {
            "{}" => "{\"unknown\":null}".to_owned(),
            data => format!("{},\"unknown\":null}}", &data[..data.len() - 1]),
        }),
        ("a line", |data| format!("{}\n}}", &data[..data.len() - 1])),
        ("a letter by its number", |data| match data.find(":\"") {
            Some(at) if data.as_bytes()[at + 2].is_ascii_lowercase() => {
                let letter = u32::from(data.as_bytes()[at + 2]);
                format!("{}\\u{letter:04x}{}", &data[..at + 2], &data[at + 3..])
            }
            _ => data.replacen('{', "{ ", 1),
        }),
    ];
    let seen: BTreeSet<String> = kinds(&Stage::shipped(Who::Me)).into_iter().collect();
    for kind in seen {
        for (what, way) in &ways {
            let stage = Stage::shipped(Who::Me);
            let mut at = None;
            stage.rewrite("c0", |record| {
                if record.kind == kind && at.is_none() {
                    at = Some(record.seq);
                    record.data = way(&record.data);
                }
            });
            assert_eq!(Some(fails(&stage, &format!("{what} in {kind}"))), at, "{what} in {kind}");
        }
    }
    // The input of a decision, and the names in a row.
    let stage = Stage::shipped(Who::Me);
    stage.rewrite("c0", |record| {
        record.input = record.input.take().map(|it| it.replacen('{', "{ ", 1));
    });
    assert_eq!(fails(&stage, "input"), 1);
    let stage = Stage::shipped(Who::Me);
    stage.sql("UPDATE decisions SET events = replace(events, '\"run.completed\"', '\"run.\\u0063ompleted\"')");
    fails(&stage, "the name of an event");
}

#[test]
fn time_does_not_go_back_from_one_decision_to_the_next() {
    let stage = Stage::shipped(Who::Me);
    let mut before = None;
    let mut forged = None;
    stage.rewrite("c0", |record| {
        let Some(input) = &record.input else { return };
        let mut decided = Decided::read(input).unwrap();
        if let Some(before) = before
            && forged.is_none()
        {
            // Logical time goes on by single steps, so that it agrees with both.
            decided.at = before - 59_000_000_i64;
            forged = Some(record.seq);
            record.input = Some(decided.text());
        }
        before = Some(decided.at);
    });
    let seq = fails(&stage, "went back");
    assert!(Some(seq) <= forged, "{seq} and {forged:?}");
}

#[test]
fn only_a_fork_has_decisions_that_were_cut() {
    for cut in [1, 2, 5] {
        let stage = Stage::shipped(Who::Me);
        let mut forged = None;
        stage.rewrite("c0", |record| {
            if let Some(input) = &record.input
                && record.seq > 1
                && forged.is_none()
            {
                forged = Some(record.seq);
                let decided = Decided { until: Some(cut), ..Decided::read(input).unwrap() };
                record.input = Some(decided.text());
            }
        });
        assert_eq!(Some(fails(&stage, "cut")), forged, "{cut}");
    }
}

/// Every kind of damage is an answer of the verification, and no refusal to look.
#[test]
fn damage_is_an_answer() {
    let last = "(SELECT max(place) FROM decisions WHERE place >> 40 = (SELECT run FROM runs WHERE id = 'c0'))";
    let run = "(SELECT run FROM runs WHERE id = 'c0')";
    let damages = [
        format!("DELETE FROM decisions WHERE place = {last}"),
        format!("DELETE FROM decisions WHERE place >> 40 = {run}"),
        format!(
            "DELETE FROM decisions WHERE place >> 40 = {run}; UPDATE heads SET seq = 0 WHERE run = {run}"
        ),
        format!("UPDATE heads SET hash = zeroblob(32) WHERE run = {run}"),
        format!("UPDATE heads SET seq = seq + 1 WHERE run = {run}"),
        format!("UPDATE decisions SET hashes = zeroblob(length(hashes)) WHERE place = {last}"),
        format!("UPDATE decisions SET hashes = x'00' WHERE place = {last}"),
        format!("UPDATE decisions SET events = '[' WHERE place = {last}"),
    ];
    for sql in damages {
        let stage = Stage::shipped(Who::Me);
        stage.sql(&sql);
        fails(&stage, &sql);
        // The others are as they were.
        stage.run(&["replay", "c1"]).exits(0);
    }
    let stage = Stage::shipped(Who::Me);
    stage.sql(&format!("PRAGMA foreign_keys = OFF; DELETE FROM heads WHERE run = {run}"));
    let (exit, said) = verdict(&stage, "c0");
    assert_eq!((exit, &said["ok"]), (1, &json!(false)), "{said}");
    assert!(
        said["fault"].as_str().unwrap().contains("the head of cast `c0`: it is missing"),
        "{said}"
    );
}

#[test]
fn whoever_vouches_for_a_journal_begins_a_new_line_of_leases() {
    for epoch in [i64::MAX, i64::MAX - 1, -1] {
        let stage = Stage::shipped(Who::Me);
        stage.sql(&format!("UPDATE leases SET epoch = {epoch}"));
        stage.run(&["pause", "c1", "--trust", "--trust-journal"]).exits(0);
        stage.run(&["resume", "c1", "--trust"]).exits(0);
        stage.run(&["replay", "c1"]).exits(0);
        // Nor is one's own blocked.
        stage.sql(&format!("UPDATE leases SET epoch = {epoch} WHERE run_id = 'c0'"));
        let id = "fork-of-it";
        stage.run(&[
            "fork",
            "c1",
            "--at",
            "1",
            "--cast-id",
            id,
            "--trust",
            "--script",
            "answers.json",
        ]);
        stage.run(&["replay", id]).exits(0);
    }
}
