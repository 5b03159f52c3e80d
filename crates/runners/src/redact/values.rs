//! Values, and the ways in which programs write them: as they are, inside of JSON strings and of URLs, in Base64.
//!
//! JSON and URLs leave it to the writer which characters are escaped, so a value is not looked for in a list of forms:
//! text is read one character at a time, however each of them is written. A backslash before a backslash counts once,
//! so that JSON within JSON is read as well.

/// The longest run of backslashes that is read as one.
const RUN_MAX: usize = 32;
/// How many blanks may stand where a line of Base64 is broken.
const BLANKS_MAX: usize = 64;

/// The digits of Base64 that both alphabets share.
const DIGITS: [u8; 62] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Something to look for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pattern {
    bytes: Vec<u8>,
    /// Whether it is Base64: its lines may be broken anywhere.
    base64: bool,
    /// Whether the digit of Base64 behind it holds a few bits of the value, too.
    and_next: bool,
}

/// Whether a pattern stands at the beginning of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// Yes, and it is so long there.
    Whole(usize),
    /// The text ends before that is known.
    Perhaps,
    No,
}

/// How a text is read.
#[derive(Clone, Copy)]
struct Reading {
    /// Whether `%41` is a letter.
    url: bool,
    /// Whether letters behind more backslashes than are needed are themselves.
    literal: bool,
}

/// One character of a text, however it is written there.
enum Unit {
    /// Its bytes, how many of them count, and how long it is as it is written.
    Is([u8; 4], usize, usize),
    /// The text ends within it.
    Cut,
    /// No valid encoding of a character.
    Nonsense,
}

impl Pattern {
    /// A value as it is, and as it is within any longer text that was made Base64.
    pub(super) fn of(value: &[u8]) -> Vec<Self> {
        let mut all = vec![Self { bytes: value.to_vec(), base64: false, and_next: false }];
        // Three bytes make four digits, so it matters where in a group the value begins: these are the bits up to the
        // first digit that is the value's alone.
        for skip in [0, 4, 2] {
            for last in [b"+/", b"-_"] {
                let bits = value.len() * 8 - skip;
                let bytes = (0..bits / 6).map(|at| digit(value, skip + at * 6, *last)).collect();
                all.push(Self { bytes, base64: true, and_next: !bits.is_multiple_of(6) });
            }
        }
        all.sort();
        all.dedup();
        all
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether it stands at the beginning of `text`, of which there is more unless it is the `last`.
    pub(super) fn at(&self, text: &[u8], last: bool) -> Match {
        // Signs that look like a URL's may be the value's own, and so may letters behind a backslash.
        let (percent, slash) = (self.bytes.contains(&b'%'), self.bytes.contains(&b'\\'));
        let readings = [
            (true, Reading { url: true, literal: false }),
            (slash, Reading { url: true, literal: true }),
            (percent, Reading { url: false, literal: false }),
            (percent && slash, Reading { url: false, literal: true }),
        ];
        for (_, reading) in readings.into_iter().filter(|(possible, _)| *possible) {
            match self.follow(text, last, reading) {
                Match::No => {}
                found @ (Match::Whole(_) | Match::Perhaps) => return found,
            }
        }
        Match::No
    }

    fn follow(&self, text: &[u8], last: bool, reading: Reading) -> Match {
        let Reading { url, literal } = reading;
        let cut = if last { Match::No } else { Match::Perhaps };
        let (mut at, mut done, mut blanks) = (0, 0, 0);
        // Whether backslashes were read that may belong to what follows.
        let mut escaped = false;
        while let Some(wanted) = self.bytes.get(done..).filter(|rest| !rest.is_empty()) {
            let rest = &text[at..];
            if wanted[0] == b'\\' {
                let need = run(wanted);
                let Some(Run { count, plain, used }) = backslashes(rest, need, url, last) else {
                    return cut;
                };
                if count < need {
                    return Match::No;
                }
                (at, done, escaped) = (at + used, done + need, count > need);
                if done == self.bytes.len() && escaped && plain % 2 == 1 {
                    // The last one belongs to what follows.
                    at -= 1;
                }
                continue;
            }
            let as_it_is = rest.first() == Some(&wanted[0]) && wanted[0] != b'%';
            if as_it_is && (literal || !escaped) {
                (at, done, escaped) = (at + 1, done + 1, false);
                continue;
            }
            match unit(rest, escaped, url, last) {
                Unit::Is(bytes, count, used) => {
                    if wanted.starts_with(&bytes[..count]) {
                        done += count;
                    } else if url && wanted[0] == b' ' && bytes[0] == b'+' {
                        done += 1;
                    } else if self.base64 && done > 0 && is_break(bytes[0], blanks) {
                        blanks += 1;
                    } else if as_it_is {
                        (at, done, escaped) = (at + 1, done + 1, false);
                        continue;
                    } else {
                        return Match::No;
                    }
                    (at, escaped) = (at + used, false);
                }
                Unit::Cut if !last => return cut,
                Unit::Cut | Unit::Nonsense if as_it_is => {
                    (at, done, escaped) = (at + 1, done + 1, false);
                }
                Unit::Cut | Unit::Nonsense => return Match::No,
            }
        }
        if self.and_next {
            match text.get(at) {
                Some(digit) if digit.is_ascii_alphanumeric() || b"+/-_".contains(digit) => at += 1,
                None if !last => return Match::Perhaps,
                Some(_) | None => {}
            }
        }
        Match::Whole(at)
    }
}

/// The bytes that a text can begin with, as JSON and as a URL in JSON is read; `None` if it ends before that is known.
pub(super) fn firsts(text: &[u8], last: bool) -> Option<[Option<u8>; 2]> {
    let mut firsts = [None; 2];
    for (first, url) in firsts.iter_mut().zip([false, true]) {
        match unit(text, false, url, last) {
            Unit::Is(bytes, ..) => *first = Some(bytes[0]),
            Unit::Cut if !last => return None,
            Unit::Cut | Unit::Nonsense => {}
        }
    }
    Some(firsts)
}

/// Whether a value can go on with this byte in the place of any other: it begins an escape, or breaks a line.
pub(super) fn stands_for_others(byte: u8) -> bool {
    matches!(byte, b'\\' | b'%' | b'+' | b'\n' | b'\r')
}

fn digit(value: &[u8], bit: usize, last: [u8; 2]) -> u8 {
    let byte = |at: usize| u16::from(value.get(at).copied().unwrap_or(0));
    let two = byte(bit / 8) << 8 | byte(bit / 8 + 1);
    let number = usize::from(two >> (10 - bit % 8) & 63);
    DIGITS.get(number).copied().unwrap_or_else(|| last[number - DIGITS.len()])
}

/// Whether a byte breaks a line of Base64, or is one of the blanks behind the break.
fn is_break(byte: u8, blanks: usize) -> bool {
    blanks < BLANKS_MAX
        && (matches!(byte, b'\n' | b'\r') || (blanks > 0 && matches!(byte, b' ' | b'\t')))
}

/// How many backslashes a text begins with.
fn run(text: &[u8]) -> usize {
    text.iter().take(RUN_MAX).take_while(|byte| **byte == b'\\').count()
}

/// Backslashes, however each is written.
struct Run {
    /// How many there are; one that is escaped counts twice.
    count: usize,
    /// How many at the end are written as they are.
    plain: usize,
    /// How long they are.
    used: usize,
}

/// The backslashes that a text begins with, where so many are needed; `None` if it ends before that is known.
fn backslashes(text: &[u8], need: usize, url: bool, last: bool) -> Option<Run> {
    // At most, and at least: of backslashes as they are, the second half may only announce the first.
    let (mut count, mut sure, mut at) = (0, 0, 0);
    loop {
        let rest = &text[at..];
        let plain = run(rest);
        if plain == 0 && rest.first() != Some(&b'%') {
            return if rest.is_empty() && !last {
                None
            } else {
                Some(Run { count, plain, used: at })
            };
        }
        match unit(rest, false, url, last) {
            Unit::Is([b'\\', ..], _, used) => {
                (count, sure, at) = (count + plain + 1, sure + plain / 2 + 1, at + used);
            }
            Unit::Cut if !last => return None,
            // They begin the next character.
            Unit::Is(..) if sure >= need => return Some(Run { count: need, plain: 0, used: at }),
            Unit::Is(..) | Unit::Cut | Unit::Nonsense => {
                return Some(Run { count: count + plain, plain, used: at + plain });
            }
        }
    }
}

/// The first character, with what a URL makes of it.
fn unit(text: &[u8], escaped: bool, url: bool, last: bool) -> Unit {
    let percent = character(text, escaped);
    let Unit::Is([b'%', ..], _, used) = percent else { return percent };
    if !url {
        return percent;
    }
    let (mut number, mut at) = (0, used);
    for _ in 0..2 {
        match character(&text[at..], false) {
            Unit::Is([digit, ..], _, used) if digit.is_ascii_hexdigit() => {
                number = number << 4 | hex(digit);
                at += used;
            }
            Unit::Cut if !last => return Unit::Cut,
            Unit::Is(..) | Unit::Cut | Unit::Nonsense => return percent,
        }
    }
    Unit::Is([u8::try_from(number).unwrap_or(b'%'), 0, 0, 0], 1, at)
}

/// The first character as JSON writes it.
fn character(text: &[u8], escaped: bool) -> Unit {
    let slashes = run(text);
    let Some(&byte) = text.get(slashes) else { return Unit::Cut };
    let plain = Unit::Is([byte, 0, 0, 0], 1, slashes + 1);
    if slashes == 0 && !escaped {
        return plain;
    }
    let control = |byte| Unit::Is([byte, 0, 0, 0], 1, slashes + 1);
    match byte {
        b'n' => control(b'\n'),
        b'r' => control(b'\r'),
        b't' => control(b'\t'),
        b'b' => control(8),
        b'f' => control(12),
        b'u' => numbered(text, slashes),
        letter if letter.is_ascii_alphanumeric() => Unit::Nonsense,
        _ => plain,
    }
}

/// A character by its number, `\u0041`, or by two numbers.
fn numbered(text: &[u8], slashes: usize) -> Unit {
    let four = |at: usize| {
        let digits = &text[text.len().min(at)..text.len().min(at + 4)];
        let known = digits.iter().all(u8::is_ascii_hexdigit);
        let number = digits.iter().fold(0, |number, digit| number << 4 | hex(*digit));
        (known, digits.len() == 4, number)
    };
    let mut end = slashes + 5;
    let mut number = match four(slashes + 1) {
        (false, ..) => return Unit::Nonsense,
        (true, false, _) => return Unit::Cut,
        (true, true, number) => number,
    };
    if (0xd800..0xdc00).contains(&number) {
        let rest = &text[end..];
        let more = run(rest);
        match rest.get(more) {
            None => return Unit::Cut,
            Some(b'u') if more > 0 => {}
            Some(_) => return Unit::Nonsense,
        }
        match four(end + more + 1) {
            (true, false, _) => return Unit::Cut,
            (true, true, low) if (0xdc00..0xe000).contains(&low) => {
                number = 0x10000 + ((number - 0xd800) << 10) + (low - 0xdc00);
                end += more + 5;
            }
            (..) => return Unit::Nonsense,
        }
    }
    let Some(character) = char::from_u32(number) else { return Unit::Nonsense };
    let mut bytes = [0; 4];
    let count = character.encode_utf8(&mut bytes).len();
    Unit::Is(bytes, count, end)
}

fn hex(digit: u8) -> u32 {
    char::from(digit).to_digit(16).unwrap_or(0)
}
