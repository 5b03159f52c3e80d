//! Makes workspaces.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use materia_safe_fs::Folder;

use crate::fault::{At as _, Fault};
use crate::git::{LIST_BYTES_MAX, WRITE_TIME_MAX, quoted};
use crate::location::Place;
use crate::look::Look;
use crate::project::{Base, Project};
use crate::ref_list::{self, Target};
use crate::settings::{PATTERNS_BYTES_MAX, quote};
use crate::snapshot::Seen;
use crate::transfer::{Written, transfer};
use crate::workspace::{MADE, Opened, Workspace, copy_index, open};

/// Makes a workspace at the base; with `include_changes` its files are those of the project's folder as they are now.
/// One that is there already is looked at; one that is not complete is made again.
pub fn create(
    place: &Place,
    base: &Base,
    include_changes: bool,
) -> Result<(Workspace, Look), Fault> {
    place.check()?;
    match open(place)? {
        Opened::Here(workspace) => {
            let look = workspace.look()?;
            return Ok((workspace, look));
        }
        Opened::CheckoutGone(workspace) => return Err(workspace.without_files()),
        Opened::Gone => {}
    }
    let project = Project::open(&place.project_dir)?;
    let workspace = furnish(&project, place, base)?;
    let mut refs = ancestors(&project, &workspace, base)?;
    refs.insert(place.branch().into_bytes(), Target::Id(base.commit.clone()));
    workspace.begin(&refs, &Target::Ref(place.branch().into_bytes()), &base.commit)?;
    let tree =
        if include_changes { changed(&project, &workspace, base)? } else { base.tree.clone() };
    let look = workspace.complete(&tree, &base.commit)?;
    Ok((workspace, look))
}

/// Makes the folders and settings of a workspace, without refs and files. What is there goes.
pub(crate) fn furnish(project: &Project, place: &Place, base: &Base) -> Result<Workspace, Fault> {
    place.remove()?;
    // The base stays in the user's repository whatever is collected there.
    let keep = format!("refs/materia/{}/base", place.cast_id);
    project.git().call(["update-ref", &keep, &base.commit]).bytes()?;
    let root = place.make()?;
    let writing =
        |name: &str, bytes: &[u8]| root.write(name, bytes).at("write", &place.root().join(name));
    for name in [
        "repository/objects/info",
        "repository/objects/pack",
        "repository/refs/heads",
        "repository/info",
    ] {
        root.make_folder(name).at("make", &place.root().join(name))?;
    }
    for name in ["repository/worktrees/checkout/info", "private/info", "checkout"] {
        root.make_folder(name).at("make", &place.root().join(name))?;
    }
    let mut alternates = quoted(&project.objects()).as_bytes().to_vec();
    alternates.push(b'\n');
    writing("repository/objects/info/alternates", &alternates)?;

    let settings = &project.settings;
    let mut config = settings.text(true);
    config.push_str("[core]\n\thooksPath = /dev/null\n\tlogAllRefUpdates = true\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n");
    let (name, email) = (quote(&base.identity.name), quote(&base.identity.email));
    let _ = write!(config, "[user]\n\tname = {name}\n\temail = {email}\n");
    config.push_str(&settings.remotes(&project.repository.top, false));
    let mut private = settings.text(false);
    // Our index is written often; its checksum would take longer than the rest of it.
    private.push_str("[index]\n\tskipHash = true\n");
    if let Some(attributes) = project.user_patterns("core.attributesfile", "attributes") {
        writing("private/attributes", &attributes)?;
        let file = quote(&place.private().join("attributes").to_string_lossy());
        for text in [&mut config, &mut private] {
            let _ = write!(text, "[core]\n\tattributesFile = {file}\n");
        }
    }
    writing("repository/config", config.as_bytes())?;
    writing("private/config", private.as_bytes())?;
    writing("repository/description", b"A workspace of materia\n")?;
    writing("repository/HEAD", format!("ref: {}\n", place.branch()).as_bytes())?;

    let view = project.view.folder();
    let mut exclude = project.user_patterns("core.excludesfile", "ignore").unwrap_or_default();
    exclude.push(b'\n');
    exclude.extend(view.read("info/exclude", PATTERNS_BYTES_MAX).unwrap_or_default());
    writing("repository/info/exclude", &exclude)?;
    if let Ok(attributes) = view.read("info/attributes", PATTERNS_BYTES_MAX) {
        writing("repository/info/attributes", &attributes)?;
        writing("private/info/attributes", &attributes)?;
    }
    let common = Folder::at(&project.repository.common).at("open", &project.repository.common)?;
    if let Ok(shallow) = common.read("shallow", LIST_BYTES_MAX as u64) {
        writing("repository/shallow", &shallow)?;
    }
    let own = Folder::at(&project.repository.own).at("open", &project.repository.own)?;
    if let Ok(sparse) = own.read("info/sparse-checkout", PATTERNS_BYTES_MAX) {
        writing("repository/worktrees/checkout/info/sparse-checkout", &sparse)?;
        writing("private/info/sparse-checkout", &sparse)?;
    }
    for name in ["refs", "packed-refs", "objects", "shallow"] {
        let to = Path::new("../repository").join(name);
        root.link(Path::new("private").join(name), &to).at("link", &place.private().join(name))?;
    }
    writing("private/HEAD", format!("ref: {}\n", place.branch()).as_bytes())?;
    Ok(Workspace::at(place, base.commit.clone()))
}

/// The user's branches, tags and remote branches that the base goes back to. Others may lose their objects when the
/// user's repository is cleaned up. Tag objects are copied for the same reason.
fn ancestors(
    project: &Project,
    workspace: &Workspace,
    base: &Base,
) -> Result<BTreeMap<Vec<u8>, Target>, Fault> {
    let merged = format!("--merged={}", base.commit);
    let list = |format: &str| {
        let words = ["for-each-ref", &merged, format, "refs/heads", "refs/remotes", "refs/tags"];
        project.git().call(words).most(LIST_BYTES_MAX).within(WRITE_TIME_MAX).bytes()
    };
    let mut refs = ref_list::parse(&list("--format=%(objectname) %(refname) %(symref)")?);
    refs.retain(|name, _| !name.starts_with(b"refs/heads/materia/"));
    let names: std::collections::BTreeSet<Vec<u8>> = refs.keys().cloned().collect();
    refs.retain(|_, target| !matches!(target, Target::Ref(to) if !names.contains(to)));
    let tags = list("--format=%(objecttype) %(objectname)")?;
    let tags = String::from_utf8_lossy(&tags);
    let tags: Vec<&str> = tags.lines().filter_map(|line| line.strip_prefix("tag ")).collect();
    if !tags.is_empty() {
        transfer(
            &project.git(),
            &workspace.git(),
            tags.iter().copied(),
            [base.commit.as_str()],
            Written::AsPack,
            &workspace.place.private(),
        )?;
        for tag in tags {
            let name = format!("refs/materia/keep/{tag}").into_bytes();
            refs.insert(name, Target::Id(tag.to_owned()));
        }
    }
    Ok(refs)
}

/// The tree of the project's files as they are now, with its objects copied.
fn changed(project: &Project, workspace: &Workspace, base: &Base) -> Result<String, Fault> {
    let private = workspace.private()?;
    let name = "index-of-project";
    let index = workspace.place.private().join(name);
    let own = project.repository.own.join("index");
    if own.is_file() {
        copy_index(&own, &private, name)?;
    }
    let objects = workspace.place.repository().join("objects");
    let git = project.git().top(project.top()).index(&index).objects(&objects, &project.objects());
    let git = git.may_refresh();
    let files = Folder::at(project.top()).at("open", project.top())?;
    // Staged conflicts have no tree: the files count, and they are compared with HEAD.
    git.call(["read-tree", "--reset", &base.commit]).within(WRITE_TIME_MAX).bytes()?;
    Seen::of(&git, &files)?.apply(&git)?;
    let tree = git.call(["write-tree"]).within(WRITE_TIME_MAX).text()?;
    // The user's repository may drop what was only staged there.
    transfer(
        &git,
        &workspace.git(),
        [tree.as_str()],
        [base.commit.as_str()],
        Written::AsPack,
        &workspace.place.private(),
    )?;
    private.remove_all(name).at("remove", &index)?;
    Ok(tree)
}

impl Workspace {
    /// Writes the refs, HEAD and what makes the checkout a worktree.
    pub(crate) fn begin(
        &self,
        refs: &BTreeMap<Vec<u8>, Target>,
        head: &Target,
        commit: &str,
    ) -> Result<(), Fault> {
        let mut refs = refs.clone();
        refs.insert(b"refs/materia/base".to_vec(), Target::Id(self.base.clone()));
        refs.insert(
            format!("refs/materia/keep/{commit}").into_bytes(),
            Target::Id(commit.to_owned()),
        );
        ref_list::write(&self.repository()?, &refs)?;
        self.link_worktree()?;
        self.set_head(head)
    }

    /// Writes the files of a tree and the index of the turns, and says that the workspace is complete.
    pub(crate) fn complete(&self, tree: &str, head: &str) -> Result<Look, Fault> {
        self.fill(tree)?;
        self.keep_exact()?;
        self.reset_turn_index(head)?;
        self.make_work_dir()?;
        let look = self.look()?;
        if look.tree != tree {
            return Err(Fault::Unusable(format!(
                "the files of `{}` are the tree {}, and should be {tree}",
                self.place.checkout().display(),
                look.tree
            )));
        }
        let text = format!("{}\n", self.base);
        let place = self.place.private().join(MADE);
        self.private()?.replace_durably(MADE, text.as_bytes()).at("write", &place)?;
        Ok(look)
    }

    /// Writes the files of a tree; files that our index knows and the tree does not go.
    pub(crate) fn fill(&self, tree: &str) -> Result<(), Fault> {
        self.forget_folders(&self.private()?)?;
        let git = self.git_with_files();
        git.call(["read-tree", "--reset", "-u", tree]).within(WRITE_TIME_MAX).bytes().map(drop)
    }

    /// Some files would not come out of the checkout as the bytes that are stored: a file with CR LF that has the
    /// attribute `text`, for example. Such files are stored and written as they are, by attributes of ours.
    pub(crate) fn keep_exact(&self) -> Result<(), Fault> {
        if !self.converts()? {
            return Ok(());
        }
        let private = self.private()?;
        let index = self.place.private().join("index");
        let file = private.open("index").at("open", &index)?;
        // An index that is older than all files: git reads each of them.
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        file.set_modified(old).at("change", &index)?;
        let git = self.git_with_files();
        let words = ["diff-files", "--name-only", "-z", "--ignore-submodules=all"];
        let list = git.call(words).most(LIST_BYTES_MAX).within(WRITE_TIME_MAX).bytes()?;
        if !list.is_empty() {
            let mut text = private.read("info/attributes", PATTERNS_BYTES_MAX).unwrap_or_default();
            text.push(b'\n');
            for path in list.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
                text.extend(pattern(path));
                text.extend(b" -text -ident !working-tree-encoding\n");
            }
            let place = self.place.private().join("info/attributes");
            private.replace("info/attributes", &text).at("write", &place)?;
            let call = git.call(["checkout-index", "-f", "-u", "-z", "--stdin"]);
            call.input(list).within(WRITE_TIME_MAX).bytes()?;
        }
        Ok(())
    }

    /// Whether attributes or settings could make a file differ from what is stored.
    fn converts(&self) -> Result<bool, Fault> {
        let private = self.private()?;
        let settings = private.read("config", PATTERNS_BYTES_MAX).unwrap_or_default();
        let settings = String::from_utf8_lossy(&settings);
        let by_settings = ["autocrlf = true", "autocrlf = input", "eol = ", "attributesFile"];
        if private.has("info/attributes") || by_settings.iter().any(|it| settings.contains(it)) {
            return Ok(true);
        }
        let git = self.git_with_files().globs();
        let tree = git.text(["rev-parse", "--verify", &format!("{}^{{tree}}", self.base)])?;
        let list = git.call(["ls-tree", "-r", "-z", "--name-only", &tree]).most(LIST_BYTES_MAX);
        let is_attributes =
            |path: &[u8]| path == b".gitattributes" || path.ends_with(b"/.gitattributes");
        Ok(list.bytes()?.split(|byte| *byte == 0).any(is_attributes))
    }

    /// Resets the index that turns use to a commit, so that nothing is staged.
    pub(crate) fn reset_turn_index(&self, head: &str) -> Result<(), Fault> {
        let repository = self.repository()?;
        let place = self.place.worktree();
        let worktree = repository.folder("worktrees/checkout").at("open", &place)?;
        let new = "index.materia";
        for name in ["index.materia", "index.materia.lock", "index.lock"] {
            worktree.remove_all(name).at("remove", &place.join(name))?;
        }
        copy_index(&self.place.private().join("index"), &worktree, new)?;
        // Other programs than git may read this one: with a checksum.
        let git = self.git_with_files().index(&place.join(new)).env("GIT_CONFIG_COUNT", "1");
        let git = git.env("GIT_CONFIG_KEY_0", "index.skipHash").env("GIT_CONFIG_VALUE_0", "false");
        if head.bytes().any(|it| it != b'0') {
            git.call(["read-tree", "-m", head]).within(WRITE_TIME_MAX).bytes()?;
        } else {
            git.call(["read-tree", "--empty"]).bytes()?;
        }
        worktree.remove_all("index").at("remove", &place.join("index"))?;
        worktree.rename(new, "index").at("write", &place.join("index"))
    }

    /// Makes the folder that turns run in: the commit may have nothing there.
    pub(crate) fn make_work_dir(&self) -> Result<(), Fault> {
        let (folder, top) = (self.place.work_dir(), self.place.checkout());
        match folder.strip_prefix(&top) {
            Ok(below) if !below.as_os_str().is_empty() => {
                self.checkout()?.make_folder(below).map(drop).at("make", &folder)
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Makes the checkout a linked worktree of the repository.
    pub(crate) fn link_worktree(&self) -> Result<(), Fault> {
        let repository = self.repository()?;
        let place = self.place.worktree();
        let worktree = repository.make_folder("worktrees/checkout").at("make", &place)?;
        let dot_git = self.place.checkout().join(".git");
        let line = |text: &OsStr| [text.as_bytes(), b"\n"].concat();
        worktree.replace("commondir", b"../..\n").at("write", &place)?;
        worktree.replace("gitdir", &line(dot_git.as_os_str())).at("write", &place)?;
        let checkout = self.checkout()?;
        let pointer = [b"gitdir: ", line(place.as_os_str()).as_slice()].concat();
        checkout.remove_all(".git").at("remove", &dot_git)?;
        checkout.replace(".git", &pointer).at("write", &dot_git)
    }

    /// Writes HEAD of the checkout.
    pub(crate) fn set_head(&self, head: &Target) -> Result<(), Fault> {
        let text = crate::snapshot::head_text(head);
        let place = self.place.worktree().join("HEAD");
        let repository = self.repository()?;
        repository.replace_durably("worktrees/checkout/HEAD", &text).at("write", &place)?;
        self.show_head(&self.private()?, head)
    }
}

/// A path as a pattern of attributes that means this path alone.
fn pattern(path: &[u8]) -> Vec<u8> {
    let mut text = b"\"/".to_vec();
    for byte in path {
        match byte {
            // A backslash before it for the pattern, and each backslash twice for the quotes.
            b'*' | b'?' | b'[' => text.extend([b'\\', b'\\', *byte]),
            b'\\' => text.extend(b"\\\\\\\\"),
            b'"' => text.extend(b"\\\""),
            b'\n' => text.extend(b"\\n"),
            _ => text.push(*byte),
        }
    }
    text.push(b'"');
    text
}
