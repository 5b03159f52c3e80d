//! Folders that the processes of a turn may write to, including their private folder.

use std::path::PathBuf;

use materia_contract::GlobalMode;
use materia_engine::TurnJob;
use materia_safe_fs::Folder;

use super::Ask;
use super::private_files::Own;
use super::registry::Agent;
use crate::raw_path::RawPath;
use crate::supervise::protocol::Writable;
use crate::{cast_folder, planning};

/// The folders of a turn. What is private is removed when the room goes.
pub(super) struct WriteAccess {
    /// The folder for files that the command line names.
    pub(super) scratch: PathBuf,
    /// The folder for temporary files, where the usual one may not be written to.
    pub(super) temporary: Option<PathBuf>,
    /// The only folders that may be written to, where not all may.
    pub(super) write_roots: Option<Vec<PathBuf>>,
    /// Remarks for the report.
    pub(super) notes: Vec<String>,
    cast: Folder,
    /// The name of what is private in the folder of the cast.
    name: String,
    private: Folder,
    files: Folder,
}

impl WriteAccess {
    /// Makes the room of a turn. `allowed` are the folders of the socket's policy, if it names any;
    /// in Planning mode the doc root stands in their place, unless nothing may be written at all.
    pub(super) fn prepare(job: &TurnJob, allowed: Option<&[String]>) -> Result<Self, String> {
        let failed = |error| format!("no folder for its files: {error}");
        let cast = cast_folder::cast(job).map_err(failed)?;
        let name = format!("{}-agent", job.turn);
        let private = cast_folder::private(&cast, &name).map_err(failed)?;
        let files = private.new_folder("scratch").map_err(failed)?;
        // The program runs elsewhere, so no path may depend on where we are.
        let path = std::path::absolute(private.path()).map_err(failed)?;
        let scratch = path.join("scratch");
        let (temporary, write_roots, notes) = Default::default();
        let mut room = Self { scratch, temporary, write_roots, notes, cast, name, private, files };
        let Some(mut roots) = roots(job, allowed)? else { return Ok(room) };
        room.notes.extend(planning::make_own(job, &roots)?);
        room.private.new_folder("tmp").map_err(failed)?;
        let temporary = path.join("tmp");
        roots.push(temporary.clone());
        room.temporary = Some(temporary);
        room.write_roots = Some(roots);
        Ok(room)
    }

    /// Makes what the agent has for itself, where it may not write everywhere.
    pub(super) fn own(&self, agent: &Agent, ask: &Ask) -> Result<Option<Own>, String> {
        if self.write_roots.is_none() {
            return Ok(None);
        }
        let made = Own::prepare(agent, ask, &self.private, &self.cast);
        made.map(Some).map_err(|error| format!("no private folder for it: {error}"))
    }

    /// Write access in the sandbox, including the agent's private files.
    pub(super) fn writable(&self, own: Option<&Own>) -> Option<Writable> {
        let roots = self.write_roots.as_ref()?.iter().map(PathBuf::as_path);
        let folders = roots.chain(own.map(Own::folder));
        Some(Writable {
            folders: folders.map(RawPath::from).collect(),
            // The agent itself needs the network; its tools are held to `Ask::network`.
            offline: false,
            only_runs: None,
        })
    }

    /// Writes the files that a command line names. None of them may be outside its private folder.
    pub(super) fn write_files(&self, files: &[(PathBuf, Vec<u8>)]) -> Result<(), String> {
        for (path, bytes) in files {
            let inside =
                path.strip_prefix(&self.scratch).ok().filter(|path| planning::is_plain(path));
            let Some(inside) = inside else {
                return Err(format!("`{}` lies outside of its private folder", path.display()));
            };
            self.files
                .write(inside, bytes)
                .map_err(|error| format!("`{}` cannot be written: {error}", path.display()))?;
        }
        Ok(())
    }
}

impl Drop for WriteAccess {
    fn drop(&mut self) {
        cast_folder::tidy(&self.cast, &self.name);
    }
}

/// The folders of the project that may be written to; none named means all.
fn roots(job: &TurnJob, allowed: Option<&[String]>) -> Result<Option<Vec<PathBuf>>, String> {
    let make =
        |name: &str| planning::make_inside(&job.cwd, name).map_err(|error| error.to_string());
    let docs =
        || planning::make_doc_root(&job.cwd, &job.doc_root).map_err(|error| error.to_string());
    match (job.global_mode, allowed) {
        (_, Some([])) => Ok(Some(Vec::new())),
        (GlobalMode::Planning, _) => Ok(Some(vec![docs()?])),
        (GlobalMode::Implementation, None) => Ok(None),
        (GlobalMode::Implementation, Some(names)) => {
            names.iter().map(|name| make(name)).collect::<Result<_, _>>().map(Some)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::sync::Arc;
    use std::time::Duration;

    use materia_contract::{NodeId, RunId};
    use materia_engine::{Manner, StopSource, TurnOrder, Work};

    use super::*;

    fn job(dir: &Path, global_mode: GlobalMode) -> TurnJob {
        let work = Work::Utility {
            command: Vec::new(),
            input: Arc::new(serde_json::json!({})),
            manner: Manner::default(),
            script: None,
        };
        let order = TurnOrder {
            files: None,
            run: RunId::new("r"),
            turn: 3,
            node: NodeId::new("a"),
            visit: 1,
            attempt: 1,
            work,
            cwd: dir.to_owned(),
            run_dir: dir.join(".materia/r"),
            timeout: Some(Duration::from_secs(1)),
            global_mode,
            policy: None,
            doc_root: "docs".to_owned(),
            virtual_time: false,
            leaves: materia_engine::Leaves::default(),
        };
        TurnJob::new(order, StopSource::new().1)
    }

    #[test]
    fn the_mode_and_the_policy_bound_what_may_be_written() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().canonicalize().unwrap();
        let room =
            |mode, allowed: Option<&[String]>| WriteAccess::prepare(&job(&project, mode), allowed);
        let free = room(GlobalMode::Implementation, None).unwrap();
        assert!(free.write_roots.is_none() && free.temporary.is_none());
        assert_eq!(free.scratch.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        drop(free);
        assert!(!project.join(".materia/r/tmp").exists(), "what is private is removed");

        let folders = ["src".to_owned(), "new/deep".to_owned()];
        let bound = room(GlobalMode::Implementation, Some(&folders)).unwrap();
        let roots = bound.writable(None).unwrap();
        let roots: Vec<PathBuf> = roots.folders.iter().map(RawPath::path).collect();
        let tmp = bound.temporary.clone().unwrap();
        assert_eq!(roots, [project.join("src"), project.join("new/deep"), tmp]);
        drop(bound);
        let planning = room(GlobalMode::Planning, Some(&folders)).unwrap();
        assert_eq!(planning.write_roots.as_ref().unwrap()[0], project.join("docs"));
        drop(planning);
        let looking = room(GlobalMode::Planning, Some(&[])).unwrap();
        assert_eq!(looking.write_roots.as_ref().unwrap().len(), 1, "its temporary folder alone");
        drop(looking);
        assert!(room(GlobalMode::Implementation, Some(&["../out".to_owned()])).is_err());
    }

    #[test]
    fn files_lie_in_the_private_folder_and_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let job = job(dir.path(), GlobalMode::Implementation);
        let room = WriteAccess::prepare(&job, None).unwrap();
        let scratch = room.scratch.clone();
        room.write_files(&[(scratch.join("a/b.json"), b"x".to_vec())]).unwrap();
        assert_eq!(std::fs::read(scratch.join("a/b.json")).unwrap(), b"x");
        for outside in [dir.path().join("b"), scratch.join("../b"), PathBuf::from("/b")] {
            assert!(room.write_files(&[(outside, Vec::new())]).is_err());
        }
        assert!(!dir.path().join("b").exists());
        drop(room);
        assert!(!scratch.exists());
    }
}
