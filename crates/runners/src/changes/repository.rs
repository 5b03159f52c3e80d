//! The few settings of a repository that count for a look.

use materia_safe_fs::Folder;
use materia_workspace::Repository;

/// The largest file of settings that is read.
const SETTINGS_BYTES_MAX: u64 = 1024 * 1024;

/// The few settings without which git would take files for something else than they are. All of them are words
/// from a list, and none names a program.
pub(super) fn settings(repository: &Repository) -> Vec<String> {
    let bytes = Folder::at(&repository.common).and_then(|it| it.read("config", SETTINGS_BYTES_MAX));
    let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).to_ascii_lowercase();
    let mut section = "";
    let mut settings = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').trim();
            continue;
        }
        let Some((name, value)) = line.split_once('=') else { continue };
        let (name, value) = (name.trim(), value.trim().trim_matches('"'));
        for (known_section, known, values) in SETTINGS {
            if section == *known_section && name == *known && values.contains(&value) {
                settings.push(format!("{section}.{name}={value}"));
            }
        }
    }
    settings
}

/// A section, a name in it, and the values that count.
const SETTINGS: &[(&str, &str, &[&str])] = &[
    ("core", "autocrlf", &["true", "false", "input"]),
    ("core", "eol", &["lf", "crlf", "native"]),
    ("core", "filemode", &["true", "false"]),
    ("core", "symlinks", &["true", "false"]),
    ("core", "ignorecase", &["true", "false"]),
    ("extensions", "objectformat", &["sha1", "sha256"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_settings_are_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(".git/objects")).unwrap();
        let config = "[core]\n\tautoCRLF = true\n\tfsmonitor = ./evil\n\thooksPath = h\n\
                      [filter \"x\"]\n\tclean = ./evil\n[core]\neol = ./evil\n[include]\npath = e\n";
        std::fs::write(dir.path().join(".git/config"), config).unwrap();
        let found = Repository::of(&dir.path().join(".")).unwrap();
        assert_eq!(settings(&found), ["core.autocrlf=true"]);
    }
}
