//! Live output of a program, for observers.

use std::time::Duration;

use materia_engine::Live;
use tokio::time::Instant;

/// Maximum bytes of one piece of live output. Older output of the same interval is left out.
const AT_ONCE_BYTES: usize = 8 * 1024;
/// The least time between two pieces.
const EVERY: Duration = Duration::from_millis(100);

/// Tells what a program says as it comes, in pieces of bounded size, at most so often.
pub(super) struct Words {
    live: Live,
    waiting: Vec<u8>,
    next: Instant,
}

impl Words {
    /// Speaks on `live`.
    pub(super) fn new(live: Live) -> Self {
        Self { live, waiting: Vec::new(), next: Instant::now() }
    }

    /// Takes bytes without secrets.
    pub(super) fn hear(&mut self, bytes: &[u8]) {
        let end = &bytes[bytes.len().saturating_sub(AT_ONCE_BYTES)..];
        self.waiting.extend_from_slice(end);
        let surplus = self.waiting.len().saturating_sub(AT_ONCE_BYTES);
        self.waiting.drain(..surplus);
    }

    /// When the next piece is due, if there is one.
    pub(super) fn due(&self) -> Option<Instant> {
        (!self.waiting.is_empty()).then_some(self.next)
    }

    /// Says what waits, whole characters of it.
    pub(super) fn say(&mut self, now: Instant) {
        let end = match str::from_utf8(&self.waiting) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => self.waiting.len(),
        };
        if end > 0 {
            self.live.say(&String::from_utf8_lossy(&self.waiting[..end]));
            self.waiting.drain(..end);
        }
        self.next = now + EVERY;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn words_come_in_whole_characters_and_a_flood_is_told_by_its_end() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&heard);
        let live = Live::new(move |text| ear.lock().unwrap().push(text.to_owned()));
        let (mut words, now) = (Words::new(live), Instant::now());
        assert_eq!(words.due(), None);
        words.hear("aä".as_bytes().split_last().unwrap().1);
        words.say(now);
        words.hear(&"ä".as_bytes()[1..]);
        assert_eq!(words.due(), Some(now + EVERY));
        words.say(now);
        assert_eq!(words.due(), None);
        for _ in 0..100 {
            words.hear(&[b'x'; 10_000]);
            words.hear(b"end");
        }
        words.say(now);
        let heard = heard.lock().unwrap();
        assert_eq!(heard[..2], ["a", "ä"]);
        assert_eq!((heard.len(), heard[2].len()), (3, AT_ONCE_BYTES));
        assert!(heard[2].ends_with("xend"));
    }
}
