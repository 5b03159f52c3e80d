//! Differences between trees or commits.

use crate::fault::Fault;
use crate::git::{Git, LIST_BYTES_MAX};
use crate::look::check_object;
use crate::project::Project;
use crate::workspace::Workspace;

/// Without external programs, and without a look into submodules.
const PLAIN: [&str; 6] =
    ["diff-tree", "-r", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none"];

/// Limits of a difference.
#[derive(Debug, Clone, Copy)]
pub struct DiffOptions {
    /// The most bytes of text; none is made for 0.
    pub text_bytes_max: usize,
    /// Lines around a change.
    pub context: u32,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self { text_bytes_max: 256 * 1024, context: 3 }
    }
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Its path from the top of the repository; what is no UTF-8 is replaced.
    pub path: String,
    /// Lines that came; `None` if it is not text.
    pub added: Option<u64>,
    /// Lines that went.
    pub removed: Option<u64>,
}

/// A difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The files, in the order of their paths.
    pub files: Vec<FileChange>,
    /// The text, cut at the end of a line.
    pub text: String,
    /// Whether the text was cut.
    pub cut: bool,
}

impl Workspace {
    /// The difference between two trees or commits of the workspace.
    pub fn diff(&self, from: &str, to: &str, options: DiffOptions) -> Result<Diff, Fault> {
        diff(&self.git(), from, to, options)
    }
}

impl Project {
    /// The difference between two trees or commits in the user's repository: of a cast that was published.
    pub fn diff(&self, from: &str, to: &str, options: DiffOptions) -> Result<Diff, Fault> {
        diff(&self.git(), from, to, options)
    }
}

fn diff(git: &Git, from: &str, to: &str, options: DiffOptions) -> Result<Diff, Fault> {
    check_object(from)?;
    check_object(to)?;
    let files = files(git, from, to)?;
    if options.text_bytes_max == 0 {
        return Ok(Diff { files, text: String::new(), cut: true });
    }
    let context = format!("-U{}", options.context);
    let words = PLAIN.into_iter().chain(["--patch", "--full-index", &context]);
    let words = words.chain(["--end-of-options", from, to]);
    let said = git.call(words).most(options.text_bytes_max).run()?;
    if said.status != 0 {
        return Err(Fault::Unusable(format!("`git diff-tree` failed: {}", said.error)));
    }
    let mut text = said.out;
    if said.cut {
        let end = text.iter().rposition(|byte| *byte == b'\n');
        text.truncate(end.map_or(0, |end| end + 1));
    }
    Ok(Diff { files, text: String::from_utf8_lossy(&text).into_owned(), cut: said.cut })
}

/// The files that differ.
pub(crate) fn files(git: &Git, from: &str, to: &str) -> Result<Vec<FileChange>, Fault> {
    let words = PLAIN.into_iter().chain(["--numstat", "-z", "--no-renames"]);
    let words = words.chain(["--end-of-options", from, to]);
    let list = git.call(words).most(LIST_BYTES_MAX).bytes()?;
    let mut files = Vec::new();
    for entry in list.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let entry = String::from_utf8_lossy(entry);
        let mut fields = entry.splitn(3, '\t');
        if let (Some(added), Some(removed), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        {
            let (added, removed) = (added.parse().ok(), removed.parse().ok());
            files.push(FileChange { path: path.to_owned(), added, removed });
        }
    }
    Ok(files)
}
