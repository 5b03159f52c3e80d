//! Snapshot of a workspace: the tree of its files, HEAD and the refs.
//!
//! Our index has every file that is in HEAD or that git does not ignore, with its times, so that unchanged files are
//! not read again. The index of the turns is never used.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use materia_safe_fs::Folder;

use crate::fault::{At as _, Fault};
use crate::git::{Git, LIST_BYTES_MAX, WRITE_TIME_MAX};
use crate::look::Look;
use crate::ref_list::{self, Listing, OURS, Target, is_id};
use crate::settings::PATTERNS_BYTES_MAX;
use crate::workspace::Workspace;

/// The longest HEAD.
const HEAD_BYTES_MAX: u64 = 4 * 1024;
/// The log of HEAD of the checkout.
pub(crate) const HEAD_LOG: &str = "worktrees/checkout/logs/HEAD";
/// The file with the ids of the last look, by which the next one knows what has not changed.
const LAST: &str = "last";
/// The file with the listing of the last look.
const LAST_LISTING: &str = "last-refs";

/// The file with the folders of all files in our index, each with a zero behind it.
const FOLDERS: &str = "folders";

/// How many refs of ours may be files of their own: each costs a look a little.
const KEPT_FILES_MAX: usize = 64;

/// Files as our index has them now.
pub(crate) struct Staged {
    pub(crate) tree: String,
    /// Paths of other repositories among the files.
    pub(crate) nested: Vec<Vec<u8>>,
}

impl Workspace {
    /// The last look, if it is known.
    pub fn last_look(&self) -> Option<Look> {
        last(&self.private().ok()?)
    }

    /// Looks at the files and keeps what it found: garbage collection cannot take it away.
    pub fn look(&self) -> Result<Look, Fault> {
        let _held = self.lock()?;
        self.look_held()
    }

    pub(crate) fn look_held(&self) -> Result<Look, Fault> {
        let private = self.private()?;
        let repository = self.repository()?;
        let mut listing = self.listing(&repository)?;
        let head = listing.head_id().map(str::to_owned);
        self.show_head(&private, &listing.head)?;
        let last = last(&private);
        let known = last.as_ref().filter(|last| Some(&last.head) == head.as_ref());
        let Staged { tree, nested } = self.stage(&private, &repository, head.as_deref(), known)?;
        listing.nested = nested;
        let bytes = listing.to_bytes();
        let before = private.read(LAST_LISTING, LIST_BYTES_MAX as u64).unwrap_or_default();
        let refs = match &last {
            Some(last) if before == bytes => last.refs.clone(),
            Some(_) | None => {
                self.git().call(["hash-object", "-w", "--stdin"]).input(bytes.clone()).text()?
            }
        };
        let head = head.unwrap_or_else(|| "0".repeat(tree.len()));
        let look = Look { tree, head, refs };
        if last.as_ref() != Some(&look) {
            let before = Listing::from_bytes(&before);
            self.keep(&repository, &look, &listing, before.as_ref())?;
            let place = self.place.private().join(LAST);
            self.forget_last(&private)?;
            private.replace(LAST_LISTING, &bytes).at("write", &place)?;
            let text = format!("{} {} {}\n", look.tree, look.head, look.refs);
            private.replace(LAST, text.as_bytes()).at("write", &place)?;
        }
        Ok(look)
    }

    /// The index is about to change; the last look says nothing about it any more.
    pub(crate) fn forget_last(&self, private: &Folder) -> Result<(), Fault> {
        private.remove_all(LAST).at("remove", &self.place.private().join(LAST))
    }

    /// The same, and folders may come or go.
    pub(crate) fn forget_folders(&self, private: &Folder) -> Result<(), Fault> {
        self.forget_last(private)?;
        private.remove_all(FOLDERS).at("remove", &self.place.private().join(FOLDERS))
    }

    /// Where HEAD and all refs lead.
    pub(crate) fn listing(&self, repository: &Folder) -> Result<Listing, Fault> {
        let format = "--format=%(objectname) %(refname) %(symref)";
        let list = self.git().call(["for-each-ref", format]).most(LIST_BYTES_MAX).bytes()?;
        let mut refs = ref_list::parse(&list);
        refs.retain(|name, _| !name.starts_with(OURS));
        let log = repository.open(HEAD_LOG).and_then(|file| file.metadata());
        let log = log.map_or(0, |found| found.len());
        Ok(Listing { head: self.head(repository)?, refs, nested: Vec::new(), log })
    }

    /// HEAD of the checkout, as its file says.
    fn head(&self, repository: &Folder) -> Result<Target, Fault> {
        let path = self.place.worktree().join("HEAD");
        let bytes = repository.read("worktrees/checkout/HEAD", HEAD_BYTES_MAX).at("read", &path)?;
        let text = bytes.trim_ascii();
        if let Some(name) = text.strip_prefix(b"ref:") {
            let name = name.trim_ascii();
            if is_branch(name) {
                return Ok(Target::Ref(name.to_vec()));
            }
        } else if let Ok(id) = std::str::from_utf8(text)
            && is_id(id)
        {
            return Ok(Target::Id(id.to_owned()));
        }
        let path = path.display();
        Err(Fault::Unusable(format!("`{path}` holds neither a branch nor a commit")))
    }

    /// Tells git where HEAD is.
    pub(crate) fn show_head(&self, private: &Folder, head: &Target) -> Result<(), Fault> {
        let text = head_text(head);
        if private.read("HEAD", HEAD_BYTES_MAX).ok().as_deref() == Some(&text) {
            return Ok(());
        }
        private.replace("HEAD", &text).at("write", &self.place.private().join("HEAD"))
    }

    /// Brings our index to the state of the files and writes its tree. `known` is the last look, if HEAD is still the same.
    pub(crate) fn stage(
        &self,
        private: &Folder,
        repository: &Folder,
        head: Option<&str>,
        known: Option<&Look>,
    ) -> Result<Staged, Fault> {
        let patterns = repository.read("info/exclude", PATTERNS_BYTES_MAX).unwrap_or_default();
        if private.read("info/exclude", PATTERNS_BYTES_MAX).ok().as_ref() != Some(&patterns) {
            let place = self.place.private().join("info/exclude");
            private.replace("info/exclude", &patterns).at("write", &place)?;
        }
        let git = self.git_with_files();
        let mut changed = known.is_none();
        if let (true, Some(head)) = (changed, head) {
            self.forget_last(private)?;
            take_submodules(&git, head)?;
        }
        let seen = Seen::of(&git, &self.checkout()?)?;
        if !seen.is_empty() {
            changed = true;
            self.forget_last(private)?;
            seen.apply(&git)?;
        }
        let mut nested = self.repositories_in_folders(private, &git, &seen)?;
        nested.extend(seen.nested);
        let tree = match known {
            Some(known) if !changed => known.tree.clone(),
            Some(_) | None => git.call(["write-tree"]).within(WRITE_TIME_MAX).text()?,
        };
        Ok(Staged { tree, nested })
    }

    /// Repositories in folders of the project, by their git folders: git itself does not notice them.
    fn repositories_in_folders(
        &self,
        private: &Folder,
        git: &Git,
        seen: &Seen,
    ) -> Result<Vec<Vec<u8>>, Fault> {
        let known = private.read(FOLDERS, LIST_BYTES_MAX as u64).ok();
        let files = match known {
            Some(_) => seen.here.clone(),
            None => git.call(["ls-files", "-z"]).most(LIST_BYTES_MAX).bytes()?,
        };
        let known = known.unwrap_or_default();
        let mut folders: BTreeSet<&[u8]> =
            known.split(|byte| *byte == 0).filter(|it| !it.is_empty()).collect();
        let count = folders.len();
        for path in files.split(|byte| *byte == 0) {
            let mut path = path;
            while let Some(slash) = path.iter().rposition(|byte| *byte == b'/') {
                path = &path[..slash];
                if !folders.insert(path) {
                    break;
                }
            }
        }
        if folders.len() > count || count == 0 {
            let mut text = Vec::new();
            for folder in &folders {
                push(&mut text, folder);
            }
            let place = self.place.private().join(FOLDERS);
            private.replace(FOLDERS, &text).at("write", &place)?;
        }
        let files = self.checkout()?;
        let dot_git = |folder: &&[u8]| [folder, b"/.git".as_slice()].concat();
        let there = |path: &Vec<u8>| files.has(Path::new(OsStr::from_bytes(path)));
        Ok(folders.iter().map(dot_git).filter(there).collect())
    }

    /// Keeps the objects of a look by refs of ours: its own three, and those its refs lead to.
    fn keep(
        &self,
        repository: &Folder,
        look: &Look,
        listing: &Listing,
        before: Option<&Listing>,
    ) -> Result<(), Fault> {
        let kept: BTreeSet<&str> = before.iter().flat_map(|it| it.ids()).collect();
        let new = listing.ids().filter(|id| !kept.contains(id));
        let mut ids: Vec<&str> = [look.tree.as_str(), &look.refs].into_iter().chain(new).collect();
        if look.head.bytes().any(|it| it != b'0') {
            ids.push(&look.head);
        }
        for id in ids {
            let name = format!("refs/materia/keep/{id}");
            if !repository.has_file(&name) {
                let place = self.place.repository().join(&name);
                repository.replace(&name, format!("{id}\n").as_bytes()).at("write", &place)?;
            }
        }
        let files = repository.folder("refs/materia/keep").and_then(|it| it.names());
        if files.is_ok_and(|it| it.len() > KEPT_FILES_MAX) {
            // Where a turn of the workspace packs them just now, the next look does.
            self.git().call(["pack-refs", "--all"]).run()?;
        }
        Ok(())
    }
}

/// The last look, if our index is as it left it.
fn last(private: &Folder) -> Option<Look> {
    let text = String::from_utf8(private.read(LAST, 1024).ok()?).ok()?;
    let mut words = text.split_whitespace().filter(|it| is_id(it)).map(str::to_owned);
    Some(Look { tree: words.next()?, head: words.next()?, refs: words.next()? })
}

/// The text of a file HEAD.
pub(crate) fn head_text(head: &Target) -> Vec<u8> {
    match head {
        Target::Ref(name) => [b"ref: ", name.as_slice(), b"\n"].concat(),
        Target::Id(id) => format!("{id}\n").into_bytes(),
    }
}

/// Whether a name can be a branch name. git refuses more; this refuses names that could lead a path elsewhere.
fn is_branch(name: &[u8]) -> bool {
    let parts_fit =
        name.split(|byte| *byte == b'/').all(|part| !part.is_empty() && part[0] != b'.');
    name.starts_with(b"refs/heads/") && parts_fit && !name.iter().any(|byte| *byte <= b' ')
}

/// Copies the submodules of HEAD into the index. The content of their folders does not count.
fn take_submodules(git: &Git, head: &str) -> Result<(), Fault> {
    let words = ["diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev"];
    let call = git.call(words.into_iter().chain(["--ignore-submodules=none", head, "--"]));
    let list = call.most(LIST_BYTES_MAX).bytes()?;
    let mut fields = list.split(|byte| *byte == 0);
    let mut input = Vec::new();
    while let (Some(about), Some(path)) = (fields.next(), fields.next()) {
        let about = String::from_utf8_lossy(about);
        let mut words = about.trim_start_matches(':').split(' ');
        let (Some(in_head), Some(in_index), Some(id)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        if in_head == "160000" {
            input.extend_from_slice(format!("160000 {id}\t").as_bytes());
        } else if in_index == "160000" {
            input.extend_from_slice(format!("0 {}\t", "0".repeat(head.len())).as_bytes());
        } else {
            continue;
        }
        input.extend_from_slice(path);
        input.push(0);
    }
    if !input.is_empty() {
        git.call(["update-index", "-z", "--index-info"]).input(input).bytes()?;
    }
    Ok(())
}

/// Differences between our index and the files.
#[derive(Default)]
pub(crate) struct Seen {
    /// Paths that go out of the index, each with a zero behind it.
    gone: Vec<u8>,
    /// Paths that come in or have changed.
    here: Vec<u8>,
    /// Other repositories.
    nested: Vec<Vec<u8>>,
}

impl Seen {
    pub(crate) fn of(git: &Git, files: &Folder) -> Result<Self, Fault> {
        let words = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"];
        let words = words.into_iter().chain(["--ignore-submodules=all", "--no-ahead-behind"]);
        let list = git.call(words).most(LIST_BYTES_MAX).within(WRITE_TIME_MAX).bytes()?;
        let mut seen = Self::default();
        let mut not_in_head = Vec::new();
        for entry in list.split(|byte| *byte == 0).filter(|entry| entry.len() > 3) {
            let (index, file, path) = (entry[0], entry[1], &entry[3..]);
            match (index, file) {
                (b'?', _) if path.ends_with(b"/") => {
                    seen.nested.push(path[..path.len() - 1].to_vec());
                }
                (b'?', _) => push(&mut seen.here, path),
                // In HEAD, not in the index: it counts even if it is ignored.
                (b'D', _) if is_file(files, path) => push(&mut seen.here, path),
                (b'D', _) => {}
                (_, b'M' | b'T') if is_file(files, path) => push(&mut seen.here, path),
                (_, b'M' | b'T' | b'D') => push(&mut seen.gone, path),
                _ => {}
            }
            if index == b'A' && file != b'D' {
                // A colon at the beginning would mean something else.
                not_in_head.extend_from_slice(b"./");
                push(&mut not_in_head, path);
            }
        }
        if !not_in_head.is_empty() {
            // Exit status 1: none is ignored.
            let git = git.clone().globs();
            let call = git.call(["check-ignore", "--no-index", "-z", "--stdin"]);
            let said = call.input(not_in_head).most(LIST_BYTES_MAX).run()?;
            if said.status > 1 || said.cut {
                return Err(Fault::Unusable(format!("`git check-ignore` failed: {}", said.error)));
            }
            seen.leave_out(&said.out);
        }
        Ok(seen)
    }

    /// Takes ignored paths out.
    fn leave_out(&mut self, ignored: &[u8]) {
        let ignored: BTreeSet<&[u8]> =
            ignored.split(|byte| *byte == 0).filter_map(|path| path.strip_prefix(b"./")).collect();
        if ignored.is_empty() {
            return;
        }
        let here = std::mem::take(&mut self.here);
        for path in here.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            if !ignored.contains(path) {
                push(&mut self.here, path);
            }
        }
        for path in ignored {
            push(&mut self.gone, path);
        }
    }

    fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.here.is_empty()
    }

    /// Brings the index to the state of the files.
    pub(crate) fn apply(&self, git: &Git) -> Result<(), Fault> {
        if !self.gone.is_empty() {
            let call = git.call(["update-index", "-z", "--force-remove", "--stdin"]);
            call.input(self.gone.clone()).within(WRITE_TIME_MAX).bytes()?;
        }
        if !self.here.is_empty() {
            let words = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
            git.call(words).input(self.here.clone()).within(WRITE_TIME_MAX).bytes()?;
        }
        Ok(())
    }
}

fn push(list: &mut Vec<u8>, path: &[u8]) {
    list.extend_from_slice(path);
    list.push(0);
}

/// Whether there is a file or a link at a path, with no link on the way to it.
fn is_file(files: &Folder, path: &[u8]) -> bool {
    let path = Path::new(OsStr::from_bytes(path));
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    let no_link = parent.is_none_or(|parent| files.folder(parent).is_ok());
    let found = files.path().join(path).symlink_metadata();
    no_link && found.is_ok_and(|it| it.is_file() || it.is_symlink())
}
