//! Counters of the process, and medians.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time of the whole process so far, all threads, user and system.
pub(crate) fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// CPU time since an earlier reading.
pub(crate) fn cpu_since(before: Duration) -> Duration {
    cpu_time().saturating_sub(before)
}

/// The most memory that the process ever had, in megabytes; 0 where the system does not say.
pub(crate) fn peak_memory_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
    kib.unwrap_or(0.0) * 1024.0 / 1e6
}

/// The middle one, or the mean of the two in the middle. 0 of nothing.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    match (values.len() / 2, values.len() % 2) {
        (0, 0) => 0.0,
        (middle, 0) => f64::midpoint(values[middle - 1], values[middle]),
        (middle, _) => values[middle],
    }
}

/// The first quartile, the median and the third quartile, each one of the values. Zeros of nothing.
pub(crate) fn quartiles(values: impl IntoIterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    [1, 2, 3].map(|nth| values.get((last * nth + 2) / 4).copied().unwrap_or_default())
}

/// The value that only one of a hundred exceeds. 0 of nothing.
pub(crate) fn percentile_99(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    values.get(last - last / 100).copied().unwrap_or_default()
}

/// A count as a factor. Counts here are far below 2^52.
#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        let cases: [(&[f64], f64); 4] =
            [(&[], 0.0), (&[3.0], 3.0), (&[9.0, 1.0, 2.0], 2.0), (&[4.0, 1.0, 2.0, 9.0], 3.0)];
        for (values, expected) in cases {
            assert!((median(values.iter().copied()) - expected).abs() < 1e-9, "{values:?}");
        }
    }

    #[test]
    fn places_among_values() {
        let all = |count: u32| (1..=count).rev().map(f64::from);
        let same = |found: &[f64], expected: &[f64]| {
            assert!(found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-9));
        };
        same(&quartiles(all(5)), &[2.0, 3.0, 4.0]);
        same(&quartiles(all(1)), &[1.0, 1.0, 1.0]);
        same(&quartiles([]), &[0.0, 0.0, 0.0]);
        same(
            &[percentile_99(all(1_000)), percentile_99(all(50)), percentile_99([])],
            &[991.0, 50.0, 0.0],
        );
    }

    #[test]
    fn work_shows_on_the_meters() {
        let before = cpu_time();
        let sum = (0..20_000_000_u64).fold(0, |sum, n| std::hint::black_box(sum ^ n));
        assert!(std::hint::black_box(sum) < u64::MAX);
        assert!(cpu_time() > before);
        assert!(peak_memory_mb() > 0.5);
    }
}
