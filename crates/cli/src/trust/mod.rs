//! Which commands may run (D35).
//!
//! A project's configuration is data until a person approves that content, and with it that of the
//! scripts in the project that its commands run. What was approved
//! is remembered in the profile, never in the project: a repository cannot approve itself.
//! For the same reason the plans of started casts are remembered there: a journal that comes
//! with a repository is resumed only after approval.
//!
//! Deliberately absent: what counts as the project's own. The compiler knows that.

mod ask;
mod scripts;
mod store;

use std::path::Path;

use materia_compiler::{Compiled, Loaded, ProjectCommand, ProjectTrust};
use materia_contract::{Behavior, Plan};

use crate::failure::Failure;
use crate::terminal::Terminal;
use ask::Question;
use store::{Entry, Store};

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
        let store = self.store();
        let news = self.plan_entry(&compiled.plan).filter(|entry| !store.knows(entry, terminal));
        store.remember(news.into_iter().collect(), terminal);
        Ok(())
    }

    /// Refuses commands of the project's own configuration that nobody has approved.
    pub(crate) fn allows_commands(
        &self,
        loaded: &Loaded,
        commands: &[ProjectCommand],
        terminal: &Terminal,
    ) -> Result<(), Failure> {
        if commands.is_empty() {
            return Ok(());
        }
        let Some(ProjectTrust { hash, mut files }) = materia_compiler::project_trust(loaded) else {
            return Ok(());
        };
        let store = self.store();
        let scripts = scripts::named(self.project, commands);
        files.extend(scripts.iter().map(|script| script.path.clone()));
        let mut news = vec![Entry::content(self.project, hash)];
        news.extend(scripts.into_iter().map(|one| Entry::script(self.project, one.hash)));
        news.retain(|entry| !store.knows(entry, terminal));
        if !news.is_empty() {
            let listed = commands.iter().map(|one| (&*one.materia, &*one.command)).collect();
            Question { files: &files, commands: listed }.settle(self.approved, terminal)?;
            store.remember(news, terminal);
        }
        Ok(())
    }

    /// A person changed the project's files by a command of this program. What was approved before
    /// stays approved, and what the program alone has written needs no approval.
    pub(crate) fn carries_over(
        &self,
        before: Option<&ProjectTrust>,
        after: Option<ProjectTrust>,
        terminal: &Terminal,
    ) {
        let store = self.store();
        let entry = |trust: &ProjectTrust| Entry::content(self.project, trust.hash.clone());
        let known = before.is_none_or(|trust| store.knows(&entry(trust), terminal));
        if let Some(after) = after.filter(|_| known) {
            store.remember(vec![entry(&after)], terminal);
        }
    }

    /// Refuses to carry on a cast whose plan this machine has never begun.
    pub(crate) fn allows_resume(&self, plan: &Plan, terminal: &Terminal) -> Result<(), Failure> {
        let Some(entry) = self.plan_entry(plan) else { return Ok(()) };
        let store = self.store();
        if store.knows(&entry, terminal) {
            return Ok(());
        }
        let files = ["the journal of this cast, which was not begun here".to_owned()];
        let question = Question { files: &files, commands: commands(plan) };
        question.settle(self.approved, terminal)?;
        store.remember(vec![entry], terminal);
        Ok(())
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
