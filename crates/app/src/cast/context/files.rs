//! Texts that a provider left beside the files of a turn.

use std::io::Read;
use std::path::Path;

use materia_safe_fs::Folder;

/// The files that every turn has; what they hold is in the journal.
const OWN: [&str; 7] =
    ["input.json", "stdout", "stderr", "meta.json", "prompt.txt", "output.txt", "output.json"];
/// How many files are looked at, and how much of one is read.
const FILES_MAX: usize = 64;
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// The further text files of a turn, by their paths in the cast's folder, in the order of names.
///
/// What is no file, no text or cannot be read is left out: it is there for people, and the cast
/// that asks can do without it.
pub(super) fn beside(folder: &Path, stem: &str) -> Vec<(String, String)> {
    let Some((parent, prefix)) = stem.rsplit_once('/') else { return Vec::new() };
    let prefix = format!("{prefix}.");
    // Links are not followed: a file in another folder is no artifact of this cast.
    let Ok(folder) = Folder::at_itself(folder).and_then(|cast| cast.folder(parent)) else {
        return Vec::new();
    };
    let names = folder.names().unwrap_or_default().into_iter();
    let mut names: Vec<String> = names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.strip_prefix(&prefix).is_some_and(|kind| !OWN.contains(&kind)))
        .filter(|name| folder.has_file(name))
        .take(FILES_MAX)
        .collect();
    names.sort();
    let texts = names.iter().map(|name| Some((format!("{parent}/{name}"), text(&folder, name)?)));
    texts.flatten().collect()
}

fn text(folder: &Folder, name: &str) -> Option<String> {
    let mut bytes = Vec::new();
    folder.open(name).ok()?.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    // The bound may have cut a character in two.
    let whole = match std::str::from_utf8(&bytes) {
        Ok(text) => return Some(text.to_owned()),
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Err(_) => return None,
    };
    bytes.truncate(whole);
    String::from_utf8(bytes).ok()
}
