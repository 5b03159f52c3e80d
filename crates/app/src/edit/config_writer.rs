//! Changes a configuration file of the user: chooses the file, and replaces it atomically. The compiler edits the
//! text.

use std::fs;
use std::io;
use std::path::PathBuf;

use materia_compiler::edit::{self, EditError};
use materia_compiler::{Layer, LayerKind, Loaded, active_loadout};
use materia_contract::body::ConfigFile;
use materia_safe_fs::Typed;

use crate::Result;
use crate::failure::{Failure, Hint};
use crate::project::Project;
use crate::text::sanitize;

/// The file of the project that a choice goes to where it has no other.
pub const CHOICE_FILE: &str = ".materia/materia.json";

/// A file that is to be changed; it need not exist yet.
#[derive(Debug)]
pub struct ConfigWriter<'a> {
    project: &'a Project,
    path: PathBuf,
    /// Whether it belongs to the project, so that its content is a matter of trust.
    of_project: bool,
}

impl<'a> ConfigWriter<'a> {
    /// The file of a layer.
    pub fn of_layer(project: &'a Project, layer: &Layer) -> Self {
        let of_project = layer.kind == LayerKind::Project;
        Self { project, path: layer.path.clone(), of_project }
    }

    /// A new file of the project.
    pub fn in_project(project: &'a Project, name: &str) -> Self {
        Self { project, path: project.dir.join(name), of_project: true }
    }

    /// The configuration in the profile.
    pub fn in_profile(project: &'a Project, loaded: &Loaded) -> Result<Self> {
        if let Some(layer) = strongest(loaded, LayerKind::Profile) {
            return Ok(Self::of_layer(project, layer));
        }
        let Some(profile) = project.profile_dir() else {
            return Err(Failure::storage("the profile folder is not known").hint(Hint::NameProfile));
        };
        Ok(Self { project, path: profile.join("config.json"), of_project: false })
    }

    /// The file that the choice of a loadout goes to: where the choice is written now, unless that counts for other
    /// projects too; otherwise the project's strongest file.
    pub fn for_choice(project: &'a Project, loaded: &Loaded) -> Self {
        let here = loaded.active_layer().filter(|layer| match layer.kind {
            LayerKind::Project | LayerKind::Environment | LayerKind::Flag => true,
            LayerKind::Shipped | LayerKind::Profile => false,
        });
        match here.or_else(|| strongest(loaded, LayerKind::Project)) {
            Some(layer) => Self::of_layer(project, layer),
            None => Self::in_project(project, CHOICE_FILE),
        }
    }

    /// The file that a copy goes to, to be edited there: the one that was named for this run, or the
    /// project's.
    pub fn for_copy(project: &'a Project, loaded: &Loaded) -> Self {
        // What is edited should be seen, and kept with the project; the hidden file is for choices.
        let seen = |layer: &&Layer| layer.kind == LayerKind::Project && layer.shown != CHOICE_FILE;
        let named = strongest(loaded, LayerKind::Flag);
        match named.or_else(|| loaded.layers.iter().rev().find(seen)) {
            Some(layer) => Self::of_layer(project, layer),
            None => Self::in_project(project, "materia.json"),
        }
    }

    /// Replaces the text that has this hash. A change that another process made in between is not overwritten;
    /// approvals of the project's files must be given again.
    pub fn replace(&self, hash: &str, text: &str) -> Result<()> {
        let now = match fs::read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            read => read.map_err(|error| self.unusable(&error))?,
        };
        if blake3::hash(&now).to_hex().as_str() != hash {
            return Err(Failure::resolution(format!(
                "`{}` was not changed: it was changed elsewhere since you read it; reload it and try again",
                self.shown()
            )));
        }
        // A client of the API cannot see that the file is a link.
        if self.of_project && self.leads_elsewhere() {
            return Err(Failure::resolution(format!(
                "`{}` was not changed: it is a symbolic link or inside one; change the file that the link points to",
                self.shown()
            )));
        }
        self.write(text).map_err(|error| self.unusable(&error))
    }

    /// Whether a part of its path is a link.
    fn leads_elsewhere(&self) -> bool {
        let there = self.path.ancestors().find_map(|part| {
            // A path that does not exist is safe unless it is a dangling link.
            part.symlink_metadata().ok()?;
            Some(part.canonicalize().ok().as_deref() != Some(part))
        });
        there.unwrap_or(true)
    }

    /// Its path for people.
    pub fn shown(&self) -> String {
        self.project.shown(&self.path)
    }

    /// Changes its text. What was approved of the project's files before stays approved.
    pub fn change(
        &self,
        change: impl FnOnce(&str) -> Result<String, EditError>,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        let before = self.parts();
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
            self.project.gate().carries_over(&before, &self.parts(), warnings);
        }
        Ok(())
    }

    /// Parts in the project's own files, read again.
    fn parts(&self) -> Vec<materia_compiler::Part> {
        let (loaded, _) = materia_compiler::load(&self.project.sources);
        materia_compiler::parts(&loaded)
    }

    fn read(&self) -> io::Result<String> {
        match fs::read_to_string(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            read => read,
        }
    }

    fn write(&self, text: &str) -> io::Result<()> {
        // A link in the profile is the user's: what it leads to is changed. One in the project is refused.
        Typed::find(&self.path, &self.project.dir)?.write(text.as_bytes(), true)
    }

    fn unusable(&self, error: &io::Error) -> Failure {
        Failure::storage(format!("`{}` cannot be changed: {error}", self.shown()))
    }
}

/// The files of a configuration, the weakest first.
pub fn files(loaded: &Loaded) -> Vec<ConfigFile> {
    let file = |layer: &Layer| ConfigFile {
        layer: word(layer.kind).to_owned(),
        file: layer.shown.clone(),
        text: layer.text().to_owned(),
        hash: layer.hash(),
        editable: layer.kind != LayerKind::Shipped,
    };
    loaded.layers.iter().map(file).collect()
}

/// One of the files of a configuration, to be changed; by the name that [`files`] has for it.
pub fn named<'p>(project: &'p Project, loaded: &Loaded, shown: &str) -> Result<ConfigWriter<'p>> {
    let layer = loaded.layers.iter().find(|layer| layer.shown == shown);
    match layer {
        Some(layer) if layer.kind == LayerKind::Shipped => Err(Failure::resolution(format!(
            "`{}` is shipped and cannot be changed; copy what you need from it",
            layer.shown
        ))),
        Some(layer) => Ok(ConfigWriter::of_layer(project, layer)),
        None => Err(Failure::resolution(format!(
            "`{}` is not a file of this configuration",
            sanitize::one_line(shown, 200)
        ))),
    }
}

/// Whether another loadout would be cast than before, as it can be once there is one more: what was active
/// is then written down, and so stays. Gives back its name and the file.
pub fn keep_active(
    project: &Project,
    before: &Loaded,
    warnings: &mut Vec<String>,
) -> Result<Option<(String, String)>> {
    let (now, _) = materia_compiler::load(&project.sources);
    let Some(active) = active_loadout(before) else { return Ok(None) };
    if active_loadout(&now) == Some(active) || !now.config.loadouts.contains_key(active) {
        return Ok(None);
    }
    let file = ConfigWriter::for_choice(project, &now);
    file.change(|text| edit::set(text, "activeLoadout", &active.into()), warnings)?;
    Ok(Some((active.to_owned(), file.shown())))
}

/// The strongest file of a kind.
pub fn strongest(loaded: &Loaded, kind: LayerKind) -> Option<&Layer> {
    loaded.layers.iter().rev().find(|layer| layer.kind == kind)
}

/// Name of a layer.
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
pub fn origin(layer: Option<&Layer>) -> String {
    match layer {
        None => String::new(),
        Some(layer) if layer.kind == LayerKind::Shipped => word(layer.kind).to_owned(),
        Some(layer) => sanitize::one_line(&layer.shown, 60),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use materia_compiler::Sources;

    use super::*;

    fn project(folder: &Path) -> Project {
        let project_dir = folder.to_owned();
        Project::open(Sources { project_dir, ..Sources::default() }, None).unwrap()
    }

    #[test]
    fn a_file_is_replaced_only_where_it_is_what_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("materia.json");
        fs::write(&path, "{}").unwrap();
        let project = project(folder.path());
        let (loaded, _) = materia_compiler::load(&project.sources);
        let read = files(&loaded).into_iter().find(|file| file.layer == "project").unwrap();
        assert_eq!((read.file.as_str(), read.text.as_str()), ("materia.json", "{}"));
        let file = named(&project, &loaded, &read.file).unwrap();
        file.replace(&read.hash, "{ \"a\": 1 }").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{ \"a\": 1 }");
        let refused = file.replace(&read.hash, "{ \"a\": 2 }").unwrap_err();
        assert!(refused.to_string().contains("changed elsewhere"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{ \"a\": 1 }");
    }

    #[test]
    fn only_files_of_the_configuration_can_be_changed_and_none_that_is_shipped() {
        let folder = tempfile::tempdir().unwrap();
        let project = project(folder.path());
        let (loaded, _) = materia_compiler::load(&project.sources);
        let shipped = files(&loaded).into_iter().find(|file| !file.editable).unwrap();
        assert_eq!(shipped.layer, "shipped");
        for name in [shipped.file.as_str(), "../elsewhere.json", "/etc/passwd", ""] {
            assert!(named(&project, &loaded, name).is_err(), "{name}");
        }
    }
}
