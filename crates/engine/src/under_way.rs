//! Turns in flight: starts outstanding ones, collects reports, ends turns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use materia_contract::{
    Behavior, FileState, Folders, GlobalMode, Node, NodeId, OutputSelector, RunId,
};
use materia_kernel::{Effect, Input, Report, Run, TurnOutcome, TurnWork, outstanding};
use tokio::sync::watch;
use tracing::Instrument as _;

use crate::turn_files;
use crate::{
    BoxFuture, Control, Driver, FilesOrder, Leaves, Live, Manner, Options, StopSource, Tightened,
    TurnFault, TurnJob, TurnOrder, TurnReport, Work, World,
};

/// How long stopped turns may take to go away before the run stops waiting for them.
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// Turns under way.
#[derive(Default)]
pub(crate) struct UnderWay {
    futures: FuturesUnordered<BoxFuture<'static, (u64, TurnReport)>>,
    stops: BTreeMap<u64, Held>,
}

/// Handles of a turn in flight.
struct Held {
    stop: StopSource,
    /// Tells it that it may write less.
    tighten: watch::Sender<bool>,
    /// The mode that it started with.
    mode: GlobalMode,
}

impl UnderWay {
    /// Starts whatever is owed, not under way yet, and not among those whose report waits.
    pub(crate) fn start_owed(
        &mut self,
        place: (&World, &Options),
        driver: &Driver,
        reported: &BTreeSet<u64>,
    ) {
        for effect in outstanding(driver.run()) {
            let Effect::StartTurn(started) = effect else { continue };
            if let Some(held) = self.stops.get(&started) {
                tell_mode(driver, started, held);
                continue;
            }
            if reported.contains(&started) {
                continue;
            }
            let (job, held) = job(place, driver, started);
            let (span, run_dir) = (span(&job), job.order.run_dir.clone());
            let performed = span.in_scope(|| performed(place.0, job));
            let performed = kept(place.0, run_dir, performed);
            self.take_in(started, held, span, performed);
        }
    }

    fn take_in(
        &mut self,
        turn: u64,
        held: Held,
        span: tracing::Span,
        performed: BoxFuture<'static, TurnReport>,
    ) {
        self.stops.insert(turn, held);
        let ended = async move {
            tracing::debug!("under way");
            let report = performed.await;
            match &report.outcome {
                Ok(_) => tracing::info!("done"),
                // Its message may say what the program said.
                Err(fault) => tracing::info!(code = fault.code.word(), "failed"),
            }
            (turn, report)
        };
        self.futures.push(Box::pin(ended.instrument(span)));
    }

    /// The turns that were in flight when the process of a run went away, if every one of them is still
    /// alive somewhere. Where one is not, those that are end as well: what they did is done again with it.
    pub(crate) async fn rejoined(place: (&World, &Options), driver: &Driver) -> Option<Self> {
        let mut under_way = Self::default();
        for effect in outstanding(driver.run()) {
            let Effect::StartTurn(started) = effect else { continue };
            let (job, held) = job(place, driver, started);
            let (span, run_dir) = (span(&job), job.order.run_dir.clone());
            let performed = place.0.runner.rejoin(job).instrument(span.clone()).await?;
            let performed = kept(place.0, run_dir, performed);
            under_way.take_in(started, held, span, performed);
        }
        (!under_way.is_empty()).then_some(under_way)
    }

    /// The next turn that ends; never resolves while none is under way.
    pub(crate) async fn next(&mut self) -> (u64, TurnReport) {
        match self.futures.next().await {
            Some((turn, report)) => {
                self.stops.remove(&turn);
                (turn, report)
            }
            None => std::future::pending().await,
        }
    }

    /// Turns that have ended already, besides the one that was waited for.
    pub(crate) fn also_ended(&mut self) -> Vec<(u64, TurnReport)> {
        let mut ended = Vec::new();
        while let Some(Some((turn, report))) = self.futures.next().now_or_never() {
            self.stops.remove(&turn);
            ended.push((turn, report));
        }
        ended
    }

    /// The input for turns that have ended. Where one was withheld, all others in flight are ended first.
    pub(crate) async fn come_to(&mut self, ended: Vec<(u64, TurnReport)>) -> Input {
        let Some((turn, message, files)) = ended.iter().find_map(withheld) else {
            return Input::reports(in_order(ended));
        };
        let files = files.map(Box::new);
        let mut reports = in_order(ended);
        reports.extend(self.end().await);
        reports.sort_by_key(|report| report.turn);
        Input::Withheld { reports, turn, message, files }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.futures.is_empty()
    }

    /// Reports of turns that have ended by now.
    pub(crate) fn ended_by_now(&mut self) -> Vec<Report> {
        in_order(self.also_ended())
    }

    /// Ends all turns and waits for them. Returns the reports of turns that had completed before, so that these
    /// turns are not repeated.
    pub(crate) async fn end(&mut self) -> Vec<Report> {
        for held in self.stops.values() {
            held.stop.ask();
        }
        let mut ended = Vec::new();
        let gone = async {
            while let Some((turn, report)) = self.futures.next().await {
                ended.extend(report.outcome.is_ok().then_some((turn, report)));
            }
        };
        // Dropping what is left ends it the hard way.
        let _ = tokio::time::timeout(STOP_PATIENCE, gone).await;
        self.futures.clear();
        self.stops.clear();
        in_order(ended)
    }
}

/// The turn, the reason and the changed files of a turn that was withheld.
pub(crate) fn withheld(
    (turn, report): &(u64, TurnReport),
) -> Option<(u64, String, Option<FileState>)> {
    let fault = report.outcome.as_ref().err().filter(|fault| fault.withheld)?;
    Some((*turn, fault.message.clone(), fault.report.files_left()))
}

/// The reports in the order of the starts of their turns (D7). A withheld turn has no report.
pub(crate) fn in_order(ended: impl IntoIterator<Item = (u64, TurnReport)>) -> Vec<Report> {
    let ended = ended.into_iter().filter(|one| withheld(one).is_none());
    let reports = ended.map(|(turn, report)| kernel_report(turn, report));
    let mut reports: Vec<Report> = reports.collect();
    reports.sort_by_key(|report| report.turn);
    reports
}

/// Notifies a turn in flight if it may write less than when it started.
fn tell_mode(driver: &Driver, turn: u64, held: &Held) {
    let now = driver.run().turn(turn).map_or(held.mode, |turn| turn.global_mode);
    if now != held.mode && !*held.tighten.borrow() {
        // An error means that the turn no longer listens.
        let _ = held.tighten.send(true);
    }
}

pub(crate) fn kernel_report(turn: u64, report: TurnReport) -> Report {
    let outcome = match report.outcome {
        Ok(output) => TurnOutcome::Ended(output),
        Err(TurnFault { code, message, report, withheld: _ }) => {
            TurnOutcome::Faulted { code, message, report: *report }
        }
    };
    Report { turn, outcome }
}

/// The channel for the live output of a turn to the observer.
fn live(world: &World, run: &RunId, node: &NodeId) -> Live {
    let (observer, run, node) = (Arc::clone(&world.observer), run.clone(), node.clone());
    Live::new(move |text| observer.streamed(&run, &node, text))
}

/// The artifacts of a node that are used: those that it forwards, and the diff if stalls of its cycle are detected
/// (D23).
fn leaves(node: &Node, watched: bool) -> Leaves {
    let composite = |kind: &str| {
        node.output_selector == OutputSelector::Composite
            && (node.artifacts.is_empty() || node.artifacts.iter().any(|named| named == kind))
    };
    Leaves {
        diff: watched || node.output_selector == OutputSelector::ArtifactsDiff || composite("diff"),
        logs: node.output_selector == OutputSelector::ArtifactsLogs || composite("logs"),
    }
}

/// Log span with the name of the turn. Its work and its result are not logged.
fn span(job: &TurnJob) -> tracing::Span {
    let TurnOrder { turn, node, visit, attempt, .. } = &job.order;
    tracing::info_span!("turn", turn, node = %node, visit, attempt)
}

/// A turn that begins once what it was given is on file, where it is more than an answer from a script.
fn performed(world: &World, job: TurnJob) -> BoxFuture<'static, TurnReport> {
    let (Work::Utility { script, .. } | Work::Agent { script, .. }) = &job.order.work;
    let on_file = if script.is_some() { None } else { world.observer.on_file() };
    let Some(on_file) = on_file else { return world.runner.run(job) };
    let runner = Arc::clone(&world.runner);
    Box::pin(async move {
        on_file.await;
        runner.run(job).await
    })
}

/// A turn that has ended only when the files that it left are kept.
fn kept(
    world: &World,
    run_dir: PathBuf,
    performed: BoxFuture<'static, TurnReport>,
) -> BoxFuture<'static, TurnReport> {
    let journal = Arc::clone(&world.journal);
    Box::pin(async move {
        let mut report = performed.await;
        turn_files::keep(&*journal, &run_dir, &mut report).await;
        report
    })
}

/// A turn, and what is kept of it here.
fn job((world, options): (&World, &Options), driver: &Driver, started: u64) -> (TurnJob, Held) {
    let order = order(driver, &options.folders, started);
    let (source, stop) = StopSource::new();
    let stop = stop.within(options.term.clone());
    let (tighten, tightened) = Tightened::channel();
    let held = Held { stop: source, tighten, mode: order.global_mode };
    let live = live(world, &order.run, &order.node);
    let approval = options.approval.clone();
    (TurnJob { order, control: Control { stop, tightened, live, approval } }, held)
}

/// Whether one turn is in flight and no other.
fn is_alone(run: &Run) -> bool {
    let turns = outstanding(run).filter(|effect| matches!(effect, Effect::StartTurn(_)));
    turns.take(2).count() == 1
}

/// The order for a turn.
///
/// Replaces the placeholders of folders in events by the folders of this machine.
pub(crate) fn order(driver: &Driver, folders: &Folders, started: u64) -> TurnOrder {
    let run = driver.run();
    let turn = run.turn(started).expect("effects are of turns in flight");
    let created = run.created().expect("a run with turns was created");
    let (id, node) = run.node_of(turn);
    let work = match (&node.behavior, &turn.work) {
        (Behavior::Utility { command, .. }, TurnWork::Input(input)) => {
            let word = |word: &String| folders.found(word).into_owned();
            let command = command.iter().map(word).collect();
            let input = folders.input(input).map_or_else(|| Arc::clone(input), Arc::new);
            let manner = Manner::of(node, &created.plan.limits);
            Work::Utility { command, input, manner, script: turn.script.clone() }
        }
        (Behavior::Agent { tools, model, provider, .. }, TurnWork::Prompt(prompt)) => Work::Agent {
            prompt: prompt.clone(),
            tools: tools.clone(),
            model: model.clone().or_else(|| run.agents().get(id).and_then(|it| it.model.clone())),
            // Who was found out before, and stands in `turn.started`.
            provider: run.agents().get(id).map_or(provider.clone(), |it| Some(it.provider.clone())),
            schema: run.answer_schema_of(turn),
            session: turn.session.clone(),
            script: turn.script.clone(),
        },
        (Behavior::Utility { .. }, TurnWork::Prompt(_))
        | (Behavior::Agent { .. }, TurnWork::Input(_)) => {
            unreachable!("the kernel gives utilities inputs and agents prompts")
        }
    };
    TurnOrder {
        run: run.id().clone(),
        turn: started,
        node: id.clone(),
        visit: turn.visit,
        attempt: turn.attempt,
        work,
        cwd: PathBuf::from(&*folders.found(run.cwd())),
        run_dir: PathBuf::from(&*folders.found(run.run_dir())),
        timeout: node.timeout_ms.map(Duration::from_millis),
        global_mode: turn.global_mode,
        policy: node.policy.clone(),
        doc_root: created.plan.doc_root.clone(),
        virtual_time: created.virtual_time,
        leaves: leaves(node, run.watches(turn)),
        files: turn.begins_with().map(|(start, put_back)| FilesOrder {
            start: start.clone(),
            put_back,
            alone: is_alone(run),
        }),
    }
}
