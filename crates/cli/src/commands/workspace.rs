use clap::Args;
use materia_app::cast::workspace;
use materia_contract::body::WorkspaceBody;

use crate::args::Global;
use crate::failure::{Ended, Exit, Failure};
use crate::journals;
use crate::project::Project;
use crate::sanitize::{clean, one_line};
use crate::terminal::Terminal;

/// How many commits and files are listed.
const LISTED_MAX: usize = 50;
/// The widest line of a commit.
const SUBJECT_CHARS_MAX: usize = 100;

/// Show the workspace of a cast: its folder, commits and changed files
///
/// A cast with `--workspace own` works in a copy of the repository. When it completes, its result is the branch
/// `materia/ID` of your repository.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  materia workspace last\n  materia workspace last --diff\n  materia workspace last --apply\n  materia workspace last --drop"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct WorkspaceArgs {
    /// The cast: its id, the beginning of it, or `last`
    #[arg(value_name = "ID")]
    id: String,
    /// Print what it changed since its base
    #[arg(long, conflicts_with_all = ["apply", "drop"])]
    diff: bool,
    /// Merge its branch into your checkout, or refuse and change nothing
    #[arg(long, conflicts_with = "drop")]
    apply: bool,
    /// Remove its workspace, branch and refs, after a question
    #[arg(long)]
    drop: bool,
    /// Remove without asking
    #[arg(long, requires = "drop")]
    yes: bool,
    /// Trust a journal that your materia did not begin here
    #[arg(long)]
    trust_journal: bool,
}

/// Runs `workspace`.
pub(crate) fn workspace(args: &WorkspaceArgs, global: &Global, terminal: &mut Terminal) -> Ended {
    let (project, found) = Project::with_cast(&args.id, global)?;
    let found = if args.apply || args.drop {
        journals::own(&project, found, args.trust_journal, terminal)?
    } else {
        found
    };
    let (run, _) = materia_engine::load(found.journal(), &found.id)?;
    let created = run
        .created()
        .ok_or_else(|| Failure::storage(format!("cast `{}` has no beginning", found.id)))?;
    if args.diff {
        let diff = workspace::diff(&project, &found.id, created, None)?;
        if terminal.json {
            terminal.data(&diff)?;
            return Ok(Exit::Done);
        }
        write!(terminal.out, "{}", clean(&diff.text))?;
        if diff.cut {
            terminal.say("note: the diff is longer; it was cut here");
        }
        return Ok(Exit::Done);
    }
    if args.apply {
        terminal.say(workspace::apply(&project, &found.id, created)?);
    } else if args.drop {
        let report = workspace::report(&project, &found.id, created)?;
        if !args.yes {
            ask(&report, terminal)?;
        }
        workspace::discard(&project, &found.id, created, run.phase().status())?;
        terminal.say(format_args!("removed the workspace, branch and refs of `{}`", found.id));
        return Ok(Exit::Done);
    }
    let report = workspace::report(&project, &found.id, created)?;
    if terminal.json {
        terminal.data(&report)?;
    } else {
        tell(&report, &project, terminal)?;
    }
    Ok(Exit::Done)
}

/// Asks before something is removed that may be nowhere else.
fn ask(report: &WorkspaceBody, terminal: &Terminal) -> Result<(), Failure> {
    let id = &report.cast_id;
    let commits = report.commits.len();
    let state = match (report.merged, report.files.len()) {
        (true, _) => "its branch is merged".to_owned(),
        (false, 0) => "it changed nothing".to_owned(),
        (false, files) => format!("its branch is not merged: {commits} commits, {files} files"),
    };
    if !terminal.can_ask {
        return Err(Failure::usage(format!(
            "nothing was removed, because nobody can be asked here; `--yes` removes the workspace, branch and refs of `{id}` without asking ({state})"
        )));
    }
    if terminal.confirms(&format!("Remove the workspace, branch and refs of `{id}` ({state})?")) {
        return Ok(());
    }
    Err(Failure::usage("nothing was removed"))
}

fn tell(report: &WorkspaceBody, project: &Project, terminal: &mut Terminal) -> Result<(), Failure> {
    let out = &mut terminal.out;
    let id = &report.cast_id;
    if report.kind == "project" {
        writeln!(out, "cast `{id}` works in the project folder {}", project.dir.display())?;
        return Ok(());
    }
    match &report.checkout {
        Some(checkout) => writeln!(out, "folder    {checkout}")?,
        None => writeln!(out, "folder    removed")?,
    }
    if let Some(base) = &report.base {
        writeln!(out, "base      {base}")?;
    }
    match (&report.branch, &report.published) {
        (Some(branch), Some(commit)) => {
            let merged = if report.merged { ", merged" } else { "" };
            writeln!(out, "branch    {branch} at {commit}{merged}")?;
        }
        _ => writeln!(out, "branch    not published")?,
    }
    writeln!(out, "commits   {}", report.commits.len())?;
    for commit in report.commits.iter().take(LISTED_MAX) {
        let short: String = commit.id.chars().take(12).collect();
        writeln!(out, "  {short} {}", one_line(&commit.subject, SUBJECT_CHARS_MAX))?;
    }
    writeln!(out, "files     {}", report.files.len())?;
    for file in report.files.iter().take(LISTED_MAX) {
        let lines = match (file.added, file.removed) {
            (Some(added), Some(removed)) => format!("+{added} -{removed}"),
            _ => "binary".to_owned(),
        };
        writeln!(out, "  {} {lines}", one_line(&file.path, usize::MAX))?;
    }
    if report.published.is_some() && !report.merged {
        let words = project.command(&format!("workspace {id} --apply"));
        writeln!(out, "get it    {words}")?;
    }
    Ok(())
}
