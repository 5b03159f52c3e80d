//! Asking a person about commands.

use std::io::BufRead;

use materia_app::trust::Question;

use crate::failure::Failure;
use crate::terminal::Terminal;

/// Approved by the person at the terminal; refused otherwise.
pub(crate) fn ask(question: &Question, terminal: &Terminal) -> Result<(), Failure> {
    if !terminal.can_ask {
        return Err(Failure::trust(format!(
            "nobody has approved the commands of {}:\n{}\nlook at them, then run this again with --trust",
            question.files(),
            question.in_short()
        )));
    }
    terminal.say(format_args!(
        "This project brings its own commands, in {}:\n{}",
        question.files(),
        question.whole()
    ));
    terminal.err.write("Run these commands? [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    let yes = read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes" | "Yes" | "YES");
    if yes { Ok(()) } else { Err(Failure::trust("the commands were not approved; nothing ran")) }
}
