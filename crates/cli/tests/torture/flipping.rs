//! One flipped byte in a stored event.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::bench::{Bench, Ran};
use crate::log::Log;
use crate::random::{self, Random};
use crate::victim;

/// Bytes that are flipped inside events.
const FLIPS: usize = 60;
/// Bytes that are flipped anywhere in the file.
const WILD_FLIPS: usize = 40;
/// How far behind a hash its event stands at the most.
const ROW: usize = 3_000;
/// How much of an event is looked for in the file: short enough to lie on one page as a rule.
const WINDOW: usize = 40;

/// Two casts in one journal: one to be damaged, one to be left alone.
struct Pair {
    bench: Bench,
    log: Log,
    other: Log,
    bytes: Vec<u8>,
}

/// A byte of an event, and every place in the file where it lies. There can be several: `SQLite`
/// leaves old copies behind when it splits a page.
struct Spot {
    seq: u64,
    what: String,
    places: Vec<usize>,
}

impl Pair {
    fn new() -> Self {
        let victim = victim::Victim::new("flip");
        for id in ["one", "two"] {
            let args = ["cast", "--trust", "--cast-id", id, "the request of", id];
            victim.complete(victim.start(&args), "undisturbed");
        }
        let log = Log::read(&victim.bench, "one").unwrap();
        let other = Log::read(&victim.bench, "two").unwrap();
        let bench = victim.bench;
        assert!(!bench.has(".materia/journal.db-wal"), "the last one out empties the log");
        let bytes = fs::read(bench.project().join(".materia/journal.db")).unwrap();
        Self { bench, log, other, bytes }
    }

    fn path(&self) -> PathBuf {
        self.bench.project().join(".materia/journal.db")
    }

    /// Runs a command on the journal with these bytes changed.
    fn with(&self, places: &[usize], mask: u8, then: impl FnOnce(&Bench)) {
        let mut bytes = self.bytes.clone();
        for place in places {
            bytes[*place] ^= mask;
        }
        for beside in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{beside}", self.path().display()));
        }
        fs::write(self.path(), bytes).unwrap();
        then(&self.bench);
    }

    fn find(&self, wanted: &[u8]) -> Vec<usize> {
        self.bytes
            .windows(wanted.len())
            .enumerate()
            .filter(|(_, window)| *window == wanted)
            .map(|(at, _)| at)
            .collect()
    }

    /// A byte of the data, type, node, time or hash of some event of the first cast.
    fn spot(&self, random: &mut Random) -> Spot {
        loop {
            let index = random.below(self.log.events.len());
            let (event, line) = (&self.log.events[index], &self.log.lines[index]);
            let seq = event["seq"].as_u64().unwrap();
            let (field, wanted) = match random.below(6) {
                0 => ("hash", from_hex(event["hash"].as_str().unwrap())),
                1 if event.get("inputHash").is_some() => {
                    let (offset, places) = self.spot_in_times(event, random);
                    return Spot { seq, what: format!("byte {offset} of its times"), places };
                }
                1 | 2 => {
                    let (offset, places) = self.spot_before_data(event, line, random);
                    if places.is_empty() {
                        continue;
                    }
                    return Spot { seq, what: format!("byte {offset} before its data"), places };
                }
                _ => ("data", data(line).as_bytes().to_vec()),
            };
            let from = random.below(wanted.len());
            let window = &wanted[from..wanted.len().min(from + WINDOW)];
            if window.len() < 8 || (field == "data" && !self.is_alone(window)) {
                continue;
            }
            let offset = random.below(window.len());
            let places: Vec<usize> = self.find(window).iter().map(|at| at + offset).collect();
            if !places.is_empty() {
                return Spot {
                    seq,
                    what: format!("byte {} of its {field}", from + offset),
                    places,
                };
            }
        }
    }

    /// A byte of the times of a decision: that of its first event, eight bytes, and how far the clock
    /// lagged behind it (no byte for 0 and 1). The hash of that event stands behind them.
    fn spot_in_times(&self, event: &Value, random: &mut Random) -> (usize, Vec<usize>) {
        let hash = stored_hash(event);
        let time = event["ts"].as_i64().unwrap().to_be_bytes();
        let rows = self.find(&time).into_iter();
        let rows: Vec<(usize, usize)> = rows
            .filter_map(|at| {
                let behind = |lag: &usize| self.bytes[at + 8 + lag..].starts_with(&hash);
                (0..=8).find(behind).map(|lag| (at, lag))
            })
            .collect();
        let lag = rows.first().map_or(0, |(_, lag)| *lag);
        let offset = random.below(8 + lag);
        let places: Vec<usize> = rows.iter().map(|(at, _)| at + offset).collect();
        assert!(!places.is_empty(), "the row of {event} is not in the file");
        (offset, places)
    }

    /// A byte of an event's type or node, which stand before its data. Another cast may have an event
    /// just like it; that of this one is in the row with its hash.
    fn spot_before_data(
        &self,
        event: &Value,
        line: &str,
        random: &mut Random,
    ) -> (usize, Vec<usize>) {
        let words = format!("[{},{},", event["type"], event.get("nodeId").unwrap_or(&Value::Null));
        let begun: String = data(line).chars().take(60).collect();
        let wanted = format!("{words}{begun}").into_bytes();
        let hashes = self.find(&stored_hash(event)).into_iter();
        let offset = random.below(words.len());
        let places = hashes.filter_map(|at| {
            let row = &self.bytes[at..self.bytes.len().min(at + ROW)];
            let found = row.windows(wanted.len()).position(|window| window == wanted)?;
            Some(at + found + offset)
        });
        (offset, places.collect())
    }

    /// Whether a text is in the data of one event only, and in no other table.
    fn is_alone(&self, window: &[u8]) -> bool {
        let lines = self.log.lines.iter().chain(&self.other.lines);
        let holders = lines
            .filter(|line| data(line).as_bytes().windows(window.len()).any(|part| part == window));
        let listed = b"the request of one";
        holders.count() == 1 && !listed.windows(window.len()).any(|part| part == window)
    }
}

/// The data of an event as it is stored: the line has it unchanged.
fn data(line: &str) -> &str {
    let from = line.find("\"data\":").unwrap() + "\"data\":".len();
    &line[from..line.rfind(",\"prevHash\":").unwrap()]
}

/// The bytes of an event's hash that are stored in any case.
fn stored_hash(event: &Value) -> Vec<u8> {
    from_hex(&event["hash"].as_str().unwrap()[..8])
}

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

#[test]
fn a_flipped_byte_in_an_event_is_found_and_named_and_the_others_stay_readable() {
    let seed = random::seed();
    let mut random = Random::new(seed, 0);
    let pair = Pair::new();
    for n in 0..FLIPS {
        let spot = pair.spot(&mut random);
        let mask = u8::try_from(1 + random.below(255)).unwrap();
        let what = format!(
            "SEED={seed} flip {n}: event {}, {}, mask {mask:#04x}, at {:?}",
            spot.seq, spot.what, spot.places
        );
        pair.with(&spot.places, mask, |bench| {
            let ran = bench.run(&["replay", "one", "--json"]);
            assert_eq!(ran.exit, 1, "{what}: {ran:?}");
            let found = ran.json();
            assert_eq!(found["ok"], false, "{what}: {found}");
            assert_eq!(found["seq"], spot.seq, "{what}: {found}");
            assert!(ran.err.contains(&format!("event {}", spot.seq)), "{what}: {ran:?}");
            for args in [&["show", "one"][..], &["events", "one"], &["resume", "one"]] {
                sane(&bench.run(args), &what);
            }
            intact(&pair, bench, &what);
        });
    }
}

/// The undamaged cast can be read and verified.
fn intact(pair: &Pair, bench: &Bench, what: &str) {
    let ran = bench.run(&["replay", "two", "--json"]);
    assert_eq!(ran.exit, 0, "{what}: the other cast: {ran:?}");
    let ran = bench.run(&["show", "two", "--json"]);
    assert_eq!(ran.exit, 0, "{what}: the other cast: {ran:?}");
    assert_eq!(Log::read(bench, "two").unwrap().lines, pair.other.lines, "{what}");
    let ran = bench.run(&["casts", "--json"]);
    assert_eq!((ran.exit, ran.lines().len()), (0, 2), "{what}: {ran:?}");
}

/// It may refuse, but in words.
fn sane(ran: &Ran, what: &str) {
    assert!((0..=2).contains(&ran.exit), "{what}: {ran:?}");
    assert!(!ran.err.contains("panicked"), "{what}: {ran:?}");
    assert!(ran.exit == 0 || ran.err.contains("error: "), "{what}: {ran:?}");
}

#[test]
fn a_flipped_byte_anywhere_in_the_file_is_never_taken_for_the_truth() {
    let seed = random::seed();
    let mut random = Random::new(seed, 1);
    let pair = Pair::new();
    for n in 0..WILD_FLIPS {
        let place = random.below(pair.bytes.len());
        let mask = u8::try_from(1 + random.below(255)).unwrap();
        let what = format!("SEED={seed} flip {n}: byte {place}, mask {mask:#04x}");
        pair.with(&[place], mask, |bench| {
            for (id, log) in [("one", &pair.log), ("two", &pair.other)] {
                let ran = bench.run(&["replay", id, "--json"]);
                sane(&ran, &what);
                if ran.exit == 0 {
                    let last = log.events.last().unwrap();
                    assert_eq!(ran.json()["lastHash"], last["hash"], "{what}: {ran:?}");
                }
            }
            sane(&bench.run(&["casts"]), &what);
        });
    }
}
