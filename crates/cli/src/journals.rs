//! Prompts for the approval of a foreign journal.

use std::path::Path;

use materia_app::archive;
use materia_app::views::subject::Subject;

use crate::args::Global;
use crate::failure::Failure;
use crate::project::{Found, Project};
use crate::terminal::Terminal;

/// The cast in a journal that may be written to. A foreign one becomes the user's own, if a person vouches for it.
pub(crate) fn own(
    project: &Project,
    found: Found,
    trusted: bool,
    terminal: &Terminal,
) -> Result<Found, Failure> {
    if !found.is_foreign() {
        return Ok(found);
    }
    ask(project, &found.root, trusted, terminal)?;
    Ok(terminal.warned(|warnings| project.adopt_found(found, warnings))?)
}

/// Makes sure that the journal in a folder, if there is one, may be written to.
pub(crate) fn own_at(
    project: &Project,
    root: &Path,
    trusted: bool,
    terminal: &Terminal,
) -> Result<(), Failure> {
    if project.has_foreign_journal(root)? {
        ask(project, root, trusted, terminal)?;
        terminal.warned(|warnings| project.adopt(root, warnings))?;
    }
    Ok(())
}

/// The cast or archive that the user named, to read it. An altered archive is shown with a warning.
pub(crate) fn open(
    id: &str,
    global: &Global,
    terminal: &Terminal,
) -> Result<(Project, Subject), Failure> {
    if !archive::is_meant(id) {
        let (project, found) = look(id, global, terminal)?;
        return Ok((project, Subject::Cast(found)));
    }
    let project = Project::here(global)?;
    let archive = archive::open(Path::new(id))?;
    if let Some(altered) = archive.altered() {
        terminal.say(format_args!("warning: `{}` was altered: {altered}", archive.name()));
    }
    Ok((project, Subject::Archive(Box::new(archive))))
}

/// The cast that the user named, to read it. A note is printed if its journal is foreign.
pub(crate) fn look(
    id: &str,
    global: &Global,
    terminal: &Terminal,
) -> Result<(Project, Found), Failure> {
    let (project, found) = Project::with_cast(id, global)?;
    if found.is_foreign() {
        let file = project.shown(&project.journal_file(&found.root));
        terminal.say(format_args!(
            "note: `{file}` was not begun here by your materia; it is only read"
        ));
    }
    Ok((project, found))
}

fn ask(project: &Project, root: &Path, trusted: bool, terminal: &Terminal) -> Result<(), Failure> {
    if trusted {
        return Ok(());
    }
    let file = project.shown(&project.journal_file(root));
    let why = format!(
        "`{file}` was not begun here by your materia: it came with the project, or was copied or restored. Its author can decide what its casts do next"
    );
    if !terminal.can_ask {
        let looks = ["casts", "replay ID"].map(|words| format!("`{}`", project.command(words)));
        return Err(Failure::trust(format!(
            "{why}. Nothing was done. Look at it with {} and {}; if it is yours, run this again with --trust-journal, otherwise move it out of the way",
            looks[0], looks[1]
        )));
    }
    terminal.say(format_args!("{why}."));
    let yes = terminal.confirms("Is it yours, and may it be carried on?");
    if yes { Ok(()) } else { Err(Failure::trust("the journal was left alone; nothing ran")) }
}
