//! Reads the output of one process: splits it into lines, parses them, and keeps them.

use std::path::PathBuf;

use super::live::Voice;
use super::process::{Reply, StreamReader};
use super::record::Tape;
use super::transcript::TranscriptWriter;
use super::{Ended, Exit, Reader};

/// The longest line that is held. Longer than any event, for some repeat a whole conversation.
const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The most that a process may say in all.
pub const OUTPUT_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// The longest line of standard error that is held.
const STDERR_LINE_BYTES_MAX: usize = 16 * 1024;
/// How much of the end of standard error is kept for a failure's report.
const STDERR_BYTES_KEPT: usize = 4 * 1024;

/// Listens to one process.
pub(super) struct Listener<'a> {
    pub(super) reader: Box<dyn Reader>,
    pub(super) keeper: &'a mut TranscriptWriter,
    pub(super) voice: &'a mut Voice,
    pub(super) tape: Option<&'a mut Tape>,
    pub(super) cwd: PathBuf,
    pub(super) stdout: Lines,
    pub(super) stderr: Lines,
    pub(super) heard: u64,
    /// The end of standard error.
    pub(super) tail: Vec<u8>,
}

impl<'a> Listener<'a> {
    /// Listens for `reader`.
    pub(super) fn new(
        reader: Box<dyn Reader>,
        keeper: &'a mut TranscriptWriter,
        voice: &'a mut Voice,
        tape: Option<&'a mut Tape>,
        cwd: PathBuf,
    ) -> Self {
        Self {
            reader,
            keeper,
            voice,
            tape,
            cwd,
            stdout: Lines::new(LINE_BYTES_MAX),
            stderr: Lines::new(STDERR_LINE_BYTES_MAX),
            heard: 0,
            tail: Vec::new(),
        }
    }

    /// Outcome of the turn, and the end of standard error.
    pub(super) fn finish(mut self, exit: Exit) -> (Ended, String) {
        // The last line may have no end: the process was cut off in the middle of it.
        let (reader, voice, cwd) = (&mut self.reader, &mut *self.voice, &self.cwd);
        self.stdout.rest(|line| {
            for news in reader.line(line) {
                voice.tell(&news, cwd);
            }
        });
        self.stderr.rest(|line| reader.stderr(line));
        if let Some(tape) = self.tape {
            tape.exit(exit);
        }
        let tail = String::from_utf8_lossy(&self.tail).into_owned();
        (self.reader.finish(exit), tail)
    }
}

impl StreamReader for Listener<'_> {
    fn stdout(&mut self, bytes: &[u8]) -> Reply {
        self.heard += bytes.len() as u64;
        self.keeper.take(bytes);
        if let Some(tape) = &mut self.tape {
            tape.stdout(bytes);
        }
        let (reader, voice, cwd) = (&mut self.reader, &mut *self.voice, &self.cwd);
        let fits = self.stdout.take(bytes, |line| {
            for news in reader.line(line) {
                voice.tell(&news, cwd);
            }
        });
        Reply {
            say: reader.reply(),
            settled: reader.settled(),
            flood: !fits || self.heard > OUTPUT_BYTES_MAX,
        }
    }

    fn stderr(&mut self, bytes: &[u8]) {
        if let Some(tape) = &mut self.tape {
            tape.stderr(bytes);
        }
        self.tail.extend_from_slice(bytes);
        let surplus = self.tail.len().saturating_sub(STDERR_BYTES_KEPT);
        self.tail.drain(..surplus);
        let reader = &mut self.reader;
        // Of a line that is too long the beginning is enough here.
        let _ = self.stderr.take(bytes, |line| reader.stderr(line));
    }

    fn farewell(&mut self) -> Vec<u8> {
        self.reader.farewell()
    }
}

/// Cuts a stream into lines.
pub(super) struct Lines {
    open: Vec<u8>,
    bytes_max: usize,
    /// Whether the rest of a line that was too long is being skipped.
    skipping: bool,
}

impl Lines {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { open: Vec::new(), bytes_max, skipping: false }
    }

    /// Takes a piece and hands out every line that is whole now, without its line feed. Says
    /// whether every line had its place; of one that had not, only the beginning was handed out.
    pub(super) fn take(&mut self, bytes: &[u8], mut line: impl FnMut(&[u8])) -> bool {
        let mut fits = true;
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            let ends = pieces.peek().is_some();
            if !self.skipping {
                if ends && self.open.is_empty() && piece.len() <= self.bytes_max {
                    line(piece);
                    continue;
                }
                let room = self.bytes_max - self.open.len();
                self.open.extend_from_slice(&piece[..piece.len().min(room)]);
                self.skipping = piece.len() > room;
                fits &= !self.skipping;
                if ends || self.skipping {
                    line(&self.open);
                    self.open.clear();
                }
            }
            if ends {
                self.skipping = false;
            }
        }
        fits
    }

    /// Hands out what is left, if anything is.
    fn rest(&mut self, mut line: impl FnMut(&[u8])) {
        if !self.open.is_empty() {
            line(&self.open);
            self.open.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, size: usize, bytes_max: usize) -> (Vec<String>, bool) {
        let mut lines = Lines::new(bytes_max);
        let mut found = Vec::new();
        let mut fits = true;
        let mut keep = |line: &[u8]| found.push(String::from_utf8_lossy(line).into_owned());
        for piece in text.as_bytes().chunks(size) {
            fits &= lines.take(piece, &mut keep);
        }
        lines.rest(keep);
        (found, fits)
    }

    #[test]
    fn lines_are_the_same_however_they_come() {
        for size in 1..12 {
            let (found, fits) = lines("one\n\ntwo\nthree", size, 5);
            assert_eq!(
                (found, fits),
                (["one", "", "two", "three"].map(str::to_owned).to_vec(), true)
            );
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_and_said() {
        for size in 1..12 {
            let (found, fits) = lines("abcdefgh\nok\n", size, 5);
            assert_eq!(
                (found, fits),
                (["abcde", "ok"].map(str::to_owned).to_vec(), false),
                "{size}"
            );
        }
    }
}
