//! A project: its configuration, and where its casts are kept.
//!
//! * [`place`]: where a project keeps its journal. [`journals`]: journals of a project, and the check before one is
//!   written to. [`cast_id`]: ids of casts, and finding the cast that a person means.
//! * [`profile`]: installs the shipped utilities. [`health`]: agents that are usable here.
//! * [`seen_warnings`]: warnings that were shown before.

pub mod cast_id;
pub mod health;
pub mod journals;
pub mod place;
pub mod profile;
pub mod seen_warnings;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use materia_compiler::{Compiled, Loaded, Sources};
use materia_contract::{Finding, Folders, RunId, Severity};
use materia_engine::Journal;
use materia_journal::JOURNAL_FILE;
use materia_safe_fs::Typed;
use rustix::fs::{Access, AtFlags, CWD};
use rustix::io::Errno;

use self::place::{CastJournal, Connected, InProfile, JournalPlace, Kept};
use crate::archive;
use crate::text::sanitize;
use crate::trust::Gate;
use crate::{Failure, Result};

/// Folders that may hold casts besides the configured one, if they have a journal.
const OTHER_ROOTS: [&str; 2] = [".materia", ".pi/pi-materia"];

/// A repository on a machine that has no access to the user's.
#[derive(Debug, Clone)]
pub(crate) struct StandIn {
    /// The top of its work tree, which has no files.
    pub(crate) top: PathBuf,
    /// The folder in it that corresponds to the project.
    pub(crate) dir: PathBuf,
}

/// A project folder and the files that configure it.
#[derive(Debug, Clone)]
pub struct Project {
    /// The folder, as a real path.
    pub dir: PathBuf,
    /// Where configuration is looked for.
    pub sources: Sources,
    /// The user's state folder: which journals are the user's own, and who drives what. Without one nothing is
    /// written.
    pub state_dir: Option<PathBuf>,
    /// Where the user wants casts to be kept.
    pub place: Box<JournalPlace>,
    pub(crate) in_profile: Arc<OnceLock<InProfile>>,
    pub(crate) connected: Connected,
    /// Stands in for the repository of the project, if that is on another machine.
    pub(crate) stand_in: Option<Box<StandIn>>,
}

impl Project {
    /// The project whose folder and configuration these are. The folder must exist.
    pub fn open(mut sources: Sources, state_dir: Option<PathBuf>) -> Result<Self> {
        let dir = sources.project_dir.canonicalize().map_err(|error| {
            let folder = sources.project_dir.display();
            Failure::storage(format!("cannot use the folder `{folder}`: {error}"))
        })?;
        // Events, findings and the input of programs hold paths as text. A path that is not UTF-8 would be stored as
        // another.
        for (what, path) in
            [("the project", Some(&dir)), ("the profile", sources.profile_dir.as_ref())]
        {
            if let Some(path) = path.filter(|path| path.to_str().is_none()) {
                return Err(Failure::storage(format!(
                    "the path of {what}, `{}`, is not UTF-8, and paths are kept as text; rename the folder, or \
                     use one with another path",
                    path.display()
                )));
            }
        }
        sources.project_dir.clone_from(&dir);
        let (place, in_profile, connected) = (Box::default(), Arc::default(), Connected::default());
        Ok(Self { dir, sources, state_dir, place, in_profile, connected, stand_in: None })
    }

    /// The folder of the user's profile.
    pub fn profile_dir(&self) -> Option<&Path> {
        self.sources.profile_dir.as_deref()
    }

    /// Trust gate of this project.
    pub fn gate(&self) -> Gate {
        Gate::new(self.profile_dir(), &self.dir)
    }

    /// Where the folders are that events of a cast under `root` name.
    pub fn folders(&self, root: &Path, id: &RunId) -> Folders {
        Folders { run_dir: text(&root.join(id.as_str())), ..self.places() }
    }

    /// The same for all of its casts: without the folder of a cast.
    pub fn places(&self) -> Folders {
        let profile = self.profile_dir().map(text).unwrap_or_default();
        let (project, workspace) = (text(&self.dir), text(&self.dir));
        Folders { project, workspace, run_dir: String::new(), profile }
    }

    /// Compiles a loadout, or the active one.
    pub fn compile(&self, loadout: Option<&str>) -> Checked<Compiled> {
        let (loaded, found) = materia_compiler::load(&self.sources);
        let (compiled, more) = materia_compiler::compile(&loaded, loadout);
        Checked::new(loaded, found, compiled, more)
    }

    /// Checks every loadout and every materia of all layers.
    pub fn check(&self) -> Checked<()> {
        let (loaded, found) = materia_compiler::load(&self.sources);
        let mut findings = found;
        findings.extend(materia_compiler::check(&loaded));
        Checked { loaded, findings, made: Some(()) }
    }

    /// The same with texts that an editor has not saved yet, by the names of their files.
    pub fn check_given(&self, given: &BTreeMap<String, String>) -> Checked<()> {
        let (loaded, found) = materia_compiler::load_given(&self.sources, given);
        let mut findings = found;
        findings.extend(materia_compiler::check(&loaded));
        Checked { loaded, findings, made: Some(()) }
    }

    /// Compiles a loadout with texts that an editor has not saved yet.
    pub fn compile_given(
        &self,
        given: &BTreeMap<String, String>,
        loadout: Option<&str>,
    ) -> Checked<Compiled> {
        let (loaded, found) = materia_compiler::load_given(&self.sources, given);
        let (compiled, more) = materia_compiler::compile(&loaded, loadout);
        Checked::new(loaded, found, compiled, more)
    }

    /// The folder that casts are kept in, whatever else is wrong with the configuration.
    pub fn artifact_root(&self) -> PathBuf {
        materia_compiler::artifact_root(&self.sources)
    }

    /// The folders that can hold casts of this project: the configured one first, then the usual ones (D52).
    pub fn roots(&self) -> Vec<PathBuf> {
        self.roots_beside(self.artifact_root())
    }

    /// The same, where the configured folder is known.
    pub(crate) fn roots_beside(&self, configured: PathBuf) -> Vec<PathBuf> {
        let mut roots = vec![configured];
        if self.is_remote() {
            return roots;
        }
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        for other in OTHER_ROOTS.map(|other| self.dir.join(other)) {
            if !roots.iter().any(|root| real(root) == real(&other)) {
                roots.push(other);
            }
        }
        roots
    }

    /// Every journal of this project with its folder: the configured folder first, then the usual ones (D52).
    pub fn journals(&self) -> Result<Vec<Kept>> {
        // It may name another folder for casts.
        if let Some(missing) = self.sources.missing_file() {
            return Err(Failure::resolution(format!(
                "there is no file `{}`, which was named as a configuration",
                self.shown(&missing)
            )));
        }
        let mut journals = Vec::new();
        for (place, root) in self.roots().into_iter().enumerate() {
            match self.look(&root) {
                Ok(Some(journal)) => journals.push((root, journal)),
                Err(error) if place == 0 => return Err(error),
                // Errors of a folder that is not configured are ignored here.
                Ok(None) | Err(_) => {}
            }
        }
        Ok(journals)
    }

    /// Finds a cast that a person named. The name is checked before any file is touched.
    pub fn find(&self, wanted: &RunId) -> Result<Found> {
        self.find_among(self.journals()?, wanted, "")
    }

    /// Finds a cast under the configured folder and nowhere else (L9).
    pub(crate) fn find_configured(&self, wanted: &RunId) -> Result<Found> {
        let root = self.artifact_root();
        let journal = self.look(&root)?;
        let journals = journal.map(|journal| (root, journal)).into_iter().collect();
        self.find_among(journals, wanted, "the artifact root ")
    }

    /// `word` says what the folders are, for the message.
    fn find_among(&self, journals: Vec<Kept>, wanted: &RunId, word: &str) -> Result<Found> {
        let shown = |(root, journal): &Kept| {
            if journal.is_remote() { journal.shown() } else { format!("`{}`", self.shown(root)) }
        };
        let shown: Vec<String> = journals.iter().map(shown).collect();
        let place = format!("{word}{}", shown.join(" and "));
        if shown.is_empty() {
            let place = format!(
                "{word}{}, where no casts are kept yet (a cast that was made with another configuration is found with that)",
                self.shown_place()
            );
            return Err(cast_id::unknown(wanted, &place));
        }
        let ports: Vec<&dyn Journal> =
            journals.iter().map(|(_, journal)| &**journal as &dyn Journal).collect();
        let (which, id) = cast_id::resolve(&ports, wanted, &place)?;
        let found = journals.into_iter().nth(which);
        let (root, journal) = found.ok_or_else(|| cast_id::unknown(wanted, &place))?;
        Ok(Found { root, journal, id })
    }

    /// A path for people: relative to the project if it is inside it.
    pub fn shown(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.dir).unwrap_or(path);
        sanitize::clean(&path.display().to_string()).into_owned()
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Result of compiling a configuration, with all findings.
#[derive(Debug)]
pub struct Checked<T> {
    /// The configuration.
    pub loaded: Loaded,
    /// Findings about the files and about the result.
    pub findings: Vec<Finding>,
    /// The result, if there is one.
    pub made: Option<T>,
}

impl<T> Checked<T> {
    pub(crate) fn new(
        loaded: Loaded,
        mut findings: Vec<Finding>,
        made: Option<T>,
        more: Vec<Finding>,
    ) -> Self {
        let seen_before = has_errors(&findings);
        // With errors in the files themselves the compiler only says that there are some.
        let news = more.into_iter().filter(|one| !seen_before || one.code != "config::broken");
        findings.extend(news);
        Self { loaded, findings, made }
    }

    /// Takes every warning for an error.
    pub fn be_strict(&mut self) {
        for finding in &mut self.findings {
            if finding.severity == Severity::Warning {
                finding.severity = Severity::Error;
            }
        }
    }

    /// The result; an error if there are findings of severity error.
    pub fn sound(self) -> Result<(Loaded, T)> {
        match self.made {
            Some(made) if !has_errors(&self.findings) => Ok((self.loaded, made)),
            Some(_) | None => Err(refused(self.findings)),
        }
    }
}

/// A cast that is there.
pub struct Found {
    /// The folder that casts are kept in.
    pub root: PathBuf,
    /// The journal that holds it.
    pub journal: Arc<dyn CastJournal>,
    /// Its id.
    pub id: RunId,
}

impl Found {
    /// The journal, by its port.
    pub fn journal(&self) -> &dyn Journal {
        &*self.journal
    }
}

/// The command that calls the user where a cast waits. Only the user's own profile can name one.
pub fn notify(sources: &Sources) -> Option<Vec<String>> {
    let named = materia_compiler::profile(sources)?.notify()?;
    (!named.is_empty()).then_some(named)
}

/// Reads a cast id that a person typed; what could leave its folder is refused.
pub fn cast_id(text: &str) -> Result<RunId> {
    if archive::is_meant(text) {
        return Err(Failure::usage(format!(
            "`{}` is an archive, which is only read: `replay`, `show`, `events`, `why` and `export` open it, and this needs a cast of the project",
            sanitize::one_line(text, 300)
        )));
    }
    RunId::parse(text).map_err(|error| Failure::usage(error.to_string()))
}

/// Checks that the folder of the casts is writable. The journal alone may be writable where its folder is not.
fn refuse_unwritable(root: &Path) -> Result<()> {
    let wanted = Access::WRITE_OK | Access::EXEC_OK;
    match rustix::fs::accessat(CWD, root, wanted, AtFlags::EACCESS) {
        // The code that creates the folder reports these errors.
        Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
        Err(error) => Err(Failure::storage(format!(
            "nothing can be written to `{}`: {}; make the folder writable, or name another one (`artifactDir`)",
            root.display(),
            std::io::Error::from(error)
        ))),
    }
}

/// A cast's folder is named after it. Whatever else has that name must stay, and a link would
/// lead what is written elsewhere.
pub fn refuse_taken_name(root: &Path, id: &RunId) -> Result<()> {
    refuse_unwritable(root)?;
    let folder = root.join(id.as_str());
    match folder.symlink_metadata() {
        Ok(found) if !found.is_dir() => Err(Failure::resolution(format!(
            "`{}` exists and is not the folder of a cast; move it away, or choose another id",
            folder.display()
        ))),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The same for a cast that is to begin: a folder that no cast has made stays as it is, too.
pub fn refuse_taken_folder(root: &Path, id: &RunId) -> Result<()> {
    refuse_taken_name(root, id)?;
    let folder = root.join(id.as_str());
    let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(()) };
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    let is_of_a_cast = |name: &&std::ffi::OsString| **name == "events.jsonl";
    let is_free = names.iter().all(|name| name == "lock") || names.iter().any(|n| is_of_a_cast(&n));
    if is_free {
        return Ok(());
    }
    Err(Failure::resolution(format!(
        "`{}` exists and is not the folder of a cast; move it away, or choose another id",
        folder.display()
    )))
}

/// `.gitignore` of the casts' folder: ignores everything except a project's own settings.
const IGNORED: &str = "# Casts and their journal are no part of the project.\n*\n!materia.json\n";

/// Keeps the folder of the casts out of version control by a file of its own, so that a project stays clean
/// (a file that is there stays as it is).
pub(crate) fn keep_out_of_version_control(root: &Path, dir: &Path, warnings: &mut Vec<String>) {
    let path = root.join(".gitignore");
    // The cheap checks first: a folder can hold thousands of casts.
    if root == dir || !root.starts_with(dir) || path.symlink_metadata().is_ok() {
        return;
    }
    // A folder that holds more than casts is left to the user.
    if holds_more(root) {
        return;
    }
    let written = Typed::find(root, dir)
        .and_then(|root| root.make_folder()?.write_new(".gitignore", IGNORED.as_bytes()));
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => warnings.push(format!("`{}` could not be written: {error}", path.display())),
    }
}

/// Whether a folder of casts holds something that no cast left: then it is a folder of the project, such as `src`.
fn holds_more(root: &Path) -> bool {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let foreign = |entry: std::fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours = name.starts_with(JOURNAL_FILE) || name == "materia.json" || name == "lock";
        let is_cast = || entry.path().join("events.jsonl").is_file();
        !is_ours && !is_cast()
    };
    entries.into_iter().any(foreign)
}

/// Whether an error is among the findings.
pub fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// The refusal of a configuration with errors.
pub fn refused(findings: Vec<Finding>) -> Failure {
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    let message = match errors.clone().count() {
        1 => format!(
            "the configuration has an error: {}",
            errors.map(|finding| finding.message.as_str()).collect::<String>()
        ),
        count => format!("the configuration has {count} errors"),
    };
    Failure::configuration(message, findings)
}
