//! Copies objects from one repository to another without a remote, by a pack in a temporary file.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;

use materia_safe_fs::Temporary;

use crate::fault::{At as _, Fault};
use crate::git::{Git, WRITE_TIME_MAX};

/// The file of a pack in its folder.
pub(crate) const PACK: &str = "pack";
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
    let known = known.into_iter().flat_map(with_tree);
    let (own, count) = packed(from, wanted, known, scratch)?;
    if count == 0 {
        return Ok(());
    }
    let file = own.folder().open(PACK).at("read", &own.path().join(PACK))?;
    to.call(reading(count, written)).input_file(file).within(WRITE_TIME_MAX).bytes().map(drop)
}

/// A commit and its tree: trees that are wanted by themselves are not compared with those of commits.
pub(crate) fn with_tree(commit: &str) -> [String; 2] {
    [commit.to_owned(), format!("{commit}^{{tree}}")]
}

/// A folder with a pack of the objects that are reachable from `wanted` and not from `known`, and their number.
pub(crate) fn packed<'a>(
    from: &Git,
    wanted: impl IntoIterator<Item = &'a str>,
    known: impl IntoIterator<Item = String>,
    scratch: &Path,
) -> Result<(Temporary, u32), Fault> {
    let mut input = String::new();
    for id in wanted {
        let _ = writeln!(input, "{id}");
    }
    for id in known {
        let _ = writeln!(input, "^{id}");
    }
    let own = Temporary::within(scratch, "pack").at("make a folder in", scratch)?;
    let path = own.path().join(PACK);
    let file = own.folder().create(PACK).at("write", &path)?;
    let words = ["pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset", "--threads=1"];
    from.call(words).input(input).within(WRITE_TIME_MAX).write_to(file)?;
    let mut header = [0; 12];
    let mut file = own.folder().open(PACK).at("read", &path)?;
    file.read_exact(&mut header).at("read", &path)?;
    Ok((own, count(&header)))
}

/// The number of objects, as the first 12 bytes of a pack say.
pub(crate) fn count(header: &[u8; 12]) -> u32 {
    let [.., a, b, c, d] = *header;
    u32::from_be_bytes([a, b, c, d])
}

/// The call that reads a pack of so many objects from its input. Each object is checked.
pub(crate) fn reading(count: u32, written: Written) -> &'static [&'static str] {
    if count < PACK_MIN && written == Written::AsNeeded {
        &["unpack-objects", "-q", "--strict"]
    } else {
        &["index-pack", "--stdin", STRICT]
    }
}
