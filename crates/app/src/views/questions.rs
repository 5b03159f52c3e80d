//! Questions of a cast to a person, with all data needed to answer.

use materia_contract::{
    Behavior, Condition, Envelope, GlobalMode, Node, NodeId, RunWaiting, WaitReason,
};
use materia_kernel::{Phase, Run, question, waiting_envelopes};
use serde_json::{Value, json};

use crate::text::sanitize::one_line;

/// How much of a prompt or of an input is shown.
const TEXT_CHARS_MAX: usize = 300;

/// Question of a waiting cast.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asks {
    /// Whether a turn may run.
    Approval(Approval),
    /// The next message to a multi-turn socket.
    Words(NodeId),
}

/// Whether a turn may run, and what it would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The socket.
    pub node: NodeId,
    /// Hash of the question.
    pub hash: String,
    /// The command in full, or the beginning of the prompt.
    pub runs: String,
    /// The arguments of the command that shows the rest of a prompt, where there is more.
    pub shown_by: Option<String>,
    /// Its inputs: source, and the beginning of each.
    pub inputs: Vec<String>,
    /// Where it may write.
    pub writes: String,
    /// Whether a refusal can lead on.
    pub routes: bool,
}

/// The question of a cast, if a short answer is enough.
pub fn of(run: &Run) -> Option<Asks> {
    let Phase::Waiting(RunWaiting { reason, node: Some(node), .. }) = run.phase() else {
        return None;
    };
    match reason {
        WaitReason::MultiTurn => Some(Asks::Words(node.clone())),
        WaitReason::Approval => {
            // What was refused is not asked again.
            question(run, node).filter(|asked| !asked.denied)?;
            approval(run, node).map(Asks::Approval)
        }
        WaitReason::Interactive
        | WaitReason::Stall
        | WaitReason::Budget
        | WaitReason::Manual
        | WaitReason::RunFor
        | WaitReason::Trust
        | WaitReason::Workspace => None,
    }
}

/// The approval that a socket asks for, or that a person has refused.
pub fn approval(run: &Run, node: &NodeId) -> Option<Approval> {
    let asked = question(run, node)?;
    let plan = &run.created()?.plan;
    let (index, _, found) = plan.nodes.get_full(node)?;
    let not_satisfied = |edge: &materia_contract::Edge| edge.when == Condition::NotSatisfied;
    Some(Approval {
        node: node.clone(),
        hash: asked.hash.to_owned(),
        runs: runs(found),
        shown_by: is_long(found).then(|| format!("events {} --type run.created --json", run.id())),
        inputs: waiting_envelopes(run, index).iter().map(input).collect(),
        writes: writes(found, run.global_mode(), &plan.doc_root),
        routes: found.foreach.is_none() && found.edges.iter().any(not_satisfied),
    })
}

/// Whether a prompt is longer than what is shown of it.
fn is_long(node: &Node) -> bool {
    match &node.behavior {
        Behavior::Agent { prompt, .. } => prompt.chars().count() > TEXT_CHARS_MAX,
        Behavior::Utility { .. } => false,
    }
}

/// The command or the prompt, as text.
fn runs(node: &Node) -> String {
    match &node.behavior {
        // What is approved is never cut.
        Behavior::Utility { command, params } => {
            let words: Vec<String> =
                command.iter().map(|word| one_line(word, usize::MAX)).collect();
            let runs = format!("{}: {}", node.materia, words.join(" "));
            let mut given = serde_json::Map::new();
            for (name, value) in [("params", json!(params)), ("env", json!(node.env))] {
                if value.as_object().is_some_and(|fields| !fields.is_empty()) {
                    given.insert(name.to_owned(), value);
                }
            }
            if given.is_empty() {
                return runs;
            }
            format!("{runs} with {}", one_line(&Value::Object(given).to_string(), usize::MAX))
        }
        Behavior::Agent { prompt, provider, .. } => {
            let who = provider.as_deref().unwrap_or("an agent");
            let length = is_long(node)
                .then(|| format!(", a prompt of {} characters", prompt.chars().count()));
            let length = length.unwrap_or_default();
            format!("{}, asking {who}{length}: {}", node.materia, one_line(prompt, TEXT_CHARS_MAX))
        }
    }
}

fn input(envelope: &Envelope) -> String {
    let from = envelope.from_node_id.as_ref().map_or("the request", NodeId::as_str);
    let text = match (&envelope.message, &envelope.structured) {
        (Some(message), _) => message.clone(),
        (None, Some(value)) => value.to_string(),
        (None, None) => String::new(),
    };
    format!("{from}: {}", one_line(&text, TEXT_CHARS_MAX))
}

/// Where a turn may write, in words.
fn writes(node: &Node, mode: GlobalMode, doc_root: &str) -> String {
    let named = node.policy.as_ref().and_then(|policy| policy.write.as_ref());
    match (mode, named) {
        (GlobalMode::Planning, _) => format!("{doc_root} (Planning mode)"),
        (GlobalMode::Implementation, Some(paths)) if paths.is_empty() => "nowhere".to_owned(),
        (GlobalMode::Implementation, Some(paths)) => paths.join(", "),
        (GlobalMode::Implementation, None) => "wherever you may".to_owned(),
    }
}
