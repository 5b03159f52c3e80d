//! Redactor of one stream.

use super::found::Found;
use super::pem::{self, Key};
use super::shapes::{is_body, look_for};
use super::values::{Match, firsts};
use super::{MARK, SHAPE, Secrets, VALUE};

/// Takes secrets out of one stream.
#[derive(Debug)]
pub struct Redactor {
    secrets: Secrets,
    /// Bytes that are not decided yet.
    pub(super) held: Vec<u8>,
    /// The two bytes before it.
    before: [u8; 2],
    /// Part of an escape that was already written.
    open: Escape,
    /// Whether we are inside a token too long to be held.
    swallowing: bool,
    /// The private key that we are inside of.
    key: Option<Key>,
}

/// An escape of JSON that has only begun. A mark in its middle would leave no JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    No,
    /// A backslash.
    Begun,
    /// `\u`, and so many digits are missing.
    Missing(u8),
}

/// How many bytes of what goes out are looked at for an escape that has begun.
const ESCAPE_BYTES_MAX: usize = 16;

impl Escape {
    fn and(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::No, b'\\') => Self::Begun,
            (Self::Begun, b'u') => Self::Missing(4),
            (Self::Missing(more @ 2..), digit) if digit.is_ascii_hexdigit() => {
                Self::Missing(more - 1)
            }
            (Self::No | Self::Begun | Self::Missing(_), _) => Self::No,
        }
    }

    /// Bytes that complete the escape, if the removed text begins with this byte.
    fn rest(self, next: u8) -> &'static [u8] {
        match self {
            Self::Begun if b"\"\\/bfnrtu".contains(&next) => b"\\",
            Self::Missing(more) if next.is_ascii_hexdigit() => &b"0000"[..usize::from(more.min(4))],
            Self::No | Self::Begun | Self::Missing(_) => b"",
        }
    }
}

impl Redactor {
    /// Looks for these secrets.
    pub fn new(secrets: Secrets) -> Self {
        let (before, open) = ([b'\n'; 2], Escape::No);
        Self { secrets, held: Vec::new(), before, open, swallowing: false, key: None }
    }

    /// Takes the next piece; adds to `out` what is certain.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.held.extend_from_slice(bytes);
        self.scan(false, out);
    }

    /// Adds the rest: nothing follows.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.scan(true, out);
    }

    fn scan(&mut self, last: bool, out: &mut Vec<u8>) {
        let held = std::mem::take(&mut self.held);
        let mut at = 0;
        while let Some(&byte) = held.get(at) {
            if self.swallowing && is_body(byte, true) {
                at += 1;
                continue;
            }
            self.swallowing = false;
            if let Some(key) = &mut self.key {
                at += 1;
                if key.ends_with(byte) {
                    self.key = None;
                }
                continue;
            }
            if self.secrets.table()[usize::from(byte)] & (VALUE | SHAPE) != 0 {
                match self.look(&held[at..], last) {
                    Found::Secret { length, open } => {
                        out.extend_from_slice(self.open.rest(byte));
                        out.extend_from_slice(MARK.as_bytes());
                        self.open = Escape::No;
                        at += length;
                        self.swallowing = open;
                        self.before = *b"]]";
                        continue;
                    }
                    Found::Key { length } => {
                        out.extend_from_slice(MARK.as_bytes());
                        at += length;
                        self.key = Some(Key::default());
                        self.before = *b"]]";
                        continue;
                    }
                    Found::Perhaps => break,
                    Found::Nothing => {}
                }
            }
            // What cannot begin a secret goes in one piece: most of every stream.
            let plain = &held[at..self.next_start(&held, at)];
            out.extend_from_slice(plain);
            self.remember(plain);
            self.before = match plain {
                [.., earlier, last] => [*earlier, *last],
                _ => [self.before[1], byte],
            };
            at += plain.len();
        }
        self.held = held[at..].to_vec();
    }

    /// Keeps in mind whether what has gone out ends within an escape.
    fn remember(&mut self, plain: &[u8]) {
        let from = plain.len().saturating_sub(ESCAPE_BYTES_MAX);
        if from > 0 {
            self.open = Escape::No;
        }
        let tail = &plain[from..];
        // Mostly there is none, and nothing to follow.
        if self.open != Escape::No || tail.contains(&b'\\') {
            self.open = tail.iter().fold(self.open, |open, byte| open.and(*byte));
        }
    }

    /// The next place behind `at` where a secret could begin.
    fn next_start(&self, held: &[u8], at: usize) -> usize {
        let good_for = self.secrets.table();
        let starts = |byte: &u8| good_for[usize::from(*byte)] & (VALUE | SHAPE) != 0;
        let mut place = at + 1;
        while let Some(further) = held[place..].iter().position(starts) {
            place += further;
            let (before, byte) = (held[place - 1], held[place]);
            let value = good_for[usize::from(byte)] & VALUE != 0
                && held.get(place + 1).is_none_or(|next| self.secrets.can_begin(byte, *next));
            // Inside of a word no shape begins, but for one behind `\n` as JSON writes it, or behind a colour.
            let shape = good_for[usize::from(byte)] & SHAPE != 0
                && (place == at + 1
                    || !is_body(before, false)
                    || begins_behind([held[place - 2], before]));
            if value || shape {
                return place;
            }
            place += 1;
        }
        held.len()
    }

    fn look(&self, rest: &[u8], last: bool) -> Found {
        if self.secrets.table()[usize::from(rest[0])] & VALUE != 0 {
            match self.look_for_values(rest, last) {
                Match::Whole(length) => return Found::Secret { length, open: false },
                Match::Perhaps => return Found::Perhaps,
                Match::No => {}
            }
        }
        match pem::look(rest, last) {
            Found::Nothing => {}
            found @ (Found::Secret { .. } | Found::Key { .. } | Found::Perhaps) => return found,
        }
        if !self.at_word() {
            return Found::Nothing;
        }
        for shape in self.secrets.shapes(rest[0]) {
            match look_for(shape, rest, last) {
                Found::Nothing => {}
                found @ (Found::Secret { .. } | Found::Key { .. } | Found::Perhaps) => {
                    return found;
                }
            }
        }
        Found::Nothing
    }

    fn look_for_values(&self, rest: &[u8], last: bool) -> Match {
        let plain = rest[0];
        let decoded = match plain {
            b'\\' | b'%' => firsts(rest, last),
            _ => Some([None; 2]),
        };
        let Some([one, other]) = decoded else { return Match::Perhaps };
        let one = one.filter(|byte| *byte != plain);
        let other = other.filter(|byte| *byte != plain && Some(*byte) != one);
        for head in [Some(plain), one, other].into_iter().flatten() {
            for value in self.secrets.values(head) {
                match value.at(rest, last) {
                    Match::No => {}
                    found @ (Match::Whole(_) | Match::Perhaps) => return found,
                }
            }
        }
        Match::No
    }

    /// Whether a word can begin here: not in the middle of another, but behind `\n` in JSON.
    fn at_word(&self) -> bool {
        !is_body(self.before[1], false) || begins_behind(self.before)
    }
}

/// Whether a word can begin behind two bytes of which the second could be part of one: `\n` in JSON, or the end of
/// a colour for a terminal.
fn begins_behind([earlier, before]: [u8; 2]) -> bool {
    (earlier == b'\\' && b"nrtbf".contains(&before))
        || (before == b'm' && (earlier.is_ascii_digit() || earlier == b'['))
}
