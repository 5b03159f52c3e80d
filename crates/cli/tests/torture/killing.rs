//! `kill -9` at two hundred moments.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::bench::finish;
use crate::ledger::Ledger;
use crate::log::Log;
use crate::random::{self, Random};
use crate::tree;
use crate::victim::{TURNS, Victim, wait};

/// How many victims there are at a time.
const LANES: usize = 3;
/// How often one cast is killed at most.
const KILLS_EACH_MAX: usize = 4;

const ID: &str = "victim";
const CAST: [&str; 6] = ["cast", "--trust", "--cast-id", ID, "count", "them"];
const RESUME: [&str; 2] = ["resume", ID];

/// A cast that nobody disturbed.
struct Undisturbed {
    state: Value,
    took: Duration,
}

/// Everything that was seen of a victim up to its last death.
#[derive(Default)]
struct Seen {
    log: Log,
    ledger: Ledger,
}

#[test]
fn killed_at_random_moments_a_cast_ends_as_if_undisturbed() {
    let seed = random::seed();
    let good = undisturbed();
    let kills = random::rounds(60, 200);
    let (killed, next) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let moments = Mutex::new(BTreeMap::<String, usize>::new());
    std::thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                while killed.load(Ordering::Relaxed) < kills {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    for moment in torment(seed, n, &good) {
                        killed.fetch_add(1, Ordering::Relaxed);
                        *moments.lock().unwrap().entry(moment).or_default() += 1;
                    }
                }
            });
        }
    });
    let moments = moments.into_inner().unwrap();
    eprintln!(
        "killed {killed:?} times in {next:?} casts (undisturbed {:?}), after: {moments:#?}",
        good.took
    );
    assert!(
        moments.contains_key("nothing"),
        "none was killed before its cast existed: {moments:?}"
    );
    assert!(moments.len() >= 6, "the moments are all alike: {moments:?}");
}

/// Lets as many as there are lanes run at once, and takes the slowest for the measure.
fn undisturbed() -> Undisturbed {
    let begun = Instant::now();
    let victims: Vec<_> = (0..LANES).map(|n| Victim::new(format!("good-{n}"))).collect();
    let started: Vec<_> = victims.iter().map(|victim| victim.start(&CAST)).collect();
    for (victim, child) in victims.iter().zip(started) {
        victim.complete(child, "undisturbed");
        victim.mark.gone("undisturbed");
    }
    let took = begun.elapsed();
    let report = victims[0].bench.run(&["show", ID, "--json"]).exits(0).json();
    assert_eq!(report["state"]["total"], TURNS, "{report}");
    Undisturbed { state: report["state"].clone(), took }
}

/// Kills one cast up to four times, lets it end, and looks at everything. Gives the moments.
fn torment(series: u64, n: usize, good: &Undisturbed) -> Vec<String> {
    let mut random = Random::new(series, n as u64);
    let victim = Victim::new(n);
    let mut seen = Seen::default();
    let mut moments = Vec::new();
    for round in 0..=random.below(KILLS_EACH_MAX) {
        let what = format!("SEED={series} victim {n} round {round}");
        // Every tenth dies for sure while it still gets ready.
        let span =
            if n.is_multiple_of(10) && round == 0 { good.took / 10 } else { left(&seen.log, good) };
        if !kill_once(&victim, random.time_below(span), &mut seen, &what) {
            break;
        }
        moments.push(last_moment(&seen.log));
    }
    let what = format!("SEED={series} victim {n} at its end");
    if seen.log.of("run.completed").next().is_none() {
        let args = if seen.log.lines.is_empty() { &CAST[..] } else { &RESUME };
        victim.complete(victim.start(args), &what);
    }
    victim.mark.gone(&what);
    look_at_the_end(&victim, &seen, good, &what);
    moments
}

/// How long what is left of a cast may take.
fn left(log: &Log, good: &Undisturbed) -> Duration {
    let done = log.of("turn.completed").count().min(TURNS);
    let turns = |count: usize| u32::try_from(count).expect("they are few");
    // Three turns' time is for getting ready and for the end.
    good.took * turns(TURNS - done + 3) / turns(TURNS + 3)
}

fn last_moment(log: &Log) -> String {
    let Some(last) = log.events.last() else { return "nothing".to_owned() };
    let kind = last["type"].as_str().unwrap();
    format!("{kind}, {} turns complete", log.of("turn.completed").count())
}

/// Casts or resumes and kills that after `delay`; `false` if it had come to its end before.
fn kill_once(victim: &Victim, delay: Duration, seen: &mut Seen, what: &str) -> bool {
    let begun = !seen.log.lines.is_empty();
    if seen.log.of("run.completed").next().is_some() {
        return false;
    }
    let mut child = victim.start(if begun { &RESUME } else { &CAST });
    let follower = begun.then(|| {
        let mut command = victim.bench.command(&["events", ID, "--json", "--follow"]);
        command.stderr(Stdio::piped()).spawn().unwrap()
    });
    std::thread::sleep(delay);
    // By its pid alone, and not if it has just ended by itself.
    let by_itself = child.try_wait().unwrap();
    if by_itself.is_none() {
        tree::signal(&child, Signal::KILL);
    }
    let exit = wait(child, what);
    victim.mark.gone(what);
    let file = victim.bench.project().join(".materia").join(ID).join("events.jsonl");
    let on_file = std::fs::read_to_string(file).unwrap_or_default();
    let heard = follower.map(|mut child| {
        child.kill().unwrap();
        finish(child).out
    });
    let now = Log::read(&victim.bench, ID).unwrap_or_default();
    seen.log.is_kept_in(&now, what);
    same_places(&Log::parse(&on_file), &now, &format!("{what}: events.jsonl"));
    Log::parse(&heard.unwrap_or_default()).is_kept_in(&now, &format!("{what}: --follow"));
    // A round that resumes says again only what happens from then on.
    now.holds_what_was_said(&victim.what_it_said(), what);
    let ledger = Ledger::read(&victim.ledger());
    ledger.agrees(&now, &seen.ledger, &seen.log, what);
    *seen = Seen { log: now, ledger };
    match exit {
        None => true,
        Some(0) => false,
        Some(code) => panic!("{what}: exit {code}: {}", victim.what_it_said()),
    }
}

/// Panics unless the lines of a view are the first ones of the log.
fn same_places(view: &Log, log: &Log, what: &str) {
    assert!(
        view.events.len() <= log.events.len(),
        "{what} has {} events, the journal {}",
        view.events.len(),
        log.events.len()
    );
    for (on_file, kept) in view.events.iter().zip(&log.events) {
        for field in ["seq", "type"] {
            assert_eq!(on_file[field], kept[field], "{what}: {field} of\n{on_file}\n{kept}");
        }
        // What a utility reads is on file as its parts, and folders by name; everything else is there as it is.
        for (name, value) in on_file["data"].as_object().unwrap() {
            let in_parts = name == "input" && value.get("hash").is_some();
            let folder = ["cwd", "runDir"].contains(&name.as_str());
            let named = folder && value.as_str().is_some_and(|value| value.starts_with('{'));
            assert!(
                in_parts || named || *value == kept["data"][name],
                "{what}: {name} of\n{on_file}\n{kept}"
            );
        }
        // A view cuts the hash short.
        let (short, whole) = (on_file["hash"].as_str().unwrap(), kept["hash"].as_str().unwrap());
        assert!(!short.is_empty() && whole.starts_with(short), "{what}: {short} of {whole}");
    }
}

fn look_at_the_end(victim: &Victim, seen: &Seen, good: &Undisturbed, what: &str) {
    let bench = &victim.bench;
    let report = bench.run(&["show", ID, "--json"]).exits(0).json();
    assert_eq!(report["status"], "completed", "{what}: {report}");
    assert_eq!(report["state"], good.state, "{what}");
    let log = Log::read(bench, ID).unwrap();
    seen.log.is_kept_in(&log, what);
    Ledger::read(&victim.ledger()).agrees(&log, &seen.ledger, &seen.log, what);
    assert_eq!(log.of("turn.completed").count(), TURNS, "{what}: {report}");
    if seen.log.of("run.completed").next().is_none() {
        on_file_as_well(victim, &log, what);
    }
    let replay = bench.run(&["replay", ID, "--json"]);
    assert_eq!(replay.exit, 0, "{what}: {replay:?}");
    assert_eq!(replay.json()["lastHash"], log.events.last().unwrap()["hash"], "{what}");
    // Where the kill came between the last event and the files, nobody but `replay` mends them.
    on_file_as_well(victim, &log, what);
}

fn on_file_as_well(victim: &Victim, log: &Log, what: &str) {
    let on_file = Log::parse(&victim.bench.read(&format!(".materia/{ID}/events.jsonl")));
    let (found, expected) = (on_file.events.len(), log.events.len());
    assert_eq!(found, expected, "{what}: events.jsonl is not up to date");
    same_places(&on_file, log, &format!("{what}: events.jsonl"));
}
