//! Twenty at once in one project, and half of them killed.

use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::ledger::Ledger;
use crate::log::Log;
use crate::random::{self, Random};
use crate::tree;
use crate::victim::{TURNS, Victim, wait};

const CROWD: usize = 20;
/// The longest time between two killings.
const GAP_MAX: Duration = Duration::from_millis(90);

#[test]
fn of_twenty_at_once_half_are_killed_and_all_come_to_their_end() {
    let seed = random::seed();
    let mut random = Random::new(seed, 2);
    let victim = Victim::new("crowd");
    let ids: Vec<String> = (0..CROWD).map(|n| format!("c{n}")).collect();
    let started: Vec<Child> = ids.iter().map(|id| start(&victim, id, "cast")).collect();
    let mut before: Vec<Log> = vec![Log::default(); CROWD];
    let (doomed, spared): (Vec<_>, Vec<_>) =
        started.into_iter().enumerate().partition(|(n, _)| n % 2 == 1);
    let mut killed = Vec::new();
    for (n, child) in doomed {
        std::thread::sleep(random.time_below(GAP_MAX));
        tree::signal(&child, Signal::KILL);
        killed.push((n, wait(child, &ids[n])));
    }
    for (n, child) in spared {
        let what = format!("SEED={seed} {} beside killed ones", ids[n]);
        assert_eq!(wait(child, &what), Some(0), "{what}: {}", said(&victim, &ids[n]));
    }
    victim.mark.gone("twenty at once");
    // All at once again: they open a journal that ten have just been torn away from.
    let mut again = Vec::new();
    for (n, exit) in killed {
        before[n] = Log::read(&victim.bench, &ids[n]).unwrap_or_default();
        if exit.is_none() && before[n].of("run.completed").next().is_none() {
            let verb = if before[n].lines.is_empty() { "cast" } else { "resume" };
            again.push((n, start(&victim, &ids[n], verb)));
        }
    }
    eprintln!("{} were cut off in the middle", again.len());
    for (n, child) in again {
        let what = format!("SEED={seed} {} again", ids[n]);
        assert_eq!(wait(child, &what), Some(0), "{what}: {}", said(&victim, &ids[n]));
    }
    victim.mark.gone("all at once again");
    let listed = victim.bench.run(&["casts", "--json"]).exits(0).lines();
    assert_eq!(listed.len(), CROWD, "SEED={seed}: {listed:?}");
    for (id, before) in ids.iter().zip(&before) {
        let what = format!("SEED={seed} {id}");
        let report = victim.bench.run(&["show", id, "--json"]).exits(0).json();
        assert_eq!(report["status"], "completed", "{what}: {report}");
        assert_eq!(report["state"]["total"], TURNS, "{what}: {report}");
        let log = Log::read(&victim.bench, id).unwrap();
        before.is_kept_in(&log, &what);
        Ledger::read(&ledger(&victim, id)).agrees(&log, &Ledger::default(), &Log::default(), &what);
        let replay = victim.bench.run(&["replay", id]);
        assert_eq!(replay.exit, 0, "{what}: {replay:?}");
    }
}

fn start(victim: &Victim, id: &str, verb: &str) -> Child {
    let args = match verb {
        "cast" => vec!["cast", "--trust", "--cast-id", id, "together"],
        _ => vec!["resume", id],
    };
    let mut command = victim.bench.command(&args);
    victim.mark.on(&mut command).env("LEDGER", ledger(victim, id));
    let said = std::fs::File::create(ledger(victim, id).with_extension("stderr")).unwrap();
    command.stdout(Stdio::null()).stderr(said).spawn().unwrap()
}

fn ledger(victim: &Victim, id: &str) -> std::path::PathBuf {
    victim.ledger().with_file_name(format!("{id}.ledger"))
}

fn said(victim: &Victim, id: &str) -> String {
    std::fs::read_to_string(ledger(victim, id).with_extension("stderr")).unwrap()
}
