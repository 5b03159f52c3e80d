//! Calls git under the sandbox, to find the changes of a turn.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use materia_contract::program_places;

use crate::raw_path::RawPath;
use crate::supervise::protocol::Writable;
use crate::supervise::sandbox;

/// How long one call may take.
const CALL_MAX: Duration = Duration::from_secs(20);
/// Interval at which is checked whether the caller still waits.
const PAUSE: Duration = Duration::from_millis(50);

/// Patterns of the user's count for nothing in a look.
const NO_FILES: [&str; 2] = ["core.attributesFile=/dev/null", "core.excludesFile=/dev/null"];

/// Where programs of the system find what runs them.
const LOADERS: [&str; 5] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/libexec/git-core"];

/// The program git, as it is installed.
#[derive(Debug, Clone)]
pub(super) struct Program {
    path: PathBuf,
    /// Whether it works where nothing else may be run: not where it is a script around the real one.
    alone: bool,
}

impl Program {
    /// The one in PATH, looked for once.
    pub(super) fn find() -> Option<Self> {
        static FOUND: OnceLock<Option<Program>> = OnceLock::new();
        FOUND.get_or_init(Self::look).clone()
    }

    fn look() -> Option<Self> {
        let places = program_places("git", std::env::var_os("PATH").as_deref());
        let path = places.iter().find_map(|place| place.canonicalize().ok())?;
        let program = Self { path, alone: true };
        let rules = Writable { folders: Vec::new(), offline: true, only_runs: program.only_runs() };
        let works = || {
            let mut git = Command::new(&program.path);
            git.arg("version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            git.env_clear().status().is_ok_and(|status| status.success())
        };
        let alone = sandbox::inside(&rules, works).is_ok_and(|(_, works)| works);
        Some(Self { alone, ..program })
    }

    /// Files that git may execute; `None` if there is no restriction.
    pub(super) fn only_runs(&self) -> Option<Vec<RawPath>> {
        let loaders = LOADERS.iter().map(Path::new).filter(|folder| folder.is_dir());
        let runs = loaders.chain([self.path.as_path()]).map(RawPath::from);
        self.alone.then(|| runs.collect())
    }
}

/// How git is called for one look.
pub(super) struct Git<'a> {
    pub(super) program: &'a Program,
    /// The repository of the look.
    pub(super) own: &'a Path,
    /// The top of the work tree.
    pub(super) top: &'a Path,
    /// Folders of further objects.
    pub(super) objects: &'a [PathBuf],
    /// Settings taken over from the project's repository.
    pub(super) settings: Vec<String>,
    pub(super) halt: &'a AtomicBool,
}

impl Git<'_> {
    /// Output of a call that succeeds in time. Longer output is cut to `most` bytes plus one.
    pub(super) fn run<'w>(
        &self,
        words: impl IntoIterator<Item = &'w OsStr>,
        input: Option<File>,
        most: usize,
    ) -> Option<Vec<u8>> {
        let mut git = materia_workspace::isolated(&self.program.path, self.own);
        let taken_over = self.settings.iter().map(String::as_str);
        for setting in taken_over.chain(NO_FILES) {
            git.args(["-c", setting]);
        }
        git.args(words)
            .env("GIT_WORK_TREE", self.top)
            .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", std::env::join_paths(self.objects).ok()?)
            .current_dir(self.top)
            .stdin(input.map_or_else(Stdio::null, Stdio::from))
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = git.spawn().ok()?;
        let (said, cut_short) = self.hear(&mut child, most)?;
        // Its pipe is closed by now: where there was more to say, it ends with an error.
        let ended = child.wait().ok()?;
        (ended.success() || cut_short).then_some(said)
    }

    /// Reads the output, and whether it was cut; kills the process if it takes too long.
    fn hear(&self, child: &mut Child, most: usize) -> Option<(Vec<u8>, bool)> {
        let stdout = child.stdout.take()?;
        let (sender, heard) = channel();
        thread::Builder::new()
            .spawn(move || {
                let mut said = Vec::new();
                let read = stdout.take(most as u64 + 1).read_to_end(&mut said);
                // An error means that the caller gave up.
                let _ = sender.send(read.map(|_| said));
            })
            .ok()?;
        let end = Instant::now() + CALL_MAX;
        loop {
            match heard.recv_timeout(PAUSE) {
                Ok(Ok(said)) => {
                    let cut_short = said.len() > most;
                    return Some((said, cut_short));
                }
                Err(RecvTimeoutError::Timeout)
                    if Instant::now() < end && !self.halt.load(Ordering::Relaxed) => {}
                Ok(Err(_)) | Err(_) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return None;
                }
            }
        }
    }
}
