//! Runs in a hostile world: turns that end in any order, twice, late or badly; people who meddle;
//! crashes at any event; clocks that jump.
//!
//! One seed is one graph and one history, without a clock, a file or a thread in it. A failure prints
//! its seed, and `MATERIA_SIM_SEED=n cargo nextest run -p materia-kernel --test sim` plays that one
//! again. `MATERIA_SIM_SEEDS=500000` plays more of them, `MATERIA_SIM_FROM=5000` those from there on.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm,
    clippy::print_stdout,
    clippy::similar_names,
    reason = "a test that cannot go on has failed, and looks only at what it is about"
)]

mod again;
mod alter;
mod answers;
mod dice;
mod files;
mod forge;
mod graph;
mod happenings;
mod notes;
mod rest;
mod sometimes;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

use sometimes::Sometimes;
use world::World;

/// Histories that every run of the tests plays. `scripts/test --long` plays more.
const SEEDS: u64 = 5_000;

/// Fields of each that are altered, one at a time; and as often something that follows from its inputs.
const ALTERATIONS: usize = 2;

/// One history: safety while anything may happen, then rest once the faults have stopped.
fn simulate(seed: u64, seen: &mut Sometimes, tells: bool) {
    let mut world = World::begin(seed, seen, tells);
    for _ in 0..4 + world.dice.below(30) {
        world.move_on();
    }
    world.settle_down();
    world.help();
    again::explains(&world);
    again::notices(&mut world);
    for _ in 0..ALTERATIONS {
        let told = match alter::one(&mut world) {
            alter::Found::Reading => "altered field: found by reading".to_owned(),
            alter::Found::Both => "altered field: found by both".to_owned(),
            alter::Found::Deciding => "altered field: found by deciding again".to_owned(),
            alter::Found::Verifier => "altered field: found by the second opinion alone".to_owned(),
            alter::Found::Unfindable(name) => format!("altered field: nobody can find {name}"),
        };
        world.seen.note(&told);
        let forged = forge::one(&mut world);
        world.seen.note(&format!("forged: {forged}"));
    }
    if world.dice.percent(30) {
        again::forks(&mut world);
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Plays seeds of one thread's share; the first that fails ends it.
fn play(seeds: impl Iterator<Item = u64>) -> Result<Sometimes, u64> {
    let mut seen = Sometimes::default();
    for seed in seeds {
        catch_unwind(AssertUnwindSafe(|| simulate(seed, &mut seen, false))).map_err(|_| seed)?;
    }
    Ok(seen)
}

#[test]
fn histories_of_a_hostile_world() {
    if let Some(seed) = number("MATERIA_SIM_SEED") {
        simulate(seed, &mut Sometimes::default(), true);
        return;
    }
    let usual = if std::env::var_os("MATERIA_LONG").is_some() { 10_000 } else { SEEDS };
    let seeds = number("MATERIA_SIM_SEEDS").unwrap_or(usual);
    let from = number("MATERIA_SIM_FROM").unwrap_or(0);
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let played: Vec<Result<Sometimes, u64>> = std::thread::scope(|scope| {
        let share = |nth: u64| (from + nth..seeds).step_by(usize::try_from(threads).unwrap());
        let handles: Vec<_> =
            (0..threads).map(|nth| scope.spawn(move || play(share(nth)))).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    let mut seen = Sometimes::default();
    for result in played {
        match result {
            Ok(of_thread) => seen.merge(of_thread),
            Err(seed) => panic!(
                "seed {seed} failed; play it again with\n  MATERIA_SIM_SEED={seed} cargo nextest run -p materia-kernel --test sim"
            ),
        }
    }
    println!("{seen}");
    if seeds - from >= SEEDS {
        assert_eq!(seen.missing(), Vec::<&str>::new(), "states that were never reached");
    }
}
