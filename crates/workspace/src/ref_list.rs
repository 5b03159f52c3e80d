//! List of HEAD and all refs of a workspace, as one text blob.

use std::collections::BTreeMap;

use materia_safe_fs::Folder;

use crate::fault::{At as _, Fault};

/// Refs of ours in a workspace; they are in no listing.
pub(crate) const OURS: &[u8] = b"refs/materia/";
/// The first line, which names the format.
const FORMAT: &str = "materia refs 1";

/// Where a name leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Id(String),
    Ref(Vec<u8>),
}

/// HEAD, the refs, and which other repositories lay among the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) head: Target,
    pub(crate) refs: BTreeMap<Vec<u8>, Target>,
    pub(crate) nested: Vec<Vec<u8>>,
    /// How many bytes the log of HEAD had: `git checkout -` reads it.
    pub(crate) log: u64,
}

impl Listing {
    /// The commit of HEAD; `None` on a branch without a commit.
    pub(crate) fn head_id(&self) -> Option<&str> {
        let mut at = &self.head;
        for _ in 0..5 {
            match at {
                Target::Id(id) => return Some(id),
                Target::Ref(name) => at = self.refs.get(name)?,
            }
        }
        None
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut text = format!("{FORMAT}\n").into_bytes();
        let mut line = |target: &Target, name: &[u8]| {
            match target {
                Target::Id(id) => text.extend_from_slice(id.as_bytes()),
                Target::Ref(to) => {
                    text.extend_from_slice(b"ref:");
                    text.extend_from_slice(to);
                }
            }
            text.push(b' ');
            text.extend_from_slice(name);
            text.push(b'\n');
        };
        line(&self.head, b"HEAD");
        for (name, target) in &self.refs {
            line(target, name);
        }
        if self.log > 0 {
            text.extend_from_slice(format!("log {}\n", self.log).as_bytes());
        }
        for path in &self.nested {
            // The end of a line may be part of a path.
            text.extend_from_slice(b"nested ");
            for byte in path {
                match byte {
                    b'\n' => text.extend_from_slice(b"\\n"),
                    b'\\' => text.extend_from_slice(b"\\\\"),
                    _ => text.push(*byte),
                }
            }
            text.push(b'\n');
        }
        text
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        if lines.next()? != FORMAT.as_bytes() {
            return None;
        }
        let mut found = Self {
            head: Target::Id(String::new()),
            refs: BTreeMap::new(),
            nested: Vec::new(),
            log: 0,
        };
        for line in lines {
            let space = line.iter().position(|byte| *byte == b' ')?;
            let (target, name) = (&line[..space], &line[space + 1..]);
            if target == b"log" {
                found.log = std::str::from_utf8(name).ok()?.parse().ok()?;
                continue;
            }
            if target == b"nested" {
                found.nested.push(unescaped(name));
                continue;
            }
            let target = match target.strip_prefix(b"ref:") {
                Some(to) => Target::Ref(to.to_vec()),
                None => Target::Id(String::from_utf8(target.to_vec()).ok().filter(|it| is_id(it))?),
            };
            if name == b"HEAD" {
                found.head = target;
            } else {
                found.refs.insert(name.to_vec(), target);
            }
        }
        Some(found)
    }

    /// Object ids that it names.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &str> {
        let all = self.refs.values().chain([&self.head]);
        all.filter_map(|it| match it {
            Target::Id(id) => Some(id.as_str()),
            Target::Ref(_) => None,
        })
    }
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => path.push(if bytes.next() == Some(&b'n') { b'\n' } else { b'\\' }),
            _ => path.push(*byte),
        }
    }
    path
}

/// Whether a word is a whole object id.
pub(crate) fn is_id(word: &str) -> bool {
    matches!(word.len(), 40 | 64) && word.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

/// Reads what `for-each-ref --format=%(objectname) %(refname) %(symref)` wrote.
pub(crate) fn parse(list: &[u8]) -> BTreeMap<Vec<u8>, Target> {
    let mut refs = BTreeMap::new();
    for line in list.split(|byte| *byte == b'\n') {
        let mut words = line.split(|byte| *byte == b' ');
        let (Some(id), Some(name)) = (words.next(), words.next()) else { continue };
        let target = match words.next().filter(|it| !it.is_empty()) {
            Some(to) => Target::Ref(to.to_vec()),
            None => Target::Id(String::from_utf8_lossy(id).into_owned()),
        };
        refs.insert(name.to_vec(), target);
    }
    refs
}

/// Replaces all refs of a repository by these: writes the packed refs, then removes the loose ones. After a crash
/// in between it is repeated.
pub(crate) fn write(repository: &Folder, refs: &BTreeMap<Vec<u8>, Target>) -> Result<(), Fault> {
    let mut packed = b"# pack-refs with: sorted \n".to_vec();
    for (name, target) in refs {
        if let Target::Id(id) = target {
            packed.extend_from_slice(id.as_bytes());
            packed.push(b' ');
            packed.extend_from_slice(name);
            packed.push(b'\n');
        }
    }
    let at = repository.path();
    repository.replace_durably("packed-refs", &packed).at("write", &at.join("packed-refs"))?;
    let place = at.join("refs");
    if repository.has("refs") {
        for name in repository.folder("refs").and_then(|it| it.names()).at("read", &place)? {
            repository.remove_all(std::path::Path::new("refs").join(name)).at("remove", &place)?;
        }
    }
    repository.make_folder("refs/heads").at("make", &place)?;
    for (name, target) in refs {
        if let Target::Ref(to) = target {
            let path: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(name);
            let text = [b"ref: ", to.as_slice(), b"\n"].concat();
            repository.replace(path, &text).at("write", &at.join(path))?;
        }
    }
    Ok(())
}
