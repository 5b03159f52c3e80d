//! Restores files, HEAD and refs to those of a snapshot.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use materia_safe_fs::Folder;

use crate::fault::{At as _, Fault};
use crate::git::{LIST_BYTES_MAX, WRITE_TIME_MAX};
use crate::look::Look;
use crate::ref_list::{self, Listing, OURS, Target};
use crate::snapshot::HEAD_LOG;
use crate::workspace::Workspace;

/// Entries that stay in the git folder of the worktree; all others belong to unfinished operations.
const STAYS: [&str; 5] = ["HEAD", "index", "info", "logs", "modules"];
/// How often the files are looked at again: patterns of ignored files may come back in between.
const ROUNDS_MAX: usize = 3;

impl Workspace {
    /// Puts everything back to a look: files, HEAD, refs, index. Locks, half-done merges and repositories that are
    /// new among the files go, ignored files stay. It can be repeated after a crash. No turn may run.
    pub fn put_back(&self, to: &Look) -> Result<(), Fault> {
        to.check()?;
        let _held = self.lock()?;
        let listing = self.listing_of(to)?;
        let (private, repository) = (self.private()?, self.repository()?);
        self.remove_locks(&repository)?;
        self.clear_worktree(&repository)?;
        self.link_worktree()?;
        // First with HEAD as it is, so that files which only it has go; where it cannot be read, with HEAD as it will be.
        let now = self.listing(&repository).ok();
        let now = now.as_ref().unwrap_or(&listing);
        self.show_head(&private, &now.head)?;
        self.put_ignore_files_back(&to.tree)?;
        let tree = self.stage_without_new(&private, &repository, now.head_id(), &listing)?;
        if tree != to.tree {
            self.fill(&to.tree)?;
        }
        let head = listing.head_id();
        let detached = head.map(|id| Target::Id(id.to_owned()));
        self.show_head(&private, detached.as_ref().unwrap_or(&listing.head))?;
        let mut rounds = 0;
        loop {
            let tree = self.stage_without_new(&private, &repository, head, &listing)?;
            if tree == to.tree {
                break;
            }
            if rounds == ROUNDS_MAX {
                return Err(Fault::Unusable(format!(
                    "the files of `{}` are the tree {tree} and cannot be put back to {}",
                    self.place.checkout().display(),
                    to.tree
                )));
            }
            self.fill(&to.tree)?;
            if rounds > 0 {
                self.keep_exact()?;
            }
            rounds += 1;
        }
        self.put_refs_back(&repository, &listing)?;
        self.set_head(&listing.head)?;
        // Where a file has its name, the turn that runs there will say so.
        let _ = self.make_work_dir();
        self.cut_log(&repository, listing.log)?;
        self.reset_turn_index(&to.head)
    }

    /// Takes out of the log of HEAD what came later: `git checkout -` must mean the same as before.
    fn cut_log(&self, repository: &Folder, bytes: u64) -> Result<(), Fault> {
        let Ok(file) = repository.open(HEAD_LOG) else { return Ok(()) };
        let place = self.place.repository().join(HEAD_LOG);
        if file.metadata().at("read", &place)?.len() <= bytes {
            return Ok(());
        }
        let mut kept = Vec::new();
        file.take(bytes).read_to_end(&mut kept).at("read", &place)?;
        repository.replace(HEAD_LOG, &kept).at("write", &place)
    }

    /// Makes the files again after they were deleted, with HEAD and refs as of a look.
    pub fn make_checkout(&self, to: &Look) -> Result<(), Fault> {
        to.check()?;
        {
            let _held = self.lock()?;
            let root = Folder::at_itself(&self.place.root()).at("open", &self.place.root())?;
            root.make_folder("checkout").at("make", &self.place.checkout())?;
            let private = self.private()?;
            self.forget_folders(&private)?;
            // The index would take every file for deleted; without it all files are new.
            private.remove_all("index").at("remove", &self.place.private().join("index"))?;
            self.link_worktree()?;
        }
        self.put_back(to)
    }

    /// Brings our index to the state of the files, and takes other repositories away that the listing does not have.
    fn stage_without_new(
        &self,
        private: &Folder,
        repository: &Folder,
        head: Option<&str>,
        listing: &Listing,
    ) -> Result<String, Fault> {
        let staged = self.stage(private, repository, head, None)?;
        let mut new = staged.nested.iter().filter(|path| !listing.nested.contains(path)).peekable();
        if new.peek().is_none() {
            return Ok(staged.tree);
        }
        let checkout = self.checkout()?;
        for path in new {
            let path = Path::new(OsStr::from_bytes(path));
            checkout.remove_all(path).at("remove", &self.place.checkout().join(path))?;
        }
        Ok(self.stage(private, repository, head, None)?.tree)
    }

    /// The listing that a look keeps.
    pub(crate) fn listing_of(&self, look: &Look) -> Result<Listing, Fault> {
        let call = self.git().call(["cat-file", "blob", &look.refs]).most(LIST_BYTES_MAX);
        let unknown = || Fault::Unusable(format!("the object {} lists no refs", look.refs));
        Listing::from_bytes(&call.bytes()?).ok_or_else(unknown)
    }

    /// Files that say what is ignored come first: what they ignore is not touched.
    fn put_ignore_files_back(&self, tree: &str) -> Result<(), Fault> {
        let git = self.git_with_files().globs();
        let words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"];
        let call = git.call(words.into_iter().chain([":(glob)**/.gitignore"]));
        let present = call.most(LIST_BYTES_MAX).bytes()?;
        let call = git.call(["ls-tree", "-r", "-z", "--name-only", tree]);
        let wanted = call.most(LIST_BYTES_MAX).bytes()?;
        let wanted: Vec<&[u8]> =
            wanted.split(|byte| *byte == 0).filter(|it| it.ends_with(b".gitignore")).collect();
        let is_name = |path: &&&[u8]| **path == b".gitignore" || path.ends_with(b"/.gitignore");
        let checkout = self.checkout()?;
        for path in present.split(|byte| *byte == 0).filter(|it| !it.is_empty()) {
            if !wanted.contains(&path) {
                let path = Path::new(OsStr::from_bytes(path));
                match checkout.remove_file(path) {
                    // A folder on the way may be gone or a file by now.
                    Ok(()) | Err(_) => {}
                }
            }
        }
        let mut list = Vec::new();
        for path in wanted.iter().filter(is_name) {
            list.extend_from_slice(path);
            list.push(0);
        }
        if list.is_empty() {
            return Ok(());
        }
        let index = self.place.private().join("index-of-tree");
        let private = self.private()?;
        for name in ["index-of-tree", "index-of-tree.lock"] {
            private.remove_all(name).at("remove", &index)?;
        }
        let git = self.git_with_files().index(&index);
        git.call(["read-tree", tree]).within(WRITE_TIME_MAX).bytes()?;
        let call = git.call(["checkout-index", "-f", "-q", "-z", "--stdin"]).input(list);
        // A file in the place of a folder: the files are put back as a whole afterwards.
        let _ = call.within(WRITE_TIME_MAX).run()?;
        private.remove_all("index-of-tree").at("remove", &index)
    }

    /// Refs become those of the listing; ours stay.
    fn put_refs_back(&self, repository: &Folder, listing: &Listing) -> Result<(), Fault> {
        let format = "--format=%(objectname) %(refname) %(symref)";
        let call = self.git().call(["for-each-ref", format]).most(LIST_BYTES_MAX);
        let now = ref_list::parse(&call.bytes()?);
        let others = now.iter().filter(|(name, _)| !name.starts_with(OURS));
        if others.eq(listing.refs.iter()) {
            return Ok(());
        }
        let ours = now.iter().filter(|(name, _)| name.starts_with(OURS));
        let mut refs = listing.refs.clone();
        refs.extend(ours.map(|(name, target)| (name.clone(), target.clone())));
        ref_list::write(repository, &refs)
    }

    /// Removes what processes left that were killed.
    fn remove_locks(&self, repository: &Folder) -> Result<(), Fault> {
        let mut open = vec![PathBuf::new(), "refs".into(), "objects/info".into(), "info".into()];
        while let Some(at) = open.pop() {
            let folder =
                if at.as_os_str().is_empty() { None } else { Some(repository.folder(&at)) };
            let folder = match &folder {
                None => repository,
                Some(Ok(folder)) => folder,
                Some(Err(_)) => continue,
            };
            for name in folder.names().at("read", folder.path())? {
                let path = at.join(&name);
                if name.as_bytes().ends_with(b".lock") || name == "gc.pid" {
                    let place = self.place.repository().join(&path);
                    repository.remove_all(&path).at("remove", &place)?;
                } else if at.starts_with("refs") && folder.folder(&name).is_ok() {
                    open.push(path);
                }
            }
        }
        Ok(())
    }

    /// Leaves of the worktree's git folder only what does not belong to something half done.
    fn clear_worktree(&self, repository: &Folder) -> Result<(), Fault> {
        let place = self.place.worktree();
        let worktree = repository.make_folder("worktrees/checkout").at("make", &place)?;
        for name in worktree.names().at("read", &place)? {
            if !STAYS.iter().any(|stays| name == *stays) {
                worktree.remove_all(&name).at("remove", &place.join(&name))?;
            }
        }
        Ok(())
    }
}

/// Whether a target leads to an id; used by forks, which take only refs whose objects are there.
pub(crate) fn id(target: &Target) -> Option<&str> {
    match target {
        Target::Id(id) => Some(id),
        Target::Ref(_) => None,
    }
}
