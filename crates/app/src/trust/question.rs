//! What somebody must approve before it may run.

use materia_compiler::Program;
use serde::Serialize;
use serde_json::{Value, json};

use super::changes::Change;
use super::fact::Fact;
use crate::clean;

/// How many things of a kind are listed where they are only named.
const LISTED_MAX: usize = 50;
/// How much of a command is shown where it is only named.
const COMMAND_CHARS_MAX: usize = 300;
/// How much of a prompt is shown.
const PROMPT_CHARS_MAX: usize = 80;
/// How many changes are told.
const CHANGES_MAX: usize = 12;

/// What is asked about.
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

/// Something that somebody must approve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// What it is about.
    pub about: About,
    /// Where it is written, and the files that would be run.
    pub files: Vec<String>,
    /// The programs that would be started.
    pub commands: Vec<Asked>,
    /// The agents that would be asked.
    pub agents: Vec<AskedAgent>,
    /// Where turns may write, in sentences.
    pub writes: Vec<String>,
    /// What else it settles, and what is worth a word.
    pub settings: Vec<String>,
    /// What is not as it was when it was approved; empty where nothing was approved before.
    pub changes: Vec<Change>,
    /// What names this question: another content is another question.
    pub hash: String,
    /// What is remembered when it is approved.
    #[serde(skip)]
    pub(super) news: Vec<Fact>,
}

/// A program that somebody must approve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Asked {
    /// Who starts it: a materia, an agent, a socket.
    pub materia: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// What it is given besides: parameters and variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Value>,
}

/// An agent that would be asked something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AskedAgent {
    /// Which materia, or which socket.
    pub materia: String,
    /// The tools it may use, where somebody said so.
    pub tools: Option<String>,
    /// The model, likewise.
    pub model: Option<String>,
    /// The agent, likewise.
    pub provider: Option<String>,
    /// What it is asked, as it begins.
    pub prompt: String,
    /// How long that is, in characters.
    pub prompt_chars: usize,
}

impl Asked {
    pub(super) fn of(program: &Program) -> Self {
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
        Self { materia: by.clone(), command: command.clone(), given }
    }

    fn line(&self, chars_max: usize) -> String {
        let by = clean::one_line(&self.materia, COMMAND_CHARS_MAX);
        // As JSON, so that it is plain where one argument ends and what is in it.
        let command = serde_json::to_string(&self.command).unwrap_or_default();
        let line = format!("{by}: {}", clean::one_line(&command, chars_max));
        match &self.given {
            Some(given) => {
                format!("{line} with {}", clean::one_line(&given.to_string(), chars_max))
            }
            None => line,
        }
    }
}

impl AskedAgent {
    /// What a materia, or a socket's own words, would have an agent do.
    pub(super) fn of(by: &str, content: &Value) -> Self {
        let word = |name: &str| content.get(name).and_then(Value::as_str).map(str::to_owned);
        let prompt = content.get("prompt").map(words).unwrap_or_default();
        let tools = content.get("tools").map(|tools| match tools {
            Value::String(set) => set.clone(),
            other => other.to_string(),
        });
        Self {
            materia: by.to_owned(),
            tools,
            model: word("model"),
            provider: word("provider"),
            prompt_chars: prompt.chars().count(),
            prompt: clean::one_line(&prompt, PROMPT_CHARS_MAX),
        }
    }

    fn line(&self) -> String {
        let mut line = clean::one_line(&self.materia, COMMAND_CHARS_MAX);
        let said = [("asks", &self.provider), ("model", &self.model), ("tools", &self.tools)];
        for (word, value) in said {
            if let Some(value) = value {
                line = format!("{line}, {word} {}", clean::one_line(value, COMMAND_CHARS_MAX));
            }
        }
        if self.prompt_chars == 0 {
            return line;
        }
        format!("{line}, a prompt of {} characters: “{}”", self.prompt_chars, self.prompt)
    }
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
            writes: Vec::new(),
            settings: Vec::new(),
            changes,
            hash: hasher.finalize().to_hex().to_string(),
            news,
        }
    }

    /// The files, in one line.
    #[must_use]
    pub fn files(&self) -> String {
        let files: Vec<String> =
            self.files.iter().map(|file| clean::one_line(file, COMMAND_CHARS_MAX)).collect();
        files.join(", ")
    }

    /// What is asked about, in a few words.
    #[must_use]
    pub fn subject(&self) -> String {
        match self.about {
            About::Project => {
                format!("what this project's own configuration does ({})", self.files())
            }
            About::Cast => format!("what this cast does ({})", self.files()),
            About::Cases => format!("the commands of these cases ({})", self.files()),
        }
    }

    /// Everything, every command whole: what a person approves, that person has seen.
    #[must_use]
    pub fn whole(&self) -> String {
        self.list(usize::MAX, usize::MAX)
    }

    /// Everything as far as it fits.
    #[must_use]
    pub fn in_short(&self) -> String {
        self.list(LISTED_MAX, COMMAND_CHARS_MAX)
    }

    fn list(&self, most: usize, chars_max: usize) -> String {
        let mut lines: Vec<String> = Vec::new();
        let commands = self.commands.iter().map(|one| one.line(chars_max)).collect();
        section(&mut lines, "runs", commands, most);
        let agents = self.agents.iter().map(AskedAgent::line).collect();
        section(&mut lines, "asks agents", agents, most);
        section(&mut lines, "may write", self.writes.clone(), most);
        section(&mut lines, "settles", self.settings.clone(), most);
        let told = self.changes.iter().take(CHANGES_MAX).flat_map(Change::lines).collect();
        section(&mut lines, "since it was approved last", told, usize::MAX);
        if let Some(more) = self.changes.len().checked_sub(CHANGES_MAX).filter(|more| *more > 0) {
            lines.push(format!("    … and {more} more changes"));
        }
        lines.join("\n")
    }
}

fn section(lines: &mut Vec<String>, title: &str, entries: Vec<String>, most: usize) {
    if entries.is_empty() {
        return;
    }
    lines.push(format!("  {title}:"));
    let more = entries.len().saturating_sub(most);
    lines.extend(entries.into_iter().take(most).map(|entry| format!("    {entry}")));
    if more > 0 {
        lines.push(format!("    … and {more} more"));
    }
}
