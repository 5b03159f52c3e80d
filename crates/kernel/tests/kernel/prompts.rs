//! Input of a turn, word for word: prompts, ticks, the reasons for which work came back.

use insta::assert_snapshot;
use materia_contract::{
    Condition, Do, EventBody, GlobalMode, NodeId, OutputSelector, Plan, SessionPolicy,
};
use materia_kernel::Input;

use crate::play::{
    NodeExt as _, Play, agent, created, input_of, looped, outcome, plan, prompt_of, run, utility,
};

use Condition::{Always, NotSatisfied, Satisfied};

const PLANNED: &str = r#"{"workItems": [{"title": "T1", "context": "C1"}, {"title": "T2", "context": "C2"}],
    "context": "mind the gap"}"#;

/// Plan, build, evaluate, with a way back.
fn loadout() -> Plan {
    let eval = agent().advances(Satisfied).edge(NotSatisfied, "build").edge(Satisfied, "build");
    let nodes = plan([
        ("plan", agent().generator().edge(Always, "build")),
        ("build", agent().text().edge(Always, "eval")),
        ("eval", eval),
    ]);
    looped(nodes, "items", &["build", "eval"], Some("plan"), &[("eval", Satisfied, "end")])
}

fn sent_back(reason: &str) -> String {
    serde_json::json!({"satisfied": false, "context": reason}).to_string()
}

#[test]
fn the_first_prompts_of_a_plan_and_of_an_item() {
    let events = run(created(loadout()), &[]).1;
    assert_snapshot!(prompt_of(&events, "plan"), @r#"
    Do it.

    # Request
    please

    # Mode: Implementation
    The code may be changed.

    # Answer
    Answer with one JSON object and nothing around it.
    - `workItems`: an array, in the order of the work; each item is {"title": string, "context": string}.
    - `context`: a string for whoever works on it next, if there is something to say.
    "#);
    assert!(
        prompt_of(&events, "plan").starts_with("Do it."),
        "nothing comes before the first layer"
    );
    let events = run(created(loadout()), &[PLANNED]).1;
    assert_snapshot!(prompt_of(&events, "build"), @r#"
    Do it.

    # Request
    please

    # From plan
    mind the gap

    # Work item WI-1 of 2: T1
    C1

    # Mode: Implementation
    The code may be changed.
    "#);
    let events = run(created(loadout()), &[PLANNED, "built"]).1;
    assert_snapshot!(prompt_of(&events, "eval"), @r#"
    Do it.

    # Request
    please

    # From build
    built

    # Work item WI-1 of 2: T1
    C1

    # Mode: Implementation
    The code may be changed.

    # Answer
    Answer with one JSON object and nothing around it.
    - `satisfied`: true or false.
    - `context`: where it is false, a string that says what must change.
    "#);
}

#[test]
fn a_session_that_goes_on_gets_what_is_new() {
    let events = run(created(loadout()), &[PLANNED, "built", &sent_back("no test")]).1;
    assert_snapshot!(prompt_of(&events, "build"), @r#"
    Continue from the current state of the work; do not start over.
    {
      "kind": "tick",
      "objective": "Do it.\n\nRequest: please\n\nWork item: T1: C1",
      "delta": {
        "newArtifacts": [],
        "status": {
          "ok": false,
          "reason": "no test",
          "satisfied": false
        },
        "openItems": [
          "eval: no test"
        ],
        "blockedOn": []
      },
      "constraints": {
        "mode": "implementation",
        "workspace": "project"
      }
    }

    # From eval
    no test

    # Mode: Implementation
    The code may be changed.
    "#);
}

#[test]
fn a_fresh_session_gets_everything_with_the_reasons() {
    let mut nodes = loadout();
    nodes.nodes["build"].session = SessionPolicy::Fresh;
    let answers = [PLANNED, "built", &sent_back("no test"), "built", &sent_back("no docs")];
    let events = run(created(nodes), &answers).1;
    assert_snapshot!(prompt_of(&events, "build"), @r#"
    Do it.

    # Request
    please

    # From eval
    no docs

    # Work item WI-1 of 2: T1
    C1

    # Sent back for this reason
    - eval: no test
    - eval: no docs

    # Mode: Implementation
    The code may be changed.

    Continue from the current state of the work; do not start over.
    {
      "kind": "tick",
      "objective": "Do it.\n\nRequest: please\n\nWork item: T1: C1",
      "delta": {
        "newArtifacts": [],
        "status": {
          "ok": false,
          "reason": "no docs",
          "satisfied": false
        },
        "openItems": [
          "eval: no test",
          "eval: no docs"
        ],
        "blockedOn": []
      },
      "constraints": {
        "mode": "implementation",
        "workspace": "project"
      }
    }
    "#);
}

#[test]
fn reasons_stay_with_their_item() {
    let mut nodes = loadout();
    nodes.nodes["build"].session = SessionPolicy::Fresh;
    let satisfied = r#"{"satisfied": true}"#;
    let first = [PLANNED, "built", &sent_back("of the first"), "built", satisfied];
    let prompt = prompt_of(&run(created(nodes.clone()), &first).1, "build");
    assert!(prompt.contains("T2") && !prompt.contains("of the first"), "{prompt}");
    let both: Vec<&str> = first.into_iter().chain(["built"]).collect();
    let second = sent_back("of the second");
    let answers: Vec<&str> = both.into_iter().chain([second.as_str()]).collect();
    let prompt = prompt_of(&run(created(nodes), &answers).1, "build");
    assert!(prompt.contains("of the second") && !prompt.contains("of the first"), "{prompt}");
}

#[test]
fn long_and_many_reasons_are_cut() {
    let mut nodes = loadout();
    nodes.nodes["build"].session = SessionPolicy::Fresh;
    nodes.limits.max_no_advance_cycles = 99;
    let reasons: Vec<String> =
        (1..=7).map(|n| sent_back(&format!("{n}{}", "ä".repeat(1_000)))).collect();
    let mut answers = vec![PLANNED];
    for reason in &reasons {
        answers.extend(["built", reason]);
    }
    let prompt = prompt_of(&run(created(nodes), &answers).1, "build");
    let (_, shown) = prompt.split_once("# Sent back for this reason\n").unwrap();
    let (shown, _) = shown.split_once("\n\n").unwrap();
    let shown: Vec<&str> = shown.lines().collect();
    // The newest fit: two whole ones of 900 characters, and the beginning of the one before them.
    let lengths: Vec<_> = shown.iter().map(|line| line.chars().count()).collect();
    assert_eq!(lengths, [584, 908, 908], "2,400 characters in all");
    assert!(shown[0].starts_with("- eval: 5") && shown[0].ends_with('…'), "{}", shown[0]);
    assert!(shown[2].starts_with("- eval: 7") && shown[2].ends_with('…'), "{}", shown[2]);
}

#[test]
fn a_verdict_without_a_reason_is_told_by_its_text() {
    let events =
        run(created(loadout()), &[PLANNED, "built", r#"{"satisfied": false, "context": " x "}"#]).1;
    assert!(prompt_of(&events, "build").contains("eval: x"));
}

#[test]
fn planning_names_the_one_folder_to_write_to() {
    let mut begun = created(plan([("a", agent().text())]));
    begun.plan.doc_root = "papers".into();
    begun.global_mode = GlobalMode::Planning;
    let prompt = prompt_of(&run(begun, &[]).1, "a");
    assert!(
        prompt.contains("# Mode: Planning\nThe code is read-only. Write only beneath `papers`.")
    );
    let begun = created(plan([("a", agent().text())]));
    let prompt = prompt_of(&run(begun, &[]).1, "a");
    assert!(prompt.contains("# Mode: Implementation\nThe code may be changed."), "{prompt}");
}

#[test]
fn a_plan_reaches_whoever_does_not_walk_it() {
    let a = agent().generator().edge(Always, "b");
    let prompt =
        prompt_of(&run(created(plan([("a", a), ("b", agent().text())])), &[PLANNED]).1, "b");
    assert!(prompt.contains("# From a\nmind the gap\n\n1. T1: C1\n2. T2: C2"), "{prompt}");
    // Whoever gets the items one by one is not told the list.
    let prompt = prompt_of(&run(created(loadout()), &[PLANNED]).1, "build");
    assert!(prompt.contains("mind the gap") && !prompt.contains("T2"), "{prompt}");
}

#[test]
fn what_the_selector_forwards_is_what_is_shown() {
    let shown = |selector, answer: &str| {
        let mut a = agent().edge(Always, "b");
        a.output_selector = selector;
        let nodes = plan([("a", a), ("b", agent().text())]);
        let (_, events) = run(created(nodes), &[answer]);
        let preview = events.iter().find_map(|event| match &event.body {
            EventBody::HandoffSent(data) => Some(data.preview.clone()),
            _ => None,
        });
        (prompt_of(&events, "b"), preview.unwrap())
    };
    let answer = r#"{"context": "said", "extra": 1}"#;
    let (prompt, preview) = shown(OutputSelector::MessageFinal, answer);
    assert!(prompt.contains("# From a\nsaid\n\n#"), "{prompt}");
    assert_eq!(preview, "said");
    let (prompt, preview) = shown(OutputSelector::StructuredOutput, answer);
    assert!(prompt.contains("# From a\n```json\n{\n  \"context\": \"said\""), "{prompt}");
    assert_eq!(preview, answer);
    let (prompt, preview) = shown(OutputSelector::Composite, answer);
    assert!(prompt.contains("## message.final\nsaid\n\n## structured_output\n```json"), "{prompt}");
    assert_eq!(preview, "said");
    let (prompt, preview) = shown(OutputSelector::ArtifactsDiff, answer);
    assert!(!prompt.contains("# From a"), "there is no diff: {prompt}");
    assert_eq!(preview, "");
    let (_, preview) = shown(OutputSelector::MessageFinal, r#"{"satisfied": true}"#);
    assert_eq!(
        preview, r#"{"satisfied": true}"#,
        "an answer with nothing to show is told as it is"
    );
}

#[test]
fn a_long_input_is_cut_and_says_where_the_rest_is() {
    let nodes = plan([("a", agent().text().edge(Always, "b")), ("b", agent().text())]);
    let prompt = prompt_of(&run(created(nodes), &[&"x".repeat(200_000)]).1, "b");
    assert!(prompt.chars().count() < 34_000, "{}", prompt.len());
    assert!(prompt.contains("168000 characters"), "{}", &prompt[32_000..]);
    assert!(prompt.contains("`sockets/a/1-1.output.txt`"), "{}", &prompt[32_000..]);
}

#[test]
fn everything_that_an_assign_reads_is_asked_for() {
    let a = agent()
        .assign("items", "$.workItems")
        .assign("good", "$.satisfied")
        .assign("why", "$.context")
        .assign("kind", "$.details.kind")
        .assign("first", "$.details.list.0")
        .assign("all", "$");
    let prompt = prompt_of(&run(created(plan([("a", a)])), &[]).1, "a");
    for asked in
        ["`workItems`: an array", "`satisfied`: true or false", "`context`: a string, always"]
    {
        assert!(prompt.contains(asked), "{asked}: {prompt}");
    }
    assert!(
        prompt.contains("`details`: this graph reads `$.details.kind`, `$.details.list.0`"),
        "{prompt}"
    );
}

#[test]
fn a_tick_says_what_a_report_says_of_the_work() {
    let judge = agent().edge(NotSatisfied, "a").edge(Satisfied, "end");
    let a = agent().text().edge(Always, "b");
    let answer =
        r#"{"satisfied": false, "context": "c", "status": {"tests": "fail", "failing": 2}}"#;
    let events = run(created(plan([("a", a), ("b", judge)])), &["built", answer]).1;
    let prompt = prompt_of(&events, "a");
    let json: serde_json::Value =
        serde_json::from_str(&prompt[prompt.find('{').unwrap()..=prompt.rfind('}').unwrap()])
            .unwrap();
    let status = serde_json::json!({"tests": "fail", "failing": 2, "satisfied": false});
    assert_eq!(json["delta"]["status"], status);
    assert!(json["objective"].as_str().unwrap().starts_with("Do it."));
    assert_eq!(json["constraints"]["workspace"], "project");
}

#[test]
fn what_is_required_is_shown_once() {
    let mut reader = agent().text();
    reader.requires = vec!["state.notes".parse().unwrap()];
    reader.reads = vec!["state.missing".parse().unwrap(), "state.list".parse().unwrap()];
    let first = agent().assign("notes", "$.context").assign("list", "$.list").edge(Always, "b");
    let second = plan([("a", first), ("b", reader)]);
    let answer = r#"{"context": "remember this", "list": [1]}"#;
    let prompt = prompt_of(&run(created(second), &[answer]).1, "b");
    assert_eq!(prompt.matches("remember this").count(), 1, "{prompt}");
    assert!(prompt.contains("# state.list\n[\n  1\n]"), "{prompt}");
    assert!(!prompt.contains("missing"), "{prompt}");
}

#[test]
fn what_is_required_may_be_of_the_item() {
    let mut nodes = loadout();
    nodes.nodes["build"].requires = vec!["item.title".parse().unwrap()];
    let prompt = prompt_of(&run(created(nodes), &[PLANNED]).1, "build");
    assert!(prompt.contains("# item.title\nT1"), "{prompt}");
}

#[test]
fn what_a_person_says_is_an_instruction() {
    let mut play = Play::of(plan([("a", agent().text())]));
    let turn = play.turns()[0];
    play.take(Input::report(turn, outcome("done")));
    let mut play = Play::of(plan([("a", agent().text().edge(Always, "b")), ("b", agent().text())]));
    let message = Some("use tabs".to_owned());
    let events = play.take(Input::act(Do::trigger(NodeId::new("b"), message)));
    let prompt = prompt_of(&events, "b");
    assert!(prompt.contains("# Instruction\nuse tabs"), "{prompt}");
    assert_eq!(prompt.matches("please").count(), 1, "the request is no instruction: {prompt}");
}

#[test]
fn a_utility_reads_where_it_is_and_what_it_is_about() {
    let mut nodes = loadout();
    nodes.nodes["build"].behavior = utility().behavior;
    let input = input_of(&run(created(nodes), &[PLANNED]).1, "build");
    let input = input.as_object().unwrap();
    let fields = ["cwd", "runDir", "request", "castId", "socketId", "itemKey", "itemLabel"];
    let values = fields.map(|field| input[field].as_str().unwrap());
    assert_eq!(values, ["{workspace}", "{runDir}", "please", "r", "build", "WI-1", "T1"]);
    assert_eq!(
        input["cursor"],
        serde_json::json!({"name": "workItemIndex", "index": 0, "count": 2})
    );
}
