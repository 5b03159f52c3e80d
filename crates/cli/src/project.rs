//! The project that a command works on: its configuration, and where its casts are kept.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use materia_compiler::{Compiled, Loaded, Sources};
use materia_contract::{Finding, RunId, Severity};
use materia_engine::Journal;
use materia_journal::{JOURNAL_FILE, SqliteJournal};

use crate::args::Global;
use crate::castid;
use crate::clean;
use crate::failure::Failure;
use crate::findings;
use crate::terminal::Terminal;

/// A project folder and the files that configure it.
pub(crate) struct Project {
    /// The folder, as a real path.
    pub dir: PathBuf,
    /// Where configuration is looked for.
    pub sources: Sources,
    /// Options that a command about this project has to repeat.
    repeated: String,
}

impl Project {
    /// The project in the present folder.
    pub(crate) fn here(global: &Global) -> Result<Self, Failure> {
        let dir = std::env::current_dir()
            .and_then(|dir| dir.canonicalize())
            .map_err(|error| Failure::storage(format!("cannot use the present folder: {error}")))?;
        let sources = Sources {
            project_dir: dir.clone(),
            profile_dir: profile_dir(),
            env_config: set("MATERIA_CONFIG").map(PathBuf::from),
            flag_config: global.config.clone(),
        };
        Ok(Self { dir, sources, repeated: repeated(global) })
    }

    /// The folder of the user's profile.
    pub(crate) fn profile_dir(&self) -> Option<&Path> {
        self.sources.profile_dir.as_deref()
    }

    /// Compiles a loadout, shows what was found, and refuses where an error is among it.
    pub(crate) fn compile(
        &self,
        loadout: Option<&str>,
        terminal: &Terminal,
    ) -> Result<(Loaded, Compiled), Failure> {
        let (loaded, mut found) = materia_compiler::load(&self.sources);
        let (compiled, more) = materia_compiler::compile(&loaded, loadout);
        let seen_before = has_errors(&found);
        // With errors in the files themselves the compiler only says that there are some.
        found.extend(more.into_iter().filter(|one| !seen_before || one.code != "config::broken"));
        findings::show_briefly(&found, &loaded.layers, terminal);
        match compiled {
            Some(compiled) if !has_errors(&found) => Ok((loaded, compiled)),
            Some(_) | None => Err(refused(found)),
        }
    }

    /// The folder that casts are kept in, whatever else is wrong with the configuration.
    pub(crate) fn artifact_root(&self) -> PathBuf {
        materia_compiler::artifact_dir(&materia_compiler::load(&self.sources).0)
    }

    /// The journal, if there is one, and the folder it lies in.
    pub(crate) fn journal(&self) -> Result<(PathBuf, Option<SqliteJournal>), Failure> {
        let root = self.artifact_root();
        let journal = SqliteJournal::open_existing(&root)?;
        Ok((root, journal))
    }

    /// Finds a cast that a person named. The name is checked before any file is touched.
    pub(crate) fn find(&self, wanted: &RunId) -> Result<Found, Failure> {
        let (root, journal) = self.journal()?;
        let place = format!("`{}`", self.shown(&root));
        let Some(journal) = journal else {
            return Err(castid::unknown(
                wanted,
                &format!(
                    "{place} (it has no {JOURNAL_FILE}; a cast made with `--config` is found with it)"
                ),
            ));
        };
        let id = castid::resolve(&journal, wanted, &place)?;
        Ok(Found { root, journal, id })
    }

    /// A command that a person can type to go on with this project.
    pub(crate) fn command(&self, words: &str) -> String {
        format!("materia {words}{}", self.repeated)
    }

    /// A path for people: relative to the project where it lies inside.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.dir).unwrap_or(path);
        clean::clean(&path.display().to_string()).into_owned()
    }
}

/// A cast that is there.
pub(crate) struct Found {
    /// The folder that casts are kept in.
    pub root: PathBuf,
    /// The journal that holds it.
    pub journal: SqliteJournal,
    /// Its id.
    pub id: RunId,
}

impl Found {
    /// The journal, by its port.
    pub(crate) fn journal(&self) -> &dyn Journal {
        &self.journal
    }
}

/// Reads a cast id that a person typed; what could leave its folder is refused.
pub(crate) fn cast_id(text: &str) -> Result<RunId, Failure> {
    RunId::parse(text).map_err(|error| Failure::usage(error.to_string()))
}

/// A cast's folder is named after it. Whatever else has that name must stay, and a link would
/// lead what is written elsewhere.
pub(crate) fn refuse_taken_name(root: &Path, id: &RunId) -> Result<(), Failure> {
    let folder = root.join(id.as_str());
    match folder.symlink_metadata() {
        Ok(found) if !found.is_dir() => Err(Failure::resolution(format!(
            "`{}` is no folder of a cast; something else has its name",
            folder.display()
        ))),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Whether an error is among the findings.
pub(crate) fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}

/// The refusal of a configuration with errors.
pub(crate) fn refused(findings: Vec<Finding>) -> Failure {
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

/// The options that say which project and configuration is meant, as they would be typed.
fn repeated(global: &Global) -> String {
    let named = [("-C", &global.directory), ("--config", &global.config)];
    let named = named.into_iter().filter_map(|(name, path)| Some((name, path.as_ref()?)));
    named.fold(String::new(), |all, (name, path)| {
        format!("{all} {name} {}", quoted(&path.to_string_lossy()))
    })
}

fn quoted(word: &str) -> String {
    if word.chars().all(|c| c.is_alphanumeric() || "/._-+:,@%".contains(c)) {
        word.to_owned()
    } else {
        format!("'{}'", clean::one_line(&word.replace('\'', "'\\''"), 4_096))
    }
}

fn set(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn profile_dir() -> Option<PathBuf> {
    if let Some(dir) = set("MATERIA_PROFILE_DIR") {
        return std::path::absolute(dir).ok();
    }
    // The standard says that a relative path there is to be ignored.
    let config = set("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = config.or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".config")));
    config.map(|config| config.join("materia"))
}
