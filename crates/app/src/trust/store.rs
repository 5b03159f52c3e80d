//! Store of approvals: a file in the profile.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use materia_contract::time::wall_time;
use materia_engine::{Clock, SystemClock};
use serde::{Deserialize, Serialize};

use super::fact::{Fact, Kind};

const FILE: &str = "trust.json";
const LOCK_FILE: &str = "trust.lock";
/// How many entries are kept; the oldest are forgotten first and asked for again.
const ENTRIES_MAX: usize = 5_000;
/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How many bytes the file may have; what older approvals said is forgotten first, then the approvals.
const KEPT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Something that was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    /// The real path of the project.
    project: String,
    /// Kind of the fact.
    kind: Kind,
    /// Its name.
    #[serde(default)]
    name: String,
    /// The hash of what it says.
    hash: String,
    /// When it was approved.
    pub(super) approved_at: String,
    /// Text of the newest entry of that name, to show changes later.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) shown: String,
}

impl Entry {
    fn new(project: &Path, fact: Fact) -> Self {
        let project = project.to_string_lossy().into_owned();
        let Fact { kind, name, hash, shown } = fact;
        Self { project, kind, name, hash, approved_at: wall_time(SystemClock.now()), shown }
    }

    /// Whether both are about the same thing, whatever they say of it.
    fn is_about(&self, project: &str, kind: Kind, name: &str) -> bool {
        (self.project.as_str(), self.kind, self.name.as_str()) == (project, kind, name)
    }

    /// Whether both approve the same; when is no part of that.
    fn is(&self, other: &Self) -> bool {
        self.is_about(&other.project, other.kind, &other.name) && self.hash == other.hash
    }
}

/// Approvals of one project.
#[derive(Debug, Default)]
pub(super) struct Known {
    entries: Vec<Entry>,
}

impl Known {
    /// Whether this very thing was approved.
    pub(super) fn has(&self, fact: &Fact) -> bool {
        let same = |entry: &&Entry| entry.kind == fact.kind && entry.name == fact.name;
        fact.kind != Kind::Other
            && self.entries.iter().filter(same).any(|entry| entry.hash == fact.hash)
    }

    /// Last approved entry of the same kind and name.
    pub(super) fn before(&self, fact: &Fact) -> Option<&Entry> {
        let same = |entry: &&Entry| entry.kind == fact.kind && entry.name == fact.name;
        self.entries.iter().rev().find(same)
    }

    /// Whether anything of a kind was approved here.
    pub(super) fn has_any(&self, kinds: &[Kind]) -> bool {
        self.entries.iter().any(|entry| kinds.contains(&entry.kind))
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

    /// Approvals of a project. An unreadable file approves nothing.
    pub(super) fn known(&self, project: &Path, warnings: &mut Vec<String>) -> Known {
        let Some(folder) = &self.folder else { return Known::default() };
        let project = project.to_string_lossy();
        match read(folder) {
            Ok(mut document) => {
                document.approved.retain(|entry| entry.project == project);
                Known { entries: document.approved }
            }
            Err(error) => {
                let path = folder.join(FILE);
                let warning = format!("cannot read `{}`: {error}", path.display());
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
                Known::default()
            }
        }
    }

    /// Remembers approvals. Where that fails the person is asked again next time, no more.
    pub(super) fn remember(&self, project: &Path, news: Vec<Fact>, warnings: &mut Vec<String>) {
        if news.is_empty() {
            return;
        }
        let Some(folder) = &self.folder else { return };
        let news = news.into_iter().map(|fact| Entry::new(project, fact)).collect();
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
    let mut bytes = Vec::with_capacity(4 << 10);
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
        let about = (entry.project.clone(), entry.kind, entry.name.clone());
        document.approved.retain(|known| !known.is(&entry));
        // Only of the newest is kept what it says.
        let older = document
            .approved
            .iter_mut()
            .filter(|known| known.is_about(&about.0, about.1, &about.2));
        older.for_each(|known| known.shown.clear());
        document.approved.push(entry);
    }
    let superfluous = document.approved.len().saturating_sub(ENTRIES_MAX);
    document.approved.drain(..superfluous);
    let bytes = document.fitting()?;
    let beside = folder.join(format!("{FILE}.{}.tmp", std::process::id()));
    let mut file = private.truncate(true).open(&beside)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    fs::rename(&beside, folder.join(FILE))
}

impl Document {
    /// As it is written, no longer than it may be.
    fn fitting(&mut self) -> io::Result<Vec<u8>> {
        let bytes = serde_json::to_vec_pretty(self)?;
        if bytes.len() <= KEPT_BYTES_MAX {
            return Ok(bytes);
        }
        let half = self.approved.len() / 2;
        self.approved[..half].iter_mut().for_each(|entry| entry.shown.clear());
        let bytes = serde_json::to_vec_pretty(self)?;
        if bytes.len() <= KEPT_BYTES_MAX {
            return Ok(bytes);
        }
        self.approved.drain(..half);
        Ok(serde_json::to_vec_pretty(self)?)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn fact(name: &str, hash: &str) -> Fact {
        Fact::new(Kind::Materia, name, hash.to_owned(), hash)
    }

    fn entry(hash: &str) -> Entry {
        Entry::new(Path::new("/project"), fact("m", hash))
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
        let store = Store::at(Some(&profile));
        let known = store.known(Path::new("/project"), &mut Vec::new());
        assert!(known.has(&fact("m", "1")) && !known.has(&fact("m", "9")));
        assert!(!known.has(&fact("other", "1")), "it is approved under its name");
        assert!(!known.has(&Fact { kind: Kind::Cast, ..fact("m", "1") }), "and as what it is");
        assert!(!store.known(Path::new("/other"), &mut Vec::new()).has(&fact("m", "1")));
    }

    #[test]
    fn what_a_thing_said_is_kept_of_the_newest_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(Some(folder.path()));
        let project = Path::new("/project");
        for hash in ["a", "b"] {
            store.remember(project, vec![fact("m", hash), fact("n", "x")], &mut Vec::new());
        }
        let known = store.known(project, &mut Vec::new());
        assert!(known.has(&fact("m", "a")) && known.has(&fact("m", "b")));
        assert_eq!(known.before(&fact("m", "c")).unwrap().shown, "b");
        let kept = known.entries.iter().map(|entry| entry.shown.as_str()).collect::<Vec<_>>();
        assert_eq!(kept, ["", "b", "x"]);
    }

    #[test]
    fn what_an_older_version_kept_is_read_and_approves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let old =
            r#"{"approved":[{"project":"/project","kind":"plan","hash":"a","approvedAt":"x"}]}"#;
        fs::write(folder.path().join(FILE), old).unwrap();
        let mut warnings = Vec::new();
        let known = Store::at(Some(folder.path())).known(Path::new("/project"), &mut warnings);
        assert!(warnings.is_empty(), "{warnings:?}");
        let none = Fact { kind: Kind::Other, ..fact("", "a") };
        assert!(!known.has(&none) && !known.has(&fact("", "a")));
    }

    #[test]
    fn the_file_does_not_grow_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let large = |n: usize| Entry { shown: "x".repeat(6_000), ..entry(&n.to_string()) };
        let named = |n: usize| Entry { name: n.to_string(), ..large(n) };
        merge(folder.path(), (0..3_000).map(named).collect()).unwrap();
        let length = folder.path().join(FILE).metadata().unwrap().len();
        assert!(length < KEPT_BYTES_MAX as u64 * 2, "{length}");
        assert!(read(folder.path()).unwrap().approved.len() >= 1_500);
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
