//! What waits at the gate, and what has passed it.

use std::ops::Deref;

use materia_contract::{Plan, RunCreated, RunId};

use super::{Gate, Question};

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

    /// What would run, to be looked at.
    pub fn what(&self) -> &T {
        &self.what
    }

    /// What has to be approved.
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

    /// Has each question answered; an error is a no. What was approved is remembered.
    pub fn settle<E>(
        self,
        mut answer: impl FnMut(&Question) -> Result<(), E>,
        warnings: &mut Vec<String>,
    ) -> Result<Trusted<T>, E> {
        for question in &self.questions {
            answer(question)?;
            self.gate.approve(question, warnings);
        }
        Ok(Trusted(self.what))
    }
}

/// Something of which everything was approved.
pub struct Trusted<T>(T);

impl<T> Deref for Trusted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Something that is a run.
pub trait Runs {
    /// Which one.
    fn id(&self) -> &RunId;
    /// What it runs, as its journal has it or will have it.
    fn plan(&self) -> &Plan;
}

impl<T: Runs> Trusted<T> {
    /// What was approved, and the leave to drive just that.
    pub fn release(self) -> (T, Cleared) {
        let cleared = Cleared { run: self.0.id().clone(), plan: self.0.plan().hash() };
        (self.0, cleared)
    }
}

/// The leave to drive one run of one plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleared {
    run: RunId,
    plan: String,
}

impl Cleared {
    /// Whether it is about this run.
    #[must_use]
    pub fn covers(&self, run: &RunId, plan: &Plan) -> bool {
        self.run == *run && self.plan == plan.hash()
    }
}

/// A run by itself, which nobody has prepared.
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
}
