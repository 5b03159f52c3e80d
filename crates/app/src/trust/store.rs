//! What was approved, in a file of the profile.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use materia_contract::time::wall_time;
use materia_engine::{Clock, SystemClock};
use serde::{Deserialize, Serialize};

const FILE: &str = "trust.json";
const LOCK_FILE: &str = "trust.lock";
/// How many entries are kept; the oldest are forgotten first and asked for again.
const ENTRIES_MAX: usize = 10_000;
/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Something that was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    /// The real path of the project.
    project: String,
    /// What kind of hash it is.
    kind: Kind,
    /// The hash.
    hash: String,
    /// When it was approved.
    approved_at: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// Of configuration files.
    Content,
    /// Of a script that a command runs.
    Script,
    /// Of a plan that was cast here.
    Plan,
}

impl Entry {
    /// Configuration files of a project.
    pub(super) fn content(project: &Path, hash: String) -> Self {
        Self::new(project, Kind::Content, hash)
    }

    /// A script of a project.
    pub(super) fn script(project: &Path, hash: String) -> Self {
        Self::new(project, Kind::Script, hash)
    }

    /// A plan of a project.
    pub(super) fn plan(project: &Path, hash: String) -> Self {
        Self::new(project, Kind::Plan, hash)
    }

    fn new(project: &Path, kind: Kind, hash: String) -> Self {
        let project = project.to_string_lossy().into_owned();
        Self { project, kind, hash, approved_at: wall_time(SystemClock.now()) }
    }

    /// Tells what it approves, so that questions about different things have different names.
    pub(super) fn identify(&self, hasher: &mut blake3::Hasher) {
        let kind = match self.kind {
            Kind::Content => "content",
            Kind::Script => "script",
            Kind::Plan => "plan",
        };
        for part in [kind, &self.project, &self.hash] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }

    /// Whether both approve the same; when is no part of that.
    fn is(&self, other: &Self) -> bool {
        (&self.project, self.kind, &self.hash) == (&other.project, other.kind, &other.hash)
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Document {
    approved: Vec<Entry>,
}

/// The store of one profile; without a profile nothing is remembered.
pub(super) struct Store {
    folder: Option<PathBuf>,
}

impl Store {
    pub(super) fn at(profile: Option<&Path>) -> Self {
        Self { folder: profile.map(Path::to_owned) }
    }

    /// Whether this was approved before. A file that cannot be read approves nothing.
    pub(super) fn knows(&self, entry: &Entry, warnings: &mut Vec<String>) -> bool {
        let Some(folder) = &self.folder else { return false };
        match read(folder) {
            Ok(document) => document.approved.iter().any(|known| known.is(entry)),
            Err(error) => {
                let path = folder.join(FILE);
                warnings.push(format!("cannot read `{}`: {error}", path.display()));
                false
            }
        }
    }

    /// Remembers approvals. Where that fails the person is asked again next time, no more.
    pub(super) fn remember(&self, news: Vec<Entry>, warnings: &mut Vec<String>) {
        if news.is_empty() {
            return;
        }
        let Some(folder) = &self.folder else { return };
        if let Err(error) = merge(folder, news) {
            warnings.push(format!(
                "cannot remember the approval in `{}`: {error}",
                folder.join(FILE).display()
            ));
        }
    }
}

fn read(folder: &Path) -> io::Result<Document> {
    let file = match File::open(folder.join(FILE)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Document::default()),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    serde_json::from_slice(&bytes).map_err(io::Error::from)
}

/// Adds entries to what is there now. The lock keeps two processes from undoing each other.
fn merge(folder: &Path, news: Vec<Entry>) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut private = File::options();
    private.write(true).create(true).mode(0o600);
    let lock = private.clone().truncate(false).open(folder.join(LOCK_FILE))?;
    lock.lock()?;
    // What cannot be read is replaced: it approves nothing, and would stand in the way for ever.
    let mut document = read(folder).unwrap_or_default();
    for entry in news {
        document.approved.retain(|known| !known.is(&entry));
        document.approved.push(entry);
    }
    let superfluous = document.approved.len().saturating_sub(ENTRIES_MAX);
    document.approved.drain(..superfluous);
    let beside = folder.join(format!("{FILE}.{}.tmp", std::process::id()));
    let mut file = private.truncate(true).open(&beside)?;
    file.write_all(&serde_json::to_vec_pretty(&document)?)?;
    fs::rename(&beside, folder.join(FILE))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn entry(hash: &str) -> Entry {
        Entry::content(Path::new("/project"), hash.to_owned())
    }

    #[test]
    fn approvals_are_merged_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let profile = folder.path().join("new");
        let threads: Vec<_> = (0..8)
            .map(|n| {
                let profile = profile.clone();
                std::thread::spawn(move || merge(&profile, vec![entry(&n.to_string())]).unwrap())
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let document = read(&profile).unwrap();
        assert_eq!(document.approved.len(), 8);
        let mode = profile.join(FILE).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(
            !document
                .approved
                .iter()
                .any(|known| known.is(&Entry::plan(Path::new("/project"), "1".into())))
        );
    }

    #[test]
    fn a_damaged_store_approves_nothing_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), "{\"approved\": [1").unwrap();
        assert!(read(folder.path()).is_err());
        merge(folder.path(), vec![entry("a")]).unwrap();
        assert_eq!(read(folder.path()).unwrap().approved.len(), 1);
    }

    #[test]
    fn the_oldest_approvals_are_forgotten_first() {
        let folder = tempfile::tempdir().unwrap();
        let approved = (0..ENTRIES_MAX).map(|n| entry(&n.to_string())).collect();
        let full = serde_json::to_vec(&Document { approved }).unwrap();
        fs::write(folder.path().join(FILE), full).unwrap();
        merge(folder.path(), ["a", "b", "c"].map(entry).to_vec()).unwrap();
        let kept = read(folder.path()).unwrap().approved;
        assert_eq!((kept.len(), kept[0].hash.as_str()), (ENTRIES_MAX, "3"));
    }
}
