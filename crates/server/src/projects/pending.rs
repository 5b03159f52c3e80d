//! Trust questions that wait for an answer.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use materia_app::trust::{Question, Runs, Trusted, Untrusted};
use materia_contract::api::{StartBody, TrustItem};
use materia_contract::{Do, GoOnFrom, RunId};

use crate::http::problem::Refused;
use crate::projects::{Cast, Served};

/// Options that were named when the cast was handed over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Named {
    pub(crate) provider: Option<String>,
    /// The files from which a cast in a workspace goes on.
    pub(crate) go_on: GoOnFrom,
}

/// Questions that wait at the most; the oldest go.
const WAITING_MAX: usize = 1_000;

/// Action that waits for the approval.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    /// To begin a cast.
    Start(Box<StartBody>),
    /// To do something to one.
    Do(Do),
    /// It was driven by a server that died, and waits to go on by itself.
    Resume(Named),
}

/// Trust questions that wait for the user.
#[derive(Default)]
pub(crate) struct Pending {
    waiting: Mutex<HashMap<String, Waiting>>,
}

#[derive(Clone)]
pub(crate) struct Waiting {
    pub(crate) item: TrustItem,
    pub(crate) wanted: Wanted,
    number: u64,
}

impl Pending {
    pub(crate) fn add(&self, item: TrustItem, wanted: Wanted) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let number = waiting.values().map(|it| it.number).max().unwrap_or(0) + 1;
        if waiting.len() >= WAITING_MAX {
            let oldest = waiting.iter().min_by_key(|(_, it)| it.number);
            if let Some(oldest) = oldest.map(|(hash, _)| hash.clone()) {
                waiting.remove(&oldest);
            }
        }
        waiting.insert(item.hash.clone(), Waiting { item, wanted, number });
    }

    /// The questions of a project.
    pub(crate) fn of(&self, project: &str) -> Vec<TrustItem> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<&Waiting> =
            waiting.values().filter(|it| it.item.project == project).collect();
        found.sort_by_key(|it| it.number);
        found.into_iter().map(|it| it.item.clone()).collect()
    }

    /// The question that a cast waits for that would go on by itself.
    pub(crate) fn of_cast(&self, project: &str, id: &RunId) -> Option<TrustItem> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let found = waiting.values().find(|it| {
            it.item.project == project
                && it.item.cast_id.as_ref() == Some(id)
                && matches!(it.wanted, Wanted::Resume(_))
        });
        found.map(|it| it.item.clone())
    }

    pub(crate) fn take(&self, hash: &str) -> Option<Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
    }

    pub(crate) fn remove(&self, hash: &str) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(hash);
    }
}

/// Returns a run whose questions are all approved; otherwise its questions are queued for the user.
pub(crate) fn settle<T: Runs>(
    pending: &Pending,
    served: &Served,
    cast: Option<&Cast>,
    untrusted: Untrusted<T>,
    wanted: &Wanted,
    warnings: &mut Vec<String>,
) -> Result<Trusted<T>, Refused> {
    let items: Vec<TrustItem> = untrusted
        .questions()
        .iter()
        .map(|question| item(served, cast.map(|cast| &cast.id), question))
        .collect();
    for item in &items {
        pending.add(item.clone(), wanted.clone());
    }
    if !items.is_empty() {
        return Err(Refused::trust(items));
    }
    untrusted.settle(|_| Err(Refused::trust(Vec::new())), warnings)
}

pub(crate) fn item(served: &Served, cast: Option<&RunId>, question: &Question) -> TrustItem {
    let whole = question.whole(&|words| format!("materia {words}"));
    TrustItem {
        project: served.id.clone(),
        hash: question.hash.clone(),
        cast_id: cast.cloned(),
        runs: whole.lines().map(|line| line.trim_end().to_owned()).collect(),
        text: format!("{}\n{whole}", question.subject()),
        question: serde_json::to_value(question).unwrap_or_default(),
    }
}
