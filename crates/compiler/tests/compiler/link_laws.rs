//! Laws of linking, over generated loadouts: the same link gives the same plan, linking is associative, and a linked
//! cast visits the same sockets as its parts one after the other.
//!
//! One seed is one configuration of many loadouts and one set of answers. A generated loadout may branch, go back, end
//! in several ways, and have loops with and without exits, nested ones and empty lists. Seeds whose parts cannot be
//! linked do not count.

use std::collections::{BTreeMap, HashSet};

use materia_compiler::link::{Invocation, compose, link};
use materia_compiler::{Loaded, compile};
use materia_contract::{Condition, EdgeId, Loop, Node, NodeId, Parse, Plan};
use materia_kernel::Phase;
use serde_json::{Map, Value, json};

use crate::player::{self, Visit};
use crate::support::Project;

/// How many configurations are made, of how many loadouts each, and how many links of each are tried.
const SEEDS: u64 = 40;
const LOADOUTS: usize = 12;
const LINKS: usize = 30;

/// Chance that can be repeated.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    fn in_ten(&mut self, chances: usize) -> bool {
        self.below(10) < chances
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

const CONDITIONS: [&str; 3] = ["always", "satisfied", "not_satisfied"];

/// A loadout of up to seven sockets, named so that no name of another one is like it.
fn loadout(dice: &mut Dice, name: &str) -> Value {
    let count = 1 + dice.below(6);
    let id = |place: usize| format!("{name}-{place}");
    let mut sockets = Map::new();
    for place in 0..count {
        let materia =
            if place + 1 < count && dice.in_ten(3) { "gen" } else { dice.pick(&["json", "text"]) };
        let edges = edges(dice, place, count, materia != "text", &id);
        let mut socket = json!({"materia": materia, "edges": edges});
        if dice.in_ten(1) {
            socket["dependsOn"] = json!([id(dice.below(count))]);
        }
        sockets.insert(id(place), socket);
    }
    let loops = loops(dice, count, &mut sockets, &id);
    json!({"entry": id(0), "sockets": sockets, "loops": loops})
}

/// Mostly onward, sometimes back, to the end or nowhere.
fn edges(
    dice: &mut Dice,
    place: usize,
    count: usize,
    parsed: bool,
    id: &dyn Fn(usize) -> String,
) -> Vec<Value> {
    let last = place + 1 == count;
    let mut edges = Vec::new();
    for _ in 0..dice.below(3) {
        let to = dice.below(count + 2);
        let mut edge = json!({"to": if to < count && !last { id(to) } else { "end".to_owned() }});
        if last && dice.in_ten(3) {
            edge["to"] = json!(id(dice.below(count)));
        }
        if parsed {
            edge["when"] = json!(dice.pick(&CONDITIONS));
            if dice.in_ten(3) {
                edge["where"] = json!({"path": "$.x", "equals": dice.below(2)});
            }
        }
        if dice.in_ten(5) {
            edge["maxTraversals"] = json!(1 + dice.below(2));
        }
        if dice.in_ten(1) {
            edge["id"] = json!(format!("way {}", dice.next()));
        }
        edges.push(edge);
    }
    if !last && dice.in_ten(8) {
        edges.push(json!({"to": id(place + 1)}));
    }
    edges
}

/// Loops over sockets that follow a generator, one perhaps inside another.
fn loops(
    dice: &mut Dice,
    count: usize,
    sockets: &mut Map<String, Value>,
    id: &dyn Fn(usize) -> String,
) -> Map<String, Value> {
    let mut loops = Map::new();
    let generators: Vec<usize> =
        (0..count).filter(|place| sockets[&id(*place)]["materia"] == "gen").collect();
    for generator in generators {
        let from = generator + 1;
        let until = from + 1 + dice.below(count - from);
        let members: Vec<usize> = (from..until).collect();
        for member in &members {
            let socket = &mut sockets[&id(*member)];
            let parsed = socket["materia"] != "text";
            if socket.get("advance").is_none() && dice.in_ten(5) {
                let when = if parsed { dice.pick(&CONDITIONS) } else { "always" };
                socket["advance"] = json!({"when": when});
            }
            // While items are left a member has to lead to the next one.
            if dice.in_ten(6) {
                let edges = socket["edges"].as_array_mut().unwrap();
                edges.push(json!({"to": id(from)}));
            }
        }
        let exits: Vec<Value> = (0..dice.below(4))
            .map(|number| {
                let to = dice.below(count + 1);
                json!({"id": format!("e{number}"), "from": id(dice.pick(&members)),
                    "condition": dice.pick(&CONDITIONS),
                    "targetSocketId": if to < count { id(to) } else { "end".to_owned() }})
            })
            .collect();
        let mut region = json!({"sockets": members.iter().map(|one| id(*one)).collect::<Vec<_>>(),
            "consumes": {"from": id(generator), "output": "workItems"}, "exits": exits});
        if dice.in_ten(2) {
            region["exit"] = json!({"from": id(dice.pick(&members))});
        }
        loops.insert(format!("loop{generator}"), region);
    }
    loops
}

fn configuration(seed: u64) -> Value {
    let mut dice = Dice(seed);
    let utility = |extra: Value| {
        let mut materia = json!({"type": "utility", "command": ["sh"]});
        materia.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        materia
    };
    let loadouts: Map<_, _> = (0..LOADOUTS)
        .map(|number| (format!("L{number}"), loadout(&mut dice, &format!("L{number}"))))
        .collect();
    json!({
        "limits": {"maxNoAdvanceCycles": 1_000_000},
        "materia": {"gen": utility(json!({"generator": true})), "json": utility(json!({"parse": "json"})),
            "text": utility(json!({}))},
        "loadouts": loadouts,
    })
}

/// One turn as it is compared: the part, its socket, the visit and the item.
type Turn = (usize, String, u32, Option<String>);

/// How a run went: what it visited, and the phase in which it rests.
struct Played {
    turns: Vec<Turn>,
    phase: Phase,
}

/// Plays a plan. `meant` says which part and socket a node is; the answer depends on that alone.
fn play(plan: &Plan, seed: u64, meant: &dyn Fn(&NodeId) -> (usize, String)) -> Option<Played> {
    let turn = |visit: &Visit| {
        let (part, socket) = meant(&visit.node);
        (part, socket, visit.number, visit.item.clone())
    };
    let (visits, phase) = player::play(plan, |visit, node| answer(seed, &turn(visit), node))?;
    Some(Played { turns: visits.iter().map(turn).collect(), phase })
}

fn answer(seed: u64, (part, socket, visit, _): &Turn, node: &Node) -> String {
    if node.parse == Parse::Text {
        return "done".to_owned();
    }
    let place = socket.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31) + u64::from(byte));
    let mut dice = Dice(place.wrapping_add(*part as u64 * 7_919).wrapping_add(u64::from(*visit)));
    let mut object = json!({"x": dice.below(2)});
    let asks = |when: &Condition| *when != Condition::Always;
    // Leaving the verdict out where it is needed would only make every case fail.
    let needed =
        node.advance.as_ref().is_some_and(asks) || node.edges.iter().any(|e| asks(&e.when));
    if needed || dice.in_ten(5) {
        object["satisfied"] = json!(dice.in_ten(6));
    }
    if node.generator {
        let item = |number| json!({"title": format!("t{number}"), "context": "c"});
        object["workItems"] = (0..dice.below(4)).map(item).collect();
    }
    object.to_string()
}

/// The parts one after the other, for as long as they complete.
fn expected(plans: &[&Plan], seed: u64) -> Option<Played> {
    let mut turns = Vec::new();
    let mut phase = Phase::Completed;
    for (part, plan) in plans.iter().enumerate() {
        let played = play(plan, seed, &|node| (part, node.to_string()))?;
        turns.extend(played.turns);
        phase = played.phase;
        if phase != Phase::Completed {
            break;
        }
    }
    Some(Played { turns, phase })
}

/// The part and socket behind each number.
fn numbered(plans: &[&Plan]) -> BTreeMap<NodeId, (usize, String)> {
    let sockets = plans
        .iter()
        .enumerate()
        .flat_map(|(part, plan)| plan.nodes.keys().map(move |id| (part, id.to_string())));
    sockets
        .enumerate()
        .map(|(place, meant)| (NodeId::new(format!("Socket-{}", place + 1)), meant))
        .collect()
}

/// Plans without the names that are kept apart by the number of a target.
fn nameless(mut plan: Plan) -> Plan {
    let names: Vec<String> = plan.loops.keys().cloned().collect();
    let new = |old: &str| format!("loop {}", names.iter().position(|name| name == old).unwrap());
    plan.loadout.clear();
    for node in plan.nodes.values_mut() {
        node.loops = node.loops.iter().map(|name| new(name)).collect();
        for (place, edge) in node.edges.iter_mut().enumerate() {
            edge.id = EdgeId::new(place.to_string());
        }
    }
    plan.loops = std::mem::take(&mut plan.loops)
        .into_iter()
        .map(|(id, mut region)| {
            region.cursor = "cursor".into();
            for (place, exit) in region.exits.iter_mut().enumerate() {
                exit.id = place.to_string();
                exit.edge_id = EdgeId::new(place.to_string());
            }
            (new(&id), region)
        })
        .collect();
    plan
}

/// Everything that is named exists once, and no name of a part is left where ids stand.
fn assert_whole(plan: &Plan, parts: &[&Plan], seed: u64) {
    let known = |id: &NodeId| assert!(plan.nodes.contains_key(id), "seed {seed}: {id}");
    let mut edges = HashSet::new();
    known(&plan.entry);
    for (place, (id, node)) in plan.nodes.iter().enumerate() {
        assert_eq!(id.as_str(), format!("Socket-{}", place + 1), "seed {seed}");
        node.edges.iter().filter_map(|edge| edge.to.as_ref()).for_each(known);
        assert!(node.edges.iter().all(|edge| edges.insert(edge.id.clone())), "seed {seed}: {id}");
        for region in &node.loops {
            assert!(plan.loops[region].members.contains(id), "seed {seed}: {id} in {region}");
        }
    }
    for (id, region) in &plan.loops {
        region.members.iter().chain(&region.consumes).for_each(known);
        for exit in &region.exits {
            known(&exit.from);
            exit.to.iter().for_each(known);
            assert!(edges.insert(exit.edge_id.clone()), "seed {seed}: {id} {}", exit.id);
        }
    }
    let text = serde_json::to_string(plan).unwrap();
    for old in parts.iter().flat_map(|part| part.nodes.keys()) {
        assert!(!text.contains(&format!("\"{old}\"")), "seed {seed}: {old} is left");
    }
}

fn linked(loaded: &Loaded, targets: &[String]) -> Option<Plan> {
    let targets = targets.to_vec();
    let asked = Invocation { from: None, targets, delimited: true, prompt: vec!["go".into()] };
    link(loaded, &asked).0.map(|linked| linked.compiled.plan)
}

/// Statistics over all links.
#[derive(Default)]
struct Shown {
    linked: usize,
    completed: usize,
    failed: usize,
    looped: usize,
    empty: usize,
}

/// Tries one link of three targets, against the same configuration read twice.
fn examine(loaded: &[Loaded; 2], parts: &[(&String, &Plan)], seed: u64, shown: &mut Shown) {
    let names: Vec<String> = parts.iter().map(|(name, _)| (*name).clone()).collect();
    let parts: Vec<&Plan> = parts.iter().map(|(_, plan)| *plan).collect();
    let Some(whole) = linked(&loaded[0], &names) else { return };
    shown.linked += 1;
    assert_whole(&whole, &parts, seed);

    let again = linked(&loaded[1], &names).unwrap();
    let bytes = |plan: &Plan| serde_json::to_vec(plan).unwrap();
    assert_eq!(bytes(&whole), bytes(&again), "seed {seed} {names:?}: the same link is the same");

    let left = compose(&[&compose(&parts[..2], "").unwrap(), parts[2]], "").unwrap();
    let right = compose(&[parts[0], &compose(&parts[1..], "").unwrap()], "").unwrap();
    let [whole_nameless, left, right] = [whole.clone(), left, right].map(nameless);
    assert_eq!(left, right, "seed {seed}: grouping does not matter");
    assert_eq!(left, whole_nameless, "seed {seed}: nor does doing it at once");

    let Some(expected) = expected(&parts, seed) else { return };
    let numbers = numbered(&parts);
    let played = play(&whole, seed, &|node| numbers[node].clone());
    let played = played.unwrap_or_else(|| panic!("seed {seed}: the link goes round for ever"));
    assert_eq!(played.turns, expected.turns, "seed {seed}");
    match (&played.phase, &expected.phase) {
        (Phase::Failed(found), Phase::Failed(wanted)) => {
            assert_eq!(found.code, wanted.code, "seed {seed}");
            shown.failed += 1;
        }
        // A dependency that no way meets keeps its socket waiting, whatever it is called.
        (Phase::Waiting(found), Phase::Waiting(wanted)) => {
            assert_eq!(found.reason, wanted.reason, "seed {seed}");
            assert_eq!(found.node.is_some(), wanted.node.is_some(), "seed {seed}");
        }
        (found, wanted) => {
            assert_eq!(found, wanted, "seed {seed}");
            shown.completed += 1;
        }
    }
    shown.looped += usize::from(played.turns.iter().any(|(_, _, _, item)| item.is_some()));
    let entered = |id: &NodeId| {
        played.turns.iter().any(|(part, socket, ..)| numbers[id] == (*part, socket.clone()))
    };
    let unvisited = |region: &Loop| {
        region.consumes.as_ref().is_some_and(&entered) && !region.members.iter().any(&entered)
    };
    shown.empty += usize::from(whole.loops.values().any(unvisited));
}

#[test]
fn the_laws_of_linking_hold() {
    let mut shown = Shown::default();
    for seed in 0..SEEDS {
        let project = Project::with(configuration(seed).to_string());
        let loaded = [project.load().0, project.load().0];
        let names = loaded[0].config.loadouts.keys().filter(|name| name.starts_with('L'));
        let compiled = names.map(|name| (name, compile(&loaded[0], Some(name)).0));
        let sound: Vec<(&String, Plan)> =
            compiled.filter_map(|(name, one)| Some((name, one?.plan))).collect();
        let mut dice = Dice(seed ^ 0x5eed);
        for _ in 0..LINKS {
            let parts: Vec<_> = (0..3).map(|_| &sound[dice.below(sound.len())]).collect();
            let parts: Vec<_> = parts.into_iter().map(|(name, plan)| (*name, plan)).collect();
            examine(&loaded, &parts, dice.next(), &mut shown);
        }
    }
    let Shown { linked, completed, failed, looped, empty } = shown;
    let told = format!(
        "{linked} linked: {completed} completed, {failed} failed; {looped} with items, {empty} with an empty loop"
    );
    assert!(completed >= 200 && failed >= 20 && looped >= 50 && empty >= 10, "{told}");
}
