//! Idempotency keys of starts: the same key starts one cast, also after a lost connection or a
//! restart of the server.
//!
//! The first event of a cast holds its key. A refused start has no event, so its key is stored
//! with the refusal in a file of the state folder.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use materia_contract::api::Problem;
use materia_contract::{CommandId, EventBody, RunId, StartKey};
use materia_engine::{Journal, ReadError, blocking};
use serde::{Deserialize, Serialize};

/// The file of refusals.
const FILE: &str = "server-refusals.jsonl";
/// How many refusals are kept; beyond, the older half goes when a server starts.
const REFUSALS_MAX: usize = 10_000;

/// Result of an earlier start with the same key.
#[derive(Debug, Clone)]
pub(crate) enum Known {
    /// This cast began.
    Began(RunId, String),
    /// It was refused.
    Refused(Box<Problem>, String),
}

#[derive(Serialize, Deserialize)]
struct Line {
    place: PathBuf,
    key: String,
    body: String,
    problem: Box<Problem>,
}

/// A project, or a cast, and a key.
type Named = (PathBuf, String);

/// By key, the cast and the hash of what was asked.
type Began = HashMap<String, (RunId, String)>;

/// The keys that are known.
pub(crate) struct Keys {
    path: PathBuf,
    refusals: Mutex<HashMap<Named, (Box<Problem>, String)>>,
    /// Of each journal that was looked through.
    began: Mutex<HashMap<PathBuf, Began>>,
    /// One lock for each project or cast and key with a request in progress.
    under_way: Mutex<HashMap<Named, Arc<tokio::sync::Mutex<()>>>>,
}

impl Keys {
    /// Reads what earlier servers refused.
    pub(crate) fn open(state: &Path) -> io::Result<Self> {
        let path = state.join(FILE);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let mut lines: Vec<Line> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if lines.len() > REFUSALS_MAX {
            lines.drain(..lines.len() - REFUSALS_MAX / 2);
            let kept: Vec<String> =
                lines.iter().filter_map(|line| serde_json::to_string(line).ok()).collect();
            let beside = path.with_extension("jsonl.new");
            fs::write(&beside, kept.join("\n") + "\n")?;
            fs::rename(&beside, &path)?;
        }
        let refusals =
            lines.into_iter().map(|line| ((line.place, line.key), (line.problem, line.body)));
        let refusals = Mutex::new(refusals.collect());
        Ok(Self { path, refusals, began: Mutex::default(), under_way: Mutex::default() })
    }

    /// Keeps others with this key waiting until the guard is dropped.
    pub(crate) async fn hold(
        &self,
        place: &Path,
        key: &CommandId,
    ) -> tokio::sync::OwnedMutexGuard<()> {
        self.mutex(place, key.as_str()).lock_owned().await
    }

    /// Locks a cast: acts on a cast that no process drives run one after the other.
    pub(crate) async fn hold_cast(&self, cast: &Path) -> tokio::sync::OwnedMutexGuard<()> {
        self.mutex(cast, "").lock_owned().await
    }

    /// The same, for callers on a blocking thread.
    pub(crate) fn hold_cast_here(&self, cast: &Path) -> tokio::sync::OwnedMutexGuard<()> {
        self.mutex(cast, "").blocking_lock_owned()
    }

    fn mutex(&self, place: &Path, name: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        // Remove locks that no request waits for.
        under_way.retain(|_, mutex| Arc::strong_count(mutex) > 1);
        Arc::clone(under_way.entry((place.to_owned(), name.to_owned())).or_default())
    }

    /// Result of an earlier start with this key, from the project's journals. It blocks on the
    /// disk.
    pub(crate) fn known(
        &self,
        place: &Path,
        journals: &[(&Path, &dyn Journal)],
        key: &CommandId,
    ) -> Result<Option<Known>, ReadError> {
        let named = (place.to_owned(), key.as_str().to_owned());
        let refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((problem, body)) = refusals.get(&named) {
            return Ok(Some(Known::Refused(problem.clone(), body.clone())));
        }
        drop(refusals);
        for (root, journal) in journals {
            let mut began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
            if !began.contains_key(*root) {
                began.insert((*root).to_owned(), keys_of(*journal)?);
            }
            if let Some((id, body)) = began.get(*root).and_then(|keys| keys.get(key.as_str())) {
                return Ok(Some(Known::Began(id.clone(), body.clone())));
            }
        }
        Ok(None)
    }

    /// A cast has begun under a key.
    pub(crate) fn began(&self, root: &Path, id: &RunId, key: &StartKey) {
        let mut began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        // The keys of a journal that is not cached are read from the journal later.
        if let Some(keys) = began.get_mut(root) {
            keys.insert(key.key.as_str().to_owned(), (id.clone(), key.body.clone()));
        }
    }

    /// A start was refused under a key.
    pub(crate) fn refused(
        &self,
        place: &Path,
        key: &StartKey,
        problem: &Problem,
    ) -> io::Result<()> {
        let (name, body) = (key.key.as_str().to_owned(), key.body.clone());
        let problem = Box::new(problem.clone());
        let line = Line {
            place: place.to_owned(),
            key: name.clone(),
            body: body.clone(),
            problem: problem.clone(),
        };
        let mut text = serde_json::to_vec(&line).map_err(io::Error::other)?;
        text.push(b'\n');
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)?;
        file.write_all(&text)?;
        file.sync_data()?;
        refusals.insert((place.to_owned(), name), (problem, body));
        Ok(())
    }
}

/// The keys of all casts of a journal. If two casts have the same key, the older cast has it.
fn keys_of(journal: &dyn Journal) -> Result<Began, ReadError> {
    let mut keys = HashMap::new();
    let mut lines = blocking(journal).list()?.lines;
    lines.sort_by(|one, other| {
        (&one.started_at, &one.cast_id).cmp(&(&other.started_at, &other.cast_id))
    });
    for line in lines {
        let first = blocking(journal).records(&line.cast_id, 0, 1)?;
        let event = first.first().and_then(|record| record.event().ok());
        if let Some(EventBody::RunCreated(created)) = event.map(|event| event.body)
            && let Some(StartKey { key, body }) = created.key.clone()
        {
            keys.entry(key.as_str().to_owned()).or_insert((line.cast_id, body));
        }
    }
    Ok(keys)
}
