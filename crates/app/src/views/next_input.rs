//! The input that the next turn of a socket would get, and payloads on their way, each whole.

use materia_contract::api::GivenView;
use materia_contract::{Envelope, EventBody, Folders, NodeId, RunId};
use materia_engine::{Journal, blocking, load_at};
use materia_kernel::{Given, sent as on_edge, waiting_envelopes};

use crate::{Failure, Result};

/// The input that the next turn of a socket would get now.
pub fn given(
    journal: &dyn Journal,
    id: &RunId,
    folders: &Folders,
    node: &NodeId,
) -> Result<GivenView> {
    let (run, _) = materia_engine::load(journal, id)?;
    let index = run.created().and_then(|created| created.plan.nodes.get_index_of(node));
    let unknown = || Failure::resolution(format!("cast `{id}` has no socket `{node}`"));
    let index = index.ok_or_else(unknown)?;
    let payloads = waiting_envelopes(&run, index);
    Ok(match materia_kernel::given(&run, index) {
        Some(Given::Prompt(prompt, layers)) => {
            GivenView { prompt: Some(prompt), layers, input: None, payloads }
        }
        Some(Given::Input(input)) => {
            let input = folders.input(&input).unwrap_or_else(|| (*input).clone());
            GivenView { input: Some(input), payloads, ..GivenView::default() }
        }
        None => GivenView { payloads, ..GivenView::default() },
    })
}

/// The payload that went over an edge at an event.
pub fn sent(journal: &dyn Journal, id: &RunId, seq: u64) -> Result<Envelope> {
    let none = || Failure::resolution(format!("cast `{id}`: nothing was sent at event {seq}"));
    let before = seq.checked_sub(1).ok_or_else(none)?;
    let record = blocking(journal).records(id, before, 1)?.into_iter().next().ok_or_else(none)?;
    let event = record.event()?;
    let EventBody::HandoffSent(data) = &event.body else { return Err(none()) };
    let run = load_at(journal, id, seq)?;
    on_edge(&run, &data.edge_id, data.payload_id).ok_or_else(none)
}
