//! Edits of the configuration that are not saved yet. Each is a file in the user's state folder, and is durable before
//! the editor gets the confirmation.
//!
//! No input becomes a path: the file of a draft is named after the hash of its id.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use materia_contract::api::{Draft, DraftBody, DraftItem, DraftKept};
use materia_contract::time::wall_time;
use materia_engine::{Clock as _, SystemClock};

use crate::project::Project;
use crate::{Failure, Result};

/// How many drafts a project may have.
pub const DRAFTS_MAX: usize = 200;
/// How long the id of a draft may be.
const ID_CHARS_MAX: usize = 64;
/// The most that is read back; what is sent has a bound below it.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// One at a time looks at a draft and changes it.
static WRITING: Mutex<()> = Mutex::new(());

/// Why a draft was not kept or thrown away.
#[derive(Debug)]
pub enum NotKept {
    /// Another client saved it in between: this is its present state, if it exists.
    Changed(Option<Box<Draft>>),
    /// Something else.
    Failed(Failure),
}

impl From<Failure> for NotKept {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// The drafts of a project.
#[derive(Debug)]
pub struct Drafts {
    folder: PathBuf,
}

impl Drafts {
    /// Those of this project.
    pub fn of(project: &Project) -> Result<Self> {
        let Some(state) = &project.state_dir else {
            return Err(Failure::storage(
                "the draft cannot be saved: the state folder is not known",
            ));
        };
        let of = blake3::hash(project.dir.as_os_str().as_encoded_bytes()).to_hex();
        Ok(Self { folder: state.join("drafts").join(&of[..16]) })
    }

    /// All of them, by id. One that cannot be read is passed over.
    pub fn list(&self) -> Result<Vec<DraftItem>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|error| self.unusable(&error))?,
        };
        let is_draft = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
        let paths = entries.flatten().map(|entry| entry.path()).filter(is_draft);
        let mut items: Vec<DraftItem> =
            paths.filter_map(|path| read(&path).ok()?).map(|draft| item(&draft)).collect();
        items.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(items)
    }

    /// One of them, if it is there.
    pub fn get(&self, id: &str) -> Result<Option<Draft>> {
        let path = self.path(id)?;
        read(&path).map_err(|error| self.unusable(&error))
    }

    /// Keeps one that had this version; 0 where there was none. It is durable when this returns.
    pub fn keep(&self, id: &str, version: u64, body: DraftBody) -> Result<DraftKept, NotKept> {
        let path = self.path(id)?;
        let _alone = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let there = read(&path).map_err(|error| self.unusable(&error))?;
        if there.as_ref().map_or(0, |draft| draft.version) != version {
            return Err(NotKept::Changed(there.map(Box::new)));
        }
        if there.is_none() && self.list()?.len() >= DRAFTS_MAX {
            let message = format!(
                "the project has {DRAFTS_MAX} drafts already, the most that are allowed; save or delete some"
            );
            return Err(Failure::resolution(message).into());
        }
        let DraftBody { layer, file, base, text, history } = body;
        let updated_at = wall_time(SystemClock.now());
        let version = version + 1;
        let id = id.to_owned();
        let draft = Draft { id, layer, file, base, text, history, version, updated_at };
        self.write(&path, &draft).map_err(|error| self.unusable(&error))?;
        Ok(DraftKept { version, updated_at: draft.updated_at })
    }

    /// Throws one away that has this version.
    pub fn drop(&self, id: &str, version: u64) -> Result<DraftKept, NotKept> {
        let path = self.path(id)?;
        let _alone = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let there = read(&path).map_err(|error| self.unusable(&error))?;
        match there {
            Some(draft) if draft.version == version => {
                fs::remove_file(&path).map_err(|error| self.unusable(&error))?;
                Ok(DraftKept { version: 0, updated_at: draft.updated_at })
            }
            other => Err(NotKept::Changed(other.map(Box::new))),
        }
    }

    fn path(&self, id: &str) -> Result<PathBuf> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if id.is_empty() || id.len() > ID_CHARS_MAX || !id.chars().all(plain) {
            return Err(Failure::usage(format!(
                "the id of a draft must have 1 to {ID_CHARS_MAX} characters of A-Z a-z 0-9 . _ -"
            )));
        }
        Ok(self.folder.join(format!("{}.json", &blake3::hash(id.as_bytes()).to_hex()[..32])))
    }

    fn write(&self, path: &Path, draft: &Draft) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let beside = path.with_extension("new");
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        file.write_all(&serde_json::to_vec(draft).map_err(io::Error::other)?)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        File::open(&self.folder)?.sync_all()
    }

    fn unusable(&self, error: &io::Error) -> Failure {
        Failure::storage(format!(
            "the drafts in `{}` cannot be used: {error}",
            self.folder.display()
        ))
    }
}

/// A draft, if it is there. One that makes no sense is not: an editor begins anew.
fn read(path: &Path) -> io::Result<Option<Draft>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut text = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text).ok())
}

fn item(draft: &Draft) -> DraftItem {
    DraftItem {
        id: draft.id.clone(),
        layer: draft.layer.clone(),
        file: draft.file.clone(),
        base: draft.base.clone(),
        version: draft.version,
        updated_at: draft.updated_at.clone(),
        bytes: draft.text.len() as u64,
    }
}
