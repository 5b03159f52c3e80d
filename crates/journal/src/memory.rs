//! Memory limit for reading a journal. Anyone may have written it, and a few bytes of it can name gigabytes.

use std::fs;
use std::sync::OnceLock;

use rustix::param::page_size;
use rustix::process::{Resource, getrlimit};

/// The most memory that this process may use while it reads blobs, also where the machine has more.
const HELD_BYTES_MAX: u64 = 4 << 30;
/// How often a text is held while it is read: as bytes, quoted, in its event, and parsed.
const COPIES: u64 = 4;
/// Reserve below a limit of the system.
const SPARE_BYTES: u64 = 64 << 20;

/// Why so many bytes are not read now, if they are not.
pub(crate) fn too_much(bytes: u64) -> Option<String> {
    let (mapped, resident) = held()?;
    let needed = bytes.saturating_mul(COPIES).saturating_add(SPARE_BYTES);
    let limits = limits();
    let over =
        |held: u64, limit: Option<u64>| limit.filter(|limit| held.saturating_add(needed) > *limit);
    let limit = over(mapped, limits.mapped).or(over(resident, Some(limits.resident)))?;
    Some(format!(
        "a text of {bytes} bytes more would not fit into the {} MB that reading a journal may take here",
        limit >> 20
    ))
}

struct Limits {
    /// The limit of `ulimit -v`.
    mapped: Option<u64>,
    resident: u64,
}

fn limits() -> &'static Limits {
    static LIMITS: OnceLock<Limits> = OnceLock::new();
    LIMITS.get_or_init(|| {
        let told = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let total = told.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        let total = total.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse().ok());
        let total = total.map_or(HELD_BYTES_MAX, |kib: u64| kib.saturating_mul(1024) / 4 * 3);
        Limits { mapped: getrlimit(Resource::As).current, resident: HELD_BYTES_MAX.min(total) }
    })
}

/// Mapped and resident bytes of this process; `None` where the system does not say.
fn held() -> Option<(u64, u64)> {
    let told = fs::read_to_string("/proc/self/statm").ok()?;
    let mut pages = told.split_ascii_whitespace().filter_map(|word| word.parse::<u64>().ok());
    let bytes = |pages: u64| pages.saturating_mul(page_size() as u64);
    Some((bytes(pages.next()?), bytes(pages.next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_fits_and_more_than_there_is_does_not() {
        assert_eq!(too_much(1 << 20), None);
        assert!(too_much(HELD_BYTES_MAX).is_some());
        assert!(too_much(u64::MAX).is_some());
    }
}
