//! Question that a person must approve before a run.

use std::path::Path;

use materia_compiler::Program;
use serde::Serialize;
use serde_json::{Value, json};

use super::agent_files::AgentFile;
use super::changes::Change;
use super::fact::Fact;
use super::{files, whole};
use crate::text::sanitize;

/// How much of a prompt is shown.
const PROMPT_CHARS_MAX: usize = 200;
/// Maximum changes that are shown.
const CHANGES_MAX: usize = 12;

/// Subject of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum About {
    /// The configuration of a project.
    Project,
    /// A cast that is there.
    Cast,
    /// Conformance cases, which are run.
    Cases,
}

/// Something that the user must approve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Subject of the question.
    pub about: About,
    /// Where it is written, and the files that would be run.
    pub files: Vec<String>,
    /// The programs that would be started.
    pub commands: Vec<Asked>,
    /// The agents that would be asked.
    pub agents: Vec<AskedAgent>,
    /// The files of the project from which they would take commands, hooks and servers.
    pub read: Vec<AgentFile>,
    /// Where turns may write, in sentences.
    pub writes: Vec<String>,
    /// Other settings, and remarks.
    pub settings: Vec<String>,
    /// Changes since the last approval; empty if there was none.
    pub changes: Vec<Change>,
    /// Hash of the content, which identifies the question.
    pub hash: String,
    /// Facts to store after the approval.
    #[serde(skip)]
    pub(super) news: Vec<Fact>,
}

/// A program that the user must approve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// Who starts it: a materia, an agent, a socket.
    pub materia: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Parameters and variables of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Value>,
    /// By what it may run code of the project that can change without another question: programs, scripts, variables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs_more: Vec<String>,
}

/// An agent that would be asked something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AskedAgent {
    /// Which materia, or which socket.
    pub materia: String,
    /// The tools it may use, if configured.
    pub tools: Option<String>,
    /// The model, likewise.
    pub model: Option<String>,
    /// The agent, likewise.
    pub provider: Option<String>,
    /// Beginning of its prompt.
    pub prompt: String,
    /// How long that is, in characters.
    pub prompt_chars: usize,
    /// The arguments of the command that shows all of it.
    pub shown_by: Vec<String>,
}

impl Asked {
    pub(super) fn of(program: &Program, project: &Path) -> Self {
        let runs_more = files::runs_more(project, program);
        let Program { by, command, params, env, cwd } = program;
        let mut given = serde_json::Map::new();
        if !params.is_empty() {
            given.insert("params".to_owned(), json!(params));
        }
        if !env.is_empty() {
            let env = env.iter().map(|(name, value)| (name.clone(), json!(value)));
            given.insert("env".to_owned(), env.collect());
        }
        if let Some(cwd) = cwd {
            given.insert("cwd".to_owned(), json!(cwd));
        }
        let given = (!given.is_empty()).then_some(Value::Object(given));
        Self { materia: by.clone(), command: command.clone(), given, runs_more }
    }

    fn lines(&self) -> Vec<String> {
        // As JSON, so that it is plain where one argument ends and what is in it.
        let command = serde_json::to_string(&self.command).unwrap_or_default();
        let line = format!("{}: {}", whole(&self.materia), whole(&command));
        let given = self.given.as_ref().map(|given| format!(" with {}", whole(&given.to_string())));
        let mut lines = vec![line + &given.unwrap_or_default()];
        if !self.runs_more.is_empty() {
            let by: Vec<String> = self.runs_more.iter().map(|by| whole(by)).collect();
            lines.push(format!(
                "  It may run code of this project that can change without another question, by: {}",
                by.join(", ")
            ));
        }
        lines
    }
}

impl AskedAgent {
    /// Request that a materia or a socket makes to an agent.
    pub(super) fn of(by: &str, content: &Value, shown_by: Vec<String>) -> Self {
        let word = |name: &str| content.get(name).and_then(Value::as_str).map(str::to_owned);
        let prompt = content.get("prompt").map(words).unwrap_or_default();
        let shown = |tools: &Value| tools.as_str().map_or_else(|| tools.to_string(), str::to_owned);
        let tools = content.get("tools").map(shown);
        Self {
            materia: by.to_owned(),
            tools,
            model: word("model"),
            provider: word("provider"),
            prompt_chars: prompt.chars().count(),
            prompt: sanitize::one_line(&prompt, PROMPT_CHARS_MAX),
            shown_by,
        }
    }

    /// `typed` makes a line that a person can type of the arguments that show the rest of a prompt.
    fn line(&self, typed: &dyn Fn(&str) -> String) -> String {
        let mut line = whole(&self.materia);
        let said = [("asks", &self.provider), ("model", &self.model), ("tools", &self.tools)];
        for (word, value) in said {
            if let Some(value) = value {
                line = format!("{line}, {word} {}", whole(value));
            }
        }
        if self.prompt_chars == 0 {
            return line;
        }
        line = format!("{line}, a prompt of {} characters: “{}”", self.prompt_chars, self.prompt);
        if self.prompt_chars > PROMPT_CHARS_MAX {
            let words: Vec<String> = self.shown_by.iter().map(|word| quoted(word)).collect();
            line = format!("{line}, whole by: {}", typed(&words.join(" ")));
        }
        line
    }
}

/// A word, quoted so that a shell reads it as one word.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-=:".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", whole(&word.replace('\'', "'\\''")))
}

/// The words of a prompt, whatever form it has.
fn words(prompt: &Value) -> String {
    let inner = ["words", "replace", "file"].iter().find_map(|name| prompt.get(*name));
    match (prompt, inner) {
        (Value::String(text), _) => text.clone(),
        (_, Some(inner)) => words(inner),
        (_, None) => String::new(),
    }
}

impl Question {
    pub(super) fn new(about: About, news: Vec<Fact>, changes: Vec<Change>) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("materia 2026-11-16 question of trust");
        for fact in &news {
            fact.identify(&mut hasher);
        }
        Self {
            about,
            files: Vec::new(),
            commands: Vec::new(),
            agents: Vec::new(),
            read: Vec::new(),
            writes: Vec::new(),
            settings: Vec::new(),
            changes,
            hash: hasher.finalize().to_hex().to_string(),
            news,
        }
    }

    /// The same question about other content.
    pub(super) fn again(&self, news: Vec<Fact>, changes: Vec<Change>) -> Self {
        let Self { hash, news, changes, .. } = Self::new(self.about, news, changes);
        Self { changes, hash, news, ..self.clone() }
    }

    /// The files, in one line.
    pub fn files(&self) -> String {
        let read = self.read.iter().map(|file| &file.path);
        let files: Vec<String> = self.files.iter().chain(read).map(|file| whole(file)).collect();
        files.join(", ")
    }

    /// Subject in a few words.
    pub fn subject(&self) -> String {
        match self.about {
            About::Project => {
                format!("what this project's own configuration does ({})", self.files())
            }
            About::Cast => format!("what this cast does ({})", self.files()),
            About::Cases => format!("the commands of these cases ({})", self.files()),
        }
    }

    /// Everything, every command and setting whole: what a person approves, that person has seen. `typed` makes a line that
    /// a person can type of the arguments that show the rest of a prompt.
    pub fn whole(&self, typed: &dyn Fn(&str) -> String) -> String {
        // The end is what stands above the question, however much there is.
        format!("{}\n  in all: {}", self.list(typed), self.count())
    }

    fn count(&self) -> String {
        let counted = [
            (self.commands.len(), "program"),
            (self.agents.len(), "agent"),
            (self.read.len(), "agents' file"),
            (self.settings.len(), "setting"),
            (self.changes.len(), "change"),
        ];
        let told = counted.iter().map(|(count, name)| {
            let many = if *count == 1 { "" } else { "s" };
            format!("{count} {name}{many}")
        });
        told.collect::<Vec<_>>().join(", ")
    }

    fn list(&self, typed: &dyn Fn(&str) -> String) -> String {
        let mut lines: Vec<String> = Vec::new();
        section(&mut lines, "runs", self.commands.iter().flat_map(Asked::lines));
        section(&mut lines, "asks agents", self.agents.iter().map(|agent| agent.line(typed)));
        let read = "agents take commands, hooks and servers from";
        section(&mut lines, read, self.read.iter().map(AgentFile::line));
        section(&mut lines, "may write", self.writes.iter().cloned());
        section(&mut lines, "settles", self.settings.iter().cloned());
        let told = self.changes.iter().take(CHANGES_MAX).flat_map(Change::lines);
        section(&mut lines, "since it was approved last", told);
        if let Some(more) = self.changes.len().checked_sub(CHANGES_MAX).filter(|more| *more > 0) {
            lines.push(format!("    … and {more} more changes"));
        }
        lines.join("\n")
    }
}

fn section(lines: &mut Vec<String>, title: &str, entries: impl Iterator<Item = String>) {
    let mut entries = entries.map(|entry| format!("    {entry}")).peekable();
    if entries.peek().is_some() {
        lines.push(format!("  {title}:"));
        lines.extend(entries);
    }
}
