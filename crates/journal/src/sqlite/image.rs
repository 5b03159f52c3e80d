//! A foreign journal and its log, read without creating or changing a file.
//!
//! SQLite reads a file with an empty log as immutable, and then creates nothing beside it. To read a log with
//! content, SQLite would have to write. So the pages of the log are put over those of the file in memory, as SQLite's
//! file format says, and SQLite gets the result. A log counts up to the last commit with valid checksums, as in
//! SQLite.

use std::io;
use std::path::Path;

use rusqlite::Connection;

use crate::notes::beside;
use crate::private;

/// The largest journal that is read into memory. A larger one can be read only after its owner has adopted it.
const BYTES_MAX: u64 = 256 << 20;

const LOG_HEAD_BYTES: usize = 32;
const FRAME_HEAD_BYTES: usize = 24;
/// Without its last bit, which says how the sums are made.
const LOG_MAGIC: u32 = 0x377f_0682;
const LOG_VERSION: u32 = 3_007_000;
/// Where a database says that it has a log: at both places, 1 for no and 2 for yes.
const HAS_LOG: [usize; 2] = [18, 19];

/// A database in memory.
#[derive(Debug)]
pub(super) struct Image {
    bytes: Vec<u8>,
}

impl Image {
    /// The journal at `path` with what its log holds; `None` where the log is empty.
    pub(super) fn of(path: &Path) -> io::Result<Option<Self>> {
        let Some(log) = read(&beside(path, "-wal"))?.filter(|log| !log.is_empty()) else {
            return Ok(None);
        };
        let Some(mut bytes) = read(path)? else { return Ok(None) };
        if let Some(log) = Log::of(&log) {
            log.put_over(&mut bytes)?;
        }
        for place in HAS_LOG {
            if let Some(byte) = bytes.get_mut(place) {
                *byte = 1;
            }
        }
        Ok(Some(Self { bytes }))
    }

    /// A connection that sees it.
    pub(super) fn connect(&self) -> rusqlite::Result<Connection> {
        let mut connection = Connection::open_in_memory()?;
        connection.deserialize_read_exact(c"main", &self.bytes[..], self.bytes.len(), true)?;
        Ok(connection)
    }
}

/// Reads a file that is one; `None` where nothing is.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match private::read(path, BYTES_MAX) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if private::is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A log that has a head.
struct Log<'a> {
    frames: &'a [u8],
    page_bytes: usize,
    /// Which frames belong to it: those of an earlier use of the file have another one.
    salt: [u8; 8],
    sums: Sums,
}

impl<'a> Log<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        let (head, frames) = bytes.split_at_checked(LOG_HEAD_BYTES)?;
        let magic = word(head, 0)?;
        if magic & !1 != LOG_MAGIC || word(head, 4)? != LOG_VERSION {
            return None;
        }
        let page_bytes = word(head, 8)?;
        if !page_bytes.is_power_of_two() || !(512..=65_536).contains(&page_bytes) {
            return None;
        }
        let mut sums = Sums { big: magic & 1 == 1, one: 0, two: 0 };
        sums.add(&head[..24]);
        sums.are(head, 24).then_some(())?;
        let salt = head[16..24].try_into().ok()?;
        Some(Self { frames, page_bytes: page_bytes as usize, salt, sums })
    }

    /// Puts the pages of every whole commit over those of a database.
    fn put_over(mut self, database: &mut Vec<u8>) -> io::Result<()> {
        let mut waiting: Vec<(u32, &[u8])> = Vec::new();
        for frame in self.frames.chunks_exact(FRAME_HEAD_BYTES + self.page_bytes) {
            let (head, page) = frame.split_at(FRAME_HEAD_BYTES);
            self.sums.add(&head[..8]);
            self.sums.add(page);
            let (Some(number), Some(pages)) = (word(head, 0), word(head, 4)) else { break };
            if head[8..16] != self.salt || number == 0 || !self.sums.are(head, 16) {
                break;
            }
            waiting.push((number, page));
            if pages == 0 {
                continue;
            }
            let size = pages as usize * self.page_bytes;
            if size as u64 > BYTES_MAX {
                return Err(io::Error::other("its log says that it is larger than can be"));
            }
            database.resize(size, 0);
            for (number, page) in waiting.drain(..).filter(|(number, _)| *number <= pages) {
                let at = (number as usize - 1) * self.page_bytes;
                database[at..at + self.page_bytes].copy_from_slice(page);
            }
        }
        Ok(())
    }
}

/// The running sums of a log.
struct Sums {
    /// Whether numbers are read big end first.
    big: bool,
    one: u32,
    two: u32,
}

impl Sums {
    /// Adds bytes, of which there are a multiple of eight.
    fn add(&mut self, bytes: &[u8]) {
        let read = |bytes: [u8; 4]| {
            if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        for eight in bytes.chunks_exact(8) {
            let ([one, two], []) = eight.as_chunks() else { return };
            self.one = self.one.wrapping_add(read(*one)).wrapping_add(self.two);
            self.two = self.two.wrapping_add(read(*two)).wrapping_add(self.one);
        }
    }

    /// Whether they are what is said at a place.
    fn are(&self, bytes: &[u8], at: usize) -> bool {
        word(bytes, at) == Some(self.one) && word(bytes, at + 4) == Some(self.two)
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn count(image: &Image) -> rusqlite::Result<i64> {
        image.connect()?.query_row("SELECT count(*) FROM t", [], |row| row.get(0))
    }

    /// A database whose log holds all of it but for an empty beginning, copied while it is open.
    fn with_log(folder: &Path) -> PathBuf {
        let made = folder.join("made.db");
        let connection = Connection::open(&made).unwrap();
        connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
        connection.execute_batch("CREATE TABLE t (x)").unwrap();
        for n in 0..200 {
            let text = "x".repeat(n * 10);
            connection.execute("INSERT INTO t VALUES (?1)", [text]).unwrap();
        }
        let copy = folder.join("copy.db");
        std::fs::copy(&made, &copy).unwrap();
        std::fs::copy(beside(&made, "-wal"), beside(&copy, "-wal")).unwrap();
        copy
    }

    #[test]
    fn what_only_the_log_holds_is_read_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let copy = with_log(folder.path());
        let before = std::fs::read_dir(folder.path()).unwrap().count();
        let image = Image::of(&copy).unwrap().unwrap();
        assert_eq!(count(&image).unwrap(), 200);
        assert_eq!(count(&image).unwrap(), 200, "as often as one likes");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), before);
    }

    #[test]
    fn a_log_is_believed_up_to_where_its_sums_hold() {
        let folder = tempfile::tempdir().unwrap();
        let copy = with_log(folder.path());
        let log = beside(&copy, "-wal");
        let whole = std::fs::read(&log).unwrap();
        let mut last = 200;
        for cut in [whole.len() - 1, whole.len() / 2, whole.len() / 4] {
            std::fs::write(&log, &whole[..cut]).unwrap();
            let found = count(&Image::of(&copy).unwrap().unwrap()).unwrap();
            assert!(found < last, "{found} of {last}");
            last = found;
            let mut flipped = whole.clone();
            flipped[cut - 100] ^= 1;
            std::fs::write(&log, &flipped).unwrap();
            let found = count(&Image::of(&copy).unwrap().unwrap()).unwrap();
            assert!(found <= 200, "{found}");
        }
        for nonsense in [&b"x"[..], &[0; 32], &[0xff; 4096]] {
            std::fs::write(&log, nonsense).unwrap();
            let image = Image::of(&copy).unwrap().unwrap();
            assert!(count(&image).is_err(), "without its log it has no table");
        }
        std::fs::write(&log, "").unwrap();
        assert!(Image::of(&copy).unwrap().is_none());
    }
}
