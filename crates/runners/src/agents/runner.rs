//! Performs agent turns: one process a turn, under the supervisor, with its own write access.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use materia_contract::{ErrorCode, FailureClass, SessionRef, TurnOutput, Uuid, derived_id};
use materia_engine::{BoxFuture, Runner, Stop, TurnFault, TurnJob, TurnReport, Work};
use serde_json::json;
use tokio::time::Instant;

use super::live::Voice;
use super::private_files::Own;
use super::process::{self, Course, Order};
use super::record::{Recorder, Tape};
use super::registry::{self, Agent, AgentRegistry};
use super::report::{Conclusion, without_process};
use super::sessions::{Held, SessionError};
use super::stream_reader::Listener;
use super::transcript::TranscriptWriter;
use super::watchdog::{Limits, later};
use super::write_access::WriteAccess;
use super::{AgentSettings, Ask, Ended, Exit, Launch, SessionPlan, environment};
use crate::dispatch::faulted;
use crate::redact::Secrets;
use crate::supervise::mark::Mark;
use crate::{PlanningSupport, approved_files, cast_folder, guard, planning_support, side_output};

/// How long a turn waits for its session if another turn still uses it.
pub const SESSION_PATIENCE_DEFAULT: Duration = Duration::from_secs(30);

/// Asks agents.
#[derive(Clone)]
pub struct AgentRunner {
    supervisor: PathBuf,
    fleet: Arc<AgentRegistry>,
    limits: Limits,
    patience: Duration,
    recorder: Option<Recorder>,
}

impl AgentRunner {
    /// A runner that starts `supervisor` (with [`ARGUMENT`](crate::supervise::ARGUMENT)) for every
    /// process of an agent.
    pub fn new(supervisor: PathBuf, fleet: AgentRegistry) -> Self {
        Self {
            supervisor,
            fleet: Arc::new(fleet),
            limits: Limits::default(),
            patience: SESSION_PATIENCE_DEFAULT,
            recorder: None,
        }
    }

    /// Changes the limits of a turn.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Changes how long a turn waits for its session.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Records every turn.
    #[must_use]
    pub fn with_recorder(self, recorder: Recorder) -> Self {
        Self { recorder: Some(recorder), ..self }
    }
}

impl Runner for AgentRunner {
    fn run(&self, job: TurnJob) -> BoxFuture<'static, TurnReport> {
        let runner = self.clone();
        Box::pin(async move {
            let Work::Agent { provider, session, .. } = &job.work else {
                let message = format!("socket `{}` is a utility, no agent", job.node);
                return faulted(ErrorCode::Internal, message);
            };
            let agent = match runner.fleet.choose(provider.as_deref()) {
                Ok(agent) => agent,
                Err(error) => return refused(&job, &error.to_string()),
            };
            tracing::debug!(agent = agent.name, "asks");
            let session = session.clone();
            let stop = job.control.stop.clone();
            let turn = Turn::begin(&runner, &job, &agent, stop);
            match turn {
                Ok(turn) => {
                    // In this order: the last check sees everything that was written for the turn.
                    let turn = side_output::performed(&job, turn.perform(session.as_ref()));
                    let (report, complaint) = Box::pin(guard::watched(&job, turn)).await;
                    match complaint {
                        Some(complaint) => not_accepted(report, &complaint),
                        None => report,
                    }
                }
                Err(message) => refused(&job, &message),
            }
        })
    }
}

/// The report of a turn that changed what it may not.
fn not_accepted(report: TurnReport, complaint: &str) -> TurnReport {
    let outcome = match report.outcome {
        Ok(output) => TurnFault {
            code: ErrorCode::ProviderFailed,
            message: format!("the answer is not accepted: {complaint}"),
            report: Box::new(TurnOutput { class: Some(FailureClass::Permanent), ..output }),
            withheld: false,
        },
        Err(fault) => TurnFault { message: format!("{}; {complaint}", fault.message), ..fault },
    };
    TurnReport { outcome: Err(outcome), after: report.after }
}

/// The report of a turn that could not even be tried.
fn refused(job: &TurnJob, why: &str) -> TurnReport {
    let message = format!("socket `{}` was not asked: {why}", job.node);
    without_process(ErrorCode::ProviderFailed, FailureClass::Permanent, message, "", None)
}

/// Input of a turn from the job alone; the caller fills in session, folders and settings.
pub(super) fn ask_of(job: &TurnJob) -> Ask {
    let (prompt, tools, model, schema) = match &job.work {
        Work::Agent { prompt, tools, model, schema, .. } => {
            // What a socket allows weighs more than what its materia asks for.
            let allowed = job.policy.as_ref().and_then(|policy| policy.tools.clone());
            let tools = allowed.or_else(|| tools.clone());
            (prompt.to_string(), tools, model.clone(), schema.as_deref().cloned())
        }
        Work::Utility { .. } => (String::new(), None, None, None),
    };
    Ask {
        prompt,
        cwd: job.cwd.clone(),
        run_dir: job.run_dir.clone(),
        scratch: PathBuf::new(),
        session: SessionPlan::Fresh { id: Uuid::nil() },
        tools,
        mode: job.global_mode,
        doc_root: job.doc_root.clone(),
        confined: false,
        network: job.policy.as_ref().and_then(|policy| policy.network),
        model,
        schema,
        settings: AgentSettings::default(),
    }
}

/// One turn while it is performed.
struct Turn<'a> {
    runner: &'a AgentRunner,
    job: &'a TurnJob,
    agent: &'a Agent,
    stop: Stop,
    room: WriteAccess,
    ask: Ask,
    secrets: Secrets,
    keeper: TranscriptWriter,
    voice: Voice,
    tape: Option<Tape>,
    notes: Vec<String>,
    begun: Instant,
    limits: Limits,
}

/// Result of a process.
enum Attempt {
    Ended(Box<Ended>, Exit, String),
    /// There is nothing to conclude from.
    Failed(ErrorCode, FailureClass, String, String),
    /// It was not started, because something is not as it was approved.
    Withheld(String),
}

impl<'a> Turn<'a> {
    fn begin(
        runner: &'a AgentRunner,
        job: &'a TurnJob,
        agent: &'a Agent,
        stop: Stop,
    ) -> Result<Self, String> {
        let mut ask = ask_of(job);
        let room = room_for(job, &ask)?;
        ask.scratch.clone_from(&room.scratch);
        ask.confined = room.write_roots.is_some() && can_confine();
        ask.model = ask.model.or_else(|| agent.model.clone());
        ask.settings = agent.settings.clone();
        let secrets = Secrets::of_process();
        let tape = runner
            .recorder
            .as_ref()
            .map(|recorder| recorder.tape(job, &agent.name, &ask.prompt, &secrets));
        let wall = job.timeout.unwrap_or(runner.limits.wall);
        let notes = room.notes.clone();
        Ok(Self {
            runner,
            job,
            agent,
            stop,
            room,
            ask,
            keeper: TranscriptWriter::open(job, secrets.clone()),
            voice: Voice::new(job.control.live.clone(), secrets.clone()),
            tape: tape.transpose().map_err(|error| error.to_string())?,
            secrets,
            notes,
            begun: Instant::now(),
            limits: Limits {
                wall,
                idle: agent.idle.unwrap_or(runner.limits.idle),
                ..runner.limits
            },
        })
    }

    async fn perform(mut self, session: Option<&SessionRef>) -> TurnReport {
        let mut held = match self.hold(session).await {
            Ok(held) => held,
            Err(error) => {
                let class = match error {
                    SessionError::InUse { .. } | SessionError::Stopped => FailureClass::Transient,
                    SessionError::Foreign { .. } | SessionError::Io { .. } => {
                        FailureClass::Permanent
                    }
                };
                let message = format!("socket `{}` was not asked: {error}", self.job.node);
                return without_process(ErrorCode::ProviderFailed, class, message, "", None);
            }
        };
        self.ask.session = match held.as_ref().map(|held| held.plan(&self.agent.name)) {
            Some(Ok(plan)) => plan,
            // Nothing is started: the prompt for a resumed session is too short for a new one.
            Some(Err(why)) => return self.lost(&why),
            None => SessionPlan::Fresh { id: derived_id(&self.job.run, self.job.turn) },
        };
        let attempt = self.attempt(held.as_mut()).await;
        if let Attempt::Ended(ended, ..) = &attempt
            && let Err(fault) = &ended.outcome
            && fault.class == FailureClass::SessionLost
        {
            let why = json!({ "type": "materia.session_lost", "reason": fault.message });
            self.keeper.remark(&why);
        }
        self.conclude(attempt, held)
    }

    /// The report of a turn whose session cannot be continued, as is known beforehand.
    fn lost(mut self, why: &str) -> TurnReport {
        self.voice.does(why);
        // Its recording says that nothing was started.
        let _ = self.tape.take().map(Tape::finish);
        let message = format!("socket `{}` was not asked: {why}", self.job.node);
        let class = FailureClass::SessionLost;
        without_process(ErrorCode::ProviderFailed, class, message, "", None)
    }

    /// Takes the session of the turn, if it has one.
    async fn hold(&mut self, session: Option<&SessionRef>) -> Result<Option<Held>, SessionError> {
        let Some(session) = session else { return Ok(None) };
        let cast = cast_folder::cast(self.job)
            .map_err(|source| SessionError::Io { id: session.id, source })?;
        let node = &self.job.node;
        Held::take(&cast, session, node, self.runner.patience, &mut self.stop).await.map(Some)
    }

    /// Runs one process to its end.
    async fn attempt(&mut self, mut held: Option<&mut Held>) -> Attempt {
        let provider = |class, message| {
            Attempt::Failed(ErrorCode::ProviderFailed, class, message, String::new())
        };
        let adapter = self.agent.adapter();
        let launch = match adapter.launch(&self.ask) {
            Ok(launch) => launch,
            Err(error) => return provider(FailureClass::Permanent, error.to_string()),
        };
        // Before anything is written for it: it may not be started at all.
        let pinned = match approved_files::of(self.job).await {
            Ok(pinned) => pinned,
            Err(why) => return Attempt::Withheld(why),
        };
        let prepared = self.room.write_files(&launch.files).and_then(|()| {
            let begun = held.as_mut().map(|held| held.begin(&self.ask.session));
            begun.transpose().map_err(|error| error.to_string())?;
            self.room.own(self.agent, &self.ask)
        });
        let own = match prepared {
            Ok(own) => own,
            Err(why) => {
                let message = format!("{} was not run: {why}", self.agent.name);
                return provider(FailureClass::Permanent, message);
            }
        };
        let lock = held.as_ref().map(|held| held.tree_lock());
        let order = self.order(launch, adapter.dialogue(), lock, own.as_ref());
        let order = Order { pinned, ..order };
        if let Some(tape) = &mut self.tape {
            let names = order.env.iter().map(|(name, _)| name.clone()).collect();
            tape.process(&order.argv, names, &self.ask.session);
        }
        let reader = adapter.reader(&self.ask);
        let cwd = self.job.cwd.clone();
        let (keeper, voice, tape) = (&mut self.keeper, &mut self.voice, self.tape.as_mut());
        let mut ear = Listener::new(reader, keeper, voice, tape, cwd);
        let wall = later(self.begun, self.limits.wall);
        let supervisor = &self.runner.supervisor;
        let course =
            process::follow(supervisor, order, self.limits, wall, &mut self.stop, &mut ear).await;
        let exit = match &course {
            Course::Ran { exit, .. } => *exit,
            Course::NotStarted { .. } | Course::Withheld(_) | Course::Lost(_) => Exit::default(),
        };
        let (mut ended, stderr) = ear.finish(exit);
        // Everything that ran in the turn has ended.
        if let Some(own) = own {
            self.notes.extend(own.give_back(&mut ended.session, held.is_some()));
        }
        self.judge(course, ended, stderr)
    }

    fn judge(&mut self, course: Course, ended: Ended, stderr: String) -> Attempt {
        let name = &self.agent.name;
        match course {
            Course::Ran { exit, sandbox } => {
                if matches!(sandbox, Some(PlanningSupport::Partial | PlanningSupport::Unavailable))
                {
                    self.notes.push(
                        "this kernel could not hold the agent to its folders in full".to_owned(),
                    );
                }
                Attempt::Ended(Box::new(ended), exit, stderr)
            }
            Course::NotStarted { why, locked } => {
                let class = if locked { FailureClass::Transient } else { FailureClass::Permanent };
                let message =
                    format!("{name} was not run: {why}; `materia doctor` shows what is there");
                Attempt::Failed(ErrorCode::ProviderFailed, class, message, stderr)
            }
            Course::Withheld(why) => Attempt::Withheld(why),
            // Its output does not count: it is unknown whether it had finished, or what ended it.
            Course::Lost(how) => {
                let message = format!("{name} has an unknown end: its supervisor {how}");
                Attempt::Failed(ErrorCode::Internal, FailureClass::Transient, message, stderr)
            }
        }
    }

    fn order(
        &self,
        launch: Launch,
        dialogue: bool,
        lock: Option<PathBuf>,
        own: Option<&Own>,
    ) -> Order {
        let env = self.environment(&launch, own);
        Order {
            env,
            dialogue,
            writable: self.room.writable(own),
            argv: launch.argv,
            cwd: self.job.cwd.clone(),
            stdin: launch.stdin,
            polite: launch.polite,
            lock,
            mark: Mark::of(self.job),
            pinned: Vec::new(),
        }
    }

    /// The whole environment of the process: what the lists let through, and what is set.
    fn environment(&self, launch: &Launch, own: Option<&Own>) -> Vec<(String, OsString)> {
        let mut env: Vec<(String, OsString)> = Vec::new();
        let mut set = |name: &str, value: OsString| {
            env.retain(|(known, _)| known != name);
            env.push((name.to_owned(), value));
        };
        for (name, value) in environment::passed(&launch.pass_env) {
            set(&name, value);
        }
        for (name, value) in &launch.set_env {
            set(name, value.into());
        }
        if let Some(temporary) = &self.room.temporary {
            set("TMPDIR", temporary.into());
        }
        for (name, value) in own.map(Own::environment).unwrap_or_default() {
            set(name, value);
        }
        set("MATERIA_CAST_ID", self.job.run.as_str().into());
        set("MATERIA_SOCKET_ID", self.job.node.as_str().into());
        set("MATERIA_RUN_DIR", self.job.run_dir.clone().into());
        env
    }

    fn conclude(mut self, attempt: Attempt, held: Option<Held>) -> TurnReport {
        if let (Some(mut held), Attempt::Ended(ended, ..)) = (held, &attempt)
            && let Err(error) = held.end(ended.session.as_ref(), answered(ended))
        {
            self.notes.push(format!("{error}; the next turn cannot go on in it"));
        }
        if let Some(Err(error)) = self.tape.take().map(Tape::finish) {
            self.notes.push(format!("the recording of this turn is not complete: {error}"));
        }
        let (job, secrets, notes) = (self.job, &self.secrets, self.notes);
        match attempt {
            Attempt::Ended(ended, exit, stderr) => {
                let took = Some(self.begun.elapsed());
                Conclusion { job, ended: *ended, exit, stderr, secrets, notes, took }
                    .report(self.keeper.finish())
            }
            Attempt::Withheld(why) => {
                let message =
                    format!("socket `{}` did not ask {}: {why}", job.node, self.agent.name);
                approved_files::withheld(ErrorCode::ProviderFailed, message)
            }
            Attempt::Failed(code, class, message, stderr) => {
                let (message, stderr) = (secrets.remove(&message), secrets.remove(&stderr));
                let transcript = self.keeper.finish().ok();
                without_process(code, class, message.into_owned(), &stderr, transcript)
            }
        }
    }
}

/// Whether there was an answer, a usable one or one that can be mended.
fn answered(ended: &Ended) -> bool {
    match &ended.outcome {
        Ok(_) => true,
        Err(fault) => fault.class == FailureClass::Contract,
    }
}

/// The room of a turn. One that may only look is held to that by the kernel, whatever the mode and the agent.
fn room_for(job: &TurnJob, ask: &Ask) -> Result<WriteAccess, String> {
    let nowhere: &[String] = &[];
    let policy = job.policy.as_ref().and_then(|policy| policy.write.as_deref());
    let allowed = if registry::looks_only(ask) { Some(nowhere) } else { policy };
    WriteAccess::prepare(job, allowed)
}

/// Whether the kernel can hold a process to its folders.
fn can_confine() -> bool {
    match planning_support() {
        PlanningSupport::Enforced => true,
        PlanningSupport::Partial | PlanningSupport::Unavailable => false,
    }
}
