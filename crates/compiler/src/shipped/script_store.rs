//! Copies of the shipped scripts in a profile, and which of them a person changed.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Script;
use super::original::Original;
use super::utilities::{UTILITIES_DIR, is_plain, read};
use crate::files::hash;

/// The file that says which copy is current, in that folder.
pub const MANIFEST_FILE: &str = ".materia-shipped-utilities.json";

/// How many characters of a hash stand in a file name.
const HASH_CHARS: usize = 12;
/// How many names are tried for one script. Each one that is taken was changed by a person.
const NAMES_MAX: usize = 20;
/// Copied scripts and their file names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Manifest {
    /// The current copy of each script, by the name of the script.
    pub(super) scripts: BTreeMap<String, Copy>,
    /// The hash of everything that was ever written here, by file: a file that has another was
    /// changed by a person.
    pub(super) written: BTreeMap<String, String>,
}

/// A copy of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Copy {
    /// Its file, in the folder of the manifest.
    pub(super) file: String,
    /// The hash of its bytes.
    pub(super) hash: String,
}

/// The copies in one profile, as they are now.
#[derive(Debug)]
pub struct ScriptStore {
    pub(super) folder: PathBuf,
    pub(super) manifest: Manifest,
    /// The original system's view of the same folder: it may be the profile of both.
    shared: Original,
    /// The profile of the original system, if there is another.
    original: Option<Original>,
    /// The profile itself.
    profile: PathBuf,
}

/// Where a script belongs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) file: String,
    /// Whether the file exists.
    pub(super) present: bool,
    /// Whether it is the user's own version.
    pub(super) changed: bool,
}

impl ScriptStore {
    /// Looks at a profile. A manifest that cannot be read says nothing, so that every file counts as
    /// a person's unless it is what would be written.
    pub fn of(profile: &Path) -> Self {
        let folder = profile.join(UTILITIES_DIR);
        let manifest = read(&folder.join(MANIFEST_FILE)).ok().flatten();
        let manifest = manifest.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let shared = Original::of(profile);
        let (manifest, profile) = (manifest.unwrap_or_default(), profile.to_owned());
        Self { folder, manifest, shared, original: None, profile }
    }

    /// Reads the user's profile first and the profile of the original system behind it, as for configurations (D52).
    pub fn over(original: Option<&Path>, profile: &Path) -> Self {
        let original = original.filter(|original| *original != profile).map(Original::of);
        Self { original, ..Self::of(profile) }
    }

    /// The same folders, as they are by now.
    pub(super) fn again(&self) -> Self {
        let original = self.original.as_ref().map(Original::again);
        Self { original, ..Self::of(&self.profile) }
    }

    /// Whether a file is in a folder from which scripts are run.
    pub(super) fn has(&self, path: &Path) -> bool {
        let of_original = self.original.as_ref().map(|original| original.folder.as_path());
        path.parent().is_some_and(|folder| folder == self.folder || Some(folder) == of_original)
    }

    /// The file that the script is, or will be, run from.
    pub fn path(&self, script: &Script) -> PathBuf {
        if let Some(path) = self.changed_in_original(script) {
            return path;
        }
        // Where nothing can be chosen, `sync` says so before anything runs.
        let file = self.choose(script).map_or_else(|_| script.name.to_owned(), |one| one.file);
        self.folder.join(file)
    }

    /// Whether the copy that runs is a person's version of the script.
    pub fn is_changed(&self, script: &Script) -> bool {
        self.choose(script).is_ok_and(|choice| choice.changed)
            || self.changed_in_original(script).is_some()
    }

    /// A person's version of the script in the original system's profile, where the profile itself has none.
    pub(super) fn changed_in_original(&self, script: &Script) -> Option<PathBuf> {
        let changed = self.original.as_ref()?.changed(script).ok().flatten();
        changed.filter(|_| !self.choose(script).is_ok_and(|choice| choice.changed))
    }

    /// The copy of what is shipped now, which its owner may change as they like (D53). A copy of something
    /// older is none, and nor is a name that leads elsewhere.
    fn own_copy(&self, script: &Script, wanted: &str) -> Option<String> {
        match self.manifest.scripts.get(script.name) {
            Some(copy) if copy.hash == wanted => Some(copy.file.clone()),
            Some(_) => None,
            None => Some(self.shared.file(script).to_owned()),
        }
        .filter(|file| is_plain(file))
    }

    /// Chooses the file of a script: the copy that is there, changed or not, as long as it is one of what is
    /// shipped now. Otherwise its own name, unless a person's file bears it; then a name with the hash in it.
    pub(super) fn choose(&self, script: &Script) -> io::Result<Choice> {
        let wanted = script.hash();
        if let Some(file) = self.own_copy(script, &wanted)
            && let Some(bytes) = read(&self.folder.join(&file))?
        {
            let found = hash(&bytes);
            if found == wanted {
                return Ok(Choice { file, present: true, changed: false });
            }
            if self.manifest.written.get(&file) != Some(&found)
                && !self.shared.wrote(script, &bytes)
            {
                return Ok(Choice { file, present: true, changed: true });
            }
        }
        for number in 0..NAMES_MAX {
            let file = name(script, &wanted, number);
            match read(&self.folder.join(&file))?.map(|bytes| hash(&bytes)) {
                None => return Ok(Choice { file, present: false, changed: false }),
                Some(found) if found == wanted => {
                    return Ok(Choice { file, present: true, changed: false });
                }
                // It is as it was written by an older version, so it is replaced.
                Some(found) if self.manifest.written.get(&file) == Some(&found) => {
                    return Ok(Choice { file, present: false, changed: false });
                }
                Some(_) => {}
            }
        }
        let told = format!("{NAMES_MAX} changed copies of {} lie there already", script.name);
        Err(io::Error::new(io::ErrorKind::AlreadyExists, told))
    }

    /// Whether the script is in its folder and in the manifest, or the user's own version replaces it.
    pub(super) fn holds(&self, script: &Script) -> bool {
        if self.changed_in_original(script).is_some() {
            return true;
        }
        let known = self.manifest.scripts.get(script.name);
        let choice = self.choose(script);
        known.zip(choice.ok()).is_some_and(|(known, choice)| {
            choice.present && known.file == choice.file && known.hash == script.hash()
        })
    }
}

/// The names of a script in the order they are tried: `a.mjs`, `a.0123456789ab.mjs`,
/// `a.0123456789ab-2.mjs`, …
fn name(script: &Script, hash: &str, number: usize) -> String {
    let (stem, extension) = script.name.rsplit_once('.').unwrap_or((script.name, "mjs"));
    let short = &hash[..HASH_CHARS];
    match number {
        0 => script.name.to_owned(),
        1 => format!("{stem}.{short}.{extension}"),
        more => format!("{stem}.{short}-{more}.{extension}"),
    }
}
