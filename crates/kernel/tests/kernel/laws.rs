//! Properties that hold for every run and every input.

use std::collections::BTreeMap;

use materia_contract::{
    Budget, Condition, Do, Event, EventBody, Node, Plan, RunId, RunPlace, Uuid,
};
use materia_kernel::{Effect, Input, Phase, Run, decide, evolve, outstanding, step};
use proptest::prelude::*;

use crate::play::{
    Kept, NodeExt as _, agent, created, keep, looped, outcome, plan, recomputed, utility,
};

/// The next input of a history.
#[derive(Debug, Clone)]
enum Move {
    /// The nth turn in flight ends with this answer.
    End(usize, &'static str),
    /// A report that nobody waits for.
    Stale(u64),
    Stop,
    Resume,
    Recast,
    Revive,
    Budget(u64),
    Say,
    Continue,
    /// The clock jumps back.
    ClockBack,
}

const ANSWERS: [&str; 8] = [
    r#"{"workItems": [{"title": "t", "context": "c"}, {"title": "u", "context": "d"}]}"#,
    r#"{"satisfied": true, "workItems": []}"#,
    r#"{"satisfied": false, "context": "no"}"#,
    r#"{"state": {"list": [1, {"title": "t"}], "n": 1}}"#,
    "{}",
    r#"{"satisfied": "true"}"#,
    "not json",
    "!it broke",
];

fn any_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        8 => (0usize..4, prop::sample::select(&ANSWERS[..4])).prop_map(|(n, a)| Move::End(n, a)),
        1 => (0usize..4, prop::sample::select(&ANSWERS[..])).prop_map(|(n, a)| Move::End(n, a)),
        1 => (0u64..40).prop_map(Move::Stale),
        1 => Just(Move::Stop),
        1 => Just(Move::Recast),
        1 => Just(Move::Revive),
        1 => (1u64..30).prop_map(Move::Budget),
        1 => Just(Move::Say),
        1 => Just(Move::Continue),
        2 => Just(Move::Resume),
        1 => Just(Move::ClockBack),
    ]
}

fn any_node() -> impl Strategy<Value = Node> {
    let when = prop::sample::select(vec![
        Condition::Always,
        Condition::Satisfied,
        Condition::NotSatisfied,
    ]);
    let to = prop::sample::select(vec!["a", "b", "c", "d", "end"]);
    let edges = prop::collection::vec((when, to, prop::option::of(1u32..4)), 0..4);
    let kind = (any::<bool>(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.2));
    (edges, kind).prop_map(|(edges, (is_agent, text, all, each))| {
        let mut node = if is_agent { agent() } else { utility() };
        for (when, to, bound) in edges {
            node = node.edge(when, to);
            if let Some(bound) = bound {
                node = node.bounded(bound);
            }
        }
        if text {
            node = node.text();
        }
        if all {
            node = node.all();
        }
        if each {
            node = node.each("state.list");
        }
        node
    })
}

/// Four nodes; often the first is a generator and some of the others form a loop, or two.
fn any_plan() -> impl Strategy<Value = Plan> {
    let advance = prop::sample::select(vec![Condition::Always, Condition::Satisfied]);
    let exit = prop::option::of(prop::sample::select(vec!["b", "d", "end"]));
    let shape = (0usize..4, advance, exit, any::<bool>());
    (any_node(), any_node(), any_node(), any_node(), shape).prop_map(
        |(mut a, b, mut c, d, (loops, advance, exit, talks))| {
            if loops > 0 {
                a = a.generator();
                c = c.advances(advance);
            }
            c.multi_turn = talks && loops == 1;
            let exits: Vec<_> = exit.iter().map(|to| ("c", Condition::Always, *to)).collect();
            let plan = plan([("a", a), ("b", b), ("c", c), ("d", d)]);
            match loops {
                0 => plan,
                1 | 2 => looped(plan, "work", &["b", "c"], Some("a"), &exits),
                _ => {
                    let plan = looped(plan, "outer", &["b", "c", "d"], Some("a"), &[]);
                    looped(plan, "inner", &["b", "c"], Some("a"), &exits)
                }
            }
        },
    )
}

/// Plays a history; returns the live run and its journal.
fn history(plan: Plan, moves: &[Move]) -> (Run, Vec<Event>) {
    let (run, journal) = decisions(plan, moves);
    (run, journal.into_iter().flat_map(|(_, events)| events).collect())
}

/// The same, decision by decision.
fn decisions(plan: Plan, moves: &[Move]) -> (Run, Vec<Kept>) {
    let mut run = Run::new(RunId::new("law"));
    let mut now = 10_000;
    let mut journal = vec![keep(&mut run, now, Input::Create(created(plan).into()))];
    for next in moves {
        now += 7;
        let input = match next {
            Move::End(nth, answer) => {
                let turns: Vec<Effect> = outstanding(&run).collect();
                let Some(Effect::StartTurn(turn)) = turns.get(nth % turns.len().max(1)) else {
                    continue;
                };
                Input::report(*turn, outcome(answer))
            }
            Move::Stale(turn) if outstanding(&run).any(|owed| owed == Effect::StartTurn(*turn)) => {
                continue;
            }
            Move::Stale(turn) => Input::report(*turn, outcome("{}")),
            Move::Stop => Input::Stopped { reports: Vec::new(), message: "stop".into() },
            Move::Resume => Input::taken_up(Do::Resume { pace: None }, RunPlace::named()),
            Move::Recast => Input::taken_up(Do::Recast, RunPlace::named()),
            Move::Revive => Input::act(Do::Revive),
            Move::Budget(turns) => {
                let budget = Budget { max_turns: Some(*turns), ..Budget::default() };
                Input::act(Do::Budget { budget })
            }
            Move::Say => Input::act(Do::Say { node: None, text: "and this".into() }),
            Move::Continue => Input::act(Do::Continue { node: None }),
            Move::ClockBack => {
                now -= 5_000;
                continue;
            }
        };
        if decide(&run, now, input.clone()).is_ok() {
            journal.push(keep(&mut run, now, input));
        }
    }
    (run, journal)
}

fn rendered(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .map(|event| {
            let (kind, data) = (event.body.type_name(), event.body.data_json());
            format!("{} {} {:?} {kind} {data}", event.seq, event.ts, event.node)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// Folding the journal gives the live run, and so does every snapshot in between.
    #[test]
    fn replay_is_the_run(plan in any_plan(), moves in prop::collection::vec(any_move(), 0..40)) {
        let (live, journal) = history(plan, &moves);
        let mut folded = Run::new(RunId::new("law"));
        for event in &journal {
            evolve(&mut folded, event);
            let bytes = serde_json::to_vec(&folded).unwrap();
            let thawed: Run = serde_json::from_slice(&bytes).unwrap();
            prop_assert_eq!(&thawed, &folded);
        }
        prop_assert_eq!(live, folded);
    }

    /// The same inputs give the same events, byte for byte.
    #[test]
    fn decisions_are_deterministic(plan in any_plan(), moves in prop::collection::vec(any_move(), 0..40)) {
        let first = history(plan.clone(), &moves);
        let second = history(plan, &moves);
        prop_assert_eq!(rendered(&first.1), rendered(&second.1));
        let resume = || Input::taken_up(Do::Resume { pace: None }, RunPlace { cwd: "/x".into(), run_dir: "/x".into(), files: None });
        let decided = decide(&first.0, 99, resume());
        let stepped = step(&mut first.0.clone(), 99, resume());
        prop_assert_eq!(decided, stepped);
    }

    /// Deciding again from the recorded inputs finds nothing to object to.
    #[test]
    fn recomputation_agrees(plan in any_plan(), moves in prop::collection::vec(any_move(), 0..40)) {
        // Whoever drives a run lets its time only go forward.
        let moves: Vec<Move> = moves.into_iter().filter(|it| !matches!(it, Move::ClockBack)).collect();
        let (live, journal) = decisions(plan, &moves);
        let again = recomputed("law", &journal).unwrap();
        prop_assert_eq!(again.run(), &live);
    }

    /// Each turn ends at most once and after it started; each payload is delivered, then consumed,
    /// each at most once; nothing follows the end; the numbering has no gap and time no step back.
    #[test]
    fn the_journal_is_well_formed(plan in any_plan(), moves in prop::collection::vec(any_move(), 0..60)) {
        let (live, journal) = history(plan, &moves);
        let mut turns: BTreeMap<u64, bool> = BTreeMap::new();
        let mut payloads: BTreeMap<Uuid, u8> = BTreeMap::new();
        let mut last_ts = 0;
        for (place, event) in journal.iter().enumerate() {
            prop_assert_eq!(event.seq, place as u64 + 1);
            prop_assert!(event.ts > last_ts);
            last_ts = event.ts;
            let ended = match &event.body {
                EventBody::TurnStarted(_) => { turns.insert(event.seq, false); None }
                EventBody::TurnCompleted(data) => Some(data.turn),
                EventBody::TurnFailed(data) => Some(data.turn),
                EventBody::TurnInterrupted(data) => Some(data.turn),
                EventBody::HandoffSent(data) => {
                    prop_assert_eq!(payloads.insert(data.payload_id, 0), None);
                    None
                }
                EventBody::MessageReceived(data) => {
                    prop_assert_eq!(payloads.insert(data.payload_id, 0), None);
                    None
                }
                EventBody::PayloadDelivered(data) => {
                    let before = payloads.insert(data.payload_id, 1);
                    prop_assert!(before == Some(0) || data.edge_id.is_none());
                    None
                }
                EventBody::PayloadConsumed(data) => {
                    prop_assert_eq!(payloads.insert(data.payload_id, 2), Some(1));
                    None
                }
                _ => None,
            };
            if let Some(turn) = ended {
                prop_assert_eq!(turns.insert(turn, true), Some(false), "a turn ends once");
            }
            let terminal = matches!(
                &event.body,
                EventBody::RunCompleted(_) | EventBody::RunFailed(_) | EventBody::RunAborted(_)
            );
            let follows = journal.get(place + 1).map(|next| next.body.type_name());
            // Only a failed run goes on, and only because a person says so.
            let again = matches!(follows, None | Some("run.resumed" | "run.revived"));
            prop_assert!(!terminal || again, "{:?} follows the end", follows);
        }
        if *live.phase() != Phase::Running {
            prop_assert!(turns.values().all(|ended| *ended), "a run at rest has no turn in flight");
        }
    }
}
