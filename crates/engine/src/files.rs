//! The files of a run that has a workspace of its own: looked at when it is taken up, published at its end.

use materia_contract::{FilesFound, GoOnFrom, Input};

use crate::{Driver, EngineError, PublishOrder, World};

/// The files that whoever takes the run up finds; none where it works in the project folder.
pub(crate) async fn found(
    world: &World,
    driver: &Driver,
    go_on: GoOnFrom,
) -> Result<Option<FilesFound>, EngineError> {
    let run = driver.run();
    if run.files().is_none() {
        return Ok(None);
    }
    match world.runner.look(run.id()).await {
        Ok(files) => Ok(Some(FilesFound { files, go_on })),
        Err(message) => Err(EngineError::Workspace(run.id().clone(), message)),
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
    let order = PublishOrder {
        run: run.id().clone(),
        workspace: workspace.clone(),
        files: files.clone(),
        at: run.instant(),
        request: created.map(|created| created.request.clone()).unwrap_or_default(),
    };
    match world.runner.publish(order).await {
        Ok(published) => Input::Published(published),
        Err(message) => Input::Unpublished { message },
    }
}
