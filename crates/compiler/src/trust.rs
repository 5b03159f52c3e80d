//! What a person approves of a project's own configuration.

use crate::build::project_files;
use crate::layers::{LayerKind, Loaded};

/// What a person is asked to trust when a project brings its own commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectTrust {
    /// A blake3 hash over the paths and bytes of the project's files, in hexadecimal.
    pub hash: String,
    /// The files, as paths for people.
    pub files: Vec<String>,
}

/// What the project's own configuration files and the prompt files they name hold, as one hash; `None` if
/// it has none.
///
/// Scripts that the files name are not part of it; whoever asks a person looks at them as well.
#[must_use]
pub fn project_trust(loaded: &Loaded) -> Option<ProjectTrust> {
    let mut hasher = blake3::Hasher::new_derive_key("materia 2026-11-15 trust in a project");
    let mut files = Vec::new();
    for layer in loaded.layers.iter().filter(|layer| layer.kind == LayerKind::Project) {
        // Lengths keep two files from passing for one with both contents.
        for part in [&layer.shown, &layer.hash] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        files.push(layer.shown.clone());
    }
    for (name, hash) in project_files(loaded).iter().filter(|_| !files.is_empty()) {
        for part in [name, hash] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    let hash = || hasher.finalize().to_hex().to_string();
    (!files.is_empty()).then(|| ProjectTrust { hash: hash(), files })
}
