//! Copy of the project for the author's conformance cases: its configuration and the files that its programs run.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use materia_compiler::{LayerKind, Loaded};

use crate::project::Project;
use crate::proof::recorded::config::word_files;

/// The most bytes of one file that is copied.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// A file of the project: what it holds, and whether it can be started.
pub struct Copied {
    /// Its path in the project.
    pub path: String,
    /// Content of the file.
    pub bytes: Vec<u8>,
    /// Whether it can be started.
    pub executable: bool,
}

/// The files that a case without a configuration runs on: those of the project's configuration, the files of words
/// that they name, and those that are approved with its programs. What cannot be read is said in the warnings.
pub fn base(project: &Project, loaded: &Loaded, warnings: &mut Vec<String>) -> Vec<Copied> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for layer in loaded.layers.iter().filter(|layer| layer.kind == LayerKind::Project) {
        paths.push(layer.path.clone());
        let folder = layer.path.parent().unwrap_or(&project.dir);
        paths.extend(word_files(loaded).into_iter().map(|name| folder.join(name)));
    }
    let programs = project.gate().program_files(loaded);
    paths.extend(programs.into_iter().map(|name| project.dir.join(name)));
    let mut found: BTreeMap<String, Copied> = BTreeMap::new();
    for path in paths {
        let Ok(inside) = path.strip_prefix(&project.dir) else { continue };
        let plain = inside.components().all(|part| matches!(part, Component::Normal(_)));
        let Some(name) = inside.to_str().filter(|_| plain) else { continue };
        match read(&path) {
            Ok(Some((bytes, executable))) => {
                found.insert(name.to_owned(), Copied { path: name.to_owned(), bytes, executable });
            }
            Ok(None) => {}
            Err(why) => warnings.push(format!("`{name}` is not copied for the cases: {why}")),
        }
    }
    found.into_values().collect()
}

/// A plain file; nothing where there is none.
fn read(path: &Path) -> Result<Option<(Vec<u8>, bool)>, String> {
    let Ok(kind) = path.metadata() else { return Ok(None) };
    if !kind.is_file() {
        return Ok(None);
    }
    if kind.len() > FILE_BYTES_MAX {
        return Err(format!("it is larger than {FILE_BYTES_MAX} bytes"));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    Ok(Some((bytes, kind.permissions().mode() & 0o111 != 0)))
}
