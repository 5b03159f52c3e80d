//! State folder of an agent, and the parts of it that a confined turn gets.
//!
//! Each adapter defines them as constants: no path comes from a configuration. A confined turn gets its own folder
//! with the agent's settings and session, which is removed after the turn; [`private_files`](super::private_files)
//! only gives back the session and the renewed login.

use std::path::{Path, PathBuf};

use super::AgentSettings;

/// State folder of an adapter's agent. All paths are relative to that folder.
#[derive(Debug)]
pub struct Home {
    /// The variable that moves the folder.
    pub variable: &'static str,
    /// Path of the folder relative to the variable's value; empty if the variable names the folder itself.
    pub inner: &'static str,
    /// Where the folder usually is, beneath the home of the user.
    pub usual: &'static str,
    /// Files that are beside the folder if the variable is not set, and in it otherwise.
    pub beside: &'static [&'static str],
    /// Files that the agent reads and may rewrite: it gets a copy, which goes with the turn. A `*` in a name
    /// stands for anything.
    pub copied: &'static [&'static str],
    /// Paths that the agent only reads: it gets a link, and the kernel refuses writes behind it. A final `/*` means
    /// everything in a folder whose name does not begin with a dot.
    pub linked: &'static [&'static str],
    /// The files of a session, which are brought into the turn and given back after it. `{id}` stands for
    /// the name of the session, `{id8}` for its first eight characters, `*` for anything.
    pub sessions: &'static [&'static str],
    /// A file in the parent of a session's folder, which names the project of the session.
    pub mark: Option<&'static str>,
    /// The logins that the agent renews.
    pub logins: &'static [Login],
    /// A file of which the turn gets a changed copy, also where there is none.
    pub changed: Option<Changed>,
}

/// A login that an agent renews.
#[derive(Debug)]
pub struct Login {
    /// The file, a JSON object.
    pub file: &'static str,
    /// The fields of which new values are given back; `*` stands for any name. Nothing else of the file is.
    pub fields: &'static [&'static str],
}

/// A file of which a turn gets a changed copy.
#[derive(Debug)]
pub struct Changed {
    /// The file.
    pub file: &'static str,
    /// Transformation of its content.
    pub with: fn(&[u8]) -> Vec<u8>,
}

impl Home {
    /// Where the folder really is, if that is known.
    pub fn place(&self, settings: &AgentSettings) -> Option<PathBuf> {
        match &settings.state_dir {
            Some(moved) => Some(self.within(moved)),
            None => settings.home.as_ref().map(|home| home.join(self.usual)),
        }
    }

    /// The real path of a file that is usually beside the folder.
    pub(super) fn place_beside(&self, settings: &AgentSettings, name: &str) -> Option<PathBuf> {
        match &settings.state_dir {
            Some(_) => self.place(settings).map(|place| place.join(name)),
            None => settings.home.as_ref().map(|home| home.join(name)),
        }
    }

    /// The folder, where the variable is set to `value`.
    pub(super) fn within(&self, value: &Path) -> PathBuf {
        if self.inner.is_empty() { value.to_owned() } else { value.join(self.inner) }
    }
}
