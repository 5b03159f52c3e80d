//! Transcript file: the raw stream of a turn without secrets.

use std::io;

use materia_contract::Transcript;
use materia_engine::TurnJob;
use serde_json::{Value, json};

use crate::growing_file::{Kept, KeptFile};
use crate::redact::{Redactor, Secrets};

/// The most of a stream that is kept. What an agent says beyond that is counted and read all the
/// same.
pub const TRANSCRIPT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The part of a transcript's name after the name of the turn.
const EXTENSION: &str = "transcript.jsonl";

/// Writes a transcript. Trouble with the file is remembered and never stops a turn.
pub(super) struct TranscriptWriter {
    file: KeptFile,
    redactor: Redactor,
    /// Redacted bytes that are not written yet.
    clean: Vec<u8>,
}

impl TranscriptWriter {
    /// Opens the transcript of a turn; one that is there already is replaced.
    pub(super) fn open(job: &TurnJob, secrets: Secrets) -> Self {
        Self::new(KeptFile::begin(job, EXTENSION, TRANSCRIPT_BYTES_MAX), secrets)
    }

    fn new(file: KeptFile, secrets: Secrets) -> Self {
        Self { file, redactor: Redactor::new(secrets), clean: Vec::new() }
    }

    /// Takes the next piece of the stream.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.redactor.push(bytes, &mut self.clean);
        self.write();
    }

    /// Adds a line of ours: a further process begins here, or something is missing.
    pub(super) fn remark(&mut self, remark: &Value) {
        self.redactor.finish(&mut self.clean);
        self.write();
        self.file.put(format!("\n{remark}\n").as_bytes());
    }

    fn write(&mut self) {
        self.file.write(&self.clean);
        self.clean.clear();
    }

    /// The finished transcript, or the reason why it is not reliable.
    pub(super) fn finish(mut self) -> io::Result<Transcript> {
        self.redactor.finish(&mut self.clean);
        self.write();
        let dropped = self.file.dropped();
        if dropped > 0 {
            let line = json!({ "type": "materia.truncated", "droppedBytes": dropped });
            self.file.put(format!("\n{line}\n").as_bytes());
        }
        let Kept { name, hash, bytes, dropped } = self.file.finish()?;
        Ok(Transcript { path: name, hash, bytes, dropped })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use materia_safe_fs::Folder;

    use super::*;

    fn keeper(dir: &Path, bytes_max: u64) -> TranscriptWriter {
        let name = "sockets/a/1-1.transcript.jsonl";
        let file = Folder::at(dir).and_then(|cast| cast.create(name));
        let file = KeptFile::new(file, name.to_owned(), bytes_max);
        TranscriptWriter::new(file, Secrets::of_variables([("A_TOKEN", "very-secret")]))
    }

    #[test]
    fn the_hash_is_that_of_the_file_and_secrets_are_not_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let mut keeper = keeper(dir.path(), 1_000);
        keeper.take(b"{\"a\":\"very-se");
        keeper.take(b"cret\"}\n");
        let kept = keeper.finish().unwrap();
        let bytes = fs::read(dir.path().join(&kept.path)).unwrap();
        assert_eq!(String::from_utf8_lossy(&bytes), "{\"a\":\"[redacted]\"}\n");
        assert_eq!(kept.hash, blake3::hash(&bytes).to_hex().to_string());
        assert_eq!((kept.bytes, kept.dropped), (bytes.len() as u64, 0));
    }

    #[test]
    fn too_much_is_cut_off_and_said() {
        let dir = tempfile::tempdir().unwrap();
        let mut keeper = keeper(dir.path(), 10);
        for _ in 0..5 {
            keeper.take(b"abcdef");
        }
        let kept = keeper.finish().unwrap();
        let text = fs::read_to_string(dir.path().join(&kept.path)).unwrap();
        assert_eq!(text, "abcdefabcd\n{\"type\":\"materia.truncated\",\"droppedBytes\":20}\n");
        assert_eq!((kept.bytes, kept.dropped), (text.len() as u64, 20));
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("precious");
        fs::write(&target, "precious").unwrap();
        fs::create_dir_all(dir.path().join("sockets/a")).unwrap();
        let path = dir.path().join("sockets/a/1-1.transcript.jsonl");
        std::os::unix::fs::symlink(&target, &path).unwrap();
        let mut keeper = keeper(dir.path(), 100);
        keeper.take(b"x");
        keeper.finish().unwrap();
        assert_eq!(fs::read_to_string(target).unwrap(), "precious");
    }
}
