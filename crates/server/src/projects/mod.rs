//! The served projects and their journals, each opened once.

pub(crate) mod driven_casts;
pub(crate) mod keys;
pub(crate) mod pending;
pub(crate) mod served_folders;

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use materia_app::project::place::{CastJournal, Work};
use materia_app::{Failure, Found, Host, Project, project::cast_id, views as view};
use materia_contract::api::{CastSummary, ProjectItem};
use materia_contract::{CastLine, CastStatus, NodeId, RefusalCode, RunId};
use materia_engine::{BoxFuture, Committed, Journal, Observer, SystemClock, blocking};
use materia_journal::{JOURNAL_FILE, Views};
use materia_kernel::Run;
use tokio::runtime::Handle;
use tokio::sync::broadcast;

use crate::http::limits::PROJECTS_MAX;
use crate::http::problem::Refused;

/// Words of turns under way that a slow reader may be behind; it then misses some, for they are no facts.
const LIVE_AHEAD: usize = 256;

/// A project that is served.
pub(crate) struct Served {
    /// Name in a query.
    pub(crate) id: String,
    pub(crate) project: Project,
}

impl Served {
    pub(crate) fn item(&self) -> ProjectItem {
        let dir = self.project.dir.to_string_lossy().into_owned();
        let name = self.project.dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let options = self.project.nats_options().ok().flatten();
        let space = options.map(|options| options.space.as_str().to_owned());
        ProjectItem { id: self.id.clone(), dir, name, problem: None, space }
    }
}

/// A project whose journal cannot be opened, and why.
pub(crate) struct Broken {
    pub(crate) served: Arc<Served>,
    pub(crate) refused: Refused,
}

impl Broken {
    /// The same in a line.
    pub(crate) fn line(&self) -> String {
        format!("project `{}`: {}", self.served.project.dir.display(), self.refused.0.detail)
    }
}

/// The journals of several projects.
#[derive(Default)]
pub(crate) struct Opened {
    pub(crate) rooms: Vec<(Arc<Served>, Arc<ServedProject>)>,
    /// Those that cannot be opened harm no other.
    pub(crate) broken: Vec<Broken>,
}

/// A journal, and what drives its casts.
pub(crate) struct ServedProject {
    pub(crate) root: PathBuf,
    pub(crate) journal: Arc<dyn CastJournal>,
    pub(crate) host: Host,
    pub(crate) views: Arc<Views>,
    pub(crate) live: broadcast::Sender<Live>,
    /// The file that was opened: its device and its number.
    file: Option<(u64, u64)>,
    /// Of a foreign journal, which is read as it was when it was opened: what its files looked like then.
    seen: Option<(Stamp, Instant)>,
}

/// When the files of a journal were changed last, and how long they are.
type Stamp = [Option<(i64, i64, u64)>; 2];

fn stamp(root: &Path) -> Stamp {
    [JOURNAL_FILE.to_owned(), format!("{JOURNAL_FILE}-wal")].map(|name| {
        let found = root.join(name).symlink_metadata().ok()?;
        Some((found.mtime(), found.mtime_nsec(), found.len()))
    })
}

/// How often a foreign journal is opened anew at the most.
pub(crate) const FOREIGN_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Live output of a turn.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    pub(crate) run: RunId,
    pub(crate) node: NodeId,
    pub(crate) text: Arc<str>,
}

/// A cast that a request named.
#[derive(Clone)]
pub(crate) struct Cast {
    pub(crate) served: Arc<Served>,
    pub(crate) room: Arc<ServedProject>,
    pub(crate) id: RunId,
}

impl Cast {
    /// The same for what is done to it.
    pub(crate) fn found(&self) -> Found {
        let (root, journal) = (self.room.root.clone(), Arc::clone(&self.room.journal));
        Found { root, journal, id: self.id.clone() }
    }

    /// Its folder.
    pub(crate) fn folder(&self) -> PathBuf {
        self.room.root.join(self.id.as_str())
    }

    /// Where the folders are that its events name.
    pub(crate) fn folders(&self) -> materia_contract::Folders {
        self.served.project.folders(&self.room.root, &self.id)
    }

    pub(crate) fn journal(&self) -> &dyn Journal {
        &*self.room.journal
    }

    /// The cast in short, with the run that was read.
    pub(crate) fn summary(&self, line: CastLine) -> Result<(CastSummary, Run), Failure> {
        let (summary, run) = view::summary(self.journal(), line, &self.served.id, &self.folders())?;
        let Work { worker, waits } = self.room.work(&self.id, summary.line.status);
        Ok((CastSummary { worker, waits_for_worker: waits, ..summary }, run))
    }
}

/// The projects and journals of a server.
#[derive(Default)]
pub(crate) struct Registry {
    projects: Mutex<Vec<Arc<Served>>>,
    rooms: Mutex<HashMap<PathBuf, Arc<ServedProject>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    /// Serves one more project. One that is served already is the same.
    pub(crate) fn add(&self, project: Project) -> Result<Arc<Served>, Refused> {
        let mut projects = lock(&self.projects);
        if let Some(known) = projects.iter().find(|known| known.project.dir == project.dir) {
            return Ok(Arc::clone(known));
        }
        if projects.len() >= PROJECTS_MAX {
            return Err(Refused::conflict(format!(
                "the server serves {PROJECTS_MAX} folders already"
            )));
        }
        let hash = blake3::hash(project.dir.as_os_str().as_encoded_bytes()).to_hex();
        let served = Arc::new(Served { id: hash[..12].to_owned(), project });
        projects.push(Arc::clone(&served));
        Ok(served)
    }

    /// The projects that are served.
    pub(crate) fn projects(&self) -> Vec<Arc<Served>> {
        lock(&self.projects).clone()
    }

    /// Those that a query means: the one that it names, or all.
    pub(crate) fn meant(&self, named: Option<&str>) -> Result<Vec<Arc<Served>>, Refused> {
        match named {
            Some(named) => Ok(vec![self.named(named)?]),
            None => Ok(self.projects()),
        }
    }

    /// The project with this id or this folder.
    fn named(&self, named: &str) -> Result<Arc<Served>, Refused> {
        let all = self.projects();
        let by_id = |it: &&Arc<Served>| it.id == named || it.project.dir.as_os_str() == named;
        if let Some(found) = all.iter().find(by_id) {
            return Ok(Arc::clone(found));
        }
        // A folder can be written in several ways.
        let real = Path::new(named).is_absolute().then(|| Path::new(named).canonicalize().ok());
        let real = real.flatten();
        let found = all.into_iter().find(|it| real.as_ref() == Some(&it.project.dir));
        found.ok_or_else(|| {
            Refused::unknown(
                "the server does not serve this project; `GET /api/projects` lists them",
            )
        })
    }

    /// The one project that is meant where there can only be one.
    pub(crate) fn only(&self, named: Option<&str>) -> Result<Arc<Served>, Refused> {
        let mut meant = self.meant(named)?;
        match (meant.pop(), meant.is_empty()) {
            (Some(only), true) => Ok(only),
            (None, _) => Err(Refused::unknown("the server serves no project")),
            (Some(_), false) => {
                Err(ambiguous("several projects are served; name one with `project`"))
            }
        }
    }

    /// The journals of a project that are there. It waits for the disk.
    pub(crate) fn of(
        &self,
        served: &Served,
        ears: &Handle,
    ) -> Result<Vec<Arc<ServedProject>>, Refused> {
        let mut rooms = Vec::new();
        for (place, root) in served.project.roots().into_iter().enumerate() {
            match self.room(served, &root, ears) {
                Ok(Some(room)) => rooms.push(room),
                Err(refused) if place == 0 => return Err(refused),
                // Errors of a folder that is not configured are ignored here.
                Ok(None) | Err(_) => {}
            }
        }
        Ok(rooms)
    }

    /// The journals of the projects that a query means. Where it names one that cannot be opened, that is the answer.
    pub(crate) fn of_meant(&self, named: Option<&str>, ears: &Handle) -> Result<Opened, Refused> {
        let mut opened = Opened::default();
        for served in self.meant(named)? {
            match self.of(&served, ears) {
                Ok(rooms) => {
                    opened.rooms.extend(rooms.into_iter().map(|room| (Arc::clone(&served), room)));
                }
                Err(refused) if named.is_some() => return Err(refused),
                Err(refused) => opened.broken.push(Broken { served, refused }),
            }
        }
        Ok(opened)
    }

    /// Serves a project no longer. Casts of it that are driven here keep it.
    pub(crate) fn remove(&self, named: &str) -> Result<Arc<Served>, Refused> {
        let served = self.named(named)?;
        let roots = served.project.roots();
        let mut projects = lock(&self.projects);
        let elsewhere: Vec<PathBuf> = projects
            .iter()
            .filter(|other| other.id != served.id)
            .flat_map(|other| other.project.roots())
            .collect();
        let mut open = lock(&self.rooms);
        let own = |root: &PathBuf| roots.contains(root) && !elsewhere.contains(root);
        let driven: usize =
            open.iter().filter(|(root, _)| own(root)).map(|(_, room)| room.host.runs().len()).sum();
        if driven > 0 {
            return Err(Refused::conflict(format!(
                "{driven} casts of this project are under way here; abort them or let them come to rest first"
            )));
        }
        open.retain(|root, _| !own(root));
        projects.retain(|other| other.id != served.id);
        Ok(served)
    }

    /// The journal in a folder, if there is one.
    pub(crate) fn room(
        &self,
        served: &Served,
        root: &Path,
        ears: &Handle,
    ) -> Result<Option<Arc<ServedProject>>, Refused> {
        let file = identity(root);
        let mut rooms = lock(&self.rooms);
        if let Some(known) = rooms.get(root) {
            // A journal that was removed or replaced is opened again once this server drives no cast of the old one.
            if (known.file == file && !known.is_outdated()) || !known.host.runs().is_empty() {
                return Ok(Some(Arc::clone(known)));
            }
            rooms.remove(root);
        }
        let seen = stamp(root);
        let Some(journal) = served.project.look(root)? else { return Ok(None) };
        let opened = Arc::new(ServedProject::new(served, root, (journal, seen), ears));
        rooms.insert(root.to_owned(), Arc::clone(&opened));
        Ok(Some(opened))
    }

    /// Every journal that is open.
    pub(crate) fn open(&self) -> Vec<Arc<ServedProject>> {
        lock(&self.rooms).values().cloned().collect()
    }

    /// Finds a cast by its id. It waits for the disk.
    pub(crate) fn find(
        &self,
        project: Option<&str>,
        id: &str,
        ears: &Handle,
    ) -> Result<Cast, Refused> {
        let wanted = RunId::parse(id).map_err(|error| Refused::usage(error.to_string()))?;
        let mut found: Option<Cast> = None;
        let mut broken = Vec::new();
        for served in self.meant(project)? {
            let looked = self.of(&served, ears).and_then(|rooms| look_up(&rooms, &wanted));
            let (room, id) = match looked {
                Ok(Some(found)) => found,
                Ok(None) => continue,
                Err(refused) if project.is_some() => return Err(refused),
                Err(refused) => {
                    broken.push(Broken { served, refused }.line());
                    continue;
                }
            };
            if found.is_some() {
                let detail = format!("two projects have a cast `{id}`; name one with `project`");
                return Err(ambiguous(detail));
            }
            found = Some(Cast { served, room, id });
        }
        found.ok_or_else(|| {
            let none = format!("there is no cast `{wanted}` here; `GET /api/casts` lists them");
            let unread = if broken.is_empty() { "" } else { ". Not searched: " };
            Refused::unknown(format!("{none}{unread}{}", broken.join("; ")))
        })
    }
}

/// A cast among the journals of one project: by its id, or as a person may name it.
fn look_up(
    rooms: &[Arc<ServedProject>],
    wanted: &RunId,
) -> Result<Option<(Arc<ServedProject>, RunId)>, Refused> {
    let ports: Vec<&dyn Journal> =
        rooms.iter().map(|room| &*room.journal as &dyn Journal).collect();
    for (port, room) in ports.iter().zip(rooms) {
        let head = blocking(*port).head(wanted).map_err(Failure::from)?;
        if head.is_some() {
            return Ok(Some((Arc::clone(room), wanted.clone())));
        }
    }
    if wanted.as_str() != "last" {
        return Ok(None);
    }
    let found = cast_id::resolve(&ports, wanted, "");
    Ok(found.ok().and_then(|(which, id)| Some((Arc::clone(rooms.get(which)?), id))))
}

fn ambiguous(detail: impl Into<String>) -> Refused {
    Refused::new(axum::http::StatusCode::CONFLICT, RefusalCode::Ambiguous, detail)
}

/// The file of the journal in a folder.
fn identity(root: &Path) -> Option<(u64, u64)> {
    let found = root.join(JOURNAL_FILE).symlink_metadata().ok()?;
    Some((found.dev(), found.ino()))
}

impl ServedProject {
    fn new(
        served: &Served,
        root: &Path,
        (journal, seen): (Arc<dyn CastJournal>, Stamp),
        ears: &Handle,
    ) -> Self {
        let views = Arc::new(Views::start(root, &served.project.places()));
        let (live, _) = broadcast::channel(LIVE_AHEAD);
        let observer = Arc::new(Watching { views: Arc::clone(&views), live: live.clone() });
        let port: Arc<dyn Journal> = Arc::clone(&journal) as Arc<dyn Journal>;
        let host = Host::new(port, observer, Arc::new(SystemClock), ears);
        let seen = journal.is_foreign().then(|| (seen, Instant::now()));
        Self { root: root.to_owned(), journal, host, views, live, file: identity(root), seen }
    }

    /// The work of workers on a run that stands so. Nobody works on one that has ended.
    pub(crate) fn work(&self, run: &RunId, status: CastStatus) -> Work {
        match status {
            CastStatus::Running | CastStatus::Waiting => self.journal.work(run),
            CastStatus::Completed | CastStatus::Failed | CastStatus::Aborted => Work::default(),
        }
    }

    /// Whether a foreign journal has changed since it was opened, some time ago.
    pub(crate) fn is_outdated(&self) -> bool {
        self.seen.as_ref().is_some_and(|(seen, when)| {
            when.elapsed() >= FOREIGN_POLL_INTERVAL && *seen != stamp(&self.root)
        })
    }
}

/// Hears what happens to the casts that are driven here.
struct Watching {
    views: Arc<Views>,
    live: broadcast::Sender<Live>,
}

impl Observer for Watching {
    fn committed(&self, news: &Committed) {
        self.views.committed(news);
    }

    fn room(&self) -> Option<BoxFuture<'static, ()>> {
        self.views.room()
    }

    fn on_file(&self) -> Option<BoxFuture<'static, ()>> {
        self.views.on_file()
    }

    fn streamed(&self, run: &RunId, node: &NodeId, text: &str) {
        if self.live.receiver_count() > 0 {
            let (run, node) = (run.clone(), node.clone());
            // An error means that no client listens.
            let _ = self.live.send(Live { run, node, text: text.into() });
        }
    }
}
