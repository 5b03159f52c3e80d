//! How long looks take: `cargo nextest run -p materia-workspace measure --run-ignored only --no-capture`.

#![expect(clippy::print_stderr, reason = "figures are for whoever runs it")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{House, git, write};

const FILES: usize = 50_000;
const ROUNDS: usize = 11;

fn median(mut all: Vec<Duration>) -> f64 {
    all.sort();
    all[all.len() / 2].as_secs_f64() * 1e3
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn status(files: &Path) {
    git(files, &["status", "--porcelain"]);
}

#[test]
#[ignore = "takes half a minute"]
fn a_look_costs_little_more_than_git_status() {
    let house = House::new();
    for number in 0..FILES {
        let path =
            house.project().join(format!("d{}/e{}/{number}.txt", number / 1000, number / 50 % 20));
        write(&path, &format!("{number}\n"));
    }
    house.git(["add", "-A"]);
    house.git(["commit", "-q", "-m", "many"]);
    let base = house.base();
    let place = house.place("one");
    let begun = Instant::now();
    let (workspace, first) = materia_workspace::create(&place, &base, false).unwrap();
    eprintln!("create: {:.0} ms", begun.elapsed().as_secs_f64() * 1e3);
    let files = place.checkout();
    std::thread::sleep(Duration::from_millis(1_100));
    status(&files);
    workspace.look().unwrap();
    for (what, act) in [
        ("nothing changed", (|_, _| {}) as fn(&Path, usize)),
        ("a file changed", |files, round| {
            fs::write(files.join("d7/e7/7350.txt"), format!("round {round}\n")).unwrap();
        }),
        ("a commit", |files, round| {
            fs::write(files.join("d8/e7/8350.txt"), format!("round {round}\n")).unwrap();
            git(files, &["commit", "-qam", "more"]);
        }),
    ] {
        let (mut floor, mut looks) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            act(&files, round);
            floor.push(timed(|| status(&files)));
            looks.push(timed(|| drop(workspace.look().unwrap())));
        }
        let (floor, look) = (median(floor), median(looks));
        eprintln!(
            "{what}: git status {floor:.0} ms, look {look:.0} ms, {:.0} ms more",
            look - floor
        );
        assert!(look - floor < 60.0 || cfg!(debug_assertions), "{what}");
    }
    let begun = Instant::now();
    workspace.put_back(&first).unwrap();
    eprintln!("put back: {:.0} ms", begun.elapsed().as_secs_f64() * 1e3);
    let begun = Instant::now();
    workspace.remove().unwrap();
    eprintln!("remove: {:.0} ms", begun.elapsed().as_secs_f64() * 1e3);
}
