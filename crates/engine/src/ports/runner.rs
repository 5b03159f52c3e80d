use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::term::Term;
use materia_contract::{ErrorCode, FileState, RunId, TurnOutput, WorkspacePublished};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::order::{PublishOrder, TurnOrder};
use super::{Approval, BoxFuture};

/// Performs turns of some kind.
///
/// # Contract
///
/// * The future resolves exactly once, whatever the turn does; it never panics on a turn's account.
/// * When `stop` is asked, or the future is dropped, everything the turn has started is ended.
///   After `stop` the future resolves once that is done; its report is then not used.
/// * Under simulated time a runner does not wait: it says in [`TurnReport::after`] how long the
///   turn would have taken.
pub trait Runner: Send + Sync {
    /// Performs one turn.
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport>;

    /// A run is taken up. Ends what its turns have left that `rejoin` would not find, here in the folder `run_dir`. An
    /// error says what lives and cannot be ended: the run is then not carried on.
    fn clear(&self, run: &RunId, run_dir: &Path) -> BoxFuture<'static, Result<(), String>> {
        let _ = (run, run_dir);
        Box::pin(std::future::ready(Ok(())))
    }

    /// A run is taken up whose process went away in the middle of this turn. If the turn is still alive
    /// somewhere: what it will report, as from `run`. It is then not interrupted, as long as that holds for
    /// all turns that were in flight; otherwise what is given here is dropped, which ends the turn.
    fn rejoin(&self, job: TurnJob) -> BoxFuture<'static, Option<BoxFuture<'static, TurnReport>>> {
        drop(job);
        Box::pin(std::future::ready(None))
    }

    /// The present files of a run with a workspace; deleted files are restored from `last`. Also returns whether
    /// they differ from the look before. The error says why they cannot be read, and how a person can fix that.
    fn look(
        &self,
        run: &RunId,
        last: &FileState,
    ) -> BoxFuture<'static, Result<(FileState, bool), String>> {
        let _ = (run, last);
        Box::pin(std::future::ready(Err("this runner knows no workspaces".to_owned())))
    }

    /// Publishes the branch of a run to the user's repository. It is idempotent. The error is a message for the
    /// user.
    fn publish(
        &self,
        order: PublishOrder,
    ) -> BoxFuture<'static, Result<WorkspacePublished, String>> {
        drop(order);
        Box::pin(std::future::ready(Err("this runner knows no workspaces".to_owned())))
    }

    /// A run in a workspace of its own is complete, and that is durable: the workspace may go.
    fn completed(&self, run: &RunId) -> BoxFuture<'static, ()> {
        let _ = run;
        Box::pin(std::future::ready(()))
    }

    /// Under simulated time: the instant at which a turn ends has come, and `order` says how it stands
    /// now. What a turn leaves in the project it leaves here, not when it starts.
    fn land(&self, order: &TurnOrder, report: TurnReport) -> TurnReport {
        let _ = order;
        report
    }
}

/// One turn to perform: the order, and the channels to the engine.
#[derive(Debug, Clone)]
pub struct TurnJob {
    /// The order.
    pub order: TurnOrder,
    /// The channels to stop it, to reduce its write access, and for its live output.
    pub control: Control,
}

impl std::ops::Deref for TurnJob {
    type Target = TurnOrder;

    fn deref(&self) -> &TurnOrder {
        &self.order
    }
}

impl std::ops::DerefMut for TurnJob {
    fn deref_mut(&mut self) -> &mut TurnOrder {
        &mut self.order
    }
}

impl TurnJob {
    /// A turn that reports nothing but its result.
    #[must_use]
    pub fn new(order: TurnOrder, stop: Stop) -> Self {
        let (tightened, live) = (Tightened::never(), Live::default());
        let approval = Approval::default();
        Self { order, control: Control { stop, tightened, live, approval } }
    }

    /// The same turn, with `stop` to end it.
    #[must_use]
    pub fn stopped_by(mut self, stop: Stop) -> Self {
        let term = self.control.stop.term();
        self.control.stop = stop.within(term);
        self
    }
}

/// The channels between a turn and the engine. They end with the process.
#[derive(Debug, Clone)]
pub struct Control {
    /// Tells it to end.
    pub stop: Stop,
    /// Tells it when it may write less than when it started.
    pub tightened: Tightened,
    /// Where to say what it is doing while it does it.
    pub live: Live,
    /// The check right before it starts a program.
    pub approval: Approval,
}

/// Live output of a turn. It is shown and then forgotten; the result of a turn is in its report.
#[derive(Clone, Default)]
pub struct Live(Option<Arc<Show>>);

type Show = dyn Fn(&str) + Send + Sync;

impl Live {
    /// A channel that hands each piece of text to `show`.
    #[must_use]
    pub fn new(show: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(show)))
    }

    /// Says something.
    pub fn say(&self, text: &str) {
        if let Some(show) = &self.0 {
            show(text);
        }
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Live")
    }
}

/// Tells a turn that it may write less than when it started.
#[derive(Debug, Clone)]
pub struct Tightened(watch::Receiver<bool>);

impl Tightened {
    /// One that is never set.
    #[must_use]
    pub fn never() -> Self {
        Self(watch::channel(false).1)
    }

    /// The two ends.
    #[must_use]
    pub fn channel() -> (watch::Sender<bool>, Self) {
        let (sender, receiver) = watch::channel(false);
        (sender, Self(receiver))
    }

    /// Whether it is set.
    #[must_use]
    pub fn is(&self) -> bool {
        *self.0.borrow()
    }

    /// Resolves when it is set; never, if it is not.
    pub async fn told(&mut self) {
        if self.0.wait_for(|told| *told).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnReport {
    /// The output, or the error.
    pub outcome: Result<TurnOutput, TurnFault>,
    /// Under simulated time: how long the turn would have taken.
    pub after: Duration,
}

/// A turn without a usable result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnFault {
    /// The error code.
    pub code: ErrorCode,
    /// The error in a sentence.
    pub message: String,
    /// The results so far: output, exit code, usage. Boxed because it is rare.
    pub report: Box<TurnOutput>,
    /// Whether the turn was not started, because its program is not the approved one, or because the files of the
    /// workspace were changed: `report` then has the files that were found. The run waits.
    #[serde(default)]
    pub withheld: bool,
}

/// Tells a turn that it should end.
#[derive(Debug, Clone)]
pub struct Stop {
    asked: watch::Receiver<bool>,
    term: Term,
}

impl Stop {
    /// Resolves when the turn should end.
    pub async fn asked(&mut self) {
        // An error means that the source is gone: the driver was dropped, so end as well.
        let _ = self.asked.wait_for(|asked| *asked).await;
    }

    /// The same for a turn whose programs must end with a lease.
    #[must_use]
    pub fn within(self, term: Term) -> Self {
        Self { term, ..self }
    }

    /// The end of the lease under which the turn runs.
    #[must_use]
    pub fn term(&self) -> Term {
        self.term.clone()
    }
}

/// The other end of [`Stop`].
#[derive(Debug)]
pub struct StopSource(watch::Sender<bool>);

impl StopSource {
    /// A source that has not asked yet, and what listens to it.
    #[must_use]
    pub fn new() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(false);
        (Self(sender), Stop { asked: receiver, term: Term::default() })
    }

    /// Asks the turn to end.
    pub fn ask(&self) {
        self.0.send_replace(true);
    }
}
