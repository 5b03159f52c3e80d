//! The folder of scripts in a profile, and how its files are read.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The folder of the copies, in the profile.
pub const UTILITIES_DIR: &str = "utilities";
/// The largest manifest or script that is read.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Whether a name means a file of the folder itself.
pub(super) fn is_plain(file: &str) -> bool {
    !file.contains('/') && file != ".."
}

/// The bytes of a file, up to a bound; `None` if there is none.
pub(super) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
