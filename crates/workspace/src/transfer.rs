//! Copies objects from one repository to another without a remote, by a pack in a temporary file.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use materia_safe_fs::Temporary;

use crate::fault::{At as _, Fault};
use crate::git::{Git, WRITE_TIME_MAX};

/// With fewer objects than this they become files of their own.
const PACK_MIN: u32 = 100;
/// Faults of old commits that are no danger and that a cast may well have fetched.
const STRICT: &str = "--strict=zeroPaddedFilemode=ignore,missingSpaceBeforeDate=ignore,badTimezone=ignore,nullSha1=ignore";

/// How objects are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// As a pack: objects that are there by alternates are written too.
    AsPack,
    /// A few as files of their own, many as a pack.
    AsNeeded,
}

/// Copies the objects that are reachable from `wanted` and not from `known` to `to`. The pack is written to
/// `scratch`, because the temporary folder may be too small for it.
pub(crate) fn transfer<'a>(
    from: &Git,
    to: &Git,
    wanted: impl IntoIterator<Item = &'a str>,
    known: impl IntoIterator<Item = &'a str>,
    written: Written,
    scratch: &Path,
) -> Result<(), Fault> {
    let mut input = String::new();
    for id in wanted {
        input.push_str(id);
        input.push('\n');
    }
    for id in known {
        // The tree as well: trees that are wanted by themselves are not compared with those of commits.
        let _ = writeln!(input, "^{id}\n^{id}^{{tree}}");
    }
    let own = Temporary::within(scratch, "pack").at("make a folder in", scratch)?;
    let path = own.path().join("pack");
    let file = own.folder().create("pack").at("write", &path)?;
    let words = ["pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset", "--threads=1"];
    from.call(words).input(input).within(WRITE_TIME_MAX).write_to(file)?;
    let open = || own.folder().open("pack").at("read", &path);
    let mut header = [0; 12];
    open()?.read_exact(&mut header).at("read", &path)?;
    let [.., a, b, c, d] = header;
    let count = u32::from_be_bytes([a, b, c, d]);
    let put = |file: File| {
        let words: &[&str] = if count < PACK_MIN && written == Written::AsNeeded {
            &["unpack-objects", "-q", "--strict"]
        } else {
            &["index-pack", "--stdin", STRICT]
        };
        to.call(words).input_file(file).within(WRITE_TIME_MAX).bytes()
    };
    if count > 0 {
        put(open()?)?;
    }
    Ok(())
}
