//! What somebody must approve before it may run.

use serde::Serialize;

use super::store::Entry;
use crate::clean;

/// How many commands are listed where they are only named.
const LISTED_MAX: usize = 50;
/// How much of a command is shown where it is only named.
const COMMAND_CHARS_MAX: usize = 300;

/// Commands that somebody must approve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Where they are written.
    pub files: Vec<String>,
    /// The commands.
    pub commands: Vec<Asked>,
    /// What names this question: another content is another question.
    pub hash: String,
    /// What is remembered when it is approved.
    #[serde(skip)]
    news: Vec<Entry>,
}

/// A command that somebody must approve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// The materia that runs it.
    pub materia: String,
    /// The program and its arguments.
    pub command: Vec<String>,
}

impl Question {
    pub(super) fn new<'c>(
        files: Vec<String>,
        commands: impl Iterator<Item = (&'c str, &'c [String])>,
        news: Vec<Entry>,
    ) -> Self {
        let commands = commands
            .map(|(materia, command)| Asked {
                materia: materia.to_owned(),
                command: command.to_vec(),
            })
            .collect();
        let mut hasher = blake3::Hasher::new_derive_key("materia 2026-11-16 question of trust");
        for entry in &news {
            entry.identify(&mut hasher);
        }
        Self { files, commands, hash: hasher.finalize().to_hex().to_string(), news }
    }

    pub(super) fn news(&self) -> &[Entry] {
        &self.news
    }

    /// The files, in one line.
    #[must_use]
    pub fn files(&self) -> String {
        let files: Vec<String> =
            self.files.iter().map(|file| clean::one_line(file, COMMAND_CHARS_MAX)).collect();
        files.join(", ")
    }

    /// Every command whole, one a line: what a person approves, that person has seen.
    #[must_use]
    pub fn whole(&self) -> String {
        self.list(usize::MAX, usize::MAX)
    }

    /// The commands as far as they fit, one a line.
    #[must_use]
    pub fn in_short(&self) -> String {
        self.list(LISTED_MAX, COMMAND_CHARS_MAX)
    }

    fn list(&self, most: usize, chars_max: usize) -> String {
        let mut lines: Vec<String> = Vec::new();
        for Asked { materia, command } in self.commands.iter().take(most) {
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
