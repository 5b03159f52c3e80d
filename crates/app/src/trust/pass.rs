//! Untrusted runs, and trusted ones after approval.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use materia_contract::{Plan, RunCreated, RunId};
use materia_engine::{Approval, Approves};

use super::fact::{Fact, Kind};
use super::starts::Approved;
use super::{Gate, Question, Starts, Watch, files};
use crate::{Failure, Result};

/// Maximum repeats of a question about files that change meanwhile. Later changes are detected before the files would
/// run.
const ASKED_AGAIN_MAX: usize = 20;

/// Something that would run, and what has to be approved before.
#[must_use = "nothing runs before its questions are answered"]
pub struct Untrusted<T> {
    what: T,
    questions: Vec<Question>,
    gate: Gate,
}

impl<T> Untrusted<T> {
    pub(super) fn new(what: T, questions: Vec<Question>, gate: Gate) -> Self {
        Self { what, questions, gate }
    }

    /// The run, for inspection.
    pub fn what(&self) -> &T {
        &self.what
    }

    /// Questions to approve.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// Approves the question with this hash, if it is one of them, and remembers that.
    pub fn approve(&self, hash: &str, warnings: &mut Vec<String>) -> bool {
        let asked: Vec<&Question> = self.questions.iter().filter(|it| it.hash == hash).collect();
        for question in &asked {
            self.gate.approve(question, warnings);
        }
        !asked.is_empty()
    }

    /// Lets a run of a space through that the user trusts as a whole, if the files of its programs are as they were
    /// `approved` when it was handed over. Nothing is remembered as approved.
    pub(crate) fn of_trusted_space(
        self,
        approved: &BTreeMap<String, String>,
        warnings: &mut Vec<String>,
    ) -> Result<Trusted<T>> {
        let news: Vec<Fact> =
            self.questions.into_iter().flat_map(|question| question.news).collect();
        let is_file = |fact: &&Fact| fact.kind == Kind::File;
        let other = |fact: &&Fact| approved.get(&fact.name) != Some(&fact.hash);
        if let Some(fact) = news.iter().filter(is_file).find(other) {
            let name = crate::text::sanitize::one_line(&fact.name, 300);
            return Err(Failure::trust(format!(
                "`{name}` is not the file that was approved when the cast was handed over"
            )));
        }
        let approved = Arc::new(self.gate.approved(news, warnings));
        Ok(Trusted { what: self.what, approved })
    }

    /// Has each question answered; an error is a no. Approvals are stored. If a file changed during a question, the
    /// question is asked again.
    pub fn settle<E>(
        self,
        mut answer: impl FnMut(&Question) -> Result<(), E>,
        warnings: &mut Vec<String>,
    ) -> Result<Trusted<T>, E> {
        let mut news = Vec::new();
        for question in self.questions {
            answer(&question)?;
            let mut question = question;
            for _ in 0..ASKED_AGAIN_MAX {
                let Some(renewed) = self.gate.renewed(&question) else { break };
                answer(&renewed)?;
                question = renewed;
            }
            self.gate.approve(&question, warnings);
            news.extend(question.news);
        }
        let approved = Arc::new(self.gate.approved(news, warnings));
        Ok(Trusted { what: self.what, approved })
    }
}

/// Something of which everything was approved.
pub struct Trusted<T> {
    what: T,
    approved: Arc<Approved>,
}

impl<T> Deref for Trusted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.what
    }
}

impl<T> Trusted<T> {
    /// Check of each start against the approvals.
    pub(crate) fn watch(&self, starts: Starts) -> Watch {
        let folder = self.approved.project.clone();
        Watch { approved: Arc::clone(&self.approved), starts, folder }
    }

    /// The same in a copy of the project: a file there must be as it was approved in the project. `starts` names
    /// paths in the copy.
    pub(crate) fn approval_in_copy(&self, copy: &Path, starts: Starts) -> Approval {
        Approval::by(Arc::new(Watch { folder: copy.to_owned(), ..self.watch(starts) }))
    }
}

/// Something that is a run.
pub trait Runs {
    /// Which one.
    fn id(&self) -> &RunId;
    /// Plan, as the journal has it or will have it.
    fn plan(&self) -> &Plan;
    /// The programs whose files have to be approved.
    fn starts(&self) -> Starts;
}

impl<T: Runs> Trusted<T> {
    /// The approved run, and the permission to run exactly that.
    pub fn release(self) -> (T, Cleared) {
        let (run, plan) = (self.id().clone(), self.plan().hash());
        let watch = Arc::new(self.watch(self.starts()));
        (self.what, Cleared { run, plan, watch })
    }
}

/// The leave to drive one run of one plan.
#[derive(Clone)]
pub struct Cleared {
    run: RunId,
    plan: String,
    watch: Arc<Watch>,
}

impl Cleared {
    /// Whether it is about this run.
    pub fn covers(&self, run: &RunId, plan: &Plan) -> bool {
        self.run == *run && self.plan == plan.hash()
    }

    /// The approved files of its programs, by name, with their hashes.
    pub fn files(&self) -> BTreeMap<String, String> {
        let Watch { approved, starts, folder } = &*self.watch;
        let files = files::named(folder, starts.programs()).into_iter();
        files.filter(|fact| approved.has(fact)).map(|fact| (fact.name, fact.hash)).collect()
    }

    /// The check that its turns call before they start a program.
    pub(crate) fn approval(&self) -> Approval {
        Approval::by(Arc::clone(&self.watch) as Arc<dyn Approves>)
    }
}

/// A run that was not prepared.
pub struct Bare {
    pub(super) id: RunId,
    pub(super) created: Box<RunCreated>,
}

impl Runs for Bare {
    fn id(&self) -> &RunId {
        &self.id
    }

    fn plan(&self) -> &Plan {
        &self.created.plan
    }

    fn starts(&self) -> Starts {
        Starts::of(&self.created.plan, self.created.link.as_ref(), None)
    }
}
