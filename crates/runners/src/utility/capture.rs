//! Captures the streams of a program (D69): the beginning and the end of each, and the whole stream as a file.

use std::io;
use std::time::Duration;

use materia_contract::{BlobHash, LeftFile};
use materia_engine::{Keeps, TurnJob, TurnOrder};
use serde::de::IgnoredAny;
use tokio::time::Instant;

use super::live_output::Words;
use crate::cast_folder;
use crate::growing_file::{Kept, KeptFile};
use crate::redact::{Redactor, Secrets};

/// How much of the beginning of a stream is reported.
const HEAD_BYTES: usize = 256 * 1024;
/// How much of its end.
const TAIL_BYTES: usize = 768 * 1024;
/// A stream up to this size is reported whole.
pub const STREAM_BYTES_MAX: usize = HEAD_BYTES + TAIL_BYTES;

/// The beginning of the line that stands for bytes that are not reported.
pub fn gap(dropped: u64) -> String {
    format!("[materia: {dropped} bytes are missing here")
}

/// How long a turn runs before what it says becomes a file, for other processes to follow.
const FILE_AFTER: Duration = Duration::from_millis(200);

/// The streams of a program, without their secrets.
pub(super) struct Streams<'a> {
    stdout: Capture<'a>,
    stderr: Capture<'a>,
    words: Words,
    files_from: Instant,
}

impl<'a> Streams<'a> {
    /// Those of a turn that has said nothing yet.
    pub(super) fn new(job: &'a TurnJob, keeps: Keeps, secrets: &Secrets) -> Self {
        let bytes_max = keeps.megabytes.saturating_mul(1 << 20);
        let capture = |kind| Capture::new(job, kind, bytes_max, secrets);
        let words = Words::new(job.control.live.clone());
        let files_from = Instant::now() + FILE_AFTER;
        Self { stdout: capture("stdout"), stderr: capture("stderr"), words, files_from }
    }

    /// Takes a piece of standard output.
    pub(super) fn out(&mut self, bytes: &[u8]) {
        self.stdout.take(bytes, &mut self.words);
    }

    /// Takes a piece of standard error.
    pub(super) fn err(&mut self, bytes: &[u8]) {
        self.stderr.take(bytes, &mut self.words);
    }

    /// When the next live output or file is due, if any.
    pub(super) fn due(&self) -> Option<Instant> {
        let lacks_file = self.stdout.lacks_file() || self.stderr.lacks_file();
        let file = lacks_file.then_some(self.files_from);
        self.words.due().into_iter().chain(file).min()
    }

    /// Tells what was said.
    pub(super) fn tell(&mut self, now: Instant) {
        self.words.say(now);
        if now >= self.files_from {
            for capture in [&mut self.stdout, &mut self.stderr] {
                if capture.lacks_file() {
                    capture.open_file();
                }
            }
        }
    }

    /// Ends both: standard output, standard error.
    pub(super) fn finish(mut self) -> (Ended, Ended) {
        self.words.say(Instant::now());
        (self.stdout.finish(), self.stderr.finish())
    }
}

/// One stream. What it holds in memory does not grow with the stream.
struct Capture<'a> {
    order: &'a TurnOrder,
    kind: &'static str,
    redactor: Redactor,
    /// Redacted bytes that were not taken yet.
    clean: Vec<u8>,
    head: Vec<u8>,
    /// The bytes after the head, or the last of them.
    tail: Vec<u8>,
    total: u64,
    bytes_max: u64,
    /// The file with all of it, as soon as there is one.
    file: Option<Box<KeptFile>>,
}

/// A stream as text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// The text, with U+FFFD for whatever is no UTF-8.
    pub(super) shown: String,
    /// The bytes, where the text does not say them all.
    pub(super) raw: Option<Vec<u8>>,
}

impl Text {
    /// Reads bytes as text.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(shown) => Self { shown, raw: None },
            Err(error) => {
                let shown = String::from_utf8_lossy(error.as_bytes()).into_owned();
                Self { shown, raw: Some(error.into_bytes()) }
            }
        }
    }
}

/// A captured stream that has ended.
pub(super) struct Ended {
    /// Its text, or how it begins and ends.
    pub(super) text: Text,
    /// Bytes that are not in the text.
    pub(super) dropped: u64,
    /// The file with all of it, where the text is not; or why there is none.
    pub(super) full: Option<io::Result<LeftFile>>,
}

impl<'a> Capture<'a> {
    fn new(order: &'a TurnOrder, kind: &'static str, bytes_max: u64, secrets: &Secrets) -> Self {
        Self {
            order,
            kind,
            redactor: Redactor::new(secrets.clone()),
            clean: Vec::new(),
            head: Vec::new(),
            tail: Vec::new(),
            total: 0,
            bytes_max,
            file: None,
        }
    }

    /// Takes the next piece. Secrets go first: half of one would not be recognised behind the cut.
    fn take(&mut self, bytes: &[u8], words: &mut Words) {
        self.redactor.push(bytes, &mut self.clean);
        words.hear(&self.clean);
        self.keep();
    }

    fn keep(&mut self) {
        let room = self.clean.len().min(HEAD_BYTES - self.head.len());
        let (first, rest) = self.clean.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(rest);
        self.total += self.clean.len() as u64;
        if let Some(file) = &mut self.file {
            file.write(&self.clean);
        } else if self.is_long() {
            self.open_file();
        }
        // Not with every piece: moving the tail costs as much as it is long.
        if self.tail.len() > 2 * TAIL_BYTES {
            self.tail.drain(..self.tail.len() - TAIL_BYTES);
        }
        self.clean.clear();
    }

    fn is_long(&self) -> bool {
        self.total > STREAM_BYTES_MAX as u64
    }

    fn lacks_file(&self) -> bool {
        self.total > 0 && self.file.is_none()
    }

    /// Begins the file with what there is, which is all so far.
    fn open_file(&mut self) {
        let extension = format!("{}.full", self.kind);
        let mut file = KeptFile::begin(self.order, &extension, self.bytes_max);
        file.write(&self.head);
        file.write(&self.tail);
        self.file = Some(Box::new(file));
    }

    /// Ends it. A file of which the text has everything is removed.
    fn finish(mut self) -> Ended {
        self.redactor.finish(&mut self.clean);
        self.keep();
        if !self.is_long() {
            self.head.append(&mut self.tail);
            if let Some(Ok(Kept { name, .. })) = self.file.map(|file| file.finish()) {
                let _ = cast_folder::cast(self.order).and_then(|cast| cast.remove_file(name));
            }
            return Ended { text: Text::new(self.head), dropped: 0, full: None };
        }
        let kind = format!("{}.full", self.kind);
        let full = self.file.map(|file| {
            let Kept { name, hash, bytes, dropped } = file.finish()?;
            Ok(LeftFile { kind, name, hash, bytes, dropped })
        });
        let tail = &self.tail[self.tail.len() - TAIL_BYTES..];
        let kept = full.as_ref().and_then(|full| full.as_ref().ok());
        let (bytes, dropped) = ends(self.head, tail, self.total, kept);
        Ended { text: Text::new(bytes), dropped, full }
    }
}

/// How a stream begins and ends, with a line between that says how much is missing; and how much that is. The line is
/// no JSON, wherever it stands.
fn ends(mut head: Vec<u8>, tail: &[u8], total: u64, full: Option<&LeftFile>) -> (Vec<u8>, u64) {
    // The cut may go through a character. What is left of it is no fault of the program.
    if let Err(error) = str::from_utf8(&head)
        && error.error_len().is_none()
    {
        head.truncate(error.valid_up_to());
    }
    let rest = tail.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    let tail = &tail[rest..];
    let dropped = total - (head.len() + tail.len()) as u64;
    let place = match full {
        None => String::new(),
        Some(LeftFile { name, dropped: 0, .. }) => {
            format!("; `{name}` in the folder of this cast has everything")
        }
        Some(LeftFile { name, bytes, .. }) => format!(
            "; `{name}` in the folder of this cast has the first {bytes} bytes of {total} (`limits.maxOutputMb`)"
        ),
    };
    let start = if head.ends_with(b"\n") { "" } else { "\n" };
    let line = format!("{start}{}{place}]\n", gap(dropped));
    head.extend_from_slice(line.as_bytes());
    head.extend_from_slice(tail);
    (head, dropped)
}

/// The text of a file with all of a stream, where that is one JSON object.
pub(super) async fn whole_object(order: &TurnOrder, full: &LeftFile) -> Option<String> {
    let cast = cast_folder::cast(order).ok()?;
    let (name, hash, bytes) = (full.name.clone(), full.hash.clone(), full.bytes);
    let read = move || {
        let bytes = cast.read(&name, bytes).ok()?;
        // Every process of the turn can write there.
        if BlobHash::of(&bytes).to_string() != hash {
            return None;
        }
        let text = String::from_utf8(bytes).ok()?;
        let object = text.trim();
        let is_object =
            object.starts_with('{') && serde_json::from_str::<IgnoredAny>(object).is_ok();
        is_object.then_some(text)
    };
    tokio::task::spawn_blocking(read).await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(dropped: u64) -> LeftFile {
        let (kind, name) = ("stdout.full".to_owned(), "sockets/a/1-1.stdout.full".to_owned());
        LeftFile { kind, name, hash: String::new(), bytes: 20, dropped }
    }

    #[test]
    fn a_line_of_its_own_says_how_much_is_missing_and_where_it_is() {
        let (bytes, dropped) = ends(b"ab\n".to_vec(), b"yz", 25, Some(&full(0)));
        let text = String::from_utf8(bytes).unwrap();
        let all = "`sockets/a/1-1.stdout.full` in the folder of this cast has everything";
        assert_eq!(text, format!("ab\n[materia: 20 bytes are missing here; {all}]\nyz"));
        assert_eq!(dropped, 20);
        let (bytes, _) = ends(b"ab".to_vec(), b"yz", 25, Some(&full(5)));
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with("ab\n[materia: 21 bytes are missing here; "), "{text}");
        assert!(text.contains("has the first 20 bytes of 25 (`limits.maxOutputMb`)]\n"), "{text}");
    }

    #[test]
    fn a_cut_through_characters_leaves_whole_ones() {
        let head = "aä".as_bytes()[..2].to_vec();
        let tail = "€z".as_bytes()[1..].to_vec();
        let (bytes, dropped) = ends(head, &tail, 100, None);
        assert_eq!(bytes, b"a\n[materia: 98 bytes are missing here]\nz");
        assert_eq!(dropped, 98);
        // Bytes that are not UTF-8 are kept as they are.
        let (bytes, dropped) = ends(vec![b'a', 0xff], b"\x80\x80\x80\x80z", 100, None);
        assert_eq!(bytes, b"a\xff\n[materia: 96 bytes are missing here]\n\x80z");
        assert_eq!(dropped, 96);
    }

    #[test]
    fn what_is_no_text_is_kept_as_it_came() {
        assert_eq!(Text::new(b"a".to_vec()), Text { shown: "a".into(), raw: None });
        let bad = Text::new(b"a\xc3".to_vec());
        assert_eq!(bad, Text { shown: "a\u{fffd}".into(), raw: Some(b"a\xc3".to_vec()) });
    }
}
