//! Output of a turn besides its answer: diff and logs, if they are wanted.

use materia_contract::{Artifact, TurnOutput, text_hash};
use materia_engine::{Leaves, TurnJob, TurnOrder, TurnReport, Work};

use crate::cast_folder;
use crate::changes::Before;
use crate::redact::Secrets;

/// Performs a turn with a look at the project before and after it, where one is wanted.
pub(crate) async fn performed(job: &TurnJob, turn: impl Future<Output = TurnReport>) -> TurnReport {
    let Leaves { diff, logs } = job.leaves;
    // A script knows itself what its turns leave.
    let scripted = matches!(job.work, Work::Agent { script: Some(_), .. });
    if !job.leaves.any() || scripted || job.virtual_time {
        return turn.await;
    }
    let mut stop = job.control.stop.clone();
    let before = if diff {
        // A stop does not wait for the snapshot of a large project.
        tokio::select! {
            before = Before::of(job) => before,
            () = stop.asked() => None,
        }
    } else {
        None
    };
    let mut report = turn.await;
    let changed = match before {
        Some(before) => tokio::select! {
            changed = before.diff(job) => changed,
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
            leave(job, output, kind, &content);
        }
    }
    report
}

/// Adds an artifact, unless the turn has left one of that kind by itself.
pub(crate) fn leave(job: &TurnOrder, output: &mut TurnOutput, kind: &str, content: &str) {
    if output.artifacts.iter().any(|artifact| artifact.kind == kind) {
        return;
    }
    let content = Secrets::of_work(&job.work).remove(content).into_owned();
    let name = cast_folder::artifact(job, kind);
    // The file is a copy for people; the report has the content.
    let _ = cast_folder::cast(job).and_then(|cast| cast.write(&name, content.as_bytes()));
    output.artifacts.push(Artifact {
        kind: kind.to_owned(),
        name,
        hash: text_hash(&content),
        content,
    });
}
