//! What a turn changed in the project, as a diff.
//!
//! The project is looked at before the turn and after it, with git, and the two trees are compared. Nothing
//! of the user's repository is touched: index and new objects lie in a folder of their own for each look, which
//! goes when the turn ends. Only objects that are there already are read from the repository.
//!
//! # Invariants
//!
//! * The settings of the repository do not count. A turn that may write may also have written those,
//!   and a filter or a hook that they name would run outside the room of the turn. For the same reason the
//!   look after a turn has a folder that did not exist while it ran, outside of where turns in a room can write.
//! * No diff is no failure: where there is no repository, no git, or too much to look at in time, a turn
//!   simply leaves none.
//!
//! Turns that run side by side in one project see each other's changes. Deliberately absent: what was
//! changed under ignored paths.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use std::{fs, io};

use materia_contract::RunId;
use materia_engine::TurnJob;
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

/// How long one look may take.
const LOOK_MAX: Duration = Duration::from_secs(20);

/// What is kept of a diff.
const DIFF_BYTES_MAX: usize = 256 * 1024;

/// Settings of ours, whatever the user's are.
const SETTINGS: [&str; 6] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.quotePath=false",
    "core.safecrlf=false",
    "advice.addIgnoredFile=false",
];

/// A project as it was before a turn.
pub(crate) struct Before {
    look: Look,
    tree: String,
}

impl Before {
    /// Looks at the project of a turn that is about to start.
    pub(crate) async fn of(job: &TurnJob) -> Option<Self> {
        let look = Look::open(job).await?;
        let tree = look.tree().await?;
        Some(Self { look, tree })
    }

    /// What has changed since; `None` if nothing has.
    pub(crate) async fn diff(self, job: &TurnJob) -> Option<String> {
        let mut look = Look::open(job).await?;
        // Of the folder that the turn could see only objects are read, which are no more than data.
        look.objects.push(self.look.own.path().join("objects"));
        let tree = look.tree().await?;
        if tree == self.tree {
            return None;
        }
        let words = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--full-index"];
        let diff = look.git(words.into_iter().chain([&*self.tree, &*tree])).await?;
        Some(cut(diff))
    }
}

/// The means to look at a project.
struct Look {
    project: PathBuf,
    /// The top of its work tree.
    top: PathBuf,
    /// Where objects lie that are there already.
    objects: Vec<PathBuf>,
    /// The folder of the casts, which is no part of the project.
    casts: Option<PathBuf>,
    own: OwnFolder,
}

/// A folder that goes with the look: a new one under a name that nobody can know before, which only we can
/// look into. Nothing that is there already is touched. What cannot be removed lies among temporary files
/// and does no harm there.
struct OwnFolder(TempDir);

impl OwnFolder {
    fn new(run: &RunId) -> io::Result<Self> {
        let prefix = format!("materia-changes-{run}-");
        let private = fs::Permissions::from_mode(0o700);
        tempfile::Builder::new().prefix(&prefix).permissions(private).tempdir().map(Self)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Look {
    async fn open(job: &TurnJob) -> Option<Self> {
        let asked = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-path"];
        let asked = asked.into_iter().chain(["index", "--git-path", "objects"]);
        let mut git = bare(&job.cwd);
        let told = finish(git.args(asked)).await?;
        let mut lines = told.lines().map(PathBuf::from);
        let (top, index, objects) = (lines.next()?, lines.next()?, lines.next()?);
        let own = OwnFolder::new(&job.run).ok()?;
        // Just enough of a repository for git to take it for one.
        for folder in ["objects", "refs"] {
            fs::create_dir(own.path().join(folder)).ok()?;
        }
        fs::write(own.path().join("HEAD"), "ref: refs/heads/none\n").ok()?;
        if index.exists() {
            // With it come the times of all files, and what did not change is not read again.
            fs::copy(&index, own.path().join("index")).ok()?;
        }
        let project = job.cwd.canonicalize().ok()?;
        let casts = job.run_dir.parent().and_then(|casts| casts.canonicalize().ok());
        let casts = casts.and_then(|casts| casts.strip_prefix(&project).ok().map(Path::to_owned));
        Some(Self { project, top, objects: vec![objects], casts, own })
    }

    /// The name of the project's present state.
    async fn tree(&self) -> Option<String> {
        let casts = self.casts.iter().map(|casts| format!(":(exclude,literal){}", casts.display()));
        let words = ["add", "--all", "--ignore-errors", "--", "."].map(str::to_owned);
        // A file that cannot be read is left out of both trees.
        let _ = self.git(words.into_iter().chain(casts)).await;
        let tree = self.git(["write-tree", "--missing-ok"]).await?;
        Some(tree.trim().to_owned())
    }

    async fn git(&self, words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Option<String> {
        let mut git = bare(&self.project);
        git.env("GIT_DIR", self.own.path())
            .env("GIT_WORK_TREE", &self.top)
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", std::env::join_paths(&self.objects).ok()?);
        for setting in SETTINGS {
            git.args(["-c", setting]);
        }
        finish(git.args(words)).await
    }
}

/// A call of git in a folder, without anything that whoever called us has set for it.
fn bare(folder: &Path) -> Command {
    let mut git = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            git.env_remove(name);
        }
    }
    git.env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    git
}

/// What a call says, if it goes well and in time. More than a diff may hold is read by nobody.
async fn finish(git: &mut Command) -> Option<String> {
    let work = async {
        let mut child = git.spawn().ok()?;
        let mut said = Vec::new();
        let most = DIFF_BYTES_MAX as u64 + 1;
        child.stdout.take()?.take(most).read_to_end(&mut said).await.ok()?;
        let cut_short = said.len() > DIFF_BYTES_MAX;
        // Its pipe is closed by now: where there was more to say, it ends with an error.
        let ended = child.wait().await.ok()?;
        (ended.success() || cut_short).then(|| String::from_utf8_lossy(&said).into_owned())
    };
    tokio::time::timeout(LOOK_MAX, work).await.ok().flatten()
}

/// Holds a diff to its bound, at the end of a line, and says so.
fn cut(mut diff: String) -> String {
    if diff.len() > DIFF_BYTES_MAX {
        let end = diff.as_bytes()[..DIFF_BYTES_MAX].iter().rposition(|byte| *byte == b'\n');
        diff.truncate(end.map_or(0, |end| end + 1));
        diff.push_str("(the rest of this diff was left out: it is too long)\n");
    }
    diff
}
