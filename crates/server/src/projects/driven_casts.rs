//! The list of casts that this server drives, stored so that the next server resumes them after a crash.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use materia_contract::RunId;
use serde::{Deserialize, Serialize};

/// The file, in the state folder.
const FILE: &str = "server-casts.json";

/// A cast that a server drives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    /// The folder of its project.
    pub(crate) project: PathBuf,
    /// The folder that it is kept in.
    pub(crate) root: PathBuf,
    pub(crate) cast_id: RunId,
    /// How many servers have died while they drove it, one after the other.
    #[serde(default)]
    pub(crate) deaths: u32,
    /// The agent that was named for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) provider: Option<String>,
}

/// The casts that this server drives.
pub(crate) struct DrivenCasts {
    path: PathBuf,
    entries: Mutex<Vec<Entry>>,
}

impl DrivenCasts {
    /// Takes over what an earlier server left; each of those has seen one more death.
    pub(crate) fn open(state: &Path) -> io::Result<(Self, Vec<Entry>)> {
        let path = state.join(FILE);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read?,
        };
        // An unreadable file counts as empty: the user resumes such casts by hand.
        let mut left: Vec<Entry> = serde_json::from_slice(&text).unwrap_or_default();
        for entry in &mut left {
            entry.deaths += 1;
        }
        let ledger = Self { path, entries: Mutex::new(left.clone()) };
        ledger.change(|_| {})?;
        Ok((ledger, left))
    }

    /// A cast is driven from now on. What it has seen before stays noted.
    pub(crate) fn add(&self, entry: Entry) -> io::Result<()> {
        self.change(|entries| {
            match entries.iter_mut().find(|known| known.is_of(&entry.root, &entry.cast_id)) {
                Some(known) => *known = Entry { deaths: known.deaths, ..entry },
                None => entries.push(entry),
            }
        })
    }

    /// A cast has come to rest.
    pub(crate) fn remove(&self, root: &Path, id: &RunId) -> io::Result<()> {
        self.change(|entries| entries.retain(|known| !known.is_of(root, id)))
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Entry>)) -> io::Result<()> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut entries);
        let text = serde_json::to_vec(&*entries).map_err(io::Error::other)?;
        let beside = self.path.with_extension("json.new");
        let mut file = File::create(&beside)?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)
    }
}

impl Entry {
    fn is_of(&self, root: &Path, id: &RunId) -> bool {
        self.root == root && self.cast_id == *id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str) -> Entry {
        let (project, root) = (PathBuf::from("/p"), PathBuf::from("/p/.materia"));
        let cast_id = RunId::new(id);
        Entry { project, root, cast_id, deaths: 0, provider: None }
    }

    #[test]
    fn deaths_are_counted_until_a_cast_rests() {
        let state = tempfile::tempdir().unwrap();
        let (ledger, left) = DrivenCasts::open(state.path()).unwrap();
        assert!(left.is_empty());
        ledger.add(entry("a")).unwrap();
        ledger.add(entry("b")).unwrap();
        for deaths in 1..=3 {
            let (ledger, left) = DrivenCasts::open(state.path()).unwrap();
            assert_eq!(left.iter().map(|it| it.deaths).collect::<Vec<_>>(), [deaths; 2]);
            // That it is driven anew does not make it forget.
            ledger.add(entry("a")).unwrap();
        }
        let (ledger, _) = DrivenCasts::open(state.path()).unwrap();
        ledger.remove(Path::new("/p/.materia"), &RunId::new("a")).unwrap();
        let (_, left) = DrivenCasts::open(state.path()).unwrap();
        assert_eq!(left.iter().map(|it| it.cast_id.as_str()).collect::<Vec<_>>(), ["b"]);
    }
}
