//! One folder as `stat` shows it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The file that marks a folder as a cache, whose content may change at any time.
const CACHE_TAG: &str = "CACHEDIR.TAG";

/// Attributes of an entry that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tell {
    /// Everything.
    All,
    /// Whether it is a folder that must be looked into for what is known by name.
    ThatItIsAFolder,
    /// Not even that it is there.
    Nothing,
}

/// Attributes of one name, from `stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    kind: FileType,
    device: u64,
    inode: u64,
    links: u64,
    mode: u32,
    owner: (u32, u32),
    size: u64,
    modified: (i64, i64),
    /// The change time of the inode, which no process can set.
    changed: (i64, i64),
    tell: Tell,
}

impl Entry {
    fn new(found: &Metadata, tell: Tell) -> Self {
        Self {
            kind: found.file_type(),
            device: found.dev(),
            inode: found.ino(),
            links: found.nlink(),
            mode: found.mode(),
            owner: (found.uid(), found.gid()),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
            tell,
        }
    }

    /// Identity of a file, which may have several names.
    fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    fn is_same(&self, other: &Self) -> bool {
        let place = self.kind == other.kind && self.identity() == other.identity();
        let access = self.mode == other.mode && self.owner == other.owner;
        if self.kind.is_dir() {
            return place && access;
        }
        let content = self.size == other.size && self.modified == other.modified;
        // A name more or less somewhere else, in a package store for example, is no change here.
        let inode = self.changed == other.changed || self.links > 1 || other.links > 1;
        place && access && content && inode
    }
}

/// Called for each `stat`; the tests count the calls.
#[cfg(not(test))]
fn looked() {}

#[cfg(test)]
use super::tests::looked;

/// The entries of a folder, by name.
#[derive(Debug, Default)]
pub(super) struct Folder {
    pub(super) entries: BTreeMap<OsString, Entry>,
}

impl Folder {
    /// Reads a folder, or `None` if more than `most` of its entries count. One that cannot be
    /// read is empty: that it became so shows in its own entry.
    pub(super) fn read(path: &Path, most: usize, tell: impl Fn(&OsStr) -> Tell) -> Option<Self> {
        let mut entries = BTreeMap::new();
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let tell = tell(&name);
            if tell == Tell::Nothing {
                continue;
            }
            if entries.len() == most {
                return None;
            }
            looked();
            // One that is gone already was never there.
            if let Ok(found) = entry.metadata() {
                entries.insert(name, Entry::new(&found, tell));
            }
        }
        Some(Self { entries })
    }

    /// The names of the folders in it.
    pub(super) fn folders(&self) -> impl Iterator<Item = &OsString> {
        self.entries.iter().filter(|(_, entry)| entry.kind.is_dir()).map(|(name, _)| name)
    }

    /// Whether it says of itself that it is a cache.
    pub(super) fn is_cache(&self) -> bool {
        self.entries.get(OsStr::new(CACHE_TAG)).is_some_and(|entry| entry.kind.is_file())
    }

    /// The names that are not the same in `now`.
    pub(super) fn differences<'a>(&'a self, now: &'a Self) -> impl Iterator<Item = &'a OsString> {
        let gone_or_other = self.entries.iter().filter(|(name, entry)| {
            entry.tell == Tell::All
                && now.entries.get(*name).is_none_or(|other| !entry.is_same(other))
        });
        let new = now
            .entries
            .iter()
            .filter(|(name, entry)| entry.tell == Tell::All && !self.entries.contains_key(*name));
        gone_or_other.chain(new).map(|(name, _)| name)
    }
}

/// Whether tools change a name below `.git` in the background, as an editor that shows the state
/// of the repository does. Branches, configuration and hooks are not among them.
pub(super) fn is_busy_in_git(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    [&b"objects"[..], b"index", b"FETCH_HEAD", b"remotes", b"gc.log"].contains(&name)
        || name.ends_with(b".lock")
}
