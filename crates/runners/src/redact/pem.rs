//! Private keys as people keep them: from `-----BEGIN … PRIVATE KEY-----` to the end of the line with `END`.

use super::found::Found;

const BEGIN: &[u8] = b"-----BEGIN ";
const PRIVATE: &[u8] = b"PRIVATE KEY";
const DASHES: &[u8] = b"-----";
const END: &[u8] = b"-----END ";

/// The longest first line that is waited for.
const LINE_BYTES_MAX: usize = 64;
/// Maximum bytes of one key; it bounds a key that has a beginning and no end.
const KEY_BYTES_MAX: usize = 64 * 1024;

/// Whether a private key begins at the beginning of `rest`.
pub(super) fn look(rest: &[u8], last: bool) -> Found {
    let Some(name) = rest.strip_prefix(BEGIN) else {
        let begun = !last && BEGIN.starts_with(rest);
        return if begun { Found::Perhaps } else { Found::Nothing };
    };
    let within = &name[..name.len().min(LINE_BYTES_MAX)];
    match within.windows(DASHES.len()).position(|at| at == DASHES) {
        Some(end) => {
            let name = &within[..end];
            if name.windows(PRIVATE.len()).any(|at| at == PRIVATE) {
                Found::Key { length: BEGIN.len() + end + DASHES.len() }
            } else {
                Found::Nothing
            }
        }
        None if !last && name.len() < LINE_BYTES_MAX => Found::Perhaps,
        None => Found::Nothing,
    }
}

/// A key while it goes by.
#[derive(Debug, Default)]
pub(super) struct Key {
    taken: usize,
    /// How much of the last line's beginning, and then of its dashes, was seen.
    matched: usize,
    ending: bool,
}

impl Key {
    /// Takes the next byte; says whether it was the last.
    pub(super) fn ends_with(&mut self, byte: u8) -> bool {
        self.taken += 1;
        let wanted = if self.ending { DASHES } else { END };
        self.matched = if byte == wanted[self.matched] {
            self.matched + 1
        } else {
            // All patterns begin with dashes, and only a dash can restart a match.
            usize::from(byte == wanted[0])
        };
        if self.matched == wanted.len() {
            self.matched = 0;
            if self.ending {
                return true;
            }
            self.ending = true;
        }
        self.taken >= KEY_BYTES_MAX
    }
}
