//! Names for shell completion.
//!
//! Completion runs at every key, perhaps in a folder that is not trusted. So this module runs nothing, writes nothing,
//! takes no locks and opens no journal: it lists casts from the files beside the journal. Unreadable files have no
//! names. The names are raw; the caller quotes or drops special characters.

use std::fs::{File, Metadata};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use indexmap::IndexMap;
use materia_compiler::Loaded;
use materia_contract::{MOCK, RunId};
use serde::Deserialize;

use crate::cast::agents;
use crate::project::Project;
use crate::project::cast_id::{LAST, PREFIX_CHARS_MIN};

/// How many casts are named, the newest ones.
const CASTS_MAX: usize = 100;
/// How many entries of a folder are looked at.
const ENTRIES_MAX: usize = 20_000;
/// How much is read of what a cast says about itself.
const MANIFEST_BYTES_MAX: u64 = 256 * 1024;
/// How much is read of a cast's first event, which has its plan.
const PLAN_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Something that can be named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// Its name.
    pub name: String,
    /// Description in a few words; may be empty.
    pub about: String,
}

impl Name {
    fn new(name: &str, about: &str) -> Self {
        Self { name: name.to_owned(), about: about.to_owned() }
    }
}

/// The names of a project.
pub struct Names<'a> {
    project: &'a Project,
    loaded: Loaded,
}

impl<'a> Names<'a> {
    /// Reads the configuration of a project, as far as it can be read.
    pub fn of(project: &'a Project) -> Self {
        let (loaded, _) = materia_compiler::load(&project.sources);
        Self { project, loaded }
    }

    /// Names of the loadouts.
    pub fn loadouts(&self) -> Vec<Name> {
        let all = self.loaded.config.loadouts.iter();
        all.map(|(name, one)| Name::new(name, one.description.as_deref().unwrap_or("loadout")))
            .collect()
    }

    /// The behaviours.
    pub fn materia(&self) -> Vec<Name> {
        let all = self.loaded.config.materia.iter();
        all.map(|(name, one)| Name::new(name, one.description.as_deref().unwrap_or("materia")))
            .collect()
    }

    /// Link targets: every loadout and every materia, with the kind if both have the same name or if `with_kind`.
    pub fn targets(&self, with_kind: bool) -> Vec<Name> {
        let (loadouts, materia) = (&self.loaded.config.loadouts, &self.loaded.config.materia);
        let told = |kind: &str, one: Name, both: bool| {
            if with_kind || both {
                Name { name: format!("{kind}:{}", one.name), ..one }
            } else {
                one
            }
        };
        let of_loadouts = self.loadouts().into_iter().map(|one| {
            let both = materia.contains_key(&one.name);
            told("loadout", one, both)
        });
        let of_materia = self.materia().into_iter().map(|one| {
            let both = loadouts.contains_key(&one.name);
            told("materia", one, both)
        });
        of_loadouts.chain(of_materia).collect()
    }

    /// Who could be asked: agents that are known and those that the configuration names.
    pub fn providers(&self) -> Vec<Name> {
        let known = agents::fleet(&self.loaded, None).names();
        let mut names: Vec<Name> = known.iter().map(|name| Name::new(name, "agent")).collect();
        names.push(Name::new(MOCK, "answers without a model"));
        names
    }

    /// The casts, newest first, and before them the word for the newest.
    pub fn casts(&self) -> Vec<Name> {
        let newest = newest(self.folders());
        let last = newest.first().map(|one| Name::new(LAST, &format!("the newest: {}", one.id)));
        let all = newest.into_iter().map(|Cast { id, manifest, .. }| {
            let about = manifest.map(|it| it.told()).unwrap_or_default();
            Name { name: id.as_str().to_owned(), about }
        });
        last.into_iter().chain(all).collect()
    }

    /// The sockets of a cast, by its id, the beginning of one, or the word for the newest.
    pub fn sockets(&self, cast: &str) -> Vec<Name> {
        let casts = self.folders();
        let begins = || casts.iter().filter(|(_, id)| id.as_str().starts_with(cast));
        let found = match casts.iter().find(|(_, id)| id.as_str() == cast) {
            Some((folder, _)) => Some(folder.clone()),
            None if cast == LAST => newest(casts).into_iter().next().map(|one| one.folder),
            None if cast.len() >= PREFIX_CHARS_MIN && begins().count() == 1 => {
                begins().next().map(|(folder, _)| folder.clone())
            }
            None => None,
        };
        let nodes = found.and_then(|folder| nodes(&folder)).unwrap_or_default();
        nodes.into_iter().map(|(name, node)| Name { name, about: node.materia }).collect()
    }

    /// The sockets of every loadout, each name once: where no cast is meant yet.
    pub fn sockets_of_loadouts(&self) -> Vec<Name> {
        let loadouts = self.loaded.config.loadouts.values();
        let sockets = loadouts.flat_map(|loadout| &loadout.sockets);
        let mut names: IndexMap<&str, &str> = IndexMap::new();
        for (id, socket) in sockets {
            names.entry(id.as_str()).or_insert(socket.materia.as_deref().unwrap_or_default());
        }
        names.into_iter().map(|(name, about)| Name::new(name, about)).collect()
    }

    /// The folders of the casts, the one whose files were made last first.
    fn folders(&self) -> Vec<(PathBuf, RunId)> {
        let mut found: Vec<(SystemTime, PathBuf, RunId)> = Vec::new();
        for root in self.project.roots() {
            // Where casts are not looked for, none is offered.
            if self.project.refuse_links(&root).is_err() {
                continue;
            }
            let Ok(entries) = root.read_dir() else { continue };
            for entry in entries.take(ENTRIES_MAX).flatten() {
                let Ok(name) = entry.file_name().into_string() else { continue };
                let Ok(id) = RunId::parse(&name) else { continue };
                if let Some(began) = began(&entry.path()) {
                    found.push((began, entry.path(), id));
                }
            }
        }
        found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| other.2.cmp(&one.2)));
        found.into_iter().map(|(_, folder, id)| (folder, id)).collect()
    }
}

/// When the file of a cast's events was made; what has none is no cast.
fn began(folder: &Path) -> Option<SystemTime> {
    let events = folder.join("events.jsonl").symlink_metadata().ok().filter(Metadata::is_file)?;
    events.created().or_else(|_| events.modified()).ok()
}

/// A cast, and what it says about itself.
struct Cast {
    folder: PathBuf,
    id: RunId,
    manifest: Option<Manifest>,
}

/// The casts that began last, by their own word: files may have been made anew.
fn newest(folders: Vec<(PathBuf, RunId)>) -> Vec<Cast> {
    let mut casts: Vec<Cast> = folders
        .into_iter()
        .take(CASTS_MAX)
        .map(|(folder, id)| Cast { manifest: manifest(&folder), folder, id })
        .collect();
    let began = |cast: &Cast| cast.manifest.as_ref().map(|it| it.started_at.clone());
    casts.sort_by_key(|cast| std::cmp::Reverse(began(cast)));
    casts
}

/// Manifest file of a cast.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    #[serde(default)]
    started_at: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    loadout: String,
    #[serde(default)]
    request: String,
}

impl Manifest {
    fn told(&self) -> String {
        let parts = [&self.status, &self.loadout, &self.request];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
        parts.join(" · ")
    }
}

fn manifest(folder: &Path) -> Option<Manifest> {
    let mut text = String::new();
    let file = opened(&folder.join("manifest.json"))?;
    file.take(MANIFEST_BYTES_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// The first event of a cast, as far as it is wanted here.
#[derive(Deserialize)]
struct First {
    data: Created,
}

#[derive(Deserialize)]
struct Created {
    plan: Nodes,
}

#[derive(Deserialize)]
struct Nodes {
    nodes: IndexMap<String, Node>,
}

#[derive(Deserialize)]
struct Node {
    #[serde(default)]
    materia: String,
}

fn nodes(folder: &Path) -> Option<IndexMap<String, Node>> {
    let file = opened(&folder.join("events.jsonl"))?;
    let mut line = String::new();
    BufReader::new(file.take(PLAN_BYTES_MAX)).read_line(&mut line).ok()?;
    Some(serde_json::from_str::<First>(&line).ok()?.data.plan.nodes)
}

/// Opens a file that is one. What else has its name is not followed and not waited for.
fn opened(path: &Path) -> Option<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).ok()?;
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    file.metadata().ok().filter(Metadata::is_file).map(|_| file)
}
