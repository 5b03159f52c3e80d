//! One cast in one file that can be verified: archives (V11).

use std::fs;

use materia_app::{archive, views::verify};
use materia_contract::body::{Mismatch, ReplayBody};
use serde_json::{Value, json};

use crate::bench::Bench;

/// How many bytes are altered, one in each archive.
fn alterations() -> u64 {
    if std::env::var_os("MATERIA_LONG").is_some() { 10_000 } else { 300 }
}

/// A loop with a verdict that sends work back, a utility that sets variables, and a text long enough to be a blob.
fn config() -> Value {
    json!({
        "activeLoadout": "Review",
        "loadouts": { "Review": { "entry": "plan", "sockets": {
            "plan": { "materia": "Planner", "edges": [{ "to": "write" }] },
            "write": { "materia": "Writer", "edges": [{ "to": "judge" }] },
            "judge": { "materia": "Judge", "parse": "json", "advance": { "when": "satisfied" }, "edges": [
                { "when": "not_satisfied", "to": "write", "maxTraversals": 3 },
                { "when": "satisfied", "to": "write" },
            ] },
            "check": { "materia": "Check", "edges": [{ "to": "end" }] },
        }, "loops": { "items": {
            "sockets": ["write", "judge"],
            "consumes": { "from": "plan", "output": "workItems" },
            "exits": [{ "id": "done", "from": "judge", "condition": "always", "targetSocketId": "check" }],
        } } } },
        "materia": {
            "Planner": { "prompt": "Plan it.", "generator": true },
            "Writer": { "prompt": "Write the chapter about lighthouses." },
            "Judge": { "prompt": "Judge it." },
            "Check": { "type": "utility", "command": ["printf", "{\"state\":{\"checked\":\"thoroughly\"}}"], "parse": "json" },
        },
    })
}

/// A project with one cast, `c1`.
fn after_a_cast() -> Bench {
    let bench = Bench::with(&config());
    let script = json!({ "turns": {
        "Planner": [{ "json": { "workItems": [
            { "title": "The lamp", "context": "how it turns" }, { "title": "The keeper", "context": "who climbs" },
        ] } }],
        "Writer": [{ "text": "A draft of the lamp" }, { "text": "long ".repeat(20_000) }, { "text": "The keeper climbs" }],
        "Judge": [
            { "json": { "satisfied": false, "context": "too short" } },
            { "json": { "satisfied": true } }, { "json": { "satisfied": true } },
        ],
    } });
    bench.write("script.json", &script.to_string());
    let cast =
        ["cast", "--script", "script.json", "--virtual-time", "--cast-id", "c1", "about light"];
    bench.run(&cast).exits(0);
    bench
}

fn archived() -> (Bench, Vec<u8>) {
    let bench = after_a_cast();
    bench.run(&["export", "c1", "-o", "x.materia"]).exits(0);
    let bytes = fs::read(bench.project().join("x.materia")).unwrap();
    (bench, bytes)
}

#[test]
fn an_archive_is_opened_like_the_cast_that_it_holds() {
    let (bench, bytes) = archived();
    let made = bench.run(&["export", "c1", "-o", "y.materia", "--json"]).exits(0).json();
    assert_eq!(made["bytes"], bytes.len(), "{made}");
    assert_eq!(
        fs::read(bench.project().join("y.materia")).unwrap(),
        bytes,
        "always the same bytes"
    );
    for command in [&["replay", "ID"][..], &["events", "ID"], &["why", "ID", "judge"]] {
        let with = |id: &str| {
            let words: Vec<&str> =
                command.iter().map(|word| if *word == "ID" { id } else { *word }).collect();
            bench.run(&[&words[..], &["--json"]].concat()).exits(0)
        };
        let (cast, archive) = (with("c1").out, with("x.materia").out);
        // Where the folders are is not in an archive.
        let project = bench.project().canonicalize().unwrap();
        let cast = cast.replace(project.join(".materia/c1").to_str().unwrap(), "{runDir}");
        let cast =
            cast.replace(&format!("\"cwd\":\"{}\"", project.display()), "\"cwd\":\"{workspace}\"");
        assert_eq!(cast.replace(project.to_str().unwrap(), "{project}"), archive, "{command:?}");
    }
    let mut reports =
        ["c1", "x.materia"].map(|id| bench.run(&["show", id, "--json"]).exits(0).json());
    for report in &mut reports {
        report.as_object_mut().unwrap().remove("runDir");
    }
    assert_eq!(reports[0], reports[1]);
    bench.run(&["export", "x.materia", "-o", "x.html"]).exits(0);
    assert!(bench.read("x.html").contains("lighthouses"));
    bench.run(&["export", "x.materia", "-o", "again.materia"]).exits(0);
    assert_eq!(fs::read(bench.project().join("again.materia")).unwrap(), bytes);
}

#[test]
fn an_archive_is_read_where_nothing_else_is_and_leaves_nothing_behind() {
    let (bench, bytes) = archived();
    let elsewhere = Bench::new();
    elsewhere.write("x.materia", std::str::from_utf8(&bytes).unwrap());
    drop(bench);
    let shown = elsewhere.run(&["show", "x.materia"]).exits(0);
    assert!(
        shown.out.contains("archive   x.materia") && !shown.out.contains("resume"),
        "{shown:?}"
    );
    elsewhere.run(&["replay", "x.materia"]).exits(0);
    let left: Vec<_> = fs::read_dir(elsewhere.project())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["x.materia"]);
}

#[test]
fn the_page_shows_an_archive_as_foreign_and_without_a_server() {
    let (bench, bytes) = archived();
    let shown = |name: &str| {
        let ran = bench.run(&["ui", name, "--no-open"]).exits(0);
        let page = fs::read_to_string(ran.out.trim()).unwrap();
        let (_, rest) = page.split_once("id=\"materia-export\">").unwrap();
        serde_json::from_str::<Value>(rest.split_once("</script>").unwrap().0).unwrap()
    };
    let page = shown("x.materia");
    assert_eq!(page["cast"]["castId"], "c1");
    assert_eq!(page["archive"], json!({ "file": "x.materia", "redacted": false }));
    let text = String::from_utf8(bytes).unwrap();
    bench.write("cut.materia", &text[..text.rfind("{\"end\":").unwrap()]);
    let fault = shown("cut.materia")["archive"]["fault"].clone();
    assert!(fault.as_str().unwrap().contains("ends early"), "{fault}");
    // Events that do not follow are not shown at all.
    bench.write("altered.materia", &text.replacen("A draft of the", "A drift of the", 1));
    let refused = bench.run(&["ui", "altered.materia", "--no-open"]).exits(2);
    assert!(refused.err.contains("is damaged at event"), "{refused:?}");
    assert!(bench.run(&["ui", "c1"]).exits(2).err.contains("is not an archive"));
    bench.run(&["ui", "x.materia", "--remove", "."]).exits(2);
}

#[test]
fn nothing_is_done_to_an_archive() {
    let (bench, bytes) = archived();
    for command in [
        &["resume", "x.materia"][..],
        &["recast", "x.materia"],
        &["revive", "x.materia"],
        &["fork", "x.materia", "--at", "3"],
        &["abort", "x.materia"],
        &["continue", "x.materia"],
        &["say", "x.materia", "hello"],
        &["trigger", "x.materia", "judge"],
        &["approve", "x.materia", "judge"],
        &["deny", "x.materia", "judge"],
        &["pause", "x.materia"],
        &["budget", "x.materia", "--max-turns", "3"],
    ] {
        let refused = bench.run(command).exits(2);
        assert!(
            refused.err.contains("is an archive, which is only read"),
            "{command:?}: {refused:?}"
        );
    }
    assert_eq!(fs::read(bench.project().join("x.materia")).unwrap(), bytes);
}

/// A line of an archive: where it begins and ends, and the event that it is or whose text it is.
struct Line {
    start: usize,
    end: usize,
    seq: Option<u64>,
}

fn lines(bytes: &[u8]) -> Vec<Line> {
    let (mut lines, mut start, mut next) = (Vec::new(), 0, 1);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let end = start + line.len();
        let framing = line.starts_with(b"{\"materia\":") || line.starts_with(b"{\"end\":");
        lines.push(Line { start, end, seq: (!framing).then_some(next) });
        next += u64::from(line.starts_with(b"{\"seq\":"));
        start = end;
    }
    lines
}

/// Numbers that are the same in every run of the test.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

#[test]
fn every_altered_byte_is_found_with_the_first_event_that_does_not_follow() {
    let (_bench, bytes) = archived();
    let lines = lines(&bytes);
    assert!(matches!(judged(&bytes), Some(ReplayBody::Verified(_))));
    let mut random = Random(11);
    let (mut unreadable, mut beside) = (0, 0);
    let count = alterations();
    for _ in 0..count {
        // A line first: most bytes are those of one long text.
        let line = &lines[random.below(lines.len())];
        let at = line.start + random.below(line.end - line.start);
        let mut altered = bytes.clone();
        altered[at] ^= u8::try_from(random.below(255)).unwrap() + 1;
        let place = format!("byte {at}: {} became {}", bytes[at], altered[at]);
        match (judged(&altered), line.seq) {
            (Some(ReplayBody::Verified(_)), _) => panic!("not found: {place}"),
            (Some(ReplayBody::Mismatch(Mismatch { seq, fault, .. })), Some(_)) => {
                assert_eq!(seq, line.seq, "{place}: {fault}");
                assert!(!fault.is_empty(), "{place}");
            }
            (Some(ReplayBody::Mismatch(Mismatch { fault, .. })), None) => {
                assert!(!fault.is_empty(), "{place}");
                beside += 1;
            }
            (None, seq) => {
                assert_eq!(
                    (seq, line.start),
                    (None, 0),
                    "only the first line says what the file is: {place}"
                );
                unreadable += 1;
            }
        }
    }
    assert!(unreadable > 0 && beside > 0, "{unreadable} {beside}");
}

/// The result of `replay`; `None` where it would exit with 2.
fn judged(bytes: &[u8]) -> Option<ReplayBody> {
    let archive = archive::read(bytes, "x.materia").ok()?;
    Some(verify::replay_archive(&archive, None).unwrap())
}

#[test]
fn replay_names_the_altered_event_on_the_command_line() {
    let (bench, bytes) = archived();
    let text = String::from_utf8(bytes.clone()).unwrap();
    let altered = |name: &str, bytes: &[u8]| {
        fs::write(bench.project().join(name), bytes).unwrap();
        bench.run(&["replay", name, "--json"])
    };
    let other = text.replacen("too short", "too shore", 1);
    let line = text.lines().find(|line| line.contains("too short")).unwrap();
    let seq = serde_json::from_str::<Value>(line).unwrap()["seq"].clone();
    let found = altered("event.materia", other.as_bytes()).exits(1).json();
    assert_eq!((&found["ok"], &found["seq"]), (&json!(false), &seq), "{found}");
    // The others look at it all the same, and say so.
    let shown = bench.run(&["events", "event.materia"]).exits(1);
    assert!(shown.err.contains("its hash does not match"), "{shown:?}");
    let shorter = altered("cut.materia", &bytes[..bytes.len() - 5]).exits(1).json();
    assert!(shorter["fault"].as_str().unwrap().contains("closing line"), "{shorter}");
    let last = text.rfind("{\"end\"").unwrap();
    let missing = altered("missing.materia", &bytes[..last]).exits(1).json();
    assert!(missing["fault"].as_str().unwrap().contains("ends early"), "{missing}");
    let longer = altered("longer.materia", format!("{text}\n").as_bytes()).exits(1).json();
    assert_eq!(longer["ok"], false, "{longer}");
    for (name, bytes) in
        [("none.materia", &b"hello"[..]), ("empty.materia", b""), ("zero.materia", &[0; 99])]
    {
        let refused = altered(name, bytes).exits(2);
        assert!(refused.out.contains("is not an archive of a cast"), "{refused:?}");
    }
    let newer = text.replacen("\"version\":1", "\"version\":2", 1);
    assert!(altered("newer.materia", newer.as_bytes()).exits(2).out.contains("version 2"));
    bench.run(&["replay", "absent.materia"]).exits(2);
    bench.run(&["replay", "x.materia", "--at", "9999"]).exits(2);
}

/// Lines that look like those of an archive and hold nothing are found, though the closing line was made again.
#[test]
fn a_blob_without_a_hash_is_found_though_the_closing_line_fits() {
    let (bench, bytes) = archived();
    let text = String::from_utf8(bytes).unwrap();
    let (head, rest) = text.split_once('\n').unwrap();
    for line in [
        "{\"blob\":\"../../etc/passwd\",\"text\":\"x\"}",
        "{\"blob\":\"\",\"hex\":\"0\"}",
        "{\"gone\":\"../../etc/passwd\"}",
    ] {
        bench.write("x.materia", &sealed_again(&format!("{head}\n{line}\n{rest}")));
        let found = bench.run(&["replay", "x.materia", "--json"]).exits(1).json();
        let fault = found["fault"].as_str().unwrap();
        assert!(fault.starts_with("line 2 of the archive: this"), "{line}: {found}");
    }
}

/// Seals the events of an archive again, as somebody would who wants to hide a change.
fn sealed_again(text: &str) -> String {
    use std::fmt::Write as _;

    use materia_contract::{ChainHash, Record, RunId};
    #[derive(serde::Deserialize)]
    struct Raw<'a> {
        #[serde(borrow)]
        data: &'a serde_json::value::RawValue,
        #[serde(default, borrow)]
        input: Option<&'a serde_json::value::RawValue>,
    }
    let mut sealed = String::new();
    let mut head = ChainHash::origin(&RunId::new("c1"));
    for line in text.lines() {
        if !line.starts_with("{\"seq\":") {
            if !line.starts_with("{\"end\":") {
                sealed.push_str(line);
                sealed.push('\n');
            }
            continue;
        }
        let parts: Value = serde_json::from_str(line).unwrap();
        let raw: Raw<'_> = serde_json::from_str(line).unwrap();
        let mut record = Record {
            seq: parts["seq"].as_u64().unwrap(),
            ts: parts["ts"].as_i64().unwrap(),
            wall: parts["wall"].as_i64().unwrap(),
            kind: parts["type"].as_str().unwrap().to_owned(),
            node: parts["node"].as_str().map(str::to_owned),
            data: raw.data.get().to_owned(),
            whole: None,
            input: raw.input.map(|input| input.get().to_owned()),
            hash: head,
        };
        record.hash = record.hash_after(head);
        head = record.hash;
        let start = line.rfind(",\"hash\":\"").unwrap();
        let _ = writeln!(sealed, "{},\"hash\":\"{head}\"}}", &line[..start]);
    }
    let hash = blake3::hash(sealed.as_bytes()).to_hex();
    let end = text.lines().last().unwrap();
    let counts = &end[..end.find(",\"hash\"").unwrap()];
    format!("{sealed}{counts},\"hash\":\"{hash}\"}}\n")
}

#[test]
fn an_event_that_does_not_follow_is_found_though_everything_was_hashed_again() {
    let (bench, bytes) = archived();
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(sealed_again(&text), text, "the test seals as materia does");
    // The judge said no; the route that follows is made to say yes.
    let line = text.lines().find(|line| {
        line.contains("\"type\":\"route.selected\"") && line.contains("\"satisfied\":false")
    });
    let line = line.unwrap();
    let seq = serde_json::from_str::<Value>(line).unwrap()["seq"].clone();
    let other =
        text.replacen(line, &line.replacen("\"satisfied\":false", "\"satisfied\":true", 1), 1);
    bench.write("x.materia", &sealed_again(&other));
    let found = bench.run(&["replay", "x.materia", "--json"]).exits(1).json();
    assert_eq!(found["seq"], seq, "{found}");
}

#[test]
fn an_archive_that_would_take_too_much_memory_is_refused() {
    let (bench, bytes) = archived();
    let text = String::from_utf8(bytes).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    let long = format!("{header}\n{{\"seq\":1,\"data\":\"{}\"}}\n{rest}", "x".repeat(9 << 20));
    bench.write("long.materia", &long);
    let refused = bench.run(&["replay", "long.materia"]).exits(2);
    assert!(refused.err.contains("event 1 may have 8 MB at the most"), "{refused:?}");
    let file = fs::File::create(bench.project().join("large.materia")).unwrap();
    file.set_len(300 << 20).unwrap();
    let refused = bench.run(&["show", "large.materia"]).exits(2);
    assert!(refused.err.contains("the file may have 256 MB at the most"), "{refused:?}");
    fs::create_dir(bench.project().join("folder.materia")).unwrap();
    let refused = bench.run(&["show", "folder.materia"]).exits(2);
    assert!(refused.err.contains("is not a file"), "{refused:?}");
}
