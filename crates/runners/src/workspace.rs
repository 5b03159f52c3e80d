//! Turns in the workspace of a cast: files are checked or restored before a turn, and recorded after it.

use std::path::Path;
use std::sync::Arc;

use materia_contract::{ErrorCode, FileState, RunId, TurnOutput, WorkspacePublished};
use materia_engine::{
    BoxFuture, FilesOrder, PublishOrder, Runner, TurnFault, TurnJob, TurnOrder, TurnReport,
};
use materia_workspace::{Fault, Identity, Look, Opened, Place, Publish, Workspace};

use crate::dispatch::faulted;

/// The longest first line of a commit.
const SUBJECT_CHARS_MAX: usize = 72;

/// Stores the files of a run where other machines find them. Each call returns when they are durable; it waits.
pub trait StoresFiles: Send + Sync {
    /// Stores the files of a look, before an event names them.
    fn store(&self, workspace: &Workspace, look: &Look) -> Result<(), String>;

    /// Stores the commit of the published branch.
    fn store_commit(&self, workspace: &Workspace, commit: &str) -> Result<(), String>;
}

/// Performs the turns of one run in its workspace.
pub struct WorkspaceRunner {
    inner: Arc<dyn Runner>,
    files: Files,
}

/// The workspace, and where its files are stored for other machines.
#[derive(Clone)]
struct Files {
    place: Place,
    stored: Option<Arc<dyn StoresFiles>>,
}

impl WorkspaceRunner {
    /// Performs turns with `inner`, whose current folder is the workspace at `place`.
    pub fn new(inner: Arc<dyn Runner>, place: Place) -> Self {
        Self { inner, files: Files { place, stored: None } }
    }

    /// The same; every tree that an event names is stored before.
    #[must_use]
    pub fn storing(self, stored: Arc<dyn StoresFiles>) -> Self {
        Self { files: Files { stored: Some(stored), ..self.files }, ..self }
    }
}

impl Runner for WorkspaceRunner {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        let Some(files) = job.order.files.clone() else { return self.inner.run(job) };
        let (inner, kept) = (Arc::clone(&self.inner), self.files.clone());
        Box::pin(async move {
            let before = kept.clone();
            if let Err(report) = off_thread(move || prepare(&before, &files)).await {
                return *report;
            }
            let simulated = job.order.virtual_time;
            let report = inner.run(job).await;
            // In simulated time the files change when the turn lands.
            if simulated { report } else { off_thread(move || looked_at(&kept, report)).await }
        })
    }

    fn clear(&self, run: &RunId, run_dir: &Path) -> BoxFuture<'static, Result<(), String>> {
        self.inner.clear(run, run_dir)
    }

    fn rejoin(&self, job: TurnJob) -> BoxFuture<'static, Option<BoxFuture<'static, TurnReport>>> {
        let (inner, files) = (Arc::clone(&self.inner), self.files.clone());
        Box::pin(async move {
            let performed = inner.rejoin(job).await?;
            let performed: BoxFuture<'static, TurnReport> = Box::pin(async move {
                let report = performed.await;
                off_thread(move || looked_at(&files, report)).await
            });
            Some(performed)
        })
    }

    fn land(&self, order: &TurnOrder, report: TurnReport) -> TurnReport {
        let landed = self.inner.land(order, report);
        if order.files.is_some() { looked_at(&self.files, landed) } else { landed }
    }

    fn look(
        &self,
        run: &RunId,
        last: &FileState,
    ) -> BoxFuture<'static, Result<(FileState, bool), String>> {
        let (kept, run, last) = (self.files.clone(), run.clone(), last.clone());
        Box::pin(off_thread(move || {
            let workspace = here(&kept.place, &last).map_err(|error| match error {
                Missing::Gone => gone(&kept.place, &run),
                Missing::Fault(fault) => fault.to_string(),
            })?;
            let before = workspace.last_look();
            let found = kept.look(&workspace)?;
            let same = |before: Look| before.tree == found.tree && before.head == found.head;
            let changed = before.is_some_and(|before| !same(before));
            Ok((state(found), changed))
        }))
    }

    fn publish(
        &self,
        order: PublishOrder,
    ) -> BoxFuture<'static, Result<WorkspacePublished, String>> {
        let files = self.files.clone();
        Box::pin(off_thread(move || published(&files, order)))
    }

    fn completed(&self, run: &RunId) -> BoxFuture<'static, ()> {
        let (place, run) = (self.files.place.clone(), run.clone());
        Box::pin(off_thread(move || {
            let Ok(Opened::Here(workspace) | Opened::CheckoutGone(workspace)) =
                materia_workspace::open(&place)
            else {
                return;
            };
            // Whatever cannot be removed now is removed by `materia clean`.
            if !matches!(workspace.must_stay(), Ok(None)) {
                return;
            }
            if let Err(fault) = workspace.remove() {
                tracing::warn!(%run, %fault, "the workspace was not removed");
            }
        }))
    }
}

impl Files {
    /// Looks at the files, and stores them if other machines may need them.
    fn look(&self, workspace: &Workspace) -> Result<Look, String> {
        let found = workspace.look().map_err(|fault| fault.to_string())?;
        if let Some(stored) = &self.stored {
            stored.store(workspace, &found)?;
        }
        Ok(found)
    }
}

/// Runs what waits for git on a thread of its own.
async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// A workspace that is not there.
enum Missing {
    Gone,
    Fault(Fault),
}

impl From<Fault> for Missing {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Opens a workspace; files that were deleted are made again from the last ones (W10).
fn here(place: &Place, last: &FileState) -> Result<Workspace, Missing> {
    match materia_workspace::open(place)? {
        Opened::Here(workspace) => Ok(workspace),
        Opened::CheckoutGone(workspace) => {
            workspace.make_checkout(&look(last))?;
            Ok(workspace)
        }
        Opened::Gone => Err(Missing::Gone),
    }
}

fn gone(place: &Place, run: &RunId) -> String {
    format!(
        "its workspace `{}` is gone, and with it every change that no branch has; \
         `materia resume {run} --from-base` begins again with the files of its base",
        place.root().display()
    )
}

/// Makes sure that a turn begins with its files: restores them, or withholds the turn if they were changed.
fn prepare(kept: &Files, files: &FilesOrder) -> Result<(), Box<TurnReport>> {
    let place = &kept.place;
    let failed = |why: String| Box::new(faulted(ErrorCode::Workspace, why));
    let workspace = here(place, &files.start).map_err(|error| match error {
        Missing::Gone => failed(format!("the workspace `{}` is gone", place.root().display())),
        Missing::Fault(fault) => failed(fault.to_string()),
    })?;
    if files.put_back {
        let put_back = workspace.put_back(&look(&files.start));
        return put_back.map_err(|fault| failed(fault.to_string()));
    }
    if !files.alone {
        return Ok(());
    }
    let found = state(kept.look(&workspace).map_err(failed)?);
    if found.tree == files.start.tree && found.head == files.start.head {
        return Ok(());
    }
    Err(Box::new(withheld(place, found)))
}

/// The report of a turn that was not started, because its files were changed.
fn withheld(place: &Place, found: FileState) -> TurnReport {
    let message = format!(
        "somebody changed the files of the workspace `{}` between turns; \
         `resume` goes on with the files as they are, `resume --put-back` with those of the last turn",
        place.checkout().display()
    );
    let mut report = Box::new(TurnOutput::default());
    report.note_files(found, false);
    let fault = TurnFault { code: ErrorCode::Workspace, message, report, withheld: true };
    TurnReport { outcome: Err(fault), after: std::time::Duration::ZERO }
}

/// The report of a turn with the files that it left. A look that fails is a failure of the turn (W4).
fn looked_at(kept: &Files, report: TurnReport) -> TurnReport {
    let after = report.after;
    let looked = after_turn(kept);
    match (report.outcome, looked) {
        (Err(fault), _) if fault.withheld => TurnReport { outcome: Err(fault), after },
        (Ok(mut output), Ok((files, off_base))) => {
            output.note_files(files, off_base);
            TurnReport { outcome: Ok(output), after }
        }
        (Err(mut fault), Ok((files, off_base))) => {
            fault.report.note_files(files, off_base);
            TurnReport { outcome: Err(fault), after }
        }
        (outcome, Err(why)) => {
            let (said, report) = match outcome {
                Ok(output) => (String::new(), Box::new(output)),
                Err(fault) => (format!("{}; ", fault.message), fault.report),
            };
            let message = format!("{said}the files that the turn left cannot be read: {why}");
            let code = ErrorCode::Workspace;
            let fault = TurnFault { code, message, report, withheld: false };
            TurnReport { outcome: Err(fault), after }
        }
    }
}

/// The files as they are, and whether HEAD has left the base of the cast (W7).
fn after_turn(kept: &Files) -> Result<(FileState, bool), String> {
    let place = &kept.place;
    let workspace = match materia_workspace::open(place).map_err(|fault| fault.to_string())? {
        Opened::Here(workspace) => workspace,
        Opened::CheckoutGone(_) => {
            return Err(format!("`{}` was deleted", place.checkout().display()));
        }
        Opened::Gone => return Err(format!("`{}` was deleted", place.root().display())),
    };
    let found = kept.look(&workspace)?;
    let on_base = workspace.has_base_as_ancestor(&found).map_err(|fault| fault.to_string())?;
    Ok((state(found), !on_base))
}

fn published(kept: &Files, order: PublishOrder) -> Result<WorkspacePublished, String> {
    let place = &kept.place;
    let workspace = here(place, &order.files).map_err(|error| match error {
        Missing::Gone => gone(place, &order.run),
        Missing::Fault(fault) => fault.to_string(),
    })?;
    if order.put_back {
        workspace.put_back(&look(&order.files)).map_err(|fault| fault.to_string())?;
    }
    let found = kept.look(&workspace)?;
    if found.tree != order.files.tree || found.head != order.files.head {
        return Err(format!(
            "somebody changed the files of the workspace `{}` after the last turn; \
             `resume` publishes them as they are, `resume --put-back` those of the last turn",
            place.checkout().display()
        ));
    }
    let identity = order.workspace.identity;
    let request = Publish {
        look: look(&order.files),
        looks: order.named.iter().map(look).collect(),
        date: format!("{} +0000", order.at.div_euclid(1_000_000)),
        message: subject(&order.run, &order.request),
        identity: Identity { name: identity.name, email: identity.email },
    };
    let published = workspace.publish(&request).map_err(|refusal| refusal.to_string())?;
    if let Some(stored) = &kept.stored {
        stored.store_commit(&workspace, &published.commit)?;
    }
    let kept = workspace.must_stay().map_err(|fault| fault.to_string())?;
    Ok(WorkspacePublished { branch: published.branch, commit: published.commit, kept })
}

/// The first line of the commit with everything that no turn committed.
fn subject(run: &RunId, request: &str) -> String {
    let line = request.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let plain: String = line.chars().filter(|it| !it.is_control()).collect();
    if plain.is_empty() {
        return format!("Cast {run}");
    }
    let short: String = plain.chars().take(SUBJECT_CHARS_MAX).collect();
    if short.len() < plain.len() { format!("{short}…") } else { short }
}

fn look(files: &FileState) -> Look {
    let FileState { tree, head, refs } = files.clone();
    Look { tree, head, refs }
}

fn state(look: Look) -> FileState {
    let Look { tree, head, refs } = look;
    FileState { tree, head, refs }
}
