//! Stores the files of a cast on NATS as git packs, before events name them (M10).

use std::collections::HashSet;
use std::fmt::Display;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use materia_contract::RunId;
use materia_engine::{Journal as _, wait};
use materia_nats::{NatsJournal, StoredBase, StoredPack};
use materia_runners::StoresFiles;
use materia_workspace::{Look, Workspace, pack_base};

/// The packs of one run.
pub(crate) struct Stored {
    journal: Arc<NatsJournal>,
    run: RunId,
    state: Mutex<State>,
}

/// The packs as far as they are known here.
struct State {
    count: usize,
    has_set_up: bool,
    /// All objects that packs are stored for.
    ids: HashSet<String>,
    /// Objects of the last pack: the next one leaves out what they lead to.
    known: Vec<String>,
    last: Option<Look>,
}

impl Stored {
    pub(super) fn of(journal: &Arc<NatsJournal>, run: &RunId, packs: &[StoredPack]) -> Self {
        let state = State {
            count: packs.len(),
            has_set_up: packs.iter().any(|pack| pack.set_up.is_some()),
            ids: packs.iter().flat_map(|pack| pack.ids.iter().cloned()).collect(),
            known: packs.last().map(|pack| pack.ids.clone()).unwrap_or_default(),
            last: None,
        };
        Self { journal: Arc::clone(journal), run: run.clone(), state: Mutex::new(state) }
    }

    /// Stores the base, the settings of the repository and the first files, unless they are stored.
    pub(super) fn begin(&self, project_dir: &Path, workspace: &Workspace) -> Result<(), String> {
        let base = workspace.base();
        let bases = wait(self.journal.bases()).map_err(text)?;
        if !bases.iter().any(|stored| stored == base) {
            let scratch = workspace.place().private();
            let packed = pack_base(project_dir, &scratch, base, &bases).map_err(text)?;
            let pack = packed.bytes.map(|bytes| self.put_blob(bytes)).transpose()?;
            let (needs, shallow) = (packed.needs, packed.shallow);
            let stored = StoredBase { pack, needs, shallow };
            wait(self.journal.put_base(base, &stored)).map_err(text)?;
        }
        let look = workspace.look().map_err(text)?;
        if !self.state().has_set_up {
            let set_up = workspace.keep_set_up().map_err(text)?;
            let ids = workspace.ids(&look).map_err(text)?;
            self.put(&mut self.state(), workspace, ids, Some(set_up))?;
        }
        self.store(workspace, &look)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put_blob(&self, bytes: Vec<u8>) -> Result<String, String> {
        wait(self.journal.blobs().put(bytes)).map(|hash| hash.to_string()).map_err(text)
    }

    fn put(
        &self,
        state: &mut State,
        workspace: &Workspace,
        ids: Vec<String>,
        set_up: Option<String>,
    ) -> Result<(), String> {
        let wanted: Vec<String> = ids.iter().chain(&set_up).cloned().collect();
        if let Some(bytes) = workspace.pack(&wanted, &state.known).map_err(text)? {
            let pack = self.put_blob(bytes)?;
            state.has_set_up |= set_up.is_some();
            let stored = StoredPack { pack, ids: ids.clone(), set_up };
            let added = wait(self.journal.add_pack(&self.run, state.count, &stored));
            state.count = added.map_err(text)?;
        }
        state.ids.extend(ids.iter().cloned());
        state.known = ids;
        Ok(())
    }
}

impl StoresFiles for Stored {
    fn store(&self, workspace: &Workspace, look: &Look) -> Result<(), String> {
        let mut state = self.state();
        if state.last.as_ref() == Some(look) {
            return Ok(());
        }
        let ids = workspace.ids(look).map_err(text)?;
        if ids.iter().any(|id| !state.ids.contains(id)) {
            self.put(&mut state, workspace, ids, None)?;
        }
        state.last = Some(look.clone());
        Ok(())
    }

    fn store_commit(&self, workspace: &Workspace, commit: &str) -> Result<(), String> {
        let mut state = self.state();
        if state.ids.contains(commit) {
            return Ok(());
        }
        self.put(&mut state, workspace, vec![commit.to_owned()], None)
    }
}

fn text(error: impl Display) -> String {
    format!("the files could not be stored on the NATS servers: {error}")
}
