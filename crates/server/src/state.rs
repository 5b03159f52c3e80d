//! State that all requests share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use materia_app::{Failure, Project};
use tokio::sync::{RwLock, Semaphore, watch};

use crate::http::access::Access;
use crate::http::listen::Listen;
use crate::projects::Registry;
use crate::projects::driven_casts::DrivenCasts;
use crate::projects::keys::Keys;
use crate::projects::pending::Pending;
use crate::projects::served_folders::ServedFolders;

/// Opens the project in a folder. The command line supplies it, with the user's profile and state folder.
pub type OpenProject = Arc<dyn Fn(&Path) -> Result<Project, Failure> + Send + Sync>;

/// A demo that can be played: a project that the program itself has made, with agents that a script answers.
#[derive(Debug, Clone)]
pub struct Demo {
    /// The folder of its project.
    pub project: PathBuf,
    /// Script that answers its agents.
    pub script: PathBuf,
    /// Request of the cast.
    pub request: String,
}

/// Settings of a server.
#[derive(Clone)]
pub struct Settings {
    /// Where it listens.
    pub listen: Listen,
    /// The folders that it serves from the beginning.
    pub projects: Vec<PathBuf>,
    /// Opens a project.
    pub open: OpenProject,
    /// The user's state folder.
    pub state_dir: PathBuf,
    /// The program that supervises processes of turns.
    pub supervisor: PathBuf,
    /// Scripts, recordings and the like may come in with a request.
    pub test_hooks: bool,
    /// The page is read from this folder instead of from the program, for tests.
    pub page_dir: Option<PathBuf>,
    /// The demo that can be played from the page.
    pub demo: Option<Demo>,
    /// Whether casts that an earlier server drove when it died are resumed.
    pub resume: bool,
    /// The version of the program.
    pub version: String,
}

/// State that all requests share.
pub(crate) struct App {
    pub(crate) settings: Settings,
    pub(crate) access: Access,
    /// Under which address the page is reached.
    pub(crate) url: String,
    pub(crate) rooms: Registry,
    pub(crate) remembered: ServedFolders,
    pub(crate) ledger: DrivenCasts,
    pub(crate) keys: Keys,
    pub(crate) pending: Pending,
    pub(crate) streams: Arc<Semaphore>,
    /// Room for large answers.
    pub(crate) large: Arc<Semaphore>,
    /// Room for explorations.
    pub(crate) explorations: Arc<Semaphore>,
    /// Becomes true when the server ends.
    pub(crate) ending: watch::Sender<bool>,
    /// Shared by requests that change something; ending the server takes it exclusively.
    pub(crate) acts: Arc<RwLock<()>>,
    pub(crate) counts: Counts,
}

impl App {
    /// Waits for something that may take long, but not while the server ends: then `None`.
    pub(crate) async fn unless_ending<T>(&self, waited: impl Future<Output = T>) -> Option<T> {
        let mut ending = self.ending.subscribe();
        tokio::select! {
            biased;
            done = waited => Some(done),
            _ = ending.wait_for(|ending| *ending) => None,
        }
    }
}

/// Counters for metrics.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) requests: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) cut_off: AtomicU64,
    pub(crate) started: AtomicU64,
    pub(crate) acts: AtomicU64,
}
