//! Cost of a run, summed up from its turns.

use std::collections::BTreeMap;

use materia_contract::api::{Cost, Spent};
use materia_contract::{Budget, CastReport, NodeId, Visit};

/// Cost of a cast, by socket and by item.
#[must_use]
pub fn cost(report: &CastReport, budget: Budget) -> Cost {
    let mut sockets: BTreeMap<&NodeId, Spent> = BTreeMap::new();
    let mut items: BTreeMap<&str, Spent> = BTreeMap::new();
    for visit in &report.visits {
        let socket = sockets.entry(&visit.socket).or_default();
        socket.socket = Some(visit.socket.clone());
        socket.materia.clone_from(&visit.materia);
        add(socket, visit);
        if let Some(key) = visit.item.as_deref() {
            let item = items.entry(key).or_default();
            item.item = Some(key.to_owned());
            item.label.clone_from(&visit.item_label);
            add(item, visit);
        }
    }
    Cost {
        usage: report.usage,
        budget,
        by_socket: sockets.into_values().collect(),
        by_item: items.into_values().collect(),
    }
}

fn add(spent: &mut Spent, visit: &Visit) {
    spent.turns += 1;
    spent.tokens = spent.tokens.saturating_add(visit.tokens.unwrap_or(0));
    spent.duration_ms = spent.duration_ms.saturating_add(visit.duration_ms.unwrap_or(0));
    if let Some(cost) = visit.cost {
        spent.cost = Some(spent.cost.map_or(cost, |before| before.saturating_add(cost)));
    }
}
