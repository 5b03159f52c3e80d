//! Asking a person about commands.

use std::io::BufRead;

use crate::clean;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// How many commands are listed.
const LISTED_MAX: usize = 50;
/// How much of a command is shown where it is only named.
const COMMAND_CHARS_MAX: usize = 300;

/// Commands that somebody must approve.
pub(super) struct Question<'a> {
    /// Where they are written.
    pub(super) files: &'a [String],
    /// Materia and command.
    pub(super) commands: Vec<(&'a str, &'a [String])>,
}

impl Question<'_> {
    /// Approved beforehand, or by the person at the terminal; refused otherwise.
    pub(super) fn settle(&self, approved: bool, terminal: &Terminal) -> Result<(), Failure> {
        if approved {
            return Ok(());
        }
        if !terminal.can_ask {
            return Err(Failure::trust(format!(
                "nobody has approved the commands of {}:\n{}\nlook at them, then run this again with --trust",
                self.files(),
                self.list(COMMAND_CHARS_MAX)
            )));
        }
        // Here nothing is left out: what a person approves, that person has seen.
        terminal.say(format_args!(
            "This project brings its own commands, in {}:\n{}",
            self.files(),
            self.list(usize::MAX)
        ));
        terminal.err.write("Run these commands? [y/N] ");
        let mut answer = String::new();
        let read = std::io::stdin().lock().read_line(&mut answer);
        let yes = read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes" | "Yes" | "YES");
        if yes {
            Ok(())
        } else {
            Err(Failure::trust("the commands were not approved; nothing ran"))
        }
    }

    fn files(&self) -> String {
        let files: Vec<String> =
            self.files.iter().map(|file| clean::one_line(file, COMMAND_CHARS_MAX)).collect();
        files.join(", ")
    }

    fn list(&self, chars_max: usize) -> String {
        let most = if chars_max == usize::MAX { usize::MAX } else { LISTED_MAX };
        let mut lines: Vec<String> = Vec::new();
        for (materia, command) in self.commands.iter().take(most) {
            // As JSON, so that it is plain where one argument ends and what is in it.
            let command = serde_json::to_string(command).unwrap_or_default();
            let materia = clean::one_line(materia, COMMAND_CHARS_MAX);
            lines.push(format!("  {materia}: {}", clean::one_line(&command, chars_max)));
        }
        if let Some(more) = self.commands.len().checked_sub(most).filter(|more| *more > 0) {
            lines.push(format!("  … and {more} more"));
        }
        lines.join("\n")
    }
}
