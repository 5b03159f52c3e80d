//! The floor: the time that the database alone needs to make rows durable on this disk, now.
//!
//! It has the same settings as the journal, so that the difference is the journal's own cost. A second floor is the
//! time that the file system alone needs to make the files of a turn.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::Outcome;
use crate::meter::{cpu_since, cpu_time};

/// A table with one column of bytes.
pub(crate) struct BareLoop(Connection);

impl BareLoop {
    /// Makes it in a folder.
    pub(crate) fn open(folder: &Path) -> Outcome<Self> {
        let connection = Connection::open(folder.join("floor.db"))?;
        connection.execute_batch("PRAGMA page_size = 8192")?;
        connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
        connection.execute_batch(
            "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 384;
             PRAGMA journal_size_limit = 33554432; PRAGMA temp_store = MEMORY;
             PRAGMA cache_size = -4096;
             CREATE TABLE steps (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;",
        )?;
        Ok(Self(connection))
    }

    /// Commits `rows` rows of `bytes` bytes each, `together` of them at a time.
    pub(crate) fn commit(&self, rows: u64, bytes: u64, together: u64) -> Outcome<Duration> {
        let row = vec![b'x'; usize::try_from(bytes)?];
        let mut insert = self.0.prepare_cached("INSERT INTO steps (bytes) VALUES (?1)")?;
        let mut begin = self.0.prepare_cached("BEGIN IMMEDIATE")?;
        let mut commit = self.0.prepare_cached("COMMIT")?;
        let since = Instant::now();
        let mut left = rows;
        while left > 0 {
            begin.execute([])?;
            for _ in 0..left.min(together.max(1)) {
                insert.execute([&row])?;
            }
            commit.execute([])?;
            left = left.saturating_sub(together.max(1));
        }
        Ok(since.elapsed())
    }
}

/// A folder of little files: the four that an agent's turn leaves, without any thought.
pub(crate) struct TurnFiles {
    folder: PathBuf,
    made: u64,
}

impl TurnFiles {
    const ENDINGS: [&str; 4] = ["prompt.txt", "output.txt", "output.json", "meta.json"];
    const BYTES: usize = 150;

    /// Makes the folder.
    pub(crate) fn open(folder: &Path) -> Outcome<Self> {
        // As deep as the real ones: where a file system puts a file depends on its folder.
        let folder = folder.join("floor").join("sockets").join("Floor");
        fs::create_dir_all(&folder)?;
        Ok(Self { folder, made: 0 })
    }

    /// Makes the files of so many turns; the CPU time it took.
    pub(crate) fn make(&mut self, turns: u64) -> Outcome<Duration> {
        let spent = cpu_time();
        for _ in 0..turns {
            self.made += 1;
            for ending in Self::ENDINGS {
                let path = self.folder.join(format!("{}-1.{ending}", self.made));
                fs::write(path, [b'x'; Self::BYTES])?;
            }
        }
        Ok(cpu_since(spent))
    }
}
