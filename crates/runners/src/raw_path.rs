//! Paths as the system has them.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A path or another text of the system, byte for byte: not every path is UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RawPath(Vec<u8>);

impl RawPath {
    /// The text as the system wants it.
    pub(crate) fn os(&self) -> OsString {
        OsString::from_vec(self.0.clone())
    }

    /// The path.
    pub(crate) fn path(&self) -> PathBuf {
        self.os().into()
    }
}

impl<T: AsRef<std::ffi::OsStr> + ?Sized> From<&T> for RawPath {
    fn from(text: &T) -> Self {
        Self(text.as_ref().as_bytes().to_vec())
    }
}
