//! Asking a person about what would run.

use std::io::BufRead;

use materia_app::trust::Question;

use crate::failure::Failure;
use crate::terminal::Terminal;

/// Approved by the person at the terminal; refused otherwise.
pub(crate) fn ask(question: &Question, terminal: &Terminal) -> Result<(), Failure> {
    if !terminal.can_ask {
        return Err(Failure::trust(format!(
            "nobody has approved {}:\n{}\nNothing ran. Look at it, then run this again with --trust",
            question.subject(),
            question.in_short()
        )));
    }
    terminal.say(format_args!("Nobody has approved {}:\n{}", question.subject(), question.whole()));
    terminal.err.write("Approve it? [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    let yes = read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes" | "Yes" | "YES");
    if yes { Ok(()) } else { Err(Failure::trust("it was not approved; nothing ran")) }
}
