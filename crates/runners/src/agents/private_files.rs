//! Private files of an agent in a confined turn.
//!
//! An agent with a shipped adapter gets a private copy of its [`Home`] for this turn: its settings, and the session
//! that it continues. After the turn the session and the renewed login are given back by name. Confined code wrote
//! them, so no link is followed, no other file is touched, and only regular files of a bounded size are taken.
//!
//! Any other agent gets a folder inside the cast's folder, which its confined turns share.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use materia_contract::Uuid;
use materia_safe_fs::Folder;

use super::home::{Home, Login};
use super::registry::Agent;
use super::{AgentSession, Ask, SessionPlan, renewal, session_files};

/// The largest file of settings that is copied.
const COPIED_BYTES_MAX: u64 = 32 << 20;
/// The largest file of a session that is brought or given back.
const SESSION_BYTES_MAX: u64 = 256 << 20;
/// The largest file with a login.
const LOGIN_BYTES_MAX: u64 = 1 << 20;
/// How much of a session is looked at for its name.
const FIRST_BYTES: usize = 16 << 10;
/// The folder of other agents in the folder of the cast.
const AGENTS: &str = "agents";
/// The variable that tells other agents where they may write.
const FOLDER_VARIABLE: &str = "MATERIA_AGENT_DIR";

/// Private files of an agent in a confined turn.
pub(super) enum Own {
    /// A copy of its home.
    Copy(Box<Copied>),
    /// A folder in the folder of the cast.
    Folder(PathBuf),
}

/// A private copy of a home.
pub(super) struct Copied {
    home: &'static Home,
    /// Where the home really is; nothing is brought and given back where that is not known.
    real: Option<PathBuf>,
    /// Value of the variable.
    value: PathBuf,
    folder: Folder,
    /// The project, as the mark of a session names it.
    project: PathBuf,
    /// The files of sessions that were brought, which alone may be replaced.
    brought: BTreeSet<PathBuf>,
    /// The logins as they were when the turn began.
    logins: Vec<(&'static Login, Vec<u8>)>,
}

impl Own {
    /// Makes it in `private`, the folder of the turn, or in `cast`.
    pub(super) fn prepare(
        agent: &Agent,
        ask: &Ask,
        private: &Folder,
        cast: &Folder,
    ) -> io::Result<Self> {
        let Some(home) = agent.adapter().home() else {
            // The name of an agent is the configuration's and becomes no path.
            let key = blake3::hash(agent.name.as_bytes()).to_hex();
            let folder = cast.make_folder(Path::new(AGENTS).join(&key[..16]))?;
            folder.make_folder("state")?;
            folder.make_folder("cache")?;
            return Ok(Self::Folder(std::path::absolute(folder.path())?));
        };
        let around = private.new_folder("home")?;
        let value = std::path::absolute(around.path())?;
        let folder = if home.inner.is_empty() { around } else { around.new_folder(home.inner)? };
        let mut copied = Copied {
            home,
            real: home.place(&ask.settings),
            value,
            folder,
            project: ask.cwd.clone(),
            brought: BTreeSet::new(),
            logins: Vec::new(),
        };
        copied.fill(ask)?;
        if let SessionPlan::Resume(session) = &ask.session {
            copied.bring(&session.id)?;
        }
        Ok(Self::Copy(Box::new(copied)))
    }

    /// The folder that the agent may write to.
    pub(super) fn folder(&self) -> &Path {
        match self {
            Self::Copy(copied) => &copied.value,
            Self::Folder(path) => path,
        }
    }

    /// The variables that lead the agent there.
    pub(super) fn environment(&self) -> Vec<(&'static str, OsString)> {
        match self {
            Self::Copy(copied) => vec![(copied.home.variable, copied.value.clone().into())],
            Self::Folder(path) => vec![
                (FOLDER_VARIABLE, path.into()),
                ("XDG_STATE_HOME", path.join("state").into()),
                ("XDG_CACHE_HOME", path.join("cache").into()),
            ],
        }
    }

    /// Copies files that outlive the turn back, after all its processes have ended, and returns notes about failures.
    /// If the files of `session` were not copied, it is cleared: the next turn could resume another session of that
    /// name. A note says so if the caller `wants` the session.
    pub(super) fn give_back(&self, session: &mut Option<AgentSession>, wants: bool) -> Vec<String> {
        let Self::Copy(copied) = self else { return Vec::new() };
        let mut notes = Vec::new();
        let Some(real) = &copied.real else {
            *session = None;
            return notes;
        };
        if let Some(AgentSession { id, .. }) = session
            && let Err(error) = copied.give_back_session(real, id)
        {
            if wants {
                notes.push(format!("the session is not kept: {error}; the next turn begins anew"));
            }
            *session = None;
        }
        for (login, before) in &copied.logins {
            if let Err(error) = copied.give_back_login(real, login, before) {
                notes.push(format!("the login in `{}` was not renewed: {error}", login.file));
            }
        }
        notes
    }
}

impl Copied {
    /// Puts in what the agent finds in its home.
    fn fill(&mut self, ask: &Ask) -> io::Result<()> {
        let home = self.home;
        if let Some(real) = self.real.clone() {
            for pattern in home.copied {
                for name in named(&real, pattern) {
                    self.copy(&real.join(&name), &name)?;
                }
            }
            for entry in home.linked {
                self.link(&real, entry)?;
            }
            for login in home.logins {
                if let Some(bytes) = plain(&real.join(login.file), LOGIN_BYTES_MAX)? {
                    self.folder.write(login.file, &bytes)?;
                    self.logins.push((login, bytes));
                }
            }
        }
        for name in home.beside {
            if let Some(place) = home.place_beside(&ask.settings, name) {
                self.copy(&place, name)?;
            }
        }
        if let Some(changed) = &home.changed {
            let place = self.real.as_ref().map(|real| real.join(changed.file));
            let before = place.map(|place| plain(&place, COPIED_BYTES_MAX)).transpose()?.flatten();
            self.folder.write(changed.file, &(changed.with)(&before.unwrap_or_default()))?;
        }
        Ok(())
    }

    fn copy(&self, from: &Path, name: &str) -> io::Result<()> {
        match plain(from, COPIED_BYTES_MAX)? {
            Some(bytes) => self.folder.write(name, &bytes),
            None => Ok(()),
        }
    }

    fn link(&self, real: &Path, entry: &str) -> io::Result<()> {
        let there = |path: &Path| path.symlink_metadata().is_ok();
        let Some(folder) = entry.strip_suffix("/*") else {
            let place = real.join(entry);
            return if there(&place) { self.folder.link(entry, &place) } else { Ok(()) };
        };
        for found in fs::read_dir(real.join(folder)).into_iter().flatten().flatten() {
            let name = found.file_name();
            if !name.as_encoded_bytes().starts_with(b".") {
                self.folder.link(Path::new(folder).join(&name), &found.path())?;
            }
        }
        Ok(())
    }

    /// Brings the files of a session.
    fn bring(&mut self, id: &str) -> io::Result<()> {
        let Some(real) = self.real.clone().filter(|_| is_own_name(id)) else { return Ok(()) };
        for (top, pattern) in tops(self.home) {
            // A user may keep a folder of the home elsewhere; beneath it no link is followed.
            let Ok(from) = Folder::at(&real.join(top)) else { continue };
            for path in session_files::find(&from, pattern, id) {
                let kept = Path::new(top).join(&path);
                let file = from.open(&path)?;
                if !names_itself(&file, id)? {
                    continue;
                }
                match self.folder.replace_from(&kept, file, SESSION_BYTES_MAX) {
                    // The agent does not find it and says so; the turn then begins anew.
                    Err(error) if error.kind() == io::ErrorKind::FileTooLarge => continue,
                    brought => brought?,
                }
                if let Some(mark) = self.mark_of(&path)
                    && let Ok(bytes) = from.read(&mark, LOGIN_BYTES_MAX)
                {
                    self.folder.write(Path::new(top).join(mark), &bytes)?;
                }
                self.brought.insert(kept);
            }
        }
        Ok(())
    }

    /// Gives back the files of a session: those that were brought, and new ones. A file of another session,
    /// whose name a turn could claim, stays as it is.
    fn give_back_session(&self, real: &Path, id: &str) -> io::Result<()> {
        if !is_own_name(id) {
            return Err(io::Error::other("the agent gave it a name that is none of its own"));
        }
        let mut given = false;
        for (top, pattern) in tops(self.home) {
            let Ok(from) = self.folder.folder(top) else { continue };
            for path in session_files::find(&from, pattern, id) {
                let to = made(&real.join(top))?;
                if to.has(&path) && !self.brought.contains(&Path::new(top).join(&path)) {
                    return Err(io::Error::other("another session has its name"));
                }
                to.replace_from(&path, one_name(from.open(&path)?)?, SESSION_BYTES_MAX)?;
                if let Some(mark) = self.mark_of(&path)
                    && !to.has(&mark)
                {
                    to.write(mark, self.project.as_os_str().as_encoded_bytes())?;
                }
                given = true;
            }
        }
        if given { Ok(()) } else { Err(io::Error::other("the agent left no file of it")) }
    }

    /// The file that says to which project a session belongs.
    fn mark_of(&self, session: &Path) -> Option<PathBuf> {
        Some(session.parent()?.parent()?.join(self.home.mark?))
    }

    /// Copies renewed values of a login back. A login that changed meanwhile was renewed by another process outside
    /// the sandbox: it stays.
    fn give_back_login(&self, real: &Path, login: &Login, before: &[u8]) -> io::Result<()> {
        let now = match self.folder.open(login.file) {
            Ok(file) => read(one_name(file)?, LOGIN_BYTES_MAX)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if now == before {
            return Ok(());
        }
        // Where the user keeps it elsewhere behind a link, it is replaced there.
        let place = real.join(login.file).canonicalize()?;
        if plain(&place, LOGIN_BYTES_MAX)?.is_none_or(|bytes| bytes != before) {
            return Ok(());
        }
        let Some(renewed) = renewal::renewed(before, &now, login.fields) else { return Ok(()) };
        let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else { return Ok(()) };
        Folder::at(folder)?.replace(name, &renewed)
    }
}

/// Whether a session has a name as these agents give: part of another one's name would do harm.
fn is_own_name(id: &str) -> bool {
    id.len() == Uuid::nil().hyphenated().to_string().len() && Uuid::try_parse(id).is_ok()
}

/// Whether a file says at its beginning that it is of this session.
fn names_itself(file: &File, id: &str) -> io::Result<bool> {
    let mut first = vec![0; FIRST_BYTES];
    let length = file.read_at(&mut first, 0)?;
    Ok(String::from_utf8_lossy(&first[..length]).contains(id))
}

/// The patterns of the sessions, each with the folder it begins in.
fn tops(home: &Home) -> impl Iterator<Item = (&'static str, &'static str)> {
    home.sessions.iter().filter_map(|pattern| pattern.split_once('/'))
}

/// The names in a folder that a pattern stands for.
fn named(folder: &Path, pattern: &str) -> Vec<String> {
    if !pattern.contains('*') {
        return vec![pattern.to_owned()];
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| session_files::matches(pattern, name)).collect()
}

/// The content of a plain file of the user's, behind links that the user made; none where there is no such
/// file, or one that is too large.
fn plain(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() <= most => {
            read(File::open(path)?, most).map(Some)
        }
        Ok(_) | Err(_) => Ok(None),
    }
}

fn read(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// A file that has no second name somewhere else.
fn one_name(file: File) -> io::Result<File> {
    if file.metadata()?.nlink() == 1 {
        Ok(file)
    } else {
        Err(io::Error::other("it is known by a second name somewhere else"))
    }
}

/// A folder of the user's, which is made where it is missing.
fn made(path: &Path) -> io::Result<Folder> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    Folder::at(path)
}
