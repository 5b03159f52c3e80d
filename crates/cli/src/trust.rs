//! Asking a person about what would run.

use materia_app::trust::Question;

use crate::failure::Failure;
use crate::project::Project;
use crate::terminal::Terminal;

/// Approved by the person at the terminal; refused otherwise.
pub(crate) fn ask(
    question: &Question,
    project: &Project,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let (subject, whole) = (question.subject(), question.whole(&|words| project.command(words)));
    if !terminal.can_ask {
        return Err(Failure::trust(format!(
            "not approved yet: {subject}\n{whole}\nNothing ran. Look at it, then run this again with --trust"
        )));
    }
    terminal.say(format_args!("Not approved yet: {subject}\n{whole}"));
    if terminal.confirms("Approve it?") {
        Ok(())
    } else {
        Err(Failure::trust("it was not approved; nothing ran"))
    }
}
