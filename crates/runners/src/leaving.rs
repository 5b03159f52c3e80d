//! What a turn leaves besides its output, where somebody wants it.

use std::fs;
use std::path::Path;

use materia_contract::{Artifact, TurnOutput, text_hash};
use materia_engine::{BoxFuture, Leaves, TurnJob, TurnOrder, TurnReport};

use crate::changes::Before;

/// Performs a turn with a look at the project before and after it.
pub(crate) fn performed(
    job: TurnJob,
    turn: BoxFuture<'static, TurnReport>,
) -> BoxFuture<'static, TurnReport> {
    let Leaves { diff, logs } = job.leaves;
    let mut stop = job.control.stop.clone();
    Box::pin(async move {
        let before = if diff {
            // Whoever stops the turn does not wait for a look at a large project.
            tokio::select! {
                before = Before::of(&job) => before,
                () = stop.asked() => None,
            }
        } else {
            None
        };
        let mut report = turn.await;
        let changed = match before {
            Some(before) => tokio::select! {
                changed = before.diff(&job) => changed,
                () = stop.asked() => None,
            },
            None => None,
        };
        let output = match &mut report.outcome {
            Ok(output) => output,
            Err(fault) => &mut *fault.report,
        };
        let said = Some(output.stderr.clone()).filter(|said| logs && !said.is_empty());
        for (kind, content) in [("diff", changed), ("logs", said)] {
            if let Some(content) = content {
                leave(&job, output, kind, content);
            }
        }
        report
    })
}

/// Adds an artifact, unless the turn has left one of that kind by itself.
pub(crate) fn leave(job: &TurnOrder, output: &mut TurnOutput, kind: &str, content: String) {
    if output.artifacts.iter().any(|artifact| artifact.kind == kind) {
        return;
    }
    let path = job.artifact(kind);
    // The file is a copy for people; the report has the content.
    let _ =
        path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, &content));
    let name = path.strip_prefix(&job.run_dir).unwrap_or(Path::new(kind));
    let name = name.to_string_lossy().into_owned();
    output.artifacts.push(Artifact {
        kind: kind.to_owned(),
        name,
        hash: text_hash(&content),
        content,
    });
}
