//! Journals in which a few bytes claim more than fits into memory. Reading one may be refused, but never runs out of
//! memory.

use std::fs;

use materia_contract::BlobHash;

use super::Stage;
use super::people::people;

/// Limit of a command's address space, in KiB.
const LIMIT: &str = "ulimit -v 700000; exec \"$@\"";
/// The size of the text that is named.
const BYTES: usize = 1 << 20;
/// How often one event names it.
const TIMES: usize = 20_000;
/// How many events name it: together more than a command may map, and no more, for each is read and hashed.
const EVENTS: usize = 1_500;

/// Everything that only looks, at a cast.
const LOOKS: &[&[&str]] = &[
    &["casts"],
    &["show", "c0"],
    &["show", "c0", "--json"],
    &["output", "c0"],
    &["events", "c0"],
    &["replay", "c0"],
    &["why", "c0", "hello"],
    &["grid", "c0"],
    &["budget", "c0"],
    &["export", "c0", "-o", "out.html"],
    &["compare", "c0", "c0"],
];

fn put_blob(stage: &Stage, text: &[u8]) -> BlobHash {
    let hash = BlobHash::of(text);
    let name = hash.to_string();
    stage.write(&format!("project/.materia/blobs/{}/{}", &name[..2], &name[2..]), text);
    hash
}

fn reference(hash: BlobHash, bytes: u64) -> String {
    format!(r#"{{"$blob":"{hash}","bytes":{bytes}}}"#)
}

/// Every look comes to an end of its own.
fn survives(stage: &Stage, what: &str) {
    for args in LOOKS {
        let ran = stage.run_by(&["sh", "-c", LIMIT, "sh"], args);
        let told = format!("{what}: {args:?}: {} {}", ran.exit, ran.err);
        assert!((0..=3).contains(&ran.exit), "{told}");
        assert!(!ran.err.contains("allocation") && !ran.err.contains("panicked"), "{told}");
    }
    // All of it is printed, one by one.
    let count = ["sh", "-c", "ulimit -v 700000; \"$0\" \"$@\" | wc -l"];
    let ran = stage.run_by(&count, &["events", "c0", "--json"]);
    let lines: usize = ran.out.trim().parse().unwrap();
    assert!(lines >= 5, "{what}: {lines} {}", ran.err);
    let _ = fs::remove_file(stage.path("project/out.html"));
}

#[test]
fn one_event_that_names_a_text_many_times_is_not_put_together() {
    for who in people() {
        let stage = Stage::shipped(who);
        let hash = put_blob(&stage, &vec![b'x'; BYTES]);
        let many = vec![reference(hash, BYTES as u64); TIMES].join(",");
        let forged = format!(r#""output":"hi","notes":[{many}]"#);
        stage.forge("c0", |text| text.replacen(r#""output":"hi""#, &forged, 1));
        survives(&stage, "many in one event");
        let said = stage.run(&["replay", "c0"]).err;
        assert!(said.contains("was not read"), "{said}");
    }
}

#[test]
fn many_events_that_name_a_text_are_read_one_at_a_time() {
    for who in people() {
        let stage = Stage::shipped(who);
        let hash = put_blob(&stage, &vec![b'x'; BYTES]);
        let reference = reference(hash, BYTES as u64);
        // Behind the answer, in one decision: words of a person, each as long.
        let words: Vec<String> = (0..EVENTS)
        .map(|nth| {
            format!(r#"["message.received","hello",{{"payloadId":"00000000-0000-8000-8000-{nth:012x}","text":{reference}}}]"#)
        })
        .collect();
        let words = format!("{},[\"run.completed\"", words.join(","));
        stage.forge("c0", |text| text.replace("[\"run.completed\"", &words));
        survives(&stage, "many events");
    }
}

#[test]
fn a_text_whose_size_is_a_lie_or_that_nobody_can_hold_is_not_read() {
    for who in people() {
        for (what, claims) in [("less than there is", 1_u64), ("as much as there is", 2 << 30)] {
            let stage = Stage::shipped(who);
            let hash = BlobHash::of(b"never this");
            let name = hash.to_string();
            let path = stage.path(&format!("project/.materia/blobs/{}/{}", &name[..2], &name[2..]));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            // It has a size and takes no room.
            fs::File::create(&path).unwrap().set_len(2 << 30).unwrap();
            let forged = format!(r#""output":{}"#, reference(hash, claims));
            stage.forge("c0", |text| text.replacen(r#""output":"hi""#, &forged, 1));
            survives(&stage, what);
        }
    }
}

#[test]
fn a_text_that_looks_like_a_reference_and_one_that_is_nested_deeply_lead_nowhere() {
    for who in people() {
        let stage = Stage::shipped(who);
        let inner = put_blob(&stage, &vec![b'x'; BYTES]);
        let words = vec![reference(inner, BYTES as u64); 10_000].join(",");
        let outer = put_blob(&stage, format!("[{words}]").as_bytes());
        let bytes = words.len() as u64 + 2;
        let forged = format!(r#""output":{}"#, reference(outer, bytes));
        stage.forge("c0", |text| text.replacen(r#""output":"hi""#, &forged, 1));
        survives(&stage, "a text of references");
        let shown = stage.run(&["output", "c0"]);
        assert!(shown.exit <= 3, "{shown:?}");
        let stage = Stage::shipped(who);
        let deep =
            format!(r#""output":"hi","notes":{}{}"#, "[".repeat(100_000), "]".repeat(100_000));
        stage.forge("c0", |text| text.replacen(r#""output":"hi""#, &deep, 1));
        survives(&stage, "nested");
    }
}
