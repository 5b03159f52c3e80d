//! Notes of the journals that this user's materia began, and where, in the user's state folder.
//!
//! A journal can contain anything, since anyone may have written it. One that is noted here was begun by this user's
//! materia in this place. Any other is *foreign*: it came with a repository, or was copied or restored. It is
//! read-only until its owner adopts it.
//!
//! # Invariants
//!
//! * A note has the journal's id, its path, and the identity of the file: device, inode and birth time. A repository
//!   cannot choose those.
//! * A journal at the path of its note is the user's own as long as its identity matches; where a file system has no
//!   birth time, as long as the id matches. A journal that was moved within its file system still matches.
//! * A note is written before the first table of its journal.

use std::fmt::Write as _;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::fs::{AtFlags, CWD, StatxFlags, StatxTimestamp};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::private;

/// The folder of the notes, in the state folder.
const FOLDER: &str = "journals";
/// Held while a journal is begun.
const LOCK_FILE: &str = "lock";
/// Maximum size of a note; paths are shorter than this.
const NOTE_BYTES_MAX: u64 = 64 << 10;
/// Bytes of a journal's id.
const ID_BYTES: usize = 16;

/// The notes of one user.
#[derive(Debug, Clone)]
pub(crate) struct Notes {
    folder: PathBuf,
}

/// Which file something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileIdentity {
    device: u64,
    number: u64,
    /// When the system made it, in nanoseconds since 1970, where it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made: Option<u64>,
}

impl FileIdentity {
    pub(crate) fn of(found: &Metadata) -> Self {
        let since = found.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let made = since.and_then(|since| u64::try_from(since.as_nanos()).ok());
        Self { device: found.dev(), number: found.ino(), made }
    }

    /// The identity of the file with this name; a link is not followed.
    ///
    /// Times of changes are not requested: on newer kernels that would give the file a new time with its next change,
    /// and each commit would cost one more write.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        let wanted = StatxFlags::INO | StatxFlags::BTIME;
        match rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted) {
            Ok(found) if found.stx_mask & StatxFlags::INO.bits() != 0 => Ok(Self {
                device: rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor),
                number: found.stx_ino,
                made: (found.stx_mask & StatxFlags::BTIME.bits() != 0)
                    .then(|| nanoseconds(&found.stx_btime))
                    .flatten(),
            }),
            // An old system, or one that keeps the call from us.
            Ok(_) | Err(Errno::NOSYS | Errno::PERM) => Ok(Self::of(&path.symlink_metadata()?)),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether both are one file, as far as a file system tells: one that was replaced is not.
    pub(crate) fn is_same(self, other: Self) -> bool {
        (self.device, self.number) == (other.device, other.number)
    }

    /// Whether both were created at the same instant, or an instant is unknown.
    fn may_be(self, other: Self) -> bool {
        match (self.made, other.made) {
            (Some(one), Some(other)) => one == other,
            (None, _) | (_, None) => true,
        }
    }

    /// Whether it is certainly the same file, wherever it is now.
    fn is_surely(self, other: Self) -> bool {
        self.made.is_some() && self == other
    }
}

/// An instant behind 1970.
fn nanoseconds(at: &StatxTimestamp) -> Option<u64> {
    let seconds = u64::try_from(at.tv_sec).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(u64::from(at.tv_nsec))
}

/// The note of a journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Note {
    /// Its id.
    id: String,
    /// Its path, for people; invalid UTF-8 is replaced.
    path: String,
    /// Which file it is.
    file: FileIdentity,
}

/// Whose a journal is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Whose {
    /// There is none, or nothing in it yet.
    Nobodys,
    /// This user's materia began it here; its id.
    Own(String),
    /// It came from elsewhere.
    Foreign,
}

impl Notes {
    /// Those in a state folder.
    pub(crate) fn of(state: &Path) -> Self {
        Self { folder: state.join(FOLDER) }
    }

    /// Whose the journal at `path` is, which has no link in it. Writes nothing but that a journal was moved.
    pub(crate) fn whose(&self, path: &Path) -> io::Result<Whose> {
        let found = match path.symlink_metadata() {
            Ok(found) if found.is_file() => found,
            Ok(found) if found.is_symlink() => return Err(private::is_link()),
            Ok(_) => return Err(io::Error::other("it is no file")),
            Err(error) if private::is_absent(&error) => return Ok(Whose::Nobodys),
            Err(error) => return Err(error),
        };
        let file = FileIdentity::of(&found);
        if let Some(note) = self.read(&at(path))
            && note.file.may_be(file)
        {
            return Ok(Whose::Own(note.id));
        }
        if let Some(note) = self.read(&is(file))
            && note.file.is_surely(file)
        {
            // Where it cannot be noted it is found by its file again next time.
            let _ = self.note(path, &note.id, file);
            return Ok(Whose::Own(note.id));
        }
        let blank = found.len() == 0 && !beside(path, "-wal").exists();
        Ok(if blank { Whose::Nobodys } else { Whose::Foreign })
    }

    /// Begins a journal at `path`, if there is none: an empty file that is noted. Gives its id; `None` where
    /// the journal there is foreign.
    pub(crate) fn begin(&self, path: &Path) -> io::Result<Option<String>> {
        let _alone = self.alone()?;
        match self.whose(path)? {
            Whose::Own(id) => Ok(Some(id)),
            Whose::Foreign => Ok(None),
            Whose::Nobodys => {
                match private::new_file(path) {
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(error),
                }
                let id = fresh_id()?;
                self.note(path, &id, FileIdentity::of(&path.symlink_metadata()?))?;
                Ok(Some(id))
            }
        }
    }

    /// Notes that the journal of this id is at `path`, and which file it is.
    pub(crate) fn note(&self, path: &Path, id: &str, file: FileIdentity) -> io::Result<()> {
        private::folders(&self.folder)?;
        let text = path.to_string_lossy().into_owned();
        let bytes = serde_json::to_vec(&Note { id: id.to_owned(), path: text, file })?;
        let mut names = vec![at(path)];
        names.extend(file.made.map(|_| is(file)));
        for name in names {
            let mut beside = tempfile::NamedTempFile::new_in(&self.folder)?;
            beside.write_all(&bytes)?;
            beside.as_file().sync_data()?;
            beside.persist(self.folder.join(name))?;
        }
        File::open(&self.folder)?.sync_all()
    }

    fn read(&self, name: &str) -> Option<Note> {
        let mut options = File::options();
        let file = options.read(true).custom_flags(private::no_link()).open(self.folder.join(name));
        let mut bytes = Vec::new();
        file.ok()?.take(NOTE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|note: &Note| is_id(&note.id))
    }

    /// Keeps others from beginning a journal at the same time.
    fn alone(&self) -> io::Result<File> {
        private::folders(&self.folder)?;
        let mut options = File::options();
        options.write(true).create(true).truncate(false).mode(private::FILE_MODE);
        let lock = options.custom_flags(private::no_link()).open(self.folder.join(LOCK_FILE))?;
        lock.lock()?;
        Ok(lock)
    }
}

/// The name of the note about what is at a path.
fn at(path: &Path) -> String {
    let hash = blake3::hash(path.as_os_str().as_bytes());
    format!("at-{}", &hash.to_hex()[..32])
}

/// The name of the note about a file.
fn is(file: FileIdentity) -> String {
    format!("is-{:x}-{:x}-{:x}", file.device, file.number, file.made.unwrap_or(0))
}

/// A file that SQLite keeps beside its database.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// A new, unpredictable id.
pub(crate) fn fresh_id() -> io::Result<String> {
    let mut bytes = [0; ID_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let mut id = String::with_capacity(2 * ID_BYTES);
    for byte in bytes {
        write!(id, "{byte:02x}").map_err(io::Error::other)?;
    }
    Ok(id)
}

/// Whether a text is the id of a journal: it becomes the name of a folder.
pub(crate) fn is_id(text: &str) -> bool {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == 2 * ID_BYTES && text.bytes().all(digit)
}

/// Removes what is left of a file; that it is not there is fine.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if !private::is_absent(&error) => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage() -> (tempfile::TempDir, Notes, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("journal.db");
        let notes = Notes::of(&folder.path().join("state"));
        (folder, notes, path)
    }

    #[test]
    fn both_looks_at_a_file_say_the_same_and_neither_follows_a_link() {
        let (_folder, _, path) = stage();
        fs::write(&path, "something").unwrap();
        assert_eq!(FileIdentity::at(&path).unwrap(), FileIdentity::of(&path.metadata().unwrap()));
        let link = path.with_file_name("link.db");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(
            FileIdentity::at(&link).unwrap(),
            FileIdentity::of(&link.symlink_metadata().unwrap())
        );
        assert_ne!(FileIdentity::at(&link).unwrap(), FileIdentity::at(&path).unwrap());
        fs::remove_file(&path).unwrap();
        assert_eq!(FileIdentity::at(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_was_begun_here_is_own_and_nothing_else() {
        let (_folder, notes, path) = stage();
        assert_eq!(notes.whose(&path).unwrap(), Whose::Nobodys);
        let id = notes.begin(&path).unwrap().unwrap();
        assert!(is_id(&id), "{id}");
        assert_eq!(notes.begin(&path).unwrap(), Some(id.clone()), "it is begun once");
        assert_eq!(notes.whose(&path).unwrap(), Whose::Own(id.clone()));
        let copy = path.with_file_name("copy.db");
        fs::write(&path, "something").unwrap();
        fs::copy(&path, &copy).unwrap();
        assert_eq!(notes.whose(&copy).unwrap(), Whose::Foreign);
        assert_eq!(notes.begin(&copy).unwrap(), None);
        let moved = path.with_file_name("moved.db");
        let tells = FileIdentity::of(&path.metadata().unwrap()).made.is_some();
        fs::rename(&path, &moved).unwrap();
        let whose = if tells { Whose::Own(id) } else { Whose::Foreign };
        assert_eq!(notes.whose(&moved).unwrap(), whose);
        if tells {
            // A file that took its place is another file.
            fs::rename(&copy, &path).unwrap();
            assert_eq!(notes.whose(&path).unwrap(), Whose::Foreign);
        }
    }

    #[test]
    fn a_link_is_refused_and_a_damaged_note_is_none() {
        let (folder, notes, path) = stage();
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap();
        assert!(notes.whose(&path).is_err());
        assert!(notes.begin(&path).is_err());
        assert!(!folder.path().join("elsewhere").exists());
        fs::remove_file(&path).unwrap();
        notes.begin(&path).unwrap().unwrap();
        fs::write(&path, "something").unwrap();
        for note in fs::read_dir(folder.path().join("state/journals")).unwrap().flatten() {
            if note.file_name() != LOCK_FILE {
                fs::write(
                    note.path(),
                    r#"{"id":"../../x","path":"","file":{"device":0,"number":0}}"#,
                )
                .unwrap();
            }
        }
        assert_eq!(notes.whose(&path).unwrap(), Whose::Foreign);
    }
}
