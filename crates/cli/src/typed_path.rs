//! Files at places that a person typed, in the present folder.

use std::io::ErrorKind;
use std::path::Path;

use materia_app::Typed;

use crate::failure::Failure;

/// Writes a file. A link of the project on the way is refused; so is a file that is there, unless `over`.
pub(crate) fn write(path: &Path, bytes: &[u8], over: bool) -> Result<(), Failure> {
    if path == Path::new("-") {
        let message = "`-` is not a file: standard output has messages and JSON only; name a file";
        return Err(Failure::usage(message));
    }
    let written = Typed::find(path, Path::new(".")).and_then(|typed| typed.write(bytes, over));
    written.map_err(|error| {
        let taken = error.kind() == ErrorKind::AlreadyExists;
        let help = if taken { "; `--force` overwrites it" } else { "" };
        Failure::storage(format!("`{}` cannot be written: {error}{help}", path.display()))
    })
}
