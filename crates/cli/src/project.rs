//! The project of the current folder.

use std::ffi::OsString;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::time::Duration;

use materia_app::project as app;
use materia_app::project::place::JournalPlace;
pub(crate) use materia_app::project::{Found, cast_id, has_errors, refuse_taken_folder};
use materia_compiler::{Compiled, Loaded, Sources};
use materia_contract::RunId;

use crate::args::Global;
use crate::failure::Failure;
use crate::findings;
use crate::sanitize;
use crate::terminal::Terminal;

/// The profile of the original system, in the folder of all configuration (D52).
const ORIGINAL_PROFILE: &str = "pi/pi-materia";

/// A project, and how it was named.
pub(crate) struct Project {
    inner: app::Project,
    /// Options that a command about this project has to repeat.
    repeated: String,
    /// The shell stands in another folder (`-C`).
    elsewhere: bool,
}

impl Project {
    /// The project in the present folder.
    pub(crate) fn here(global: &Global) -> Result<Self, Failure> {
        let dir = std::env::current_dir()
            .map_err(|error| Failure::storage(format!("cannot use the present folder: {error}")))?;
        Self::at(&dir, global)
    }

    /// The project in another folder.
    pub(crate) fn at(dir: &Path, global: &Global) -> Result<Self, Failure> {
        let dir = dir.canonicalize().map_err(|error| {
            Failure::storage(format!("cannot use the folder {}: {error}", dir.display()))
        })?;
        let mut project = app::Project::open(sources(dir, global), state_dir())?;
        *project.place = place(global)?;
        Ok(Self {
            inner: project,
            repeated: repeated(global),
            elsewhere: global.directory.is_some(),
        })
    }

    /// The same without the way it was named.
    pub(crate) fn app(&self) -> &app::Project {
        &self.inner
    }

    /// Where a folder above this one has a configuration that does not count here: a sentence that says so.
    pub(crate) fn configured_above(&self) -> Option<String> {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let above =
            self.inner.dir.ancestors().skip(1).take_while(|it| Some(*it) != home.as_deref());
        let found = above.into_iter().find(|it| it.join("materia.json").is_file())?;
        let folder = crate::sanitize::one_line(&found.to_string_lossy(), 300);
        Some(format!(
            "`{folder}/materia.json` does not count in this folder; `materia -C {folder}` works in that project"
        ))
    }

    /// The same for a caller without a terminal, such as the server.
    pub(crate) fn open_at(
        dir: &Path,
        global: &Global,
    ) -> Result<app::Project, materia_app::Failure> {
        let mut project = app::Project::open(sources(dir.to_owned(), global), state_dir())?;
        *project.place = place(global)?;
        Ok(project)
    }

    /// The project in the present folder, and the cast of it that a person named. The name is checked before any file
    /// is touched.
    pub(crate) fn with_cast(id: &str, global: &Global) -> Result<(Self, Found), Failure> {
        let wanted = cast_id(id)?;
        let project = Self::here(global)?;
        let found = project.find(&wanted)?;
        Ok((project, found))
    }

    /// Compiles a loadout, shows what was found, and refuses where an error is among it.
    pub(crate) fn compile(
        &self,
        loadout: Option<&str>,
        terminal: &Terminal,
    ) -> Result<(Loaded, Compiled), Failure> {
        let checked = self.inner.compile(loadout);
        findings::show_briefly(&checked.findings, &checked.loaded.layers, &self.inner, terminal);
        Ok(checked.sound()?)
    }

    /// The command that calls the user where a cast waits, as the profile names it.
    pub(crate) fn notify(&self) -> Option<Vec<String>> {
        app::notify(&self.inner.sources)
    }

    /// Finds a cast that a person named. The name is checked before any file is touched.
    pub(crate) fn find(&self, wanted: &RunId) -> Result<Found, Failure> {
        Ok(self.inner.find(wanted)?)
    }

    /// A path that a person can type where the shell stands: relative inside the project, whole under `-C`.
    pub(crate) fn shown(&self, path: &Path) -> String {
        if self.elsewhere {
            return sanitize::clean(&path.display().to_string()).into_owned();
        }
        self.inner.shown(path)
    }

    /// A command that a person can type to go on with this project.
    pub(crate) fn command(&self, words: &str) -> String {
        format!("materia {words}{}", self.repeated)
    }
}

impl Deref for Project {
    type Target = app::Project;

    fn deref(&self) -> &app::Project {
        &self.inner
    }
}

impl DerefMut for Project {
    fn deref_mut(&mut self) -> &mut app::Project {
        &mut self.inner
    }
}

/// Where the configuration of a project is looked for.
fn sources(project_dir: PathBuf, global: &Global) -> Sources {
    Sources {
        project_dir,
        profile_dir: profile_dir(),
        original_profile_dir: config_home().map(|home| home.join(ORIGINAL_PROFILE)),
        env_config: set("MATERIA_CONFIG").map(PathBuf::from),
        flag_config: global.config.clone(),
    }
}

/// Where the user wants casts to be kept: options first, then variables.
fn place(global: &Global) -> Result<JournalPlace, materia_app::Failure> {
    let text = |name| set(name).and_then(|value| value.into_string().ok());
    let wait = text("MATERIA_NATS_WAIT").map(|seconds| {
        let wrong = || format!("MATERIA_NATS_WAIT is `{seconds}`, and must be a number of seconds");
        let seconds = seconds.parse().ok().filter(|it: &f64| (0.0..86_400.0).contains(it));
        seconds.map(Duration::from_secs_f64).ok_or_else(|| materia_app::Failure::usage(wrong()))
    });
    Ok(JournalPlace {
        journal: global.journal.clone().or_else(|| text("MATERIA_JOURNAL")),
        space: global.space.clone().or_else(|| text("MATERIA_SPACE")),
        credentials: set("MATERIA_NATS_CREDS").map(PathBuf::from),
        certificate: set("MATERIA_NATS_CA").map(PathBuf::from),
        patience: wait.transpose()?,
        worker: None,
    })
}

/// The options that say which project and configuration is meant, as they would be typed.
fn repeated(global: &Global) -> String {
    let named = [("-C", &global.directory), ("--config", &global.config)];
    let named = named.into_iter().filter_map(|(name, path)| Some((name, path.as_ref()?)));
    let paths = named.map(|(name, path)| (name, path.to_string_lossy().into_owned()));
    let words = [("--journal", &global.journal), ("--space", &global.space)];
    let words = words.into_iter().filter_map(|(name, word)| Some((name, word.clone()?)));
    paths
        .chain(words)
        .fold(String::new(), |all, (name, value)| format!("{all} {name} {}", quoted(&value)))
}

fn quoted(word: &str) -> String {
    if word.chars().all(|c| c.is_alphanumeric() || "/._-+:,@%".contains(c)) {
        word.to_owned()
    } else {
        format!("'{}'", sanitize::one_line(&word.replace('\'', "'\\''"), 4_096))
    }
}

fn set(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn profile_dir() -> Option<PathBuf> {
    // The second name is the one of the original system (D52).
    if let Some(dir) = set("MATERIA_PROFILE_DIR").or_else(|| set("PI_MATERIA_PROFILE_DIR")) {
        return std::path::absolute(dir).ok();
    }
    config_home().map(|config| config.join("materia"))
}

/// The folder in which is noted what this user's materia does: which journals it began, who drives what (W3).
pub(crate) fn state_dir() -> Option<PathBuf> {
    if let Some(dir) = set("MATERIA_STATE_DIR") {
        return std::path::absolute(dir).ok();
    }
    home_of("XDG_STATE_HOME", ".local/state").map(|state| state.join("materia"))
}

/// The folder in which programs keep their configuration.
fn config_home() -> Option<PathBuf> {
    home_of("XDG_CONFIG_HOME", ".config")
}

/// A folder of the user's by its variable, or else by its usual place.
fn home_of(variable: &str, usual: &str) -> Option<PathBuf> {
    // The standard says that a relative path there is to be ignored.
    let named = set(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| set("HOME").map(|home| PathBuf::from(home).join(usual)))
}

/// The project of the present folder for callers that need only names, such as completion; faults are ignored.
pub(crate) fn quietly(config: Option<PathBuf>) -> Option<app::Project> {
    // A key press connects to no server.
    let journal = Some("sqlite".to_owned());
    let global = Global { config, journal, quiet: true, ..Global::default() };
    Project::here(&global).ok().map(|here| here.inner)
}
