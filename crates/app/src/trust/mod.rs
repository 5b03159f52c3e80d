//! Which commands may run (D35).
//!
//! A project's configuration is data until a person approves that content, and with it that of the
//! scripts in the project that its commands run. What was approved
//! is remembered in the profile, never in the project: a repository cannot approve itself.
//! For the same reason the plans of started casts are remembered there: a journal that comes
//! with a repository is resumed only after approval.
//!
//! What has to be approved is a [`Question`]: data that a terminal asks and a page shows. The answer is
//! [`Trust::approve`], or that nothing runs.
//!
//! Deliberately absent: what counts as the project's own. The compiler knows that.

mod question;
mod scripts;
mod store;

use std::path::Path;

use materia_compiler::{Loaded, ProjectCommand, ProjectTrust};
use materia_contract::{Behavior, Plan};

pub use question::{Asked, Question};
use store::{Entry, Store};

/// What may run in a project, as far as the profile remembers. Whatever is wrong with that memory is
/// said in the warnings; it then approves nothing.
#[derive(Debug, Clone, Copy)]
pub struct Trust<'a> {
    /// The folder of the user's profile.
    pub profile: Option<&'a Path>,
    /// The project.
    pub project: &'a Path,
}

impl Trust<'_> {
    /// What has to be approved before these commands of the project's own configuration may run.
    #[must_use]
    pub fn asks(
        &self,
        loaded: &Loaded,
        commands: &[ProjectCommand],
        warnings: &mut Vec<String>,
    ) -> Option<Question> {
        if commands.is_empty() {
            return None;
        }
        let ProjectTrust { hash, mut files } = materia_compiler::project_trust(loaded)?;
        let store = self.store();
        let scripts = scripts::named(self.project, commands);
        files.extend(scripts.iter().map(|script| script.path.clone()));
        let mut news = vec![Entry::content(self.project, hash)];
        news.extend(scripts.into_iter().map(|one| Entry::script(self.project, one.hash)));
        news.retain(|entry| !store.knows(entry, warnings));
        let commands = commands.iter().map(|one| (one.materia.as_str(), one.command.as_slice()));
        (!news.is_empty()).then(|| Question::new(files, commands, news))
    }

    /// What has to be approved before a cast goes on: its plan, unless this machine has begun it.
    #[must_use]
    pub fn asks_to_resume(&self, plan: &Plan, warnings: &mut Vec<String>) -> Option<Question> {
        let entry = self.plan_entry(plan)?;
        if self.store().knows(&entry, warnings) {
            return None;
        }
        let files = vec!["the journal of this cast, which was not begun here".to_owned()];
        Some(Question::new(files, commands(plan).into_iter(), vec![entry]))
    }

    /// A person has approved what was asked: it is remembered.
    pub fn approve(&self, question: &Question, warnings: &mut Vec<String>) {
        self.store().remember(question.news().to_vec(), warnings);
    }

    /// A cast of this plan begins here, so that it may go on here.
    pub fn begins(&self, plan: &Plan, warnings: &mut Vec<String>) {
        let store = self.store();
        let news = self.plan_entry(plan).filter(|entry| !store.knows(entry, warnings));
        store.remember(news.into_iter().collect(), warnings);
    }

    /// A person changed the project's files by a command of this program. What was approved before
    /// stays approved, and what the program alone has written needs no approval.
    pub fn carries_over(
        &self,
        before: Option<&ProjectTrust>,
        after: Option<ProjectTrust>,
        warnings: &mut Vec<String>,
    ) {
        let store = self.store();
        let entry = |trust: &ProjectTrust| Entry::content(self.project, trust.hash.clone());
        let known = before.is_none_or(|trust| store.knows(&entry(trust), warnings));
        if let Some(after) = after.filter(|_| known) {
            store.remember(vec![entry(&after)], warnings);
        }
    }

    /// What is remembered of a plan; plans without commands run nothing.
    fn plan_entry(&self, plan: &Plan) -> Option<Entry> {
        // The hash is computed, not read: a journal may claim any.
        (!commands(plan).is_empty()).then(|| Entry::plan(self.project, plan.hash()))
    }

    fn store(&self) -> Store {
        Store::at(self.profile)
    }
}

fn commands(plan: &Plan) -> Vec<(&str, &[String])> {
    let commands = plan.nodes.values().filter_map(|node| match &node.behavior {
        Behavior::Utility { command, .. } => Some((node.materia.as_str(), command.as_slice())),
        Behavior::Agent { .. } => None,
    });
    let mut listed: Vec<(&str, &[String])> = Vec::new();
    commands.for_each(|one| {
        if !listed.contains(&one) {
            listed.push(one);
        }
    });
    listed
}
