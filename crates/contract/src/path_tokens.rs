//! Placeholders for folders in events, such as `{workspace}`.
//!
//! Events contain no absolute paths, so that a project can be moved, and a run resumed elsewhere, with the same
//! events and hashes. A placeholder counts only at the beginning of a text and only in fields that hold paths. A text
//! there that looks like a placeholder gets [`LITERAL`] as a prefix.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

use crate::{Behavior, EventBody, Plan, RunCreated, RunFailed, RunResumed};

/// The folder of the project's configuration.
pub const PROJECT: &str = "{project}";
/// The folder that turns work in. It is the project's, unless a run has a workspace of its own.
pub const WORKSPACE: &str = "{workspace}";
/// The folder of the cast.
pub const RUN_DIR: &str = "{runDir}";
/// The folder of the user's profile.
pub const PROFILE: &str = "{profile}";
/// Escape: the text after it is literal.
pub const LITERAL: &str = "{}";

/// Where the folders of a run are on this machine. One that is empty is not known, and its name is left as
/// it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folders {
    /// The project folder.
    pub project: String,
    /// The folder that turns work in.
    pub workspace: String,
    /// The folder of the cast.
    pub run_dir: String,
    /// The folder of the user's profile.
    pub profile: String,
}

impl Folders {
    /// Each placeholder with its folder; inner folders first.
    fn each(&self) -> [(&'static str, &str); 4] {
        [
            (RUN_DIR, &self.run_dir),
            (PROJECT, &self.project),
            (WORKSPACE, &self.workspace),
            (PROFILE, &self.profile),
        ]
    }

    /// A path, or any other text, with the name of a folder in place of its beginning.
    pub fn named(&self, text: &str) -> String {
        let below = |folder: &str| {
            let rest = text.strip_prefix(folder).filter(|_| !folder.is_empty())?;
            (rest.is_empty() || rest.starts_with('/')).then_some(rest)
        };
        for (name, folder) in self.each() {
            if let Some(rest) = below(folder) {
                return format!("{name}{rest}");
            }
        }
        let looks_like_one =
            text.starts_with(LITERAL) || self.each().iter().any(|(name, _)| text.starts_with(name));
        if looks_like_one { format!("{LITERAL}{text}") } else { text.to_owned() }
    }

    /// The text with the folder itself in place of its name.
    pub fn found<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !text.starts_with('{') {
            return Cow::Borrowed(text);
        }
        if let Some(meant) = text.strip_prefix(LITERAL) {
            return Cow::Borrowed(meant);
        }
        let rest = |name| text.strip_prefix(name).filter(|it| it.is_empty() || it.starts_with('/'));
        for (name, folder) in self.each() {
            if let Some(rest) = rest(name).filter(|_| !folder.is_empty()) {
                return Cow::Owned(format!("{folder}{rest}"));
            }
        }
        Cow::Borrowed(text)
    }

    /// The input of a utility with the folders of this machine. Only the fields `cwd` and `runDir` are replaced,
    /// because all others hold texts of people, agents and programs.
    pub fn input(&self, kept: &Value) -> Option<Value> {
        let fields = kept.as_object()?;
        let place = |name: &str| {
            let text = fields.get(name)?.as_str()?;
            match self.found(text) {
                Cow::Owned(found) => Some((name.to_owned(), found)),
                Cow::Borrowed(_) => None,
            }
        };
        let found: HashMap<String, String> =
            ["cwd", "runDir"].into_iter().filter_map(place).collect();
        if found.is_empty() {
            return None;
        }
        let value = |name: &String, value: &Value| {
            found.get(name).map_or_else(|| value.clone(), |found| found.as_str().into())
        };
        let fields = fields.iter().map(|(name, it)| (name.clone(), value(name, it)));
        Some(Value::Object(fields.collect()))
    }

    /// An event as people are shown it; `None` where it holds no name of a folder.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only these hold paths")]
    pub fn event(&self, body: &EventBody) -> Option<EventBody> {
        let text = |text: &str| self.found(text).into_owned();
        Some(match body {
            EventBody::RunCreated(created) => self.created(created).into(),
            EventBody::RunResumed(data) => {
                let (cwd, run_dir) = (text(&data.cwd), text(&data.run_dir));
                RunResumed { cwd, run_dir, ..data.clone() }.into()
            }
            EventBody::RunFailed(data) if !data.artifacts.is_empty() => self.failed(data).into(),
            _ => return None,
        })
    }

    /// A failure as people are shown it.
    pub fn failed(&self, data: &RunFailed) -> RunFailed {
        let artifacts = data.artifacts.iter().map(|path| self.found(path).into_owned()).collect();
        RunFailed { artifacts, ..data.clone() }
    }

    /// A creation with the folders themselves.
    pub fn created(&self, created: &RunCreated) -> RunCreated {
        let text = |text: &str| self.found(text).into_owned();
        let mut whole = created.clone();
        (whole.cwd, whole.run_dir) = (text(&created.cwd), text(&created.run_dir));
        whole.plan = created.plan.with_paths(text);
        if let Some(script) = &mut whole.script {
            script.path = text(&script.path);
        }
        whole
    }

    /// A creation with placeholders in place of paths, as it is stored. The hash is of the stored plan.
    pub fn kept(&self, created: RunCreated) -> RunCreated {
        let plan = created.plan.with_paths(|path| self.named(path));
        let script = created
            .script
            .map(|script| crate::ScriptBinding { path: self.named(&script.path), ..script });
        let (cwd, run_dir) = (WORKSPACE.to_owned(), RUN_DIR.to_owned());
        RunCreated { cwd, run_dir, plan_hash: plan.hash(), plan, script, ..created }
    }
}

impl Plan {
    /// The plan with other words in place of those that may be paths: the words of commands, and where
    /// prompts come from.
    #[must_use]
    fn with_paths(&self, word: impl Fn(&str) -> String) -> Self {
        let mut plan = self.clone();
        for node in plan.nodes.values_mut() {
            match &mut node.behavior {
                Behavior::Utility { command, .. } => {
                    for argument in command.iter_mut() {
                        *argument = word(argument);
                    }
                }
                Behavior::Agent { origin, .. } => *origin = word(origin),
            }
        }
        plan
    }
}
