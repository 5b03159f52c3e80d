//! Runs git with an empty environment and with our settings only.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use materia_contract::program_places;

use crate::fault::Fault;

/// The limit of a call that reads.
const READ_TIME_MAX: Duration = Duration::from_mins(2);
/// The limit of a call that writes many files or packs objects.
pub(crate) const WRITE_TIME_MAX: Duration = Duration::from_mins(30);
/// The most that is kept of an ordinary answer.
pub(crate) const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// The longest list of paths or refs.
pub(crate) const LIST_BYTES_MAX: usize = 256 * 1024 * 1024;
/// The most that is kept of an error.
const ERROR_BYTES_MAX: usize = 4 * 1024;

/// Settings that count whatever a file says: they come with the command line. None of the files that git reads here
/// names a program; these are a second guard.
const SETTINGS: [&str; 20] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.quotePath=false",
    "core.safecrlf=false",
    "core.pager=cat",
    "core.editor=false",
    "core.sshCommand=false",
    "core.askPass=false",
    "core.commitGraph=false",
    "credential.helper=",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "diff.ignoreSubmodules=all",
    "status.submoduleSummary=false",
    "advice.graftFileDeprecated=false",
    "log.showSignature=false",
    "protocol.allow=never",
];

/// The program git in PATH, looked for once.
pub(crate) fn program() -> Result<&'static Path, Fault> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let look = || {
        let places = program_places("git", std::env::var_os("PATH").as_deref());
        places.iter().find_map(|place| place.canonicalize().ok())
    };
    FOUND.get_or_init(look).as_deref().ok_or(Fault::NoGit)
}

/// The version of git as it says it itself, and its first two numbers.
pub(crate) fn version() -> Result<(String, (u32, u32)), Fault> {
    let git = Git::new(Path::new("/"));
    let said = git.text(["version"])?;
    let text = said.strip_prefix("git version ").unwrap_or(&said).to_owned();
    let mut numbers = text.split(|it: char| !it.is_ascii_digit()).filter_map(|it| it.parse().ok());
    let first_two = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    Ok((text, first_two))
}

/// A place where git is called.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    dir: PathBuf,
    common: Option<PathBuf>,
    top: Option<PathBuf>,
    index: Option<PathBuf>,
    objects: Option<(PathBuf, PathBuf)>,
    attributes: Option<String>,
    globs: bool,
    locks: bool,
    more: Vec<(&'static str, Option<OsString>)>,
    held: Option<Arc<File>>,
}

impl Git {
    /// With this folder as the git folder.
    pub(crate) fn new(dir: &Path) -> Self {
        let dir = dir.to_owned();
        Self {
            dir,
            common: None,
            top: None,
            index: None,
            objects: None,
            attributes: None,
            globs: false,
            locks: false,
            more: Vec::new(),
            held: None,
        }
    }

    /// With settings, refs and objects from another folder.
    pub(crate) fn common(mut self, dir: &Path) -> Self {
        self.common = Some(dir.to_owned());
        self
    }

    /// With a folder of files.
    pub(crate) fn top(mut self, top: &Path) -> Self {
        self.top = Some(top.to_owned());
        self
    }

    pub(crate) fn index(mut self, index: &Path) -> Self {
        self.index = Some(index.to_owned());
        self
    }

    /// New objects go to `new`; those of `known` are read as well.
    pub(crate) fn objects(mut self, new: &Path, known: &Path) -> Self {
        self.objects = Some((new.to_owned(), known.to_owned()));
        self
    }

    /// Attributes of files are those of this commit or tree, whatever the files say.
    pub(crate) fn attributes(mut self, source: &str) -> Self {
        self.attributes = Some(source.to_owned());
        self
    }

    /// Patterns in the words that name paths count.
    pub(crate) fn globs(mut self) -> Self {
        self.globs = true;
        self
    }

    /// git may write what it learned into the index.
    pub(crate) fn may_refresh(mut self) -> Self {
        self.locks = true;
        self
    }

    /// A locked file that git keeps open while it runs, even if the calling process has ended.
    pub(crate) fn holding(mut self, file: Option<Arc<File>>) -> Self {
        self.held = file;
        self
    }

    pub(crate) fn env(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.more.push((name, Some(value.as_ref().to_owned())));
        self
    }

    pub(crate) fn without_env(mut self, name: &'static str) -> Self {
        self.more.push((name, None));
        self
    }

    /// Prepares a call.
    pub(crate) fn call<W: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = W>) -> Call {
        let words = words.into_iter().map(|word| word.as_ref().to_owned()).collect();
        Call {
            git: self.clone(),
            words,
            input: Input::None,
            most: ANSWER_BYTES_MAX,
            time: READ_TIME_MAX,
        }
    }

    /// The output of a call, without the last newline.
    pub(crate) fn text<W: AsRef<OsStr>>(
        &self,
        words: impl IntoIterator<Item = W>,
    ) -> Result<String, Fault> {
        self.call(words).text()
    }

    fn command(&self) -> Result<Command, Fault> {
        let mut git = isolated(program()?, &self.dir);
        if let Some(source) = &self.attributes {
            git.arg(format!("--attr-source={source}"));
        }
        git.env("GIT_LITERAL_PATHSPECS", if self.globs { "0" } else { "1" })
            .env("GIT_OPTIONAL_LOCKS", if self.locks { "1" } else { "0" })
            .current_dir(self.top.as_deref().unwrap_or(Path::new("/")));
        if let Some(common) = &self.common {
            git.env("GIT_COMMON_DIR", common);
        }
        if let Some(top) = &self.top {
            git.env("GIT_WORK_TREE", top);
        }
        if let Some(index) = &self.index {
            git.env("GIT_INDEX_FILE", index);
        }
        if let Some((new, known)) = &self.objects {
            git.env("GIT_OBJECT_DIRECTORY", new)
                .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(known));
        }
        for (name, value) in &self.more {
            match value {
                Some(value) => git.env(name, value),
                None => git.env_remove(name),
            };
        }
        Ok(git)
    }
}

/// A call of git in a git folder, with an empty environment and no settings but those of that folder and ours.
pub fn isolated(program: &Path, git_dir: &Path) -> Command {
    let mut git = Command::new(program);
    for setting in SETTINGS {
        git.args(["-c", setting]);
    }
    git.env_clear()
        .envs([
            ("LC_ALL", "C"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_LITERAL_PATHSPECS", "1"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ALLOW_PROTOCOL", "none"),
            ("GIT_EDITOR", "false"),
            ("GIT_PAGER", "cat"),
            ("GIT_GRAFT_FILE", "/dev/null"),
            ("HOME", "/nonexistent"),
            ("XDG_CONFIG_HOME", "/nonexistent"),
        ])
        .env("GIT_DIR", git_dir);
    git
}

/// A path in quotes, as lists of object folders have it: a colon or the end of a line in it does not count.
pub(crate) fn quoted(path: &Path) -> OsString {
    let mut text = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            b'\n' => text.extend(b"\\n"),
            _ => text.push(*byte),
        }
    }
    text.push(b'"');
    OsString::from_vec(text)
}

enum Input {
    None,
    Bytes(Vec<u8>),
    File(File),
}

/// One call of git.
pub(crate) struct Call {
    git: Git,
    words: Vec<OsString>,
    input: Input,
    most: usize,
    time: Duration,
}

/// How a call ended.
pub(crate) struct Said {
    pub(crate) status: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) error: String,
    /// Whether there was more to read than was asked for.
    pub(crate) cut: bool,
}

impl Call {
    pub(crate) fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Input::Bytes(bytes.into());
        self
    }

    pub(crate) fn input_file(mut self, file: File) -> Self {
        self.input = Input::File(file);
        self
    }

    /// How many bytes of the answer are kept.
    pub(crate) fn most(mut self, bytes: usize) -> Self {
        self.most = bytes;
        self
    }

    pub(crate) fn within(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// The answer of a call that must go well.
    pub(crate) fn bytes(self) -> Result<Vec<u8>, Fault> {
        let (command, folder, most) = (self.name(), self.git.dir.clone(), self.most);
        let said = self.run()?;
        if said.cut {
            return Err(Fault::TooMuch { command, folder, bytes: most });
        }
        if said.status == 0 {
            return Ok(said.out);
        }
        Err(Fault::Git { command, folder, said: said.error })
    }

    /// The same as text, without the end of its last line.
    pub(crate) fn text(self) -> Result<String, Fault> {
        let bytes = self.bytes()?;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned())
    }

    /// Writes the answer to a file.
    pub(crate) fn write_to(self, file: File) -> Result<(), Fault> {
        let (command, folder) = (self.name(), self.git.dir.clone());
        let said = self.start(Stdio::from(file))?;
        if said.status == 0 {
            Ok(())
        } else {
            Err(Fault::Git { command, folder, said: said.error })
        }
    }

    /// The answer and the exit status.
    pub(crate) fn run(self) -> Result<Said, Fault> {
        self.start(Stdio::piped())
    }

    /// The subcommand, for people to read.
    fn name(&self) -> String {
        self.words.first().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn start(self, out: Stdio) -> Result<Said, Fault> {
        let (command, folder) = (self.name(), self.git.dir.clone());
        let failed =
            |said: String| Fault::Git { command: command.clone(), folder: folder.clone(), said };
        let io_failed = |error: io::Error| failed(error.to_string());
        let mut git = self.git.command()?;
        git.args(&self.words).stdout(out).stderr(Stdio::piped());
        git.stdin(match &self.input {
            Input::None => match &self.git.held {
                Some(file) => Stdio::from(file.try_clone().map_err(io_failed)?),
                None => Stdio::null(),
            },
            Input::Bytes(_) => Stdio::piped(),
            Input::File(file) => Stdio::from(file.try_clone().map_err(io_failed)?),
        });
        let mut child = git.spawn().map_err(io_failed)?;
        let end = Instant::now() + self.time;
        if let (Input::Bytes(bytes), Some(mut stdin)) = (self.input, child.stdin.take()) {
            // git may end before it has read everything; then its status tells.
            thread::spawn(move || drop(stdin.write_all(&bytes)));
        }
        let error = child.stderr.take().map(|pipe| listen(pipe, ERROR_BYTES_MAX, true));
        let out = child.stdout.take().map(|pipe| listen(pipe, self.most, false));
        let (most, seconds) = (self.most, self.time.as_secs());
        let hear = |from: Option<Receiver<Vec<u8>>>, child: &mut Child| match from {
            None => Ok(Vec::new()),
            Some(from) => {
                from.recv_timeout(end.saturating_duration_since(Instant::now())).map_err(|_| {
                    stop(child);
                    Fault::TooSlow { command: command.clone(), folder: folder.clone(), seconds }
                })
            }
        };
        let mut out = hear(out, &mut child)?;
        let cut = out.len() > most;
        out.truncate(most);
        if cut {
            stop(&mut child);
            return Ok(Said { status: 0, out, error: String::new(), cut });
        }
        let error = hear(error, &mut child)?;
        let ended = child.wait().map_err(io_failed)?;
        let error = String::from_utf8_lossy(&error).trim().to_owned();
        Ok(Said { status: ended.code().unwrap_or(-1), out, error, cut })
    }
}

/// Reads a pipe on a thread of its own: at most `most` bytes and one more; with `drain` the rest is read and dropped.
fn listen(pipe: impl Read + Send + 'static, most: usize, drain: bool) -> Receiver<Vec<u8>> {
    let (sender, heard) = channel();
    thread::spawn(move || {
        let mut said = Vec::new();
        let mut pipe = pipe.take(most as u64 + 1);
        let _ = pipe.read_to_end(&mut said);
        if drain {
            said.truncate(most);
            let _ = io::copy(&mut pipe.into_inner(), &mut io::sink());
        }
        // After a timeout of the call there is no receiver any more.
        let _ = sender.send(said);
    });
    heard
}

fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
