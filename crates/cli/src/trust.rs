//! Asking a person about commands.

use std::io::BufRead;
use std::path::Path;

use materia_app::trust::{self, Question};
use materia_compiler::{Compiled, Loaded, ProjectCommand};
use materia_contract::Plan;

use crate::failure::Failure;
use crate::terminal::Terminal;

/// Makes sure that a plan may run, and remembers it for the time it is resumed.
pub(crate) struct Trust<'a> {
    /// The folder of the user's profile.
    pub profile: Option<&'a Path>,
    /// The project.
    pub project: &'a Path,
    /// Whether the person approved beforehand.
    pub approved: bool,
}

impl Trust<'_> {
    /// Refuses a cast whose commands nobody has approved.
    pub(crate) fn allows_cast(
        &self,
        loaded: &Loaded,
        compiled: &Compiled,
        terminal: &Terminal,
    ) -> Result<(), Failure> {
        self.allows_commands(loaded, &compiled.commands, terminal)?;
        terminal.warned(|warnings| self.trust().begins(&compiled.plan, warnings));
        Ok(())
    }

    /// Refuses commands of the project's own configuration that nobody has approved.
    pub(crate) fn allows_commands(
        &self,
        loaded: &Loaded,
        commands: &[ProjectCommand],
        terminal: &Terminal,
    ) -> Result<(), Failure> {
        let asked = terminal.warned(|warnings| self.trust().asks(loaded, commands, warnings));
        self.settled(asked.as_ref(), terminal)
    }

    /// Refuses to carry on a cast whose plan this machine has never begun.
    pub(crate) fn allows_resume(&self, plan: &Plan, terminal: &Terminal) -> Result<(), Failure> {
        let asked = terminal.warned(|warnings| self.trust().asks_to_resume(plan, warnings));
        self.settled(asked.as_ref(), terminal)
    }

    fn settled(&self, asked: Option<&Question>, terminal: &Terminal) -> Result<(), Failure> {
        let Some(question) = asked else { return Ok(()) };
        if !self.approved {
            ask(question, terminal)?;
        }
        terminal.warned(|warnings| self.trust().approve(question, warnings));
        Ok(())
    }

    fn trust(&self) -> trust::Trust<'_> {
        trust::Trust { profile: self.profile, project: self.project }
    }
}

/// Approved by the person at the terminal; refused otherwise.
fn ask(question: &Question, terminal: &Terminal) -> Result<(), Failure> {
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
