//! Files of a run with its own workspace: measured when it is taken up, published at its end.

use materia_contract::{EventBody, EventError, FileState, FilesFound, GoOnFrom, Input, RunId};
use materia_kernel::Phase;

use crate::views::TurnEnd;
use crate::{Driver, EngineError, Journal, PAGE_BYTES, PublishOrder, World};

/// The files that are found when the run is taken up; none if it works in the project folder.
pub(crate) async fn found(
    world: &World,
    driver: &Driver,
    go_on: GoOnFrom,
) -> Result<Option<FilesFound>, EngineError> {
    let run = driver.run();
    let Some(last) = run.files() else { return Ok(None) };
    // The files of a resting run were noted when it began to rest. Leftovers of a crash do not count as a change.
    let rested = *run.phase() != Phase::Running;
    match world.runner.look(run.id(), last).await {
        Ok((files, changed)) => Ok(Some(FilesFound { files, go_on, changed: changed && rested })),
        Err(message) => Err(EngineError::Workspace(run.id().clone(), message)),
    }
}

/// Looks at the files of a run that begins to rest, so that later changes from outside are detected.
pub(crate) async fn rests(world: &World, driver: &Driver) {
    let run = driver.run();
    if let Some(last) = run.files()
        && let Err(message) = world.runner.look(run.id(), last).await
    {
        tracing::warn!(run = %run.id(), message, "not looked at");
    }
}

/// Publishes the branch of a run, and says what came of it.
pub(crate) async fn publish(world: &World, driver: &Driver) -> Input {
    let run = driver.run();
    let created = run.created();
    let own = created.and_then(|created| created.workspace.as_deref());
    let (Some(workspace), Some(files)) = (own, run.files()) else {
        return Input::Unpublished { message: "the cast has no workspace".to_owned() };
    };
    let named = match named(&*world.journal, run.id()).await {
        Ok(named) => named,
        Err(message) => return Input::Unpublished { message },
    };
    let order = PublishOrder {
        run: run.id().clone(),
        workspace: workspace.clone(),
        files: files.clone(),
        put_back: run.must_put_back(),
        named,
        at: run.files_at().unwrap_or_default(),
        request: created.map(|created| created.request.clone()).unwrap_or_default(),
    };
    match world.runner.publish(order).await {
        Ok(published) => Input::Published(Box::new(published)),
        Err(message) => Input::Unpublished { message },
    }
}

/// All files that the events of a run name, each once, in their order.
async fn named(journal: &dyn Journal, run: &RunId) -> Result<Vec<FileState>, String> {
    let mut named: Vec<FileState> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let mut after = 0;
    loop {
        let page = journal.read(run, after, PAGE_BYTES).await.map_err(|error| error.to_string())?;
        for record in &page.records {
            after = record.seq;
            if !names_files(&record.kind) {
                continue;
            }
            let body = match record.event() {
                Ok(event) => event.body,
                Err(EventError::Apart(_)) => continue,
                Err(error) => return Err(error.to_string()),
            };
            if let Some(files) = files_of(&body)
                && seen.insert((files.tree.clone(), files.head.clone(), files.refs.clone()))
            {
                named.push(files);
            }
        }
        if page.records.is_empty() {
            return Ok(named);
        }
    }
}

fn names_files(kind: &str) -> bool {
    kind.starts_with("turn.") || matches!(kind, "run.created" | "run.resumed")
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only these name files beside turns")]
fn files_of(body: &EventBody) -> Option<FileState> {
    match body {
        EventBody::TurnStarted(data) => data.files(),
        EventBody::RunCreated(data) => data.workspace.as_ref().map(|own| own.files.clone()),
        EventBody::RunResumed(data) => data.files.clone(),
        _ => TurnEnd::of(body)?.files_left(),
    }
}
