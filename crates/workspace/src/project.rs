//! The user's repository, read without its settings, and the conditions for a workspace of it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use materia_safe_fs::{Folder, Temporary};

use crate::fault::{At as _, Fault};
use crate::git::{Git, LIST_BYTES_MAX, version};
use crate::location::real;
use crate::ref_list::is_id;
use crate::repository::Repository;
use crate::settings::{Identity, PATTERNS_BYTES_MAX, Settings, quote};

/// The oldest git that can take attributes from a commit.
const VERSION_MIN: (u32, u32) = (2, 41);
/// How many files a refusal names.
const NAMED_MAX: usize = 5;

/// A reason why a project cannot have workspaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason, for programs.
    pub code: RefusalCode,
    /// The reason in words, with what to do.
    pub message: String,
}

impl Refusal {
    fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// The reasons why a project cannot have workspaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalCode {
    /// git is not installed.
    NoGit,
    /// git is older than 2.41.
    OldGit,
    /// The folder is in no repository.
    NoRepository,
    /// The repository has no commit.
    NoCommit,
    /// The state folder is inside the repository.
    StateInside,
    /// Tracked files have a `filter` attribute.
    Filter,
    /// The repository is a partial clone.
    PartialClone,
    /// A branch is named `materia`.
    BranchInTheWay,
    /// The repository keeps its refs in a format that this version cannot read.
    RefFormat,
    /// git could not read the repository.
    Unreadable,
}

impl RefusalCode {
    /// Its stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoGit => "no_git",
            Self::OldGit => "old_git",
            Self::NoRepository => "no_repository",
            Self::NoCommit => "no_commit",
            Self::StateInside => "state_inside",
            Self::Filter => "filter",
            Self::PartialClone => "partial_clone",
            Self::BranchInTheWay => "branch_in_the_way",
            Self::RefFormat => "ref_format",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Where a workspace begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The commit of the project's HEAD.
    pub commit: String,
    /// Its tree.
    pub tree: String,
    /// The version of git.
    pub git_version: String,
    /// Who makes the commits of the runtime.
    pub identity: Identity,
    /// Sentences that people should read at the start.
    pub notes: Vec<String>,
    /// Files with uncommitted changes, untracked ones included.
    pub uncommitted: u64,
}

/// The user's repository as found from a project's folder.
#[derive(Debug)]
pub struct Project {
    pub(crate) repository: Repository,
    pub(crate) settings: Settings,
    /// A git folder with our settings and the repository's refs and objects.
    pub(crate) view: Temporary,
}

impl Project {
    /// Finds the repository that contains a folder. `None` if there is none.
    pub fn find(project_dir: &Path) -> Result<Option<Self>, Fault> {
        let folder = real(project_dir);
        let Some(repository) = Repository::of(&folder) else { return Ok(None) };
        let settings = Settings::of(&repository)?;
        let view = Temporary::new("view").at("make a folder in", &std::env::temp_dir())?;
        let made = view.folder();
        let mut text = settings.text(false);
        for (setting, usual) in [("excludesFile", "ignore"), ("attributesFile", "attributes")] {
            let file = settings.user_file(&format!("core.{}", setting.to_lowercase()), usual);
            if let Some(file) = file.filter(|it| it.is_file()) {
                let file = quote(&file.to_string_lossy());
                let _ = write!(text, "[core]\n\t{setting} = {file}\n");
            }
        }
        made.write("config", text.as_bytes()).at("write", view.path())?;
        made.new_folder("info").at("make", view.path())?;
        let common = real(&repository.common);
        for name in ["objects", "refs", "packed-refs", "shallow", "logs"] {
            let from = common.join(name);
            let found = from.metadata();
            let fits = match name {
                "objects" | "refs" => true,
                "logs" => found.is_ok_and(|it| it.is_dir()),
                // git would wait for a pipe.
                _ => found.is_ok_and(|it| it.is_file()) || from.symlink_metadata().is_err(),
            };
            if !fits {
                continue;
            }
            made.link(name, &from).at("link", &from)?;
        }
        // Patterns of the repository that are in no commit.
        for name in ["info/exclude", "info/attributes"] {
            let read = Folder::at(&common).and_then(|it| it.read(name, PATTERNS_BYTES_MAX));
            if let Ok(bytes) = read {
                made.write(name, &bytes).at("write", view.path())?;
            }
        }
        let own = Folder::at(&repository.own).at("open", &repository.own)?;
        let head = own.read("HEAD", 4096).unwrap_or_else(|_| b"ref: refs/heads/none\n".to_vec());
        made.write("HEAD", &head).at("write", view.path())?;
        if let Ok(names) = own.names() {
            for name in names.iter().filter(|it| it.as_encoded_bytes().starts_with(b"sharedindex."))
            {
                made.link(name, &repository.own.join(name)).at("link", view.path())?;
            }
        }
        Ok(Some(Self { repository, settings, view }))
    }

    /// The same; a folder without a repository is an error.
    pub fn open(project_dir: &Path) -> Result<Self, Fault> {
        let missing = || {
            let folder = project_dir.display();
            Fault::Unusable(format!("`{folder}` is in no git repository any more"))
        };
        Self::find(project_dir)?.ok_or_else(missing)
    }

    /// The top of its work tree.
    pub fn top(&self) -> &Path {
        &self.repository.top
    }

    /// git with the repository's refs and objects.
    pub(crate) fn git(&self) -> Git {
        Git::new(self.view.path())
    }

    /// The same with the user's files and index, which is only read.
    pub(crate) fn git_with_files(&self) -> Git {
        self.git().top(&self.repository.top).index(&self.repository.own.join("index"))
    }

    pub(crate) fn objects(&self) -> PathBuf {
        real(&self.repository.common).join("objects")
    }

    /// The id that a ref leads to.
    pub(crate) fn id_of(&self, name: &str) -> Result<Option<String>, Fault> {
        id_of(&self.git(), name)
    }

    /// The content of a file of patterns of the user's.
    pub(crate) fn user_patterns(&self, setting: &str, usual: &str) -> Option<Vec<u8>> {
        let file = self.settings.user_file(setting, usual)?;
        let folder = Folder::at(file.parent()?).ok()?;
        folder.read(file.file_name()?, PATTERNS_BYTES_MAX).ok()
    }

    /// Whether attributes come from elsewhere than from commits.
    pub(crate) fn has_attributes(&self) -> bool {
        self.view.folder().has("info/attributes")
            || self.user_patterns("core.attributesfile", "attributes").is_some()
    }
}

/// The id that a ref leads to; `None` if there is no such ref.
pub(crate) fn id_of(git: &Git, name: &str) -> Result<Option<String>, Fault> {
    let said = git.call(["rev-parse", "--quiet", "--verify", "--end-of-options", name]).run()?;
    let id = String::from_utf8_lossy(&said.out).trim().to_owned();
    Ok(is_id(&id).then_some(id))
}

/// The version of git, and whether it is new enough for workspaces. `None` if there is no git.
pub fn git_version() -> Option<(String, bool)> {
    let (text, numbers) = version().ok()?;
    Some((text, numbers >= VERSION_MIN))
}

/// Looks whether a project can have workspaces, and where one would begin. Says all reasons against it at once.
pub fn examine(project_dir: &Path, state_dir: &Path) -> Result<Base, Vec<Refusal>> {
    use RefusalCode as Code;
    let mut against = Vec::new();
    let git_version = match version() {
        Ok((text, numbers)) => {
            if numbers < VERSION_MIN {
                let message = format!("workspaces need git 2.41 or newer; this is {text}");
                against.push(Refusal::new(Code::OldGit, message));
            }
            text
        }
        Err(fault) => return Err(vec![Refusal::new(Code::NoGit, fault.to_string())]),
    };
    let unreadable = |fault: Fault| Refusal::new(Code::Unreadable, fault.to_string());
    let project = match Project::find(project_dir) {
        Ok(Some(project)) => project,
        Ok(None) => {
            let folder = project_dir.display();
            let message =
                format!("`{folder}` is in no git repository with files; run `git init` and commit");
            against.push(Refusal::new(Code::NoRepository, message));
            return Err(against);
        }
        Err(fault) => {
            against.push(unreadable(fault));
            return Err(against);
        }
    };
    against.extend(about_settings(&project, state_dir));
    if against.iter().any(|it| matches!(it.code, Code::RefFormat | Code::OldGit)) {
        return Err(against);
    }
    let found = about_content(&project, &mut against);
    let (commit, tree, notes, uncommitted) = match found {
        Ok(Some(found)) => found,
        Ok(None) => return Err(against),
        Err(fault) => {
            against.push(unreadable(fault));
            return Err(against);
        }
    };
    if !against.is_empty() {
        return Err(against);
    }
    let identity = project.settings.identity();
    Ok(Base { commit, tree, git_version, identity, notes, uncommitted })
}

/// Reasons that settings and places give.
fn about_settings(project: &Project, state_dir: &Path) -> Vec<Refusal> {
    let mut against = Vec::new();
    let top = &project.repository.top;
    let state = real_below(state_dir);
    if state.starts_with(top) || state.starts_with(real(&project.repository.common)) {
        let (state, top) = (state_dir.display(), top.display());
        let message = format!(
            "the state folder `{state}` lies inside the repository `{top}`; set MATERIA_STATE_DIR to a folder outside"
        );
        against.push(Refusal::new(RefusalCode::StateInside, message));
    }
    let promised = |(name, value): (&str, &str)| {
        name == "extensions.partialclone"
            || (name.starts_with("remote.") && name.ends_with(".promisor") && value != "false")
    };
    if project.settings.own().any(promised) {
        let message = "the repository is a partial clone, so files may be missing; fetch everything with `git fetch --refetch --no-filter`, or clone again without `--filter`";
        against.push(Refusal::new(RefusalCode::PartialClone, message));
    }
    if let Some(("extensions.refstorage", format)) = project
        .settings
        .own()
        .find(|(name, value)| *name == "extensions.refstorage" && *value != "files")
    {
        let message = format!(
            "the repository keeps its refs in the format `{format}`; workspaces need `files` (`git refs migrate --ref-format=files`)"
        );
        against.push(Refusal::new(RefusalCode::RefFormat, message));
    }
    against
}

type Found = (String, String, Vec<String>, u64);

/// Reasons that commits, refs and files give, and where a workspace would begin.
fn about_content(project: &Project, against: &mut Vec<Refusal>) -> Result<Option<Found>, Fault> {
    let git = project.git();
    for name in ["refs/heads/materia", "refs/materia"] {
        if project.id_of(name)?.is_some() {
            let short = name.trim_start_matches("refs/heads/");
            let message = format!(
                "a branch is named `{short}`, so that none can be named `materia/…`; rename it with `git branch -m {short} NAME`"
            );
            against.push(Refusal::new(RefusalCode::BranchInTheWay, message));
        }
    }
    let Some(commit) = id_of(&git, "HEAD^{commit}")? else {
        let message = "the repository has no commit yet; commit the files first";
        against.push(Refusal::new(RefusalCode::NoCommit, message));
        return Ok(None);
    };
    let tree = git.text(["rev-parse", "--verify", &format!("{commit}^{{tree}}")])?;
    let list = git.call(["ls-tree", "-r", "-z", &tree]).most(LIST_BYTES_MAX).bytes()?;
    let entries = list.split(|byte| *byte == 0).filter_map(|entry| {
        let tab = entry.iter().position(|byte| *byte == b'\t')?;
        Some((&entry[..tab], &entry[tab + 1..]))
    });
    let (mut submodules, mut attributes, mut paths) =
        (0_u64, false, Vec::with_capacity(list.len()));
    for (about, path) in entries {
        submodules += u64::from(about.starts_with(b"160000 "));
        attributes |= path == b".gitattributes" || path.ends_with(b"/.gitattributes");
        paths.extend_from_slice(path);
        paths.push(0);
    }
    if attributes || project.has_attributes() {
        let filtered = filtered(project, &commit, paths)?;
        if !filtered.is_empty() {
            let message = format!(
                "files have a `filter` attribute (LFS, git-crypt), and no filter runs in a workspace: {}",
                some_of(&filtered)
            );
            against.push(Refusal::new(RefusalCode::Filter, message));
        }
    }
    let mut notes = Vec::new();
    if submodules > 0 {
        notes.push(format!("submodules stay empty in the workspace ({submodules})"));
    }
    if project.repository.top.join(".jj").is_dir() {
        notes.push("this is a jj project; its workspace is plain git".to_owned());
    }
    let words = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"];
    let status =
        project.git_with_files().call(words.into_iter().chain(["--ignore-submodules=all"]));
    let status = status.most(LIST_BYTES_MAX).bytes()?;
    let uncommitted = status.split(|byte| *byte == 0).filter(|it| !it.is_empty()).count() as u64;
    Ok(Some((commit, tree, notes, uncommitted)))
}

/// Which of these paths have a filter.
fn filtered(project: &Project, commit: &str, paths: Vec<u8>) -> Result<Vec<String>, Fault> {
    let git = project.git().top(&project.repository.top).attributes(commit);
    let call = git.call(["check-attr", "-z", "--stdin", "filter"]);
    let list = call.input(paths).most(LIST_BYTES_MAX).bytes()?;
    let mut fields = list.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let (Some(path), Some(_), Some(value)) = (fields.next(), fields.next(), fields.next()) {
        if !matches!(value, b"unspecified" | b"unset" | b"set") {
            found.push(String::from_utf8_lossy(path).into_owned());
        }
    }
    Ok(found)
}

/// The first few of a list, and how many more there are.
pub(crate) fn some_of(all: &[String]) -> String {
    let named: Vec<String> = all.iter().take(NAMED_MAX).map(|it| format!("`{it}`")).collect();
    let more = all.len() - named.len();
    let named = named.join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

/// The path without links of something that may not exist yet.
fn real_below(path: &Path) -> PathBuf {
    let there = path.ancestors().find(|it| fs::symlink_metadata(it).is_ok());
    match there.and_then(|there| Some((there.canonicalize().ok()?, path.strip_prefix(there).ok()?)))
    {
        Some((real, rest)) if !rest.as_os_str().is_empty() => real.join(rest),
        Some((real, _)) => real,
        None => path.to_owned(),
    }
}
