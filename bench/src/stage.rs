//! The measured code: runs of scripted turns on the real journal with its views, put together as in the binary.
//!
//! The graph is a cycle of two agents. `Build` answers with text, `Check` with a verdict; the verdict is false until
//! the last step. A step is one turn: its report is settled, the next turn is decided, and both are made durable.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use materia_app::cast::host::{Host, Setting};
use materia_app::trust::Gate;
use materia_contract::script::{Answer, Script};
use materia_contract::{
    Behavior, Budget, Condition, Delivery, Edge, EdgeId, Folders, GlobalMode,
    JOURNAL_VERSION_OF_PROJECT, Limits, Node, NodeId, Pace, Parse, Plan, RunCreated, RunId,
    path_tokens,
};
use materia_engine::{
    Journal, Observer, Options as How, SystemClock, World, cast, on_own_thread, watch_inbox,
};
use materia_journal::{Options, SqliteJournal, Stats, Views};
use materia_runners::{ScriptedRunner, bind};
use serde_json::json;
use tokio::sync::mpsc;

use crate::Outcome;
use crate::meter::{cpu_since, cpu_time, number};

/// Cost of a number of steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) steps: u64,
    /// From the first call to the last line of the views.
    pub(crate) wall: Duration,
    /// From the first call to the last commit; the views may lag behind.
    pub(crate) durable: Duration,
    /// Of the whole process.
    pub(crate) cpu: Duration,
    /// Counters of the journal.
    pub(crate) stats: Stats,
}

impl Cost {
    pub(crate) fn steps_a_second(&self) -> f64 {
        number(self.steps) / self.wall.as_secs_f64()
    }

    pub(crate) fn durable_steps_a_second(&self) -> f64 {
        number(self.steps) / self.durable.as_secs_f64()
    }

    pub(crate) fn cpu_ms_a_step(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e3 / number(self.steps)
    }

    /// Bytes of the records of a step.
    pub(crate) fn bytes_a_step(&self) -> u64 {
        self.stats.bytes / self.steps
    }
}

/// A journal with its views, and a thread that drives runs.
pub(crate) struct Stage {
    pub(crate) journal: Arc<SqliteJournal>,
    pub(crate) views: Arc<Views>,
    runtime: tokio::runtime::Runtime,
    /// Where those live who listen for other processes: a run that is alone has its thread to itself.
    ears: tokio::runtime::Runtime,
}

impl Stage {
    pub(crate) fn open(root: &Path, options: Options) -> Outcome<Self> {
        Ok(Self {
            journal: Arc::new(SqliteJournal::open(root, options)?),
            views: Arc::new(Views::start(root, &Folders::default())),
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build()?,
            ears: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()?,
        })
    }

    /// One run of `steps` steps, with an ear for other processes as the binary has one.
    pub(crate) fn one(&self, id: &str, steps: u64) -> Outcome<Cost> {
        let observer: Arc<dyn Observer> = Arc::clone(&self.views) as _;
        self.one_watched(id, steps, observer)
    }

    /// The same, heard by somebody else, who passes it on to the views.
    pub(crate) fn one_watched(
        &self,
        id: &str,
        steps: u64,
        observer: Arc<dyn Observer>,
    ) -> Outcome<Cost> {
        let script = script(steps);
        let world = self.world(&script, observer);
        let alone = on_own_thread(async {
            let (sender, mut asks) = mpsc::unbounded_channel();
            let ear = watch_inbox(Arc::clone(&world.journal), RunId::new(id), sender);
            let ear = self.ears.spawn(ear);
            let created = created(&script);
            cast(&world, RunId::new(id), created, How::default(), &mut asks).await?;
            ear.abort();
            Ok(())
        });
        self.measured(steps, alone)
    }

    /// `runs` runs of `steps` steps each, all at once, in one host as a server would drive them.
    pub(crate) fn many(&self, runs: u64, steps: u64) -> Outcome<Cost> {
        self.many_watched(0..runs, steps, Arc::clone(&self.views) as _)
    }

    /// The same for the runs with these numbers, heard by another observer.
    pub(crate) fn many_watched(
        &self,
        runs: std::ops::Range<u64>,
        steps: u64,
        observer: Arc<dyn Observer>,
    ) -> Outcome<Cost> {
        let script = script(steps);
        let count = runs.end - runs.start;
        let World { journal, observer, runner, clock } = self.world(&script, observer);
        let host = Host::new(journal, observer, clock, self.ears.handle());
        // Somebody has agreed to each of them.
        let gate = Gate::new(None, Path::new("/"));
        let agreed = |run| {
            let id = RunId::new(format!("run-{run}"));
            let bare = gate.bare(id.clone(), created(&script), &mut Vec::new());
            let trusted = bare.settle(|_| Ok::<(), String>(()), &mut Vec::new())?;
            let (runner, options) = (Arc::clone(&runner), How::default());
            Ok((id, Setting { runner, options, cleared: trusted.release().1 }))
        };
        let agreed = runs.map(agreed).collect::<Result<Vec<_>, String>>()?;
        self.measured(count * steps, async {
            let begin = |(id, setting)| host.begin(id, created(&script), setting);
            for run in agreed.into_iter().map(begin).collect::<Vec<_>>() {
                run.rested().await?;
            }
            Ok(())
        })
    }

    fn world(&self, script: &Script, observer: Arc<dyn Observer>) -> World {
        world(Arc::clone(&self.journal) as _, script, observer)
    }

    fn measured(&self, steps: u64, work: impl Future<Output = Outcome<()>>) -> Outcome<Cost> {
        let before = self.journal.stats();
        let cpu = cpu_time();
        let since = Instant::now();
        self.runtime.block_on(work)?;
        let durable = since.elapsed();
        self.views.flush()?;
        let (wall, cpu) = (since.elapsed(), cpu_since(cpu));
        let after = self.journal.stats();
        let stats = Stats {
            commits: after.commits - before.commits,
            batches: after.batches - before.batches,
            decisions: after.decisions - before.decisions,
            records: after.records - before.records,
            bytes: after.bytes - before.bytes,
            commit_time: after.commit_time.saturating_sub(before.commit_time),
        };
        Ok(Cost { steps, wall, durable, cpu, stats })
    }
}

/// Everything a run of this stage needs, around any journal.
pub(crate) fn world(
    journal: Arc<dyn Journal>,
    script: &Script,
    observer: Arc<dyn Observer>,
) -> World {
    let runner = Arc::new(ScriptedRunner::new(script.clone()));
    World { journal, observer, runner, clock: Arc::new(SystemClock) }
}

/// Answers for a run of `steps` steps; an even number, for the cycle has two nodes.
pub(crate) fn script(steps: u64) -> Script {
    let says = |satisfied: bool| Answer {
        json: Some(json!({"satisfied": satisfied, "context": "the third test fails"})),
        ..Answer::default()
    };
    let rounds = usize::try_from(steps / 2).unwrap_or(usize::MAX);
    let mut verdicts = vec![says(false); rounds.saturating_sub(1)];
    verdicts.push(says(true));
    let built = Answer { text: Some("built, with one test added".to_owned()), ..Answer::default() };
    let turns = [("Build".to_owned(), vec![built]), ("Check".to_owned(), verdicts)];
    Script { turns: turns.into_iter().collect(), repeat_last: true, ..Script::default() }
}

/// The beginning of a run of this stage.
pub(crate) fn created(script: &Script) -> RunCreated {
    let plan = plan();
    RunCreated {
        request: "make it so".to_owned(),
        plan_hash: plan.hash(),
        script: Some(bind(script, "script.json", &plan)),
        plan,
        cwd: path_tokens::WORKSPACE.to_owned(),
        run_dir: path_tokens::RUN_DIR.to_owned(),
        pace: Pace::Auto,
        global_mode: GlobalMode::Implementation,
        virtual_time: false,
        agents: materia_contract::Answerers::default(),
        from_cast_id: None,
        fork: None,
        timeline: 0,
        link: None,
        state: serde_json::Map::new(),
        key: None,
        workspace: None,
        approved: None,
        journal_version: JOURNAL_VERSION_OF_PROJECT,
    }
}

fn plan() -> Plan {
    let build = vec![edge("Build", Condition::Always, Some("Check"), None)];
    let check = vec![
        edge("Check", Condition::Satisfied, None, None),
        // Not a way back: what is sent back carries its reason, and that is no part of a plain step.
        edge("Check", Condition::Always, Some("Build"), Some(u32::MAX)),
    ];
    let nodes: IndexMap<NodeId, Node> = [
        (NodeId::new("Build"), agent("Build what was asked for.", Parse::Text, build)),
        (NodeId::new("Check"), agent("Check what was built.", Parse::Json, check)),
    ]
    .into_iter()
    .collect();
    let entry = NodeId::new("Build");
    let limits = Limits::default();
    Plan {
        loadout: "cycle".to_owned(),
        entry,
        nodes,
        loops: IndexMap::new(),
        limits,
        budget: Budget::default(),
        doc_root: "docs".to_owned(),
    }
}

fn edge(from: &str, when: Condition, to: Option<&str>, bound: Option<u32>) -> Edge {
    let id = EdgeId::new(format!("{from}->{}", to.unwrap_or("end")));
    Edge {
        id,
        when,
        guard: None,
        to: to.map(NodeId::new),
        fails: false,
        max_traversals: bound,
        delivery: Delivery::default(),
    }
}

fn agent(prompt: &str, parse: Parse, edges: Vec<Edge>) -> Node {
    let behavior = Behavior::Agent {
        prompt: prompt.to_owned(),
        origin: "bench".to_owned(),
        tools: None,
        model: None,
        provider: None,
    };
    Node { parse, edges, ..Node::new("agent", behavior) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_takes_as_many_steps_as_asked_for_and_one_commit_each() {
        let folder = tempfile::tempdir().expect("a folder");
        let stage = Stage::open(folder.path(), Options::default()).expect("a stage");
        let one = stage.one("one", 6).expect("a run");
        assert_eq!(
            (one.stats.batches, one.stats.commits),
            (7, 8),
            "its claim, its creation and six steps"
        );
        let (run, _) = materia_engine::load(&*stage.journal, &RunId::new("one")).expect("the run");
        assert_eq!(run.usage().turns, 6);
        let many = stage.many(5, 4).expect("runs");
        assert_eq!(many.stats.batches, 25);
    }
}
