//! Report of a cast as `show` prints it, computed from the events on request.

use materia_contract::time::{millis_between, wall_time};
use materia_contract::{
    CastReport, EventBody, Folders, LinkTarget, OpenQuestion, RunId, RunWaiting, Said, WaitReason,
};
use materia_kernel::{Phase, Run, questions};

use crate::load::{LoadedRun, load_with_visits};
use crate::{Journal, LoadError, blocking};

/// Reports on a run so far: from its newest snapshot and the chapters before it, if they can be trusted, otherwise
/// from its events. Blocks on the journal. `folders` says where the run is now.
pub fn report(
    journal: &dyn Journal,
    id: &RunId,
    folders: &Folders,
) -> Result<CastReport, LoadError> {
    Ok(report_at(journal, id, folders, None)?.0)
}

/// The same as of event `at`, or as of the end, with the run as it was then.
pub fn report_at(
    journal: &dyn Journal,
    id: &RunId,
    folders: &Folders,
    at: Option<u64>,
) -> Result<(CastReport, Run), LoadError> {
    let LoadedRun { run, head, visits } = load_with_visits(journal, id, at)?;
    let created = run.created().ok_or_else(|| LoadError::Unknown(id.clone()))?;
    let (error, waiting) = match run.phase() {
        Phase::Failed(error) => (Some(folders.failed(error)), None),
        Phase::Waiting(waiting) => (None, Some(waiting.clone())),
        Phase::New | Phase::Running | Phase::Completed | Phase::Aborted => (None, None),
    };
    let span = visits.span();
    let waits_at = waiting.as_ref().and_then(|waiting: &RunWaiting| match waiting.reason {
        WaitReason::MultiTurn => waiting.node.clone(),
        WaitReason::Interactive
        | WaitReason::Approval
        | WaitReason::Stall
        | WaitReason::Budget
        | WaitReason::Manual
        | WaitReason::RunFor
        | WaitReason::Trust
        | WaitReason::Workspace => None,
    });
    let answer = visits.answer_of(waits_at.as_ref());
    let answer = answer.and_then(|seq| said(journal, id, seq).transpose()).transpose()?;
    let questions = questions(&run).map(|asked| OpenQuestion {
        socket: asked.node.clone(),
        hash: asked.hash.to_owned(),
        denied: asked.denied,
        reason: asked.reason.map(str::to_owned),
    });
    let link = created.link.iter().flat_map(|link| &link.targets);
    let report = CastReport {
        cast_id: id.clone(),
        status: run.phase().status(),
        verdict: run.verdict(),
        loadout: created.plan.loadout.clone(),
        questions: questions.collect(),
        answer,
        request: created.request.clone(),
        started_at: span.map(|(began, _)| wall_time(began)),
        elapsed_ms: span.map(|(began, newest)| millis_between(began, newest)),
        workspace: created.workspace.as_ref().map(|own| own.kind.clone()),
        linked: link.map(LinkTarget::reference).collect(),
        link_id: created.link.as_ref().map(|link| link.loadout_id.clone()),
        visits: visits.into_list(&created.plan).map(|(_, visit)| visit).collect(),
        state: run.variables().clone(),
        error,
        waiting,
        usage: run.usage(),
        run_dir: folders.found(run.run_dir()).into_owned(),
        last_seq: run.seq(),
        last_hash: head.to_string(),
        from_cast_id: created.from_cast_id.clone(),
    };
    Ok((report, *run))
}

/// The output of the turn that ends with this event.
fn said(journal: &dyn Journal, id: &RunId, seq: u64) -> Result<Option<Said>, LoadError> {
    let found = blocking(journal).records(id, seq.saturating_sub(1), 1)?;
    let Some(record) = found.first().filter(|record| record.seq == seq) else { return Ok(None) };
    let Ok(event) = record.event() else { return Ok(None) };
    let (Some(socket), EventBody::TurnCompleted(data)) = (event.node, event.body) else {
        return Ok(None);
    };
    let (visit, attempt, text) = (data.visit, data.attempt, data.report.output);
    Ok(Some(Said { socket, visit, attempt, text }))
}
