//! A disk that fills up, at many places.
//!
//! The project lies on a small file system of its own, which only the superuser can make. Others
//! skip this; the journal's own tests fill a file instead.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Map, Value, json};

use crate::bench::{Bench, Ran};
use crate::log::Log;

/// Sockets in a row; each says 30 KB, which lie in the journal and in a file.
const SOCKETS: usize = 12;
/// Sizes of the disk in KiB, from too small for anything to almost enough.
const SIZES: [usize; 14] = [16, 48, 80, 112, 144, 176, 208, 272, 400, 528, 656, 784, 912, 1_040];
const LARGE: usize = 64 * 1024;

const CAST: [&str; 6] = ["cast", "--trust", "--cast-id", "c1", "--json", "go"];

/// A small disk over the folder of a project.
struct Disk {
    bench: Bench,
}

impl Disk {
    /// `None`, with the reason said, where it cannot be made.
    fn new(kib: usize) -> Option<Self> {
        let bench = Bench::new();
        let made = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={kib}k"), "none"])
            .arg(bench.project())
            .output();
        match made {
            Ok(output) if output.status.success() => {}
            other => {
                eprintln!("skipped: no file system can be mounted here: {other:?}");
                return None;
            }
        }
        let disk = Self { bench };
        // Small enough to fit even the smallest.
        disk.bench.write("materia.json", &config().to_string());
        Some(disk)
    }

    fn grow(&self, kib: usize) {
        let options = format!("remount,size={kib}k");
        let grown = Command::new("mount").args(["-o", &options]).arg(self.bench.project()).output();
        let grown = grown.unwrap();
        assert!(grown.status.success(), "{grown:?}");
    }

    fn folder(&self) -> PathBuf {
        self.bench.project().join(".materia/c1")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: a failed test must not leave it behind because somebody still looks at it.
        let _ = Command::new("umount").arg("-l").arg(self.bench.project()).status();
    }
}

fn config() -> Value {
    let sockets: Map<String, Value> = (0..SOCKETS)
        .map(|n| {
            let to = if n + 1 < SOCKETS { format!("s{}", n + 1) } else { "end".to_owned() };
            (format!("s{n}"), json!({ "materia": "M", "edges": [{ "to": to }] }))
        })
        .collect();
    json!({
        "activeLoadout": "L",
        "loadouts": { "L": { "entry": "s0", "sockets": sockets } },
        "materia": { "M": { "type": "utility", "command": ["sh", "-c", "printf '%030000d' 7"] } },
    })
}

/// Where it does not complete it says that the disk is full.
fn says_so(ran: &Ran, what: &str) {
    let lower = ran.err.to_lowercase();
    assert!(
        lower.contains("disk is full") || lower.contains("no space left"),
        "{what}: nothing about a full disk: {ran:?}"
    );
    assert!(!lower.contains("panicked"), "{what}: {ran:?}");
}

#[test]
fn a_disk_that_fills_up_loses_nothing_and_once_grown_lets_the_cast_go_on() {
    let (mut broken_off, mut held) = (0, 0);
    for kib in SIZES {
        let Some(disk) = Disk::new(kib) else { return };
        let what = format!("a disk of {kib} KiB");
        let ran = disk.bench.run(&CAST);
        match ran.exit {
            0 => {}
            1 => {
                says_so(&ran, &what);
                assert!(ran.err.contains("materia resume c1"), "{what}: {ran:?}");
                broken_off += 1;
            }
            2 => {
                says_so(&ran, &what);
                assert_eq!(ran.json()["error"]["code"], "storage", "{what}: {ran:?}");
                assert!(!disk.folder().exists(), "{what}: a refusal leaves no cast folder");
            }
            // It was measured in time: nothing starts that could not be written down.
            3 => {
                assert!(ran.err.contains("have to stay free"), "{what}: {ran:?}");
                assert_eq!(ran.json()["status"], "waiting", "{what}: {ran:?}");
                held += 1;
            }
            _ => panic!("{what}: {ran:?}"),
        }
        // Still full. What is there can be looked at, or it is said why not.
        let shown = disk.bench.run(&["show", "c1", "--json"]);
        assert!(matches!(shown.exit, 0 | 2), "{what}: {shown:?}");
        let early = disk.bench.run(&["resume", "c1"]);
        assert!(matches!(early.exit, 1..=3), "{what}: {early:?}");
        disk.grow(LARGE);
        go_on(&disk, &ran, &what);
    }
    assert!(broken_off + held >= 4, "{broken_off} broke off in the middle, {held} were held");
}

/// With room again the cast goes on where it was, and its files are whole again.
fn go_on(disk: &Disk, ran: &Ran, what: &str) {
    let before = Log::read(&disk.bench, "c1").unwrap_or_default();
    match ran.exit {
        1 | 3 => assert!(!before.lines.is_empty(), "{what}: it had begun and is gone"),
        2 => assert!(before.lines.is_empty(), "{what}: it was refused and is there"),
        _ => {}
    }
    let args = if before.lines.is_empty() { &CAST[..] } else { &["resume", "c1", "--json"] };
    if ran.exit != 0 {
        let after = disk.bench.run(args);
        assert_eq!(after.exit, 0, "{what}, grown: {after:?}");
        assert_eq!(after.json()["status"], "completed", "{what}");
    }
    let log = Log::read(&disk.bench, "c1").unwrap();
    before.is_kept_in(&log, what);
    assert_eq!(log.of("turn.completed").count(), SOCKETS, "{what}");
    let replay = disk.bench.run(&["replay", "c1"]);
    assert_eq!(replay.exit, 0, "{what}: {replay:?}");
    for n in 0..SOCKETS {
        let attempts = log.count("turn.started", &format!("s{n}"), &json!(1));
        let file = disk.folder().join(format!("sockets/s{n}/1-{attempts}.stdout"));
        let size = fs::metadata(&file).map(|found| found.len()).unwrap_or_default();
        assert_eq!(size, 30_000, "{what}: {}", file.display());
    }
}

#[test]
fn on_a_full_disk_nothing_begins_and_nothing_is_left() {
    let Some(disk) = Disk::new(64) else { return };
    // Until not one byte more fits.
    let mut filler = fs::File::create(disk.bench.project().join("filler")).unwrap();
    let page = [b'x'; 4_096];
    while std::io::Write::write_all(&mut filler, &page).is_ok() {}
    let ran = disk.bench.run(&CAST).exits(2);
    says_so(&ran, "a full disk");
    assert_eq!(ran.json()["error"]["code"], "storage", "{ran:?}");
    assert!(!disk.folder().exists());
    disk.grow(LARGE);
    disk.bench.run(&CAST).exits(0);
    disk.bench.run(&["replay", "c1"]).exits(0);
}

/// No process has the journal open, so `SQLite` would have to make files before it reads.
#[test]
fn past_casts_can_be_read_while_the_disk_is_full() {
    let Some(disk) = Disk::new(LARGE) else { return };
    disk.bench.run(&CAST).exits(0);
    let mut filler = fs::File::create(disk.bench.project().join("filler")).unwrap();
    let page = [b'x'; 4_096];
    while std::io::Write::write_all(&mut filler, &page).is_ok() {}
    for command in [&["show", "c1"][..], &["why", "c1", "s3"], &["events", "c1"], &["replay", "c1"]]
    {
        disk.bench.run(command).exits(0);
    }
    let listed = disk.bench.run(&["casts", "--json"]).exits(0).lines();
    assert_eq!((listed.len(), &listed[0]["status"]), (1, &json!("completed")));
}

/// A small disk has a floor as well, of less than a megabyte, and it is looked at before the first turn starts.
#[test]
fn below_its_floor_even_the_first_turn_does_not_start() {
    const KIB: usize = 12_000;
    let Some(disk) = Disk::new(KIB) else { return };
    // Room for the beginning of a cast, and less than a twentieth of the disk.
    let filler = fs::File::create(disk.bench.project().join("filler")).unwrap();
    rustix::fs::fallocate(
        &filler,
        rustix::fs::FallocateFlags::empty(),
        0,
        (KIB as u64 - 580) << 10,
    )
    .unwrap();
    let ran = disk.bench.run(&CAST).exits(3);
    let report = ran.json();
    assert_eq!(report["waiting"]["reason"], "budget", "{report}");
    assert!(ran.err.contains("bytes have to stay free"), "{ran:?}");
    let log = Log::read(&disk.bench, "c1").unwrap();
    assert_eq!(log.of("turn.started").count(), 0, "nothing has started");
    assert_eq!(log.of("storage.measured").count(), 1);
    disk.bench.run(&["replay", "c1"]).exits(0);
    // Nor when it is carried on, until there is room.
    disk.bench.run(&["resume", "c1"]).exits(3);
    assert_eq!(Log::read(&disk.bench, "c1").unwrap().of("turn.started").count(), 0);
    drop(filler);
    fs::remove_file(disk.bench.project().join("filler")).unwrap();
    disk.bench.run(&["resume", "c1"]).exits(0);
    disk.bench.run(&["replay", "c1"]).exits(0);
}

/// Asks a server of this bench.
fn ask(bench: &Bench, method: &str, path: &str, body: &Value) -> Option<(u16, Value)> {
    crate::serving::ask(bench, method, path, &format!("key-of:{path}"), body)
}

#[test]
fn a_server_whose_disk_fills_up_says_so_goes_on_answering_and_carries_on_once_there_is_room() {
    let Some(disk) = Disk::new(LARGE) else { return };
    let bench = &disk.bench;
    bench.run(&["cast", "--trust", "--cast-id", "first", "go"]).exits(0);
    let server = bench.start(&["serve", "--listen", "127.0.0.1:0"]);
    crate::bench::until("the server answers", || {
        ask(bench, "GET", "/api/projects", &Value::Null).is_some()
    });
    // Room for a part of a cast.
    disk.grow(used(bench) + 300);
    let begun = ask(bench, "POST", "/api/casts", &json!({ "castId": "second", "noRequest": true }));
    let is_there = matches!(begun, Some((201, _)));
    if !is_there {
        let (status, problem) = begun.unwrap();
        assert_eq!((status, &problem["code"]), (500, &json!("storage")), "{problem}");
    }
    // However full it is, questions are answered, and no more begins than there is room for.
    crate::bench::until("nobody drives it any more", || {
        let (_, list) = ask(bench, "GET", "/api/casts", &Value::Null).unwrap();
        list["items"].as_array().unwrap().iter().all(|cast| cast["driven"] == false)
    });
    let held = ask(bench, "GET", "/api/casts/second", &Value::Null);
    let completed = held.is_some_and(|(_, cast)| cast["status"] == "completed");
    assert!(!completed, "there was room for all of it");
    let (status, first) = ask(bench, "GET", "/api/casts/first", &Value::Null).unwrap();
    assert_eq!((status, &first["status"]), (200, &json!("completed")));
    disk.grow(LARGE);
    if is_there {
        let resumed = ask(bench, "POST", "/api/casts/second/commands", &json!({ "do": "resume" }));
        assert!(matches!(resumed, Some((200 | 202, _))), "{resumed:?}");
        crate::bench::until("it goes on once there is room", || {
            let cast = ask(bench, "GET", "/api/casts/second", &Value::Null);
            cast.is_some_and(|(_, cast)| cast["status"] == "completed")
        });
        bench.run(&["replay", "second"]).exits(0);
    }
    bench.run(&["replay", "first"]).exits(0);
    bench.run(&["stop"]).exits(0);
    drop(server);
}

/// How many KiB the project takes.
fn used(bench: &Bench) -> usize {
    let output = Command::new("du").args(["-sk"]).arg(bench.project()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}
