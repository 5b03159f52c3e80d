//! Prompt of an agent: text in the configuration, or in a file beside it (D64).

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use materia_contract::{PromptDoc, SocketPromptDoc};

use super::Place;
use crate::command::stays_inside;
use crate::fault::{Fault, Faults};
use crate::layers::{Layer, Loaded};

/// The largest file of words that is read, in bytes.
pub(super) const PROMPT_BYTES_MAX: u64 = 256 * 1024;

/// Words, and where they come from.
pub(super) struct Words {
    pub(super) text: String,
    pub(super) origin: String,
}

/// A socket's own words, and whether they take the place of the materia's.
pub(super) struct OwnWords {
    pub(super) words: Words,
    pub(super) replace: bool,
}

/// The words of a materia. What cannot be read has been reported.
pub(super) fn of_materia(
    loaded: &Loaded,
    doc: &PromptDoc,
    place: &Place,
    faults: &mut Faults,
) -> Option<Words> {
    match doc {
        PromptDoc::Text(text) => Some(Words { text: text.clone(), origin: place.shown(loaded) }),
        PromptDoc::File(named) => from_file(loaded, &named.file, &place.child("file"), faults),
    }
}

/// The words of a socket. What cannot be read has been reported.
pub(super) fn of_socket(
    loaded: &Loaded,
    doc: &SocketPromptDoc,
    place: &Place,
    faults: &mut Faults,
) -> Option<OwnWords> {
    let form = match doc {
        SocketPromptDoc::Text(text) => {
            let words = Words { text: text.clone(), origin: place.shown(loaded) };
            return Some(OwnWords { words, replace: false });
        }
        SocketPromptDoc::Form(form) => form,
    };
    match (&form.file, &form.replace) {
        (Some(file), None) => {
            let words = from_file(loaded, file, &place.child("file"), faults)?;
            Some(OwnWords { words, replace: false })
        }
        (None, Some(doc)) => {
            let words = of_materia(loaded, doc, &place.child("replace"), faults)?;
            Some(OwnWords { words, replace: true })
        }
        (Some(_), Some(_)) | (None, None) => {
            if !place.is_mended(loaded) {
                let message = "a socket's `prompt` is a string, a `file`, or a `replace`";
                let fault = Fault::error("prompt::unclear", message);
                let help = "write {\"file\": PATH} to add a file's words, {\"replace\": …} to ask something else";
                faults.push(place.mark(fault).help(help));
            }
            None
        }
    }
}

/// Reads a file of words, or reports why not.
fn from_file(loaded: &Loaded, named: &str, place: &Place, faults: &mut Faults) -> Option<Words> {
    if place.is_mended(loaded) {
        return None;
    }
    let folder = loaded.layers.get(place.layer).and_then(|layer| layer.dir());
    let read = folder.ok_or_else(|| "nothing shipped has files beside it".to_owned());
    let read = read.and_then(|folder| loaded.words.of(folder, named, || text_of(folder, named)));
    match read {
        Ok(text) => Some(Words { text, origin: format!("{} ({named})", place.shown(loaded)) }),
        Err(what) => {
            let message = format!("the prompt file `{named}` cannot be used: {what}");
            let fault = Fault::error("prompt::file", message);
            let help = "name a UTF-8 file of at most 256 KiB, relative to this configuration file and inside its folder";
            faults.push(place.mark(fault).help(help));
            None
        }
    }
}

/// The words of a file inside a folder.
fn text_of(folder: &Path, named: &str) -> Result<String, String> {
    let path = inside(folder, named)?;
    let mut bytes = Vec::new();
    let read = File::open(&path).and_then(|file| {
        if !file.metadata()?.is_file() {
            return Err(std::io::Error::other("it is not a regular file"));
        }
        file.take(PROMPT_BYTES_MAX + 1).read_to_end(&mut bytes)
    });
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > PROMPT_BYTES_MAX {
        return Err(format!("it is larger than {} KiB", PROMPT_BYTES_MAX / 1024));
    }
    let mut text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    // Editors of one system put a mark before the text; it is no part of it.
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// The file of that name inside a folder, links followed. Nothing that a configuration says leads out.
fn inside(folder: &Path, named: &str) -> Result<PathBuf, String> {
    let relative = Path::new(named);
    if named.is_empty() || named.contains('\0') {
        return Err("it has no name".to_owned());
    }
    if !stays_inside(relative) {
        return Err("its path leads out of the folder of this configuration file".to_owned());
    }
    let path = folder.join(relative).canonicalize().map_err(|error| error.to_string())?;
    let home = folder.canonicalize().map_err(|error| error.to_string())?;
    if path.starts_with(home) {
        Ok(path)
    } else {
        Err("a link leads out of the folder of this configuration file".to_owned())
    }
}

/// The words of a file that a layer names, where they can be read.
pub fn of_layer(loaded: &Loaded, layer: &Layer, named: &str) -> Option<String> {
    let folder = layer.dir()?;
    loaded.words.of(folder, named, || text_of(folder, named)).ok()
}
