//! Texts that a provider left beside the files of a turn.

use std::fs::File;
use std::io::Read;
use std::path::Path;

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
    let Ok(entries) = folder.join(parent).read_dir() else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        // Links are not followed: whatever lies elsewhere is no artifact of this cast.
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.strip_prefix(&prefix).is_some_and(|kind| !OWN.contains(&kind)))
        .take(FILES_MAX)
        .collect();
    names.sort();
    let path = |name: &String| format!("{parent}/{name}");
    let texts = names.iter().map(path).map(|path| Some((path.clone(), text(&folder.join(&path))?)));
    texts.flatten().collect()
}

fn text(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    // The bound may have cut a character in two.
    let whole = match std::str::from_utf8(&bytes) {
        Ok(text) => return Some(text.to_owned()),
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Err(_) => return None,
    };
    bytes.truncate(whole);
    String::from_utf8(bytes).ok()
}
