//! Sessions of a cast: their names in the agents' programs, and locks on them.
//!
//! The kernel names a session when it starts and ties it to its node and work item. One file a session under
//! `sessions/` in the cast's folder holds the agent's data about it. The file is written before a process starts and
//! after it exits, so that it is right after a crash: at worst it says that a session was started without a result.
//!
//! Two locks keep a session from being used twice at once. One is ours, for the length of a turn; the supervisor holds
//! the other while any process of the agent's tree lives, which may be a moment longer.

use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use materia_contract::{NodeId, SessionRef, Uuid};
use materia_engine::Stop;
use materia_safe_fs::Folder;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{AgentSession, SessionPlan};

/// The folder of the sessions in the folder of the cast.
const FOLDER: &str = "sessions";
/// The largest file that is taken for one of ours.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// The pause between two tries at a lock. No system call waits for a lock of another process until a deadline.
const PAUSE: Duration = Duration::from_millis(20);

/// Why a session cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    /// Another turn uses it.
    #[error("another turn still uses session {id} after {} s; two at once would tear it apart", .waited.as_secs())]
    InUse {
        /// The session.
        id: Uuid,
        /// How long it was waited for.
        waited: Duration,
    },
    /// It belongs to another socket.
    #[error("session {id} belongs to socket `{owner}`, not to `{node}`")]
    Foreign {
        /// The session.
        id: Uuid,
        /// Who began it.
        owner: NodeId,
        /// Who asked for it.
        node: NodeId,
    },
    /// The turn was stopped meanwhile.
    #[error("the turn was stopped while it waited for its session")]
    Stopped,
    /// The file system refused.
    #[error("session {id} cannot be kept: {source}")]
    Io {
        /// The session.
        id: Uuid,
        /// Why.
        source: io::Error,
    },
}

/// Stored data of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    /// The socket whose session it is.
    node: NodeId,
    /// How often it was begun anew. Each beginning has a name of its own, for a program does not
    /// begin twice under one name.
    begun: u32,
    /// The program's own session, once it has reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<AgentSession>,
    /// Whether its last turn gave an answer.
    #[serde(default)]
    answered: bool,
}

/// A session whose lock this process holds.
#[derive(Debug)]
pub(super) struct Held {
    id: Uuid,
    resume: bool,
    folder: Folder,
    kept: Kept,
    /// Given back when the file closes.
    _lock: File,
}

impl Held {
    /// Waits for a session and takes it.
    pub(super) async fn take(
        cast: &Folder,
        session: &SessionRef,
        node: &NodeId,
        patience: Duration,
        stop: &mut Stop,
    ) -> Result<Self, SessionError> {
        let id = session.id;
        let io = |source| SessionError::Io { id, source };
        let folder = cast.make_folder(FOLDER).map_err(io)?;
        let lock = folder.append(format!("{id}.lock")).map_err(io)?;
        let end = Instant::now() + patience;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(io(error)),
                Err(TryLockError::WouldBlock) if Instant::now() >= end => {
                    return Err(SessionError::InUse { id, waited: patience });
                }
                Err(TryLockError::WouldBlock) => tokio::select! {
                    () = stop.asked() => return Err(SessionError::Stopped),
                    () = tokio::time::sleep(PAUSE) => {}
                },
            }
        }
        let fresh = || Kept { node: node.clone(), begun: 0, session: None, answered: false };
        let kept = read(&folder, id).map_err(io)?.unwrap_or_else(fresh);
        if kept.node != *node {
            let (owner, node) = (kept.node, node.clone());
            return Err(SessionError::Foreign { id, owner, node });
        }
        Ok(Self { id, resume: session.resume, folder, kept, _lock: lock })
    }

    /// Session plan of the turn; an error if it should resume and cannot.
    ///
    /// A retry after a rejected answer resumes too: the agent knows its work and only has to fix it. A retry after a
    /// crash starts a new session, because it gets the whole prompt.
    pub(super) fn plan(&self, agent: &str) -> Result<SessionPlan, String> {
        let goes_on = self.resume || (self.kept.begun > 0 && self.kept.answered);
        match &self.kept.session {
            // Other processes can write this file; its content is checked like the output of an agent.
            Some(session) if self.resume && !session.is_usable() => {
                Err("the name that is kept of the session cannot be used".to_owned())
            }
            Some(session) if !session.is_usable() => Ok(self.fresh()),
            Some(session) if goes_on && session.agent == agent => {
                Ok(SessionPlan::Resume(session.clone()))
            }
            // The prompt for a resumed session is too short for another agent.
            Some(session) if self.resume => Err(format!(
                "the session was begun by {}, and {agent} cannot go on in it",
                session.agent
            )),
            None if self.resume => Err("nothing is known of the session to go on in".to_owned()),
            Some(_) | None => Ok(self.fresh()),
        }
    }

    /// A fresh beginning under a name that was not used before.
    pub(super) fn fresh(&self) -> SessionPlan {
        SessionPlan::Fresh { id: name(self.id, self.kept.begun) }
    }

    /// Writes down that a process is about to begin or to go on.
    pub(super) fn begin(&mut self, plan: &SessionPlan) -> Result<(), SessionError> {
        if matches!(plan, SessionPlan::Fresh { .. }) {
            self.kept.begun += 1;
            self.kept.session = None;
        }
        self.kept.answered = false;
        self.write()
    }

    /// Stores how the turn ended.
    pub(super) fn end(
        &mut self,
        session: Option<&AgentSession>,
        answered: bool,
    ) -> Result<(), SessionError> {
        if let Some(session) = session {
            self.kept.session = Some(session.clone());
        }
        self.kept.answered = answered;
        self.write()
    }

    /// The file that the supervisor locks as long as a process of the tree lives.
    pub(super) fn tree_lock(&self) -> PathBuf {
        self.folder.path().join(format!("{}.tree.lock", self.id))
    }

    fn write(&self) -> Result<(), SessionError> {
        let bytes = serde_json::to_vec(&self.kept).expect("a session is data and always renders");
        self.folder
            .replace(file_name(self.id), &bytes)
            .map_err(|source| SessionError::Io { id: self.id, source })
    }
}

fn file_name(id: Uuid) -> String {
    format!("{id}.json")
}

/// The name of a beginning: the session's own, then one computed from it.
fn name(id: Uuid, begun: u32) -> Uuid {
    if begun == 0 {
        return id;
    }
    let mut hasher = blake3::Hasher::new_derive_key("materia 2026-11-15 name of a session");
    hasher.update(id.as_bytes());
    hasher.update(&begun.to_le_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    Uuid::new_v8(bytes)
}

/// Reads the file. An unreadable file was not written by us and counts as absent.
fn read(folder: &Folder, id: Uuid) -> io::Result<Option<Kept>> {
    match folder.read(file_name(id), FILE_BYTES_MAX) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use materia_engine::StopSource;

    use super::*;

    const PATIENCE: Duration = Duration::from_millis(60);

    async fn take(dir: &Path, id: u128, resume: bool, node: &str) -> Result<Held, SessionError> {
        let (_source, mut stop) = StopSource::new();
        let session = SessionRef { id: Uuid::from_u128(id), resume };
        Held::take(&Folder::at(dir).unwrap(), &session, &NodeId::new(node), PATIENCE, &mut stop)
            .await
    }

    fn session(agent: &str) -> AgentSession {
        AgentSession { agent: agent.to_owned(), id: "its-own-name".to_owned(), totals: None }
    }

    fn is_fresh(plan: &SessionPlan) -> Option<Uuid> {
        match plan {
            SessionPlan::Fresh { id } => Some(*id),
            SessionPlan::Resume(_) => None,
        }
    }

    #[tokio::test]
    async fn a_session_is_used_by_one_turn_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let held = take(dir.path(), 1, false, "a").await.unwrap();
        let second = take(dir.path(), 1, true, "a").await;
        assert!(matches!(second, Err(SessionError::InUse { .. })), "{second:?}");
        take(dir.path(), 2, false, "a").await.unwrap();
        drop(held);
        take(dir.path(), 1, true, "a").await.unwrap();
    }

    #[tokio::test]
    async fn what_an_agent_made_of_it_is_there_for_the_next_turn() {
        let dir = tempfile::tempdir().unwrap();
        let mut held = take(dir.path(), 1, false, "a").await.unwrap();
        let plan = held.plan("codex").unwrap();
        assert_eq!(is_fresh(&plan), Some(Uuid::from_u128(1)));
        held.begin(&plan).unwrap();
        held.end(Some(&session("codex")), true).unwrap();
        drop(held);

        let held = take(dir.path(), 1, true, "a").await.unwrap();
        assert_eq!(held.plan("codex"), Ok(SessionPlan::Resume(session("codex"))));
        let lost = held.plan("claude").unwrap_err();
        assert!(lost.contains("begun by codex"), "{lost}");
        drop(held);
        let foreign = take(dir.path(), 1, true, "b").await;
        assert!(matches!(foreign, Err(SessionError::Foreign { .. })));
    }

    #[tokio::test]
    async fn a_crash_begins_anew_under_another_name_and_a_rejected_answer_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let mut held = take(dir.path(), 1, false, "a").await.unwrap();
        held.begin(&held.plan("claude").unwrap()).unwrap();
        drop(held);
        // The process went away; the turn runs again with the same inputs.
        let mut held = take(dir.path(), 1, false, "a").await.unwrap();
        let plan = held.plan("claude").unwrap();
        assert!(is_fresh(&plan).is_some_and(|id| id != Uuid::from_u128(1)));
        held.begin(&plan).unwrap();
        held.end(Some(&session("claude")), true).unwrap();
        drop(held);
        // Its answer broke the contract.
        let held = take(dir.path(), 1, false, "a").await.unwrap();
        assert_eq!(held.plan("claude"), Ok(SessionPlan::Resume(session("claude"))));
    }

    #[tokio::test]
    async fn nothing_known_and_nonsense_are_the_same() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(FOLDER)).unwrap();
        let path = dir.path().join(FOLDER).join(file_name(Uuid::from_u128(1)));
        fs::write(path, "nonsense").unwrap();
        let held = take(dir.path(), 1, true, "a").await.unwrap();
        assert!(held.plan("pi").is_err());
    }

    #[tokio::test]
    async fn a_kept_name_that_looks_like_a_flag_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(FOLDER)).unwrap();
        for (id, resume) in [(1, true), (2, false)] {
            let path = dir.path().join(FOLDER).join(file_name(Uuid::from_u128(id)));
            let kept = serde_json::json!({
                "node": "a", "begun": 1, "answered": true,
                "session": { "agent": "claude", "id": "--dangerously-skip-permissions" },
            });
            fs::write(path, kept.to_string()).unwrap();
            let plan = take(dir.path(), id, resume, "a").await.unwrap().plan("claude");
            assert!(plan.map_or(resume, |plan| !resume && is_fresh(&plan).is_some()));
        }
    }

    #[tokio::test]
    async fn a_stop_ends_the_wait() {
        let dir = tempfile::tempdir().unwrap();
        let _held = take(dir.path(), 1, false, "a").await.unwrap();
        let (source, mut stop) = StopSource::new();
        source.ask();
        let again = SessionRef { id: Uuid::from_u128(1), resume: true };
        let node = NodeId::new("a");
        let patience = Duration::from_mins(1);
        let folder = Folder::at(dir.path()).unwrap();
        let second = Held::take(&folder, &again, &node, patience, &mut stop).await;
        assert!(matches!(second, Err(SessionError::Stopped)));
    }
}
