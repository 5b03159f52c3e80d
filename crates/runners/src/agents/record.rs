//! Recordings: timed output of a cast's processes, so that the same graph can run against it later without an agent.
//!
//! A recording is a folder with one file a turn, `<socket>/<visit>-<attempt>.jsonl`. Its first line holds the agent
//! and the prompt; then follow, for each process, its start, its output and its exit. It contains no secrets: all text
//! passes the [redactor](crate::redact), only names of environment variables are kept, and of the prompt, which the
//! journal has in full, a hash and the redacted text.

mod line;

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use materia_engine::TurnJob;
use materia_safe_fs::{Folder, Typed};
use serde::{Deserialize, Serialize};

pub(super) use line::Line;
use line::{CutWord, Session};

use super::{Exit, SessionPlan};
use crate::redact::{Redactor, Secrets};

/// The version of the form.
const VERSION: u32 = 1;
/// The file that marks a folder as a recording.
const MARK: &str = "recording.json";

/// Why a recording cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The folder has something else in it.
    #[error("`{0}` is not empty and no recording; name a new folder to record into")]
    NotEmpty(PathBuf),
    /// The folder has a recording already.
    #[error("`{0}` holds a recording already; name a new folder, or remove it")]
    Exists(PathBuf),
    /// The folder has no recording.
    #[error("`{0}` holds no recording; `materia cast --record DIR` makes one")]
    Missing(PathBuf),
    /// A newer program wrote it.
    #[error("the recording in `{0}` was made by a newer version of materia")]
    Newer(PathBuf),
    /// A file of it cannot be understood.
    #[error("the recording `{path}` cannot be read at line {line}: {what}")]
    Broken {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Description of the error.
        what: String,
    },
    /// The file system refused.
    #[error("the recording `{path}` cannot be used: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn io_at(path: &Path) -> impl FnOnce(io::Error) -> RecordError {
    move |source| RecordError::Io { path: path.to_owned(), source }
}

#[derive(Serialize, Deserialize)]
struct Mark {
    version: u32,
}

/// The hash that names a prompt.
pub(super) fn prompt_hash(prompt: &str) -> String {
    blake3::hash(prompt.as_bytes()).to_hex().to_string()
}

/// A folder into which turns are recorded.
#[derive(Debug, Clone)]
pub struct Recorder {
    folder: Arc<Folder>,
}

impl Recorder {
    /// Whether a recording could be made in `dir`, which must be empty or not there, and behind no link of the
    /// project. Makes nothing.
    pub fn check(dir: &Path, project: &Path) -> Result<(), RecordError> {
        Typed::find(dir, project).map_err(io_at(dir))?;
        if dir.join(MARK).exists() {
            return Err(RecordError::Exists(dir.to_owned()));
        }
        match fs::read_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(source) => Err(RecordError::Io { path: dir.to_owned(), source }),
            Ok(mut entries) => match entries.next() {
                Some(_) => Err(RecordError::NotEmpty(dir.to_owned())),
                None => Ok(()),
            },
        }
    }

    /// Makes a new recording in `dir`, which a person typed in `project`.
    pub fn create(dir: &Path, project: &Path) -> Result<Self, RecordError> {
        let dir = std::path::absolute(dir).map_err(io_at(dir))?;
        Self::check(&dir, project)?;
        let mark = serde_json::to_vec(&Mark { version: VERSION }).expect("a number renders");
        let made = Typed::find(&dir, project).and_then(|typed| typed.make_folder());
        let folder = made.map_err(io_at(&dir))?;
        folder.write(MARK, &mark).map_err(io_at(&dir))?;
        Ok(Self { folder: Arc::new(folder) })
    }

    /// Begins the file of a turn.
    pub(super) fn tape(
        &self,
        job: &TurnJob,
        agent: &str,
        prompt: &str,
        secrets: &Secrets,
    ) -> Result<Tape, RecordError> {
        let path = turn_file(Path::new(""), job);
        let file = self.folder.create(&path).map_err(io_at(&self.folder.path().join(&path)))?;
        let file = BufWriter::new(file);
        let mut tape = Tape {
            file: Ok(file),
            secrets: secrets.clone(),
            streams: [Stream::new(secrets), Stream::new(secrets)],
            begun: Instant::now(),
        };
        tape.put(&Line::Turn {
            node: job.node.to_string(),
            visit: job.visit,
            attempt: job.attempt,
            agent: agent.to_owned(),
            prompt_hash: prompt_hash(prompt),
            prompt: secrets.remove(prompt).into_owned(),
        });
        Ok(tape)
    }
}

fn turn_file(dir: &Path, job: &TurnJob) -> PathBuf {
    dir.join(job.node.as_str()).join(format!("{}-{}.jsonl", job.visit, job.attempt))
}

/// The file of one turn while it is written.
#[derive(Debug)]
pub(super) struct Tape {
    file: io::Result<BufWriter<File>>,
    secrets: Secrets,
    /// Standard output and standard error.
    streams: [Stream; 2],
    begun: Instant,
}

/// One stream on its way to the tape.
#[derive(Debug)]
struct Stream {
    redactor: Redactor,
    /// Redacted bytes that are not written yet: at most the beginning of a character.
    clean: Vec<u8>,
}

impl Stream {
    fn new(secrets: &Secrets) -> Self {
        Self { redactor: Redactor::new(secrets.clone()), clean: Vec::new() }
    }

    /// Bytes that can be written now.
    fn ready(&mut self) -> Vec<u8> {
        let end = match str::from_utf8(&self.clean) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => self.clean.len(),
        };
        let rest = self.clean.split_off(end);
        std::mem::replace(&mut self.clean, rest)
    }
}

impl Tape {
    /// A process is about to start.
    pub(super) fn process(&mut self, argv: &[String], env: Vec<String>, plan: &SessionPlan) {
        self.begun = Instant::now();
        let argv = argv.iter().map(|word| self.secrets.remove(word).into_owned()).collect();
        self.put(&Line::Process { argv, env, session: Session::from(plan) });
    }

    /// It wrote to standard output.
    pub(super) fn stdout(&mut self, bytes: &[u8]) {
        let Stream { redactor, clean } = &mut self.streams[0];
        redactor.push(bytes, clean);
        let ready = self.streams[0].ready();
        self.put_out(ready);
    }

    /// It wrote to standard error.
    pub(super) fn stderr(&mut self, bytes: &[u8]) {
        let Stream { redactor, clean } = &mut self.streams[1];
        redactor.push(bytes, clean);
        let ready = self.streams[1].ready();
        self.put_err(&ready);
    }

    /// It ended.
    pub(super) fn exit(&mut self, exit: Exit) {
        let [out, err] = self.streams.each_mut().map(|Stream { redactor, clean }| {
            redactor.finish(clean);
            std::mem::take(clean)
        });
        self.put_out(out);
        self.put_err(&err);
        let Exit { code, signal, cut } = exit;
        let cut = cut.map(CutWord::from);
        self.put(&Line::Exit { t: self.now(), code, signal, cut });
    }

    /// Everything is said; what went wrong with the file on the way comes out here.
    pub(super) fn finish(self) -> io::Result<()> {
        self.file?.flush()
    }

    fn put_out(&mut self, bytes: Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let t = self.now();
        match String::from_utf8(bytes) {
            Ok(text) => self.put(&Line::Out { t, text }),
            Err(error) => self.put(&Line::OutBytes { t, bytes: error.into_bytes() }),
        }
    }

    fn put_err(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            let text = String::from_utf8_lossy(bytes).into_owned();
            self.put(&Line::Err { t: self.now(), text });
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn put(&mut self, line: &Line) {
        let Ok(file) = &mut self.file else { return };
        let written = serde_json::to_writer(&mut *file, line)
            .map_err(io::Error::from)
            .and_then(|()| file.write_all(b"\n"));
        if let Err(error) = written {
            self.file = Err(error);
        }
    }
}

/// A recording to be run against.
#[derive(Debug, Clone)]
pub struct Recording {
    dir: PathBuf,
}

impl Recording {
    /// Opens the recording in `dir`.
    pub fn open(dir: &Path) -> Result<Self, RecordError> {
        let dir = std::path::absolute(dir).map_err(io_at(dir))?;
        let bytes = match fs::read(dir.join(MARK)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(RecordError::Missing(dir));
            }
            read => read.map_err(io_at(&dir))?,
        };
        match serde_json::from_slice::<Mark>(&bytes) {
            Ok(Mark { version }) if version > VERSION => Err(RecordError::Newer(dir)),
            Ok(_) => Ok(Self { dir }),
            Err(_) => Err(RecordError::Missing(dir)),
        }
    }

    /// The lines of a turn; nothing where it was not recorded.
    pub(super) fn turn(&self, job: &TurnJob) -> Result<Option<Vec<Line>>, RecordError> {
        let path = turn_file(&self.dir, job);
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(io_at(&path))?,
        };
        let mut lines = Vec::new();
        for (index, line) in BufReader::new(file).lines().enumerate() {
            let line = line.map_err(io_at(&path))?;
            let broken = |what: String| {
                let (path, line) = (path.clone(), index + 1);
                RecordError::Broken { path, line, what }
            };
            lines.push(serde_json::from_str(&line).map_err(|error| broken(error.to_string()))?);
        }
        Ok(Some(lines))
    }
}
