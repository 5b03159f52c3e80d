//! A plan and the places of its nodes, as data.

use materia_contract::body::{
    Advance, Grid, GridEdge, GridExit, GridFailure, GridLoop, GridSocket, SocketType,
};
use materia_contract::{Behavior, Loop, Node, NodeId, Plan};

use super::{Ranking, ranks};

/// The graph of a plan, with the place of each socket as in the picture.
pub fn data(plan: &Plan) -> Grid {
    let Ranking { of, rows, back } = ranks(plan);
    let places = of.into_iter().zip(back);
    let sockets = plan.nodes.iter().zip(places);
    let sockets = sockets.map(|((id, node), (rank, back))| socket(id, node, rank, &back));
    let name = |node: usize| plan.nodes.get_index(node).map(|(id, _)| id.clone());
    Grid {
        loadout: plan.loadout.clone(),
        entry: plan.entry.clone(),
        sockets: sockets.collect(),
        ranks: rows.into_iter().map(|row| row.into_iter().filter_map(name).collect()).collect(),
        loops: plan.loops.iter().map(|(id, region)| (id.clone(), looped(region))).collect(),
    }
}

fn socket(id: &NodeId, node: &Node, rank: usize, back: &[bool]) -> GridSocket {
    let edges = node.edges.iter().zip(back).map(|(edge, back)| GridEdge {
        id: edge.id.clone(),
        when: edge.when,
        to: edge.target().to_owned(),
        guard: edge.guard.clone(),
        max_traversals: edge.max_traversals,
        back: *back,
    });
    GridSocket {
        id: id.clone(),
        materia: node.materia.clone(),
        color: node.color.clone(),
        kind: match &node.behavior {
            Behavior::Agent { .. } => SocketType::Agent,
            Behavior::Utility { .. } => SocketType::Utility,
        },
        edges: edges.collect(),
        on_failure: node.on_failure.as_ref().map(|edge| GridFailure {
            id: edge.id.clone(),
            to: edge.target().to_owned(),
            max_traversals: edge.max_traversals,
        }),
        generator: node.generator,
        multi_turn: node.multi_turn,
        advance: node.advance.map(|when| Advance { when }),
        rank,
    }
}

fn looped(region: &Loop) -> GridLoop {
    let exits = region.exits.iter().map(|exit| GridExit {
        id: exit.id.clone(),
        from: exit.from.clone(),
        condition: exit.condition,
        to: exit.target().to_owned(),
    });
    GridLoop {
        sockets: region.members.clone(),
        cursor: region.cursor.clone(),
        exits: exits.collect(),
        consumes: region.consumes.clone(),
        items: region.items.clone(),
    }
}
