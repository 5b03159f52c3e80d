//! Finds and reads the files of a configuration.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::fault::{Fault, Faults, Spot};

/// The largest configuration file that is read.
pub const CONFIG_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The files a project may hold, the weakest first.
const PROJECT_FILES: [&str; 3] = [".pi/pi-materia.json", ".materia/materia.json", "materia.json"];
/// The files of a profile: the first that exists counts.
const PROFILE_FILES: [&str; 2] = ["config.json", "materia.json"];

/// Where a layer comes from, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LayerKind {
    /// It comes with the program.
    Shipped,
    /// It is in the user's profile.
    Profile,
    /// It is in the project, so the author of the project wrote it.
    Project,
    /// The environment names it.
    Environment,
    /// The command line names it.
    Flag,
}

/// Where configuration is looked for. Relative paths are taken from the project folder, and
/// the project folder itself from the folder of the process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// The project that is worked on.
    pub project_dir: PathBuf,
    /// The folder of the user's profile.
    pub profile_dir: Option<PathBuf>,
    /// The profile of the original system; its `config.json` is a layer below the profile's own (D52).
    pub original_profile_dir: Option<PathBuf>,
    /// The file that the environment names.
    pub env_config: Option<PathBuf>,
    /// The file that the command line names.
    pub flag_config: Option<PathBuf>,
}

/// A file that is, or should be, there.
pub(crate) struct Candidate {
    pub(crate) kind: LayerKind,
    pub(crate) path: PathBuf,
    pub(crate) shown: String,
}

impl Candidate {
    /// Whether a person named this very file, so that it must exist.
    fn named(&self) -> bool {
        matches!(self.kind, LayerKind::Environment | LayerKind::Flag)
    }
}

impl Sources {
    /// The project folder as an absolute path.
    pub(crate) fn project(&self) -> PathBuf {
        std::path::absolute(&self.project_dir).unwrap_or_else(|_| self.project_dir.clone())
    }

    /// All files in question, the weakest first. A file that stands in several places counts
    /// once, in the strongest: what a person named is that person's. Files of the project with `given` names are
    /// believed to be there.
    pub(crate) fn candidates_with<'a>(
        &self,
        given: impl Iterator<Item = &'a str>,
    ) -> Vec<Candidate> {
        let given: Vec<&str> = given.collect();
        let project = self.project();
        let mut found = Vec::new();
        let mut add = |kind, path: PathBuf| {
            let shown = path.strip_prefix(&project).unwrap_or(&path).display().to_string();
            found.push(Candidate { kind, path, shown });
        };
        if let Some(original) = &self.original_profile_dir {
            let path = project.join(original).join(PROFILE_FILES[0]);
            if !is_absent(&path) {
                add(LayerKind::Profile, path);
            }
        }
        if let Some(profile) = &self.profile_dir {
            let paths = PROFILE_FILES.map(|name| project.join(profile).join(name));
            if let Some(path) = paths.into_iter().find(|path| !is_absent(path)) {
                add(LayerKind::Profile, path);
            }
        }
        for (name, path) in PROJECT_FILES.map(|name| (name, project.join(name))) {
            if !is_absent(&path) || given.contains(&name) {
                add(LayerKind::Project, path);
            }
        }
        if let Some(path) = &self.env_config {
            add(LayerKind::Environment, project.join(path));
        }
        if let Some(path) = &self.flag_config {
            add(LayerKind::Flag, project.join(path));
        }
        strongest(found)
    }
}

impl Sources {
    /// A file that a person named and that does not exist.
    #[must_use]
    pub fn missing_file(&self) -> Option<PathBuf> {
        let named = [&self.env_config, &self.flag_config].into_iter().flatten();
        named.map(|path| self.project().join(path)).find(|path| is_absent(path))
    }
}

/// Whether there is nothing at this path. A path that cannot be looked at is not absent.
fn is_absent(path: &Path) -> bool {
    path.metadata().is_err_and(|error| {
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    })
}

fn strongest(found: Vec<Candidate>) -> Vec<Candidate> {
    let identity: Vec<_> = found.iter().map(|one| one.path.canonicalize().ok()).collect();
    let is_last = |index: usize| {
        identity[index].is_none() || !identity[index + 1..].contains(&identity[index])
    };
    let kept = found.into_iter().enumerate().filter(|(index, _)| is_last(*index));
    kept.map(|(_, candidate)| candidate).collect()
}

/// Content of a file.
pub(crate) struct Content {
    pub(crate) text: String,
    pub(crate) hash: String,
    /// Whether the text may be parsed; if not, that has been reported.
    pub(crate) whole: bool,
}

impl Content {
    /// A text that is not saved yet.
    pub(crate) fn given(text: &str) -> Self {
        Self { text: text.to_owned(), hash: hash(text.as_bytes()), whole: true }
    }
}

/// Reads a file that becomes layer number `layer`.
pub(crate) fn read(candidate: &Candidate, layer: usize, faults: &mut Faults) -> Content {
    let broken = Content { text: String::new(), hash: hash(b""), whole: false };
    let bytes = match bytes(candidate) {
        Ok(bytes) => bytes,
        Err(fault) => {
            faults.push(fault.spot(layer, Spot::Pointer(String::new())));
            return broken;
        }
    };
    let hash = hash(&bytes);
    match String::from_utf8(bytes) {
        Ok(mut text) => {
            // Editors of one system put a mark before the text; it is no part of it.
            if text.starts_with('\u{feff}') {
                text.drain(..'\u{feff}'.len_utf8());
            }
            Content { text, hash, whole: true }
        }
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let fault = Fault::error("config::not-utf8", "the file is not UTF-8 text from here on");
            faults.push(fault.spot(layer, Spot::Offset(offset)).help("save it as UTF-8"));
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            Content { text, hash, whole: false }
        }
    }
}

fn bytes(candidate: &Candidate) -> Result<Vec<u8>, Fault> {
    let shown = &candidate.shown;
    let unreadable = |what: String| {
        Fault::error("config::unreadable", format!("`{shown}` cannot be read: {what}"))
            .help("look at the kind of the file and its permissions")
    };
    let metadata = match candidate.path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let message = format!("there is no file `{shown}`");
            return Err(Fault::error("config::missing-file", message).help(naming(candidate)));
        }
        Err(error) => return Err(unreadable(error.to_string())),
    };
    if metadata.is_dir() {
        return Err(unreadable("it is a folder".to_owned()));
    }
    // Reading a pipe that was not named on purpose could block forever.
    if !metadata.is_file() && !candidate.named() {
        return Err(unreadable("it is not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(&candidate.path)
        .and_then(|file| file.take(CONFIG_BYTES_MAX + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > CONFIG_BYTES_MAX {
        let mib = CONFIG_BYTES_MAX / (1024 * 1024);
        let message = format!("`{shown}` is larger than {mib} MiB");
        return Err(Fault::error("config::too-large", message)
            .help("keep data in files of their own and name them in `params`"));
    }
    Ok(bytes)
}

fn naming(candidate: &Candidate) -> &'static str {
    match candidate.kind {
        LayerKind::Flag => "check the path that `--config` or `check` names",
        LayerKind::Environment => "check the path in MATERIA_CONFIG, or unset it",
        LayerKind::Shipped | LayerKind::Profile | LayerKind::Project => {
            "it was removed while it was being read; try again"
        }
    }
}

pub(crate) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
