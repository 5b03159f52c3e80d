//! The agent runner against programs that behave like agents, well and badly.

mod acp;
mod acp_recorded;
mod confining;
mod ending;
mod homes;
mod recording;
mod sessions;
mod speaking;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use materia_contract::{
    AgentDoc, AgentProtocol, PricesDoc, SessionRef, ToolsDoc, TurnOutput, Uuid,
};
use materia_engine::{Live, StopSource, TurnFault, TurnJob, TurnReport, Work};
use materia_runners::agents::{AgentRegistry, AgentRunner, Limits};

use crate::stage::{SUPERVISOR, Stage, marked, perform};

/// First part of every fake agent: it names its session and can answer.
const PRELUDE: &str = r#"
id=none; verb=none
while [ $# -gt 0 ]; do
  case $1 in --session-id|--resume) verb=$1; id=$2; shift;; esac
  shift
done
init() { printf '{"type":"system","subtype":"init","session_id":"%s","model":"fake-1"}\n' "$id"; }
delta() { printf '{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"%s"}}}\n' "$1"; }
result() { printf '{"type":"result","subtype":"success","is_error":false,"result":"%s","session_id":"%s","usage":{"input_tokens":10,"output_tokens":2},"total_cost_usd":0.5}\n' "$1" "$id"; }
"#;

/// A project with one agent, `claude`, which is a shell script.
pub(crate) struct Driving {
    pub(crate) stage: Stage,
    pub(crate) limits: Limits,
    pub(crate) patience: Duration,
    pub(crate) said: Arc<Mutex<String>>,
    docs: Vec<(String, AgentDoc)>,
}

impl Driving {
    /// The agent that runs this script behind the prelude.
    pub(crate) fn new(script: &str) -> Self {
        let stage = Stage::new();
        let path = stage.outside().join("fake-agent.sh");
        fs::write(&path, format!("{PRELUDE}{script}\n")).unwrap();
        let command = vec!["sh".to_owned(), path.to_str().unwrap().to_owned()];
        Self::with(stage, "claude", AgentDoc { command: Some(command), ..AgentDoc::default() })
    }

    /// An agent that speaks the protocol: a Python program.
    pub(crate) fn acp(program: &str) -> Self {
        let stage = Stage::new();
        let path = stage.outside().join("fake-acp.py");
        fs::write(&path, program).unwrap();
        let command = vec!["python3".to_owned(), path.to_str().unwrap().to_owned()];
        let doc = AgentDoc {
            protocol: Some(AgentProtocol::Acp),
            command: Some(command),
            ..AgentDoc::default()
        };
        Self::with(stage, "mine", doc)
    }

    pub(crate) fn with(mut stage: Stage, name: &str, doc: AgentDoc) -> Self {
        let said = Arc::new(Mutex::new(String::new()));
        let ear = Arc::clone(&said);
        stage.job.control.live = Live::new(move |text| ear.lock().unwrap().push_str(text));
        stage.job.work = Work::Agent {
            prompt: "Do it.".into(),
            tools: None,
            model: None,
            provider: Some(name.to_owned()),
            schema: None,
            session: None,
            script: None,
        };
        let limits = Limits {
            idle: Duration::from_secs(20),
            wall: Duration::from_secs(30),
            grace: Duration::from_millis(400),
            linger: Duration::from_millis(300),
        };
        let patience = Duration::from_secs(10);
        Self { stage, limits, patience, said, docs: vec![(name.to_owned(), doc)] }
    }

    pub(crate) fn fleet(&self) -> AgentRegistry {
        AgentRegistry::new(self.docs.clone(), PricesDoc::default(), None).with_home(self.home())
    }

    /// The home of the user, as far as agents keep something there.
    pub(crate) fn home(&self) -> PathBuf {
        self.stage.outside().join("home")
    }

    pub(crate) fn runner(&self) -> AgentRunner {
        AgentRunner::new(SUPERVISOR.into(), self.fleet())
            .with_limits(self.limits)
            .with_patience(self.patience)
    }

    pub(crate) fn cwd(&self) -> &Path {
        self.stage.cwd()
    }

    /// The next turn has this session.
    pub(crate) fn in_session(&mut self, id: u128, resume: bool, attempt: u32) {
        self.stage.job.attempt = attempt;
        if let Work::Agent { session, .. } = &mut self.stage.job.work {
            *session = Some(SessionRef { id: Uuid::from_u128(id), resume });
        }
    }

    /// The next turn has these tools.
    pub(crate) fn with_tools(&mut self, set: &str) {
        if let Work::Agent { tools, .. } = &mut self.stage.job.work {
            *tools = Some(ToolsDoc::List(vec![set.to_owned()]));
            if let Ok(named) = serde_json::from_value(serde_json::json!(set)) {
                *tools = Some(ToolsDoc::Set(named));
            }
        }
    }

    pub(crate) fn job(&self) -> TurnJob {
        self.stage.job.clone()
    }

    pub(crate) fn report(&self) -> TurnReport {
        let (_source, stop) = StopSource::new();
        perform(&self.runner(), self.job(), stop)
    }

    /// Runs a turn that gives an answer, and leaves nobody behind.
    #[track_caller]
    pub(crate) fn answer(&self) -> TurnOutput {
        let output = match self.report().outcome {
            Ok(output) => output,
            Err(fault) => panic!("{}: {}", fault.message, fault.report.stderr),
        };
        self.assert_tidy();
        output
    }

    /// Runs a turn that fails, and leaves nobody behind.
    #[track_caller]
    pub(crate) fn fault(&self) -> TurnFault {
        let fault = self.report().outcome.expect_err("the turn fails");
        self.assert_tidy();
        fault
    }

    /// Fails unless every process and every private file of the turn is gone.
    #[track_caller]
    pub(crate) fn assert_tidy(&self) {
        assert_eq!(self.processes(), [] as [String; 0], "processes were left behind");
        assert!(!self.stage.job.run_dir.join("tmp").exists(), "private files were left behind");
    }

    pub(crate) fn processes(&self) -> Vec<String> {
        marked(&format!("MATERIA_CAST_ID={}", self.stage.job.run))
    }

    pub(crate) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// A file of the project, as text; empty where it is missing.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.cwd().join(name)).unwrap_or_default()
    }

    pub(crate) fn transcript(&self) -> PathBuf {
        self.stage.job.artifact("transcript.jsonl")
    }
}
