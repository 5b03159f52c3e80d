//! Finds the files of a session by a pattern.

use std::path::{Path, PathBuf};

use materia_safe_fs::Folder;

/// Maximum names that are read. A turn that fills its folder with more hides only its own session.
const NAMES_MAX: usize = 200_000;

/// The plain files beneath `folder` that `pattern` stands for; no link is followed. `{id}` is the name of the
/// session, `{id8}` its first eight characters, `*` anything but a `/`.
pub(super) fn find(folder: &Folder, pattern: &str, id: &str) -> Vec<PathBuf> {
    let short = id.get(..8).unwrap_or(id);
    let pattern = pattern.replace("{id8}", short).replace("{id}", id);
    let parts: Vec<&str> = pattern.split('/').collect();
    let mut found = Vec::new();
    let mut left = NAMES_MAX;
    walk(folder, Path::new(""), &parts, &mut left, &mut found);
    found.sort();
    found
}

fn walk(folder: &Folder, at: &Path, parts: &[&str], left: &mut usize, found: &mut Vec<PathBuf>) {
    let Some((part, rest)) = parts.split_first() else { return };
    let names = if part.contains('*') {
        let names = folder.names().unwrap_or_default();
        names.into_iter().filter_map(|name| name.into_string().ok()).collect()
    } else {
        vec![(*part).to_owned()]
    };
    for name in names {
        let Some(fewer) = left.checked_sub(1) else { return };
        *left = fewer;
        if !matches(part, &name) {
            continue;
        }
        if rest.is_empty() {
            if folder.has_file(&name) {
                found.push(at.join(&name));
            }
        } else if let Ok(inner) = folder.folder(&name) {
            walk(&inner, &at.join(&name), rest, left, found);
        }
    }
}

/// Whether a name is one that a pattern stands for.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(first) else { return false };
    // Each `*` takes as little as it can; the last one takes the rest.
    if !rest.contains('*') {
        return name.len() >= rest.len() && name.ends_with(rest);
    }
    let starts = name.char_indices().map(|(at, _)| at).chain([name.len()]);
    starts.into_iter().any(|at| matches(rest, &name[at..]))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, fits) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("*_x.jsonl", "2026_x.jsonl", true),
            ("*_x.jsonl", "2026_y.jsonl", false),
            ("rollout-*-x.jsonl", "rollout-x.jsonl", false),
            ("rollout-*-x.jsonl", "rollout-1-x.jsonl", true),
            ("*.config.toml", "config.toml", false),
            ("a*b*c", "a1b2b3c", true),
            ("a*b*c", "a1c", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn plain_files_are_found_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let file = |path: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        };
        file("one/s-1.jsonl");
        file("two/s-1.jsonl");
        file("two/s-2.jsonl");
        file("deep/er/s-1.jsonl");
        symlink("one", dir.path().join("linked")).unwrap();
        fs::create_dir(dir.path().join("three")).unwrap();
        symlink("../one/s-1.jsonl", dir.path().join("three/s-1.jsonl")).unwrap();
        let folder = Folder::at(dir.path()).unwrap();
        let found = find(&folder, "*/s-{id}.jsonl", "1");
        assert_eq!(found, [Path::new("one/s-1.jsonl"), Path::new("two/s-1.jsonl")]);
        assert!(find(&folder, "*/s-{id8}.jsonl", "123456789").is_empty());
    }
}
