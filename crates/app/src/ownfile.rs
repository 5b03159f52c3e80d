//! Changing a configuration file of the user's: which one is meant, and writing it so that nobody
//! ever sees half of it. How the text changes is the compiler's matter.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use materia_compiler::edit::EditError;
use materia_compiler::{Layer, LayerKind, Loaded};

use crate::failure::Failure;
use crate::project::Project;
use crate::trust::Trust;

/// The file of the project that a choice goes to where it has no other.
pub const CHOICE_FILE: &str = ".materia/materia.json";

/// A file that is to be changed; it need not exist yet.
#[derive(Debug)]
pub struct OwnFile<'a> {
    project: &'a Project,
    path: PathBuf,
    /// Whether it belongs to the project, so that its content is a matter of trust.
    of_project: bool,
}

impl<'a> OwnFile<'a> {
    /// The file of a layer.
    #[must_use]
    pub fn of_layer(project: &'a Project, layer: &Layer) -> Self {
        let of_project = layer.kind == LayerKind::Project;
        Self { project, path: layer.path.clone(), of_project }
    }

    /// A new file of the project.
    #[must_use]
    pub fn in_project(project: &'a Project, name: &str) -> Self {
        Self { project, path: project.dir.join(name), of_project: true }
    }

    /// The configuration in the profile.
    pub fn in_profile(project: &'a Project, loaded: &Loaded) -> Result<Self, Failure> {
        if let Some(layer) = strongest(loaded, LayerKind::Profile) {
            return Ok(Self::of_layer(project, layer));
        }
        let Some(profile) = project.profile_dir() else {
            return Err(Failure::storage(
                "no profile folder is known; set MATERIA_PROFILE_DIR or HOME",
            ));
        };
        Ok(Self { project, path: profile.join("config.json"), of_project: false })
    }

    /// Its path for people.
    #[must_use]
    pub fn shown(&self) -> String {
        self.project.shown(&self.path)
    }

    /// Changes its text. What was approved of the project's files before stays approved.
    pub fn change(
        &self,
        change: impl FnOnce(&str) -> Result<String, EditError>,
        warnings: &mut Vec<String>,
    ) -> Result<(), Failure> {
        let before = self.trusted();
        let text = self.read().map_err(|error| self.unusable(&error))?;
        let (mark, text) = match text.strip_prefix('\u{feff}') {
            Some(rest) => ("\u{feff}", rest),
            None => ("", text.as_str()),
        };
        let changed = change(text).map_err(|error| {
            Failure::resolution(format!("`{}` was not changed: {error}", self.shown()))
        })?;
        self.write(&format!("{mark}{changed}")).map_err(|error| self.unusable(&error))?;
        if self.of_project {
            let trust = Trust { profile: self.project.profile_dir(), project: &self.project.dir };
            trust.carries_over(before.as_ref(), self.trusted(), warnings);
        }
        Ok(())
    }

    fn trusted(&self) -> Option<materia_compiler::ProjectTrust> {
        let (loaded, _) = materia_compiler::load(&self.project.sources);
        materia_compiler::project_trust(&loaded)
    }

    fn read(&self) -> io::Result<String> {
        match fs::read_to_string(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            read => read,
        }
    }

    fn write(&self, text: &str) -> io::Result<()> {
        // Where it is a link, what it leads to is changed and the link stays.
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let beside = folder.join(format!(".{name}.{}.tmp", std::process::id()));
        let written = fs::File::create(&beside)
            .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
            .and_then(|()| match path.metadata() {
                Ok(known) => fs::set_permissions(&beside, known.permissions()),
                Err(_) => Ok(()),
            })
            .and_then(|()| fs::rename(&beside, &path));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written
    }

    fn unusable(&self, error: &io::Error) -> Failure {
        Failure::storage(format!("`{}` cannot be changed: {error}", self.shown()))
    }
}

/// The strongest file of a kind.
#[must_use]
pub fn strongest(loaded: &Loaded, kind: LayerKind) -> Option<&Layer> {
    loaded.layers.iter().rev().find(|layer| layer.kind == kind)
}

/// What a layer is called.
#[must_use]
pub fn word(kind: LayerKind) -> &'static str {
    match kind {
        LayerKind::Shipped => "shipped",
        LayerKind::Profile => "profile",
        LayerKind::Project => "project",
        LayerKind::Environment => "environment",
        LayerKind::Flag => "option",
    }
}

/// Where a thing comes from, for people: `shipped`, or the file.
#[must_use]
pub fn origin(layer: Option<&Layer>) -> String {
    match layer {
        None => String::new(),
        Some(layer) if layer.kind == LayerKind::Shipped => word(layer.kind).to_owned(),
        Some(layer) => crate::clean::one_line(&layer.shown, 60),
    }
}
