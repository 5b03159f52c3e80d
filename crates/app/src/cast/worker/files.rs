//! Files of the programs of a run, on their way to a worker (M8).
//!
//! Approved scripts of the project travel as blobs. A shipped utility does not: a worker runs its own copy, if it has
//! the same content.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use materia_contract::{Behavior, BlobHash, Plan, path_tokens};
use materia_engine::{Journal as _, wait};
use materia_nats::{NatsJournal, Sent, Todo};
use materia_safe_fs::Folder;

use crate::text::sanitize::one_line;
use crate::{Failure, Project};

/// A larger file does not travel; a worker must have it.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Puts approved files of the project into the journal. One that is no plain file, or is too large, is left out.
pub(super) fn send(
    project: &Project,
    journal: &NatsJournal,
    approved: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, Sent>, Failure> {
    let mut sent = BTreeMap::new();
    if approved.is_empty() {
        return Ok(sent);
    }
    let folder = Folder::at(&project.dir).map_err(|error| Failure::storage(error.to_string()))?;
    for name in approved.keys() {
        let Ok((bytes, executable)) = read(&folder, name) else { continue };
        let kept = wait(journal.blobs().put(bytes));
        let blob = kept.map_err(|error| Failure::storage(error.to_string()))?.to_string();
        sent.insert(name.clone(), Sent { blob, executable });
    }
    Ok(sent)
}

fn read(folder: &Folder, name: &str) -> io::Result<(Vec<u8>, bool)> {
    let mode = folder.open(name)?.metadata()?.permissions().mode();
    Ok((folder.read(name, FILE_BYTES_MAX)?, mode & 0o111 != 0))
}

/// Puts approved files where the project folder does not have them. A file that is there stays as it is: the gate of
/// trust compares it with the approval.
pub(super) fn place(
    project: &Project,
    journal: &NatsJournal,
    todo: &Todo,
    say: &dyn Fn(&str),
) -> Result<(), Failure> {
    // The files of a cast with its own workspace come as packs.
    if todo.approved.is_empty() || todo.workspace.is_some() {
        return Ok(());
    }
    let folder = Folder::at(&project.dir).map_err(|error| Failure::storage(error.to_string()))?;
    let folder = folder.for_umask();
    for name in todo.approved.keys().filter(|name| !folder.has(name)) {
        let shown = one_line(name, 300);
        let failed = |what: String| Failure::storage(format!("its file `{shown}`: {what}"));
        let Some(Sent { blob, executable }) = todo.files.get(name) else {
            return Err(failed("it is missing here, and did not come with the cast".to_owned()));
        };
        let bytes = blob_of(journal, blob).map_err(failed)?;
        written(&folder, name, &bytes, *executable).map_err(|error| failed(error.to_string()))?;
        say(&format!("its file `{shown}` was missing here, and came with it"));
    }
    Ok(())
}

fn written(folder: &Folder, name: &str, bytes: &[u8], executable: bool) -> io::Result<()> {
    folder.write_new(name, bytes)?;
    if executable {
        let file = folder.open(name)?;
        let mut permissions = file.metadata()?.permissions();
        // Whoever may read it may run it.
        permissions.set_mode(permissions.mode() | (permissions.mode() & 0o444) >> 2);
        file.set_permissions(permissions)?;
    }
    Ok(())
}

/// A blob by its hash as text. Other content under that hash is an error.
pub(super) fn blob_of(journal: &NatsJournal, hash: &str) -> Result<Vec<u8>, String> {
    let hash = BlobHash::parse(hash).ok_or("the hash cannot be read")?;
    wait(journal.blobs().get(hash)).map_err(|error| error.to_string())
}

/// The files of the user's profile that a plan runs, such as shipped utilities, with the hashes of their content.
pub(super) fn of_profile(project: &Project, plan: &Plan) -> BTreeMap<String, String> {
    let commands = plan.nodes.values().filter_map(|node| match &node.behavior {
        Behavior::Utility { command, .. } => Some(command),
        Behavior::Agent { .. } => None,
    });
    let names = commands.flatten().filter_map(|word| word.strip_prefix(path_tokens::PROFILE));
    let found = names.filter_map(|rest| {
        let name = rest.strip_prefix('/')?;
        Some((name.to_owned(), profile_hash(project, name)?))
    });
    found.collect()
}

fn profile_hash(project: &Project, name: &str) -> Option<String> {
    let folder = Folder::at(project.profile_dir()?).ok()?;
    Some(BlobHash::of(&folder.read(name, FILE_BYTES_MAX).ok()?).to_string())
}

/// Refuses a run whose utilities are other ones here.
pub(super) fn refuse_other_utilities(project: &Project, todo: &Todo) -> Result<(), Failure> {
    let other =
        |(name, hash): &(&String, &String)| profile_hash(project, name).as_ref() != Some(*hash);
    let Some((name, _)) = todo.utilities.iter().find(other) else { return Ok(()) };
    let file = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
    Err(Failure::trust(format!(
        "the utility `{}` has another content here than where the cast was handed over: use the same version of Materia, and your own version of the utility in both places or in none",
        one_line(&file, 200)
    )))
}

/// The user of this process and the machine, for the record.
pub(super) fn user() -> String {
    let id = rustix::process::getuid().as_raw();
    let known = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut users = known.lines().map(|line| line.split(':'));
    let name = users.find_map(|mut fields| {
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(id)).then(|| name.to_owned())
    });
    let name = name.unwrap_or_else(|| format!("user {id}"));
    format!("{name} on {}", materia_nats::host_name())
}
