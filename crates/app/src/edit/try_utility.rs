//! Runs one utility outside of any cast, with a given input. It needs the same approvals as a cast, and the caller
//! confirms the exact program by its hash.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use materia_compiler::Loaded;
use materia_compiler::link::Invocation;
use materia_contract::api::Tried;
use materia_contract::{Behavior, GlobalMode, Node, NodeId, Plan, RunId, content_hash};
use materia_engine::{Approval, Leaves, Manner, Runner as _, StopSource, TurnJob, TurnOrder, Work};
use materia_runners::UtilityRunner;
use serde_json::{Value, json};

use crate::cast::prepare::{self, Ready};
use crate::project::Project;
use crate::project::profile;
use crate::text::sanitize;
use crate::trust::{Begins, Starts, Trusted, Untrusted};
use crate::{Failure, Result};

/// How long a utility may take that is tried, whatever it may take in a cast.
const TRIAL_MS_MAX: u64 = 60_000;

/// A utility that could be tried.
pub struct UtilityTrial {
    loaded: Loaded,
    plan: Plan,
    socket: NodeId,
}

/// Prepares the trial of a materia, as it is saved. Nothing has run yet.
pub fn prepare(project: &Project, materia: &str) -> Result<Untrusted<UtilityTrial>> {
    let asked = Invocation {
        from: None,
        targets: vec![format!("materia:{materia}")],
        delimited: true,
        prompt: vec!["try".to_owned()],
    };
    let Ready { loaded, compiled, origin } = prepare::link(project, asked)?.ready()?;
    let plan = compiled.plan;
    let placed =
        plan.nodes.iter().find(|(_, node)| matches!(node.behavior, Behavior::Utility { .. }));
    let Some(socket) = placed.map(|(id, _)| id.clone()) else {
        return Err(Failure::usage(format!(
            "`{}` is an agent; only a utility can be tried by itself",
            sanitize::one_line(materia, 100)
        )));
    };
    let gate = project.gate();
    let begins = Begins {
        loaded: &loaded,
        plan: &plan,
        link: origin.link.as_ref(),
        by_choice: false,
        agents: &[],
    };
    let question = gate.begins(begins, &mut Vec::new())?;
    Ok(gate.holds(UtilityTrial { loaded, plan, socket }, question.into_iter().collect()))
}

impl UtilityTrial {
    fn node(&self) -> &Node {
        &self.plan.nodes[&self.socket]
    }

    fn command(&self) -> &[String] {
        match &self.node().behavior {
            Behavior::Utility { command, .. } => command,
            Behavior::Agent { .. } => &[],
        }
    }

    /// Parameters of the program, which may contain a command.
    fn params(&self) -> Option<Value> {
        match &self.node().behavior {
            Behavior::Utility { params, .. } if !params.is_empty() => Some(json!(params)),
            Behavior::Utility { .. } | Behavior::Agent { .. } => None,
        }
    }

    /// Hash that the caller confirms: the program and everything that it gets besides its input.
    pub fn hash(&self) -> String {
        let Node { env, cwd, materia, .. } = self.node();
        let (command, params) = (self.command(), self.params());
        content_hash(
            &json!({ "try": command, "params": params, "env": env, "cwd": cwd, "materia": materia }),
        )
    }

    /// The same in words, line by line.
    pub fn told(&self) -> Vec<String> {
        let node = self.node();
        let word = |text: &String| sanitize::one_line(&json!(text).to_string(), usize::MAX);
        let mut told = vec![format!(
            "{} runs {}",
            sanitize::one_line(&node.materia, 100),
            self.command().iter().map(word).collect::<Vec<_>>().join(" ")
        )];
        for (name, value) in &node.env {
            told.push(format!("with {}={}", sanitize::one_line(name, usize::MAX), word(value)));
        }
        if let Some(params) = self.params() {
            let params = sanitize::one_line(&params.to_string(), usize::MAX);
            told.push(format!("with the parameters {params}"));
        }
        let folder = node.cwd.as_deref().map_or("the project".to_owned(), |it| {
            format!("the folder `{}` of the project", sanitize::one_line(it, usize::MAX))
        });
        told.push(format!("in {folder}; it may write whatever you may"));
        told
    }
}

impl Trusted<UtilityTrial> {
    /// Runs it once.
    pub async fn run(&self, project: &Project, supervisor: PathBuf, input: Value) -> Result<Tried> {
        let scripts = materia_compiler::needed_scripts(&self.loaded, &self.plan);
        profile::ready(self.loaded.shelf(), &scripts, &mut Vec::new())?;
        let Some(state) = &project.state_dir else {
            return Err(Failure::storage(
                "the utility cannot be tried: the state folder is not known",
            ));
        };
        let folder = Scratch::new(state)
            .map_err(|error| Failure::storage(format!("no folder for a trial: {error}")))?;
        let node = self.node();
        let limit = node.timeout_ms.unwrap_or(TRIAL_MS_MAX).min(TRIAL_MS_MAX);
        let order = TurnOrder {
            files: None,
            run: RunId::parse("try").map_err(|error| Failure::storage(error.to_string()))?,
            turn: 1,
            node: self.socket.clone(),
            visit: 1,
            attempt: 1,
            work: Work::Utility {
                command: self.command().to_vec(),
                input: Arc::new(input),
                manner: Manner::of(node, &self.plan.limits),
                script: None,
            },
            cwd: project.dir.clone(),
            run_dir: folder.0.clone(),
            timeout: Some(Duration::from_millis(limit)),
            global_mode: GlobalMode::Implementation,
            policy: node.policy.clone(),
            doc_root: self.plan.doc_root.clone(),
            virtual_time: false,
            leaves: Leaves::default(),
        };
        let (_source, stop) = StopSource::new();
        let mut job = TurnJob::new(order, stop);
        let starts = Starts::of(&self.plan, None, Some(&self.loaded));
        job.control.approval = Approval::by(Arc::new(self.watch(starts)));
        let report = UtilityRunner::new(supervisor).run(job).await;
        let (output, error) = match report.outcome {
            Ok(output) => (output, None),
            Err(fault) => (*fault.report, Some(fault.message)),
        };
        Ok(Tried {
            exit_code: output.exit_code,
            output: serde_json::from_str(output.json_text().trim()).unwrap_or_default(),
            stdout: output.output,
            stderr: output.stderr,
            duration_ms: output.duration_ms.unwrap_or(0),
            error,
        })
    }
}

/// A folder for one trial, which goes with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(state: &Path) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}", std::process::id());
        let above = state.join("trials");
        fs::create_dir_all(&above)?;
        let folder = above.join(name);
        // Remove leftovers of an earlier process with the same pid.
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        fs::create_dir(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
