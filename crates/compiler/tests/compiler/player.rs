//! Plays a plan on the kernel: every turn gets an answer, nothing else exists.

use materia_contract::{
    Do, EventBody, GlobalMode, JOURNAL_VERSION_OF_PROJECT, Node, NodeId, Pace, Plan, RunCreated,
    RunId, TurnOutput, WaitReason,
};
use materia_kernel::{Effect, Input, Phase, Run, TurnOutcome, outstanding, step};
use serde_json::Map;

/// A run that takes more turns than this goes round for ever.
const TURNS_MAX: usize = 120;

/// A turn: where, the how-manieth there, and for which item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Visit {
    pub(crate) node: NodeId,
    pub(crate) number: u32,
    pub(crate) item: Option<String>,
}

/// Plays a plan until it rests, and continues where it waits for a person's word. Says what was
/// visited and how it rests; `None` where it does not come to rest.
pub(crate) fn play(
    plan: &Plan,
    mut answer: impl FnMut(&Visit, &Node) -> String,
) -> Option<(Vec<Visit>, Phase)> {
    let mut run = Run::new(RunId::new("r"));
    let mut events = step(&mut run, 1, Input::Create(created(plan).into())).unwrap();
    let mut visits: Vec<Visit> = Vec::new();
    let mut now = 1;
    loop {
        for event in events.drain(..) {
            if let EventBody::TurnStarted(data) = event.body {
                let (node, item) = (event.node.unwrap(), data.item);
                visits.push(Visit { node, number: data.visit, item });
            }
        }
        if visits.len() > TURNS_MAX {
            return None;
        }
        now += 1;
        let input = if let Some(Effect::StartTurn(turn)) = outstanding(&run).next() {
            let visit = visits.last().unwrap();
            let output = answer(visit, &plan.nodes[&visit.node]);
            let output = TurnOutput { output, ..TurnOutput::default() };
            Input::report(turn, TurnOutcome::Ended(output))
        } else if let Phase::Waiting(waiting) = run.phase()
            && waiting.reason == WaitReason::MultiTurn
        {
            Input::act(Do::Continue { node: None })
        } else {
            return Some((visits, run.phase().clone()));
        };
        events = step(&mut run, now, input).unwrap();
    }
}

fn created(plan: &Plan) -> RunCreated {
    RunCreated {
        request: "go".into(),
        plan_hash: plan.hash(),
        plan: plan.clone(),
        cwd: "{workspace}".into(),
        run_dir: "{runDir}".into(),
        pace: Pace::Auto,
        global_mode: GlobalMode::Implementation,
        virtual_time: true,
        script: None,
        agents: materia_contract::Answerers::default(),
        from_cast_id: None,
        link: None,
        state: Map::new(),
        fork: None,
        timeline: 0,
        key: None,
        workspace: None,
        approved: None,
        journal_version: JOURNAL_VERSION_OF_PROJECT,
    }
}
