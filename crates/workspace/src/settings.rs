//! Settings of the user's repository, read as data.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use materia_safe_fs::{Folder, Temporary};

use crate::fault::{At as _, Fault};
use crate::git::Git;
use crate::repository::Repository;

/// The largest file of settings that is read.
const SETTINGS_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// The largest file of patterns that is copied.
pub(crate) const PATTERNS_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The file in the git folder of a repository that stands in for the user's on another machine. The settings of the
/// user of that machine do not count in it.
pub(crate) const STAND_IN: &str = "materia-stand-in";

/// Who makes commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// `user.name`.
    pub name: String,
    /// `user.email`.
    pub email: String,
}

/// Settings that decide how files are read and written. None names a program.
const OF_FILES: [(&str, &[&str]); 9] = [
    ("core.autocrlf", &["true", "false", "input"]),
    ("core.eol", &["lf", "crlf", "native"]),
    ("core.filemode", &["true", "false"]),
    ("core.symlinks", &["true", "false"]),
    ("core.ignorecase", &["true", "false"]),
    ("core.precomposeunicode", &["true", "false"]),
    ("core.sparsecheckout", &["true", "false"]),
    ("core.sparsecheckoutcone", &["true", "false"]),
    ("core.logallrefupdates", &["true", "false", "always"]),
];

/// Names and values in the order in which git would read them. The last of a name counts.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    all: Vec<(String, String)>,
    /// How many of them the repository says itself.
    own_from: usize,
    /// The git folder of a stand-in: its files take the place of the user's.
    stand_in: Option<PathBuf>,
}

impl Settings {
    /// The settings of the user, then of the repository. Files that the repository includes are not read.
    pub(crate) fn of(repository: &Repository) -> Result<Self, Fault> {
        let stand_in = repository.common.join(STAND_IN).is_file();
        let mut all = if stand_in { Vec::new() } else { of_user(repository)? };
        let own_from = all.len();
        all.extend(of_file(&repository.common, "config")?);
        let stand_in = stand_in.then(|| repository.common.clone());
        let mut settings = Self { all, own_from, stand_in };
        if settings.is_true("extensions.worktreeconfig") {
            settings.all.extend(of_file(&repository.own, "config.worktree")?);
        }
        Ok(settings)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|it| {
            matches!(it.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1" | "")
        })
    }

    /// Names and values that the repository itself says.
    pub(crate) fn own(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all[self.own_from..].iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub(crate) fn is_sha256(&self) -> bool {
        self.own().any(|it| it == ("extensions.objectformat", "sha256"))
    }

    /// Who the user is to git, or `materia`.
    pub(crate) fn identity(&self) -> Identity {
        let word = |name| self.get(name).map(str::trim).filter(|it| !it.is_empty()).map(clean);
        match (word("user.name"), word("user.email")) {
            (Some(name), Some(email)) => Identity { name, email },
            _ => Identity { name: "materia".to_owned(), email: "materia@localhost".to_owned() },
        }
    }

    /// A file of the user's that a setting names, or the usual one.
    pub(crate) fn user_file(&self, setting: &str, usual: &str) -> Option<PathBuf> {
        if let Some(folder) = &self.stand_in {
            return Some(folder.join(usual));
        }
        // A repository must not name a file of the user's to be copied.
        let named = self.all[..self.own_from].iter().rev().find(|(known, _)| known == setting);
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let Some((_, path)) = named else {
            let config = std::env::var_os("XDG_CONFIG_HOME").filter(|it| !it.is_empty());
            let config = config.map(PathBuf::from).or_else(|| Some(home?.join(".config")))?;
            return Some(config.join("git").join(usual));
        };
        match path.strip_prefix("~/") {
            Some(rest) => Some(home?.join(rest)),
            None => Path::new(path).is_absolute().then(|| PathBuf::from(path)),
        }
    }

    /// The text of a file of settings: how files are read and written, and the format of objects.
    pub(crate) fn text(&self, bare: bool) -> String {
        let version = i32::from(self.is_sha256());
        let mut text = format!("[core]\n\trepositoryformatversion = {version}\n\tbare = {bare}\n");
        for (name, values) in OF_FILES {
            let value = self.get(name).map(str::to_ascii_lowercase);
            if let Some(value) = value.filter(|it| values.contains(&it.as_str())) {
                let _ = writeln!(text, "\t{} = {value}", name.trim_start_matches("core."));
            }
        }
        if self.is_sha256() {
            text.push_str("[extensions]\n\tobjectformat = sha256\n");
        }
        text
    }

    /// The remotes as text of a file of settings. Relative paths are made absolute; addresses that name a program or
    /// could be taken for an option are left out. Text that `leaves` this machine has no passwords or tokens.
    pub(crate) fn remotes(&self, top: &Path, leaves: bool) -> String {
        let mut text = String::new();
        for (name, value) in self.own() {
            let Some((remote, key)) =
                name.strip_prefix("remote.").and_then(|rest| rest.rsplit_once('.'))
            else {
                continue;
            };
            let value = match key {
                "url" | "pushurl" => match address(value, top) {
                    Some(address) if leaves => without_secrets(&address),
                    Some(address) => address,
                    None => continue,
                },
                "fetch" if value.starts_with(['+', 'r']) => value.to_owned(),
                _ => continue,
            };
            if remote.starts_with('-') || remote.contains('\n') {
                continue;
            }
            let _ = writeln!(text, "[remote {}]\n\t{key} = {}", quote(remote), quote(&value));
        }
        text
    }
}

/// An address as the workspace has it.
fn address(value: &str, top: &Path) -> Option<String> {
    if value.is_empty() || value.starts_with('-') || value.contains("::") {
        return None;
    }
    if value.contains(':') || value.starts_with('/') {
        return Some(value.to_owned());
    }
    Some(top.join(value).to_string_lossy().into_owned())
}

/// An address without a password; over HTTP a user name can be a token.
fn without_secrets(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let Some((user, host)) = host.rsplit_once('@') else { return address.to_owned() };
    let user = user.split(':').next().filter(|_| !scheme.to_ascii_lowercase().starts_with("http"));
    let user = user.map(|user| format!("{user}@")).unwrap_or_default();
    format!("{scheme}://{user}{host}{path}")
}

/// A value in quotes, as files of settings have it.
pub(crate) fn quote(value: &str) -> String {
    let mut text = String::from("\"");
    for one in value.chars() {
        match one {
            '"' | '\\' => text.extend(['\\', one]),
            '\n' => text.push_str("\\n"),
            _ => text.push(one),
        }
    }
    text.push('"');
    text
}

/// A name that can stand in a commit.
fn clean(text: &str) -> String {
    text.chars().filter(|it| !matches!(it, '<' | '>' | '\n' | '\0')).collect()
}

/// The user's own settings, as git reads them for this repository. They are the user's, so what they include counts.
fn of_user(repository: &Repository) -> Result<Vec<(String, String)>, Fault> {
    // Settings for some repositories only depend on the git folder; its own settings are an empty file.
    let empty = Temporary::new("settings").at("make a folder in", &std::env::temp_dir())?;
    for name in ["objects", "refs"] {
        empty.folder().new_folder(name).at("make", empty.path())?;
    }
    let mut git = Git::new(&repository.own).common(empty.path());
    for name in ["GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME"]
    {
        git = git.without_env(name);
    }
    for name in ["HOME", "XDG_CONFIG_HOME"] {
        if let Some(value) = std::env::var_os(name) {
            git = git.env(name, value);
        }
    }
    let list = git.call(["config", "--list", "--show-scope", "--includes", "-z"]).bytes()?;
    let mut fields = list.split(|byte| *byte == 0);
    let mut all = Vec::new();
    while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
        if matches!(scope, b"system" | b"global") {
            all.extend(pairs(entry));
        }
    }
    Ok(all)
}

/// The settings in one file.
fn of_file(folder: &Path, name: &str) -> Result<Vec<(String, String)>, Fault> {
    let path = folder.join(name);
    // Read through a handle: no pipe is waited for.
    let bytes = match Folder::at(folder).and_then(|it| it.read(name, SETTINGS_BYTES_MAX)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.at("read", &path)?,
    };
    let git = Git::new(Path::new("/nonexistent"));
    let call = git.call(["config", "--file", "-", "--no-includes", "--list", "-z"]);
    Ok(pairs(&call.input(bytes).bytes()?))
}

/// Names and values as git lists them.
fn pairs(list: &[u8]) -> Vec<(String, String)> {
    let entries = list.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    let pair = |entry: &[u8]| {
        let entry = String::from_utf8_lossy(entry);
        let (name, value) = entry.split_once('\n').unwrap_or((&entry, ""));
        (name.to_owned(), value.to_owned())
    };
    entries.map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    /// M10: no password or token goes into a space.
    #[test]
    fn an_address_that_leaves_has_no_secrets() {
        for (address, expected) in [
            ("https://name:token@host/a.git", "https://host/a.git"),
            ("HTTPS://token@host:8443/a.git", "HTTPS://host:8443/a.git"),
            ("ssh://git:secret@host/a@b.git", "ssh://git@host/a@b.git"),
            ("https://host/a@b.git", "https://host/a@b.git"),
            ("git@host:a.git", "git@host:a.git"),
            ("/srv/a.git", "/srv/a.git"),
        ] {
            assert_eq!(without_secrets(address), expected);
        }
    }
}
