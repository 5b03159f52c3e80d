//! A file of a turn that grows while it runs, up to a bound, and its hash.

use std::fs::File;
use std::io::{self, Write};

use materia_engine::TurnOrder;

use crate::cast_folder;

/// Writes such a file. Trouble with it is remembered and never stops a turn.
pub(crate) struct KeptFile {
    file: io::Result<File>,
    /// Relative to the folder of the cast.
    name: String,
    hasher: blake3::Hasher,
    kept: u64,
    dropped: u64,
    bytes_max: u64,
}

/// A file that is complete.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Relative to the folder of the cast.
    pub(crate) name: String,
    /// Its BLAKE3 hash, in hexadecimal.
    pub(crate) hash: String,
    pub(crate) bytes: u64,
    /// Bytes that had no room.
    pub(crate) dropped: u64,
}

impl KeptFile {
    /// Begins the artifact of a turn with that extension; one that is there already is replaced.
    pub(crate) fn begin(order: &TurnOrder, extension: &str, bytes_max: u64) -> Self {
        let name = cast_folder::artifact(order, extension);
        let file = cast_folder::cast(order).and_then(|cast| cast.create(&name));
        Self::new(file, name, bytes_max)
    }

    /// Writes to `file`, which has that name.
    pub(crate) fn new(file: io::Result<File>, name: String, bytes_max: u64) -> Self {
        Self { file, name, hasher: blake3::Hasher::new(), kept: 0, dropped: 0, bytes_max }
    }

    /// Adds as many bytes as there is room for, and counts the others.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let room = usize::try_from(self.bytes_max.saturating_sub(self.kept)).unwrap_or(usize::MAX);
        let (kept, dropped) = bytes.split_at(room.min(bytes.len()));
        self.put(kept);
        self.dropped += dropped.len() as u64;
    }

    /// Adds bytes whether there is room or not.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        let Ok(file) = &mut self.file else { return };
        match file.write_all(bytes) {
            Ok(()) => {
                self.hasher.update(bytes);
                self.kept += bytes.len() as u64;
            }
            Err(error) => self.file = Err(error),
        }
    }

    /// Bytes that had no room so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The file as it is now; or why there is none that could be relied on.
    pub(crate) fn finish(self) -> io::Result<Kept> {
        self.file?;
        let hash = self.hasher.finalize().to_hex().to_string();
        Ok(Kept { name: self.name, hash, bytes: self.kept, dropped: self.dropped })
    }
}
