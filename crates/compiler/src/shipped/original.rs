//! Scripts in the profile of the original system (D52). They are only ever read.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::Script;
use super::utilities::{UTILITIES_DIR, is_plain, read};
use crate::files::hash;

/// The file in which the original system says which copy is current and what it wrote.
const MANIFEST_FILE: &str = ".pi-materia-shipped-utilities.json";

/// A folder of utilities that the original system filled.
#[derive(Debug)]
pub(super) struct Original {
    pub(super) folder: PathBuf,
    manifest: Value,
}

impl Original {
    /// Looks at a profile. Without a manifest that can be read, every file counts as a person's.
    pub(super) fn of(profile: &Path) -> Self {
        Self::in_folder(profile.join(UTILITIES_DIR))
    }

    /// The same folder, as it is by now.
    pub(super) fn again(&self) -> Self {
        Self::in_folder(self.folder.clone())
    }

    fn in_folder(folder: PathBuf) -> Self {
        let bytes = read(&folder.join(MANIFEST_FILE)).ok().flatten().unwrap_or_default();
        Self { folder, manifest: serde_json::from_slice(&bytes).unwrap_or_default() }
    }

    /// The file that the original system would run for a script.
    pub(super) fn file(&self, script: &Script) -> &str {
        let named = self.entry(script)["profileFile"].as_str();
        named.filter(|file| is_plain(file)).unwrap_or(script.name)
    }

    /// Whether these bytes are what the original system wrote for a script.
    pub(super) fn wrote(&self, script: &Script, bytes: &[u8]) -> bool {
        let hash = || format!("{:x}", Sha256::digest(bytes));
        self.entry(script)["sourceHash"].as_str().is_some_and(|told| told == hash())
    }

    /// The script as a person changed it.
    pub(super) fn changed(&self, script: &Script) -> io::Result<Option<PathBuf>> {
        let path = self.folder.join(self.file(script));
        let found = read(&path)?;
        let changed =
            found.is_some_and(|bytes| hash(&bytes) != script.hash() && !self.wrote(script, &bytes));
        Ok(changed.then_some(path))
    }

    fn entry(&self, script: &Script) -> &Value {
        &self.manifest["utilities"][script.name]
    }
}
