//! Chance that can be repeated.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A small generator (`SplitMix64`): one seed is one series.
pub(crate) struct Random(u64);

impl Random {
    /// The `n`th series of a seed.
    pub(crate) fn new(seed: u64, n: u64) -> Self {
        let mut random = Self(seed ^ n.wrapping_mul(0xA076_1D64_78BD_642F));
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    /// A time below `end`.
    pub(crate) fn time_below(&mut self, end: Duration) -> Duration {
        let micros = u64::try_from(end.as_micros()).unwrap().max(1);
        Duration::from_micros(self.next() % micros)
    }
}

/// The seed of this run, which is said so that it can be asked for again.
pub(crate) fn seed() -> u64 {
    let seed = match std::env::var("SEED") {
        Ok(text) => text.parse().expect("SEED is a number"),
        Err(_) => u64::from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos()),
    };
    eprintln!("SEED={seed}");
    seed
}

/// How often something is tried: the first number, or the second in a run of `scripts/test --long`.
pub(crate) fn rounds(usual: usize, long: usize) -> usize {
    if std::env::var_os("MATERIA_LONG").is_some() { long } else { usual }
}
