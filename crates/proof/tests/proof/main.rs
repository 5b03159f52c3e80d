//! Bounds and exploration, compared with each other on generated graphs, and tested with planted faults.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agree;
mod graphs;
mod planted;

/// How many of something are tried: a few in an ordinary run, all with `MATERIA_LONG=1`.
fn sample(few: u64, all: u64) -> u64 {
    if std::env::var_os("MATERIA_LONG").is_some() { all } else { few }
}
