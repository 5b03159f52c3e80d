//! Repeatable random numbers: one seed is one history.

/// `SplitMix64`: small, fast, and the same everywhere.
#[derive(Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        // Neighbouring seeds must not give alike histories.
        let mut dice = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d);
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Any number that a float can be, but for those that are none.
    pub(crate) fn float(&mut self) -> f64 {
        let float = f64::from_bits(self.next());
        if float.is_finite() { float } else { 4.964_670_416_023_219e-8 }
    }

    /// A number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("it is below a usize")
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn within(&mut self, low: u32, high: u32) -> u32 {
        low + u32::try_from(self.next() % u64::from(high - low + 1)).expect("it is below a u32")
    }

    /// True so many times in a hundred.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// One of the choices, each as likely as its weight says.
    pub(crate) fn weighted<T: Copy>(&mut self, choices: &[(u64, T)]) -> T {
        let sum: u64 = choices.iter().map(|(weight, _)| weight).sum();
        let mut left = self.next() % sum;
        for (weight, choice) in choices {
            if left < *weight {
                return *choice;
            }
            left -= weight;
        }
        unreachable!("the rest is below the sum")
    }

    /// `Some` of it so many times in a hundred.
    pub(crate) fn maybe<T>(
        &mut self,
        percent: u64,
        make: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        if self.percent(percent) { Some(make(self)) } else { None }
    }
}
