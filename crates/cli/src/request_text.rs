//! Reads the request from a file or from standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::failure::Failure;

/// The longest request that is read, in bytes.
const REQUEST_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// From a file.
pub(crate) fn of_file(path: &Path) -> Result<String, Failure> {
    let shown = path.display().to_string();
    let file = File::open(path).map_err(|error| {
        Failure::usage(format!("the request `{shown}` cannot be read: {error}"))
    })?;
    read(file, &format!("the request `{shown}`"))
}

/// From standard input, all of it.
pub(crate) fn of_stdin() -> Result<String, Failure> {
    read(io::stdin().lock(), "the request on standard input")
}

fn read(stream: impl Read, what: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    stream
        .take(REQUEST_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::usage(format!("{what} cannot be read: {error}")))?;
    if bytes.len() as u64 > REQUEST_BYTES_MAX {
        return Err(Failure::usage(format!("{what} is larger than {REQUEST_BYTES_MAX} bytes")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format!("{what} is not text in UTF-8")))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).trim_end();
    if text.trim().is_empty() {
        return Err(Failure::usage(format!("{what} is empty")));
    }
    Ok(text.to_owned())
}
