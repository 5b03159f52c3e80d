//! Loops: what is inside, what moves them, how they are left.

use materia_contract::{Condition, NodeId};

use crate::support::{Project, assert_found, looped, render};

/// plan → (build → eval → keep)*, as the default workflow has it.
const WORKFLOW: &str = r#""plan": {"materia": "gen", "edges": [{"to": "build"}]},
"build": {"materia": "text", "edges": [{"to": "eval"}]},
"eval": {"materia": "json", "edges": [{"when": "satisfied", "to": "keep"}, {"when": "not_satisfied", "to": "build"}]},
"keep": {"materia": "json", "advance": {"when": "satisfied"}, "edges": [{"to": "build"}]},
"after": {"materia": "text"}"#;

/// The same without an `advance`.
fn without_advance() -> String {
    WORKFLOW.replace(r#" "advance": {"when": "satisfied"},"#, "")
}

const EXIT: &str =
    r#"{"id": "e", "from": "keep", "condition": "always", "targetSocketId": "after"}"#;

fn work(rest: &str) -> String {
    format!(
        r#""work": {{"sockets": ["build", "eval", "keep"], "consumes": {{"from": "plan", "output": "workItems"}}, {rest}}}"#
    )
}

#[test]
fn a_sound_loop_is_in_the_plan_and_on_its_nodes() {
    let project = Project::with(looped(WORKFLOW, &work(&format!("\"exits\": [{EXIT}]"))));
    let (compiled, findings) = project.compile(None);
    assert_eq!(render(&findings), "");
    let plan = compiled.unwrap().plan;
    let region = &plan.loops["work"];
    assert_eq!(region.members, ["build", "eval", "keep"].map(NodeId::new));
    assert_eq!(region.consumes.as_ref().unwrap().as_str(), "plan");
    assert_eq!((region.cursor.as_str(), &region.items), ("workItemIndex", &None));
    let exit = &region.exits[0];
    assert_eq!((exit.id.as_str(), exit.edge_id.as_str()), ("e", "loop-exit:work:e"));
    assert_eq!((exit.from.as_str(), exit.condition), ("keep", Condition::Always));
    assert_eq!(exit.to.as_ref().unwrap().as_str(), "after");
    let node = |id: &str| plan.node(id).unwrap();
    assert_eq!(node("keep").advance, Some(Condition::Satisfied));
    assert_eq!((node("build").advance, node("after").advance), (None, None));
    assert_eq!(node("eval").loops, ["work"]);
    assert!(node("plan").loops.is_empty() && node("after").loops.is_empty());
    assert!(node("plan").generator && !node("build").generator);
}

#[test]
fn members_and_the_generator_must_exist() {
    let text = looped(
        WORKFLOW,
        r#""none": {},
"list": {"sockets": "build"},
"work": {"sockets": ["build", "evil", "keep", 5], "consumes": {"from": "gen", "output": "tasks"}},
"more": {"sockets": ["after"], "consumes": {"from": "eval", "output": "workItems"}},
"self": {"sockets": ["plan"], "consumes": {"from": "plan", "output": "workItems"}},
"": {"sockets": ["eval"]}"#,
    );
    let findings = Project::with(text).check();
    assert_eq!(
        render(&findings),
        "error document::wrong-type 9:21 /loadouts/L/loops/list/sockets: `sockets` must be a list of strings, not a string\n\
         error document::wrong-type 10:47 /loadouts/L/loops/work/sockets/3: `sockets[3]` must be a string, not 5\n\
         error loop::entry-inside 1:153 /loadouts/L/entry: loadout `L` begins at `plan`, inside loop `self`, whose list nothing has given yet\n\
         error loop::no-sockets 8:9 /loadouts/L/loops/none: loop `none` has no sockets\n\
         error loop::unknown-member 10:31 /loadouts/L/loops/work/sockets/1: loop `work` lists `evil`, which is no socket of `L`\n\
         error loop::unknown-generator 10:72 /loadouts/L/loops/work/consumes/from: loop `work` consumes what `gen` gives, which is no socket here\n\
         error loop::bad-output 10:89 /loadouts/L/loops/work/consumes/output: loop `work` consumes `tasks`, which no generator gives\n\
         error loop::not-a-generator 11:53 /loadouts/L/loops/more/consumes/from: loop `more` consumes what `eval` gives, which is no generator\n\
         error loop::generator-inside 12:52 /loadouts/L/loops/self/consumes/from: `plan` gives loop `self` its list and is inside it, so it never runs\n\
         error graph::bad-id 13:5 /loadouts/L/loops/: the name of a loop cannot be empty"
    );
    let help = |code: &str| findings.iter().find(|one| one.code == code).unwrap().help.clone();
    assert_eq!(
        help("loop::unknown-generator").as_deref(),
        Some("`gen` is a materia; the socket that runs it is `plan`")
    );
    assert_eq!(help("loop::unknown-member").as_deref(), Some("did you mean `eval`?"));
    assert_eq!(
        help("loop::not-a-generator").as_deref(),
        Some("add `\"generator\": true` to materia `json`")
    );
}

#[test]
fn exits_have_ids_members_and_targets() {
    let text = looped(
        WORKFLOW,
        &work(
            r#""exits": [
{"id": "a", "from": "keep", "condition": "always", "targetSocketId": "end"},
{"id": "a", "from": "keep", "condition": "satisfied", "targetSocketId": "befor"},
{"id": "b", "from": "after", "condition": "satisfied", "targetSocketId": "afterr"},
{"id": "", "from": "keep", "condition": "satisfied", "targetSocketId": "after"},
{"id": "c", "from": "text", "condition": "sometimes", "targetSocketId": "after"},
{"id": "d", "from": "keep", "condition": "satisfied"}],
"exit": {"from": "kep", "to": "nowhere"}"#,
        ),
    );
    let findings = Project::with(text).check();
    assert_eq!(
        render(&findings),
        "error document::unknown-word 13:42 /loadouts/L/loops/work/exits/4/condition: `condition` must be one of always, satisfied, not_satisfied, not `sometimes`\n\
         error document::missing-field 14:1 /loadouts/L/loops/work/exits/5: a loop's exit needs `targetSocketId`\n\
         error loop::duplicate-exit 10:8 /loadouts/L/loops/work/exits/1/id: loop `work` has two exits with the id `a`\n\
         error loop::exit-target 10:73 /loadouts/L/loops/work/exits/1/targetSocketId: there is no socket `befor` in loadout `L`\n\
         error loop::exit-from 11:21 /loadouts/L/loops/work/exits/2/from: the exit leaves from `after`, which is not in loop `work`\n\
         error loop::exit-target 11:74 /loadouts/L/loops/work/exits/2/targetSocketId: there is no socket `afterr` in loadout `L`\n\
         error graph::bad-id 12:8 /loadouts/L/loops/work/exits/3/id: the id of an exit cannot be empty\n\
         error loop::exit-from 13:21 /loadouts/L/loops/work/exits/4/from: the exit leaves from `text`, which is not in loop `work`\n\
         error loop::exit-from 15:18 /loadouts/L/loops/work/exit/from: the exit leaves from `kep`, which is not in loop `work`\n\
         error loop::exit-target 15:31 /loadouts/L/loops/work/exit/to: there is no socket `nowhere` in loadout `L`"
    );
    let from: Vec<_> = findings
        .iter()
        .filter(|one| one.code == "loop::exit-from")
        .map(|one| one.help.as_deref().unwrap())
        .collect();
    assert_eq!(
        from,
        [
            "add `after` to the loop's `sockets`, or leave from a member",
            "`text` is a materia; the socket that runs it is `build`",
            "did you mean `keep`?",
        ]
    );
}

#[test]
fn the_edges_of_exits_have_ids_of_their_own() {
    let sockets =
        WORKFLOW.replace(r#"{"to": "eval"}"#, r#"{"id": "loop-exit:work:e", "to": "eval"}"#);
    let found =
        render(&Project::with(looped(&sockets, &work(&format!("\"exits\": [{EXIT}]")))).check());
    assert!(found.starts_with("error graph::duplicate-edge-id 8:"), "{found}");
    assert!(found.ends_with("/exits/0: two edges have the id `loop-exit:work:e`"), "{found}");
}

#[test]
fn the_short_form_of_the_original_system_advances_and_leaves() {
    let short = |to: &str, more: &str| {
        let exit =
            format!(r#""exit": {{"from": "keep", "when": "satisfied", "to": "{to}"}}{more}"#);
        let (compiled, findings) =
            Project::with(looped(&without_advance(), &work(&exit))).compile(None);
        let plan = compiled.unwrap().plan;
        assert_eq!(plan.node("keep").unwrap().advance, Some(Condition::Satisfied));
        let exits = plan.loops["work"].exits.clone();
        (exits, render(&findings))
    };
    let (exits, found) = short("after", "");
    assert_eq!((exits.len(), found.as_str()), (1, ""));
    assert_eq!(
        (exits[0].id.as_str(), exits[0].condition),
        ("exit:keep:satisfied", Condition::Satisfied)
    );
    assert_eq!(exits[0].edge_id.as_str(), "loop-exit:work:exit:keep:satisfied");
    assert_eq!(exits[0].to.as_ref().unwrap().as_str(), "after");

    let (exits, found) = short("end", "");
    assert_eq!(exits, [], "where no exit matches the cast ends anyway");
    assert!(found.contains("graph::unreachable-socket"), "{found}");

    let same = EXIT.replace("\"e\"", "\"exit:keep:satisfied\"").replace("always", "satisfied");
    let (exits, found) = short("after", &format!(", \"exits\": [{same}]"));
    assert_eq!((exits.len(), found.as_str()), (1, ""), "the same said twice");
    let (exits, _) = short("after", &format!(", \"exits\": [{EXIT}]"));
    assert_eq!(exits.len(), 2, "both forms go together");

    let other = same.replace("\"after\"", "\"end\"");
    let text = work(&format!(
        r#""exit": {{"from": "keep", "when": "satisfied", "to": "after"}}, "exits": [{other}]"#
    ));
    let found = render(&Project::with(looped(WORKFLOW, &text)).check());
    assert!(found.starts_with("error loop::duplicate-exit 8:"), "{found}");
}

#[test]
fn the_short_form_leaves_an_advance_alone_and_needs_json_like_one() {
    let short = work(r#""exit": {"from": "keep", "to": "after"}"#);
    let plan = Project::with(looped(WORKFLOW, &short)).compile(None).0.unwrap().plan;
    assert_eq!(plan.node("keep").unwrap().advance, Some(Condition::Satisfied), "its own counts");
    let region = &plan.loops["work"];
    assert_eq!(region.exits[0].condition, Condition::Always, "`when` may be left out");

    let text = r#""work": {"sockets": ["build", "eval", "keep"], "consumes": {"from": "plan", "output": "workItems"},
"exit": {"from": "build", "when": "satisfied", "to": "after"}}"#;
    assert_found(
        &looped(WORKFLOW, text),
        "warning loop::moved-twice 9:9 /loadouts/L/loops/work/exit: loop `work` is moved on by `keep` and, because of its `exit`, by `build` too
         error graph::needs-json 9:35 /loadouts/L/loops/work/exit/when: `advance` asks for `satisfied`, but the output of socket `build` is not parsed as JSON",
    );
}

#[test]
fn loops_nest_and_do_not_overlap() {
    let sockets = r#""plan": {"materia": "gen", "edges": [{"to": "a"}]},
"a": {"materia": "gen", "edges": [{"to": "b"}]},
"b": {"materia": "text", "advance": {"cursor": "step"}, "edges": [{"to": "b"}]},
"c": {"materia": "text", "advance": {}, "edges": [{"to": "a"}]}"#;
    let inner = r#""inner": {"sockets": ["b"], "consumes": {"from": "a", "output": "workItems"},
"exits": [{"id": "e", "from": "b", "condition": "always", "targetSocketId": "c"}]}"#;
    let outer = r#""outer": {"sockets": ["a", "b", "c"], "consumes": {"from": "plan", "output": "workItems"}}"#;
    let (compiled, findings) =
        Project::with(looped(sockets, &format!("{inner},\n{outer}"))).compile(None);
    assert_eq!(render(&findings), "");
    let plan = compiled.unwrap().plan;
    assert_eq!(plan.node("b").unwrap().loops, ["outer", "inner"], "the outermost first");
    assert_eq!(plan.node("c").unwrap().loops, ["outer"]);
    let cursors: Vec<_> = plan.loops.values().map(|region| region.cursor.as_str()).collect();
    assert_eq!(cursors, ["step", "workItemIndex"], "each member names that of its own loop");

    assert_found(
        &looped(
            sockets,
            r#""x": {"sockets": ["a", "b"]},
"y": {"sockets": ["b", "c"]},
"z": {"sockets": ["b", "a"]}"#,
        ),
        "warning loop::no-list 4:37 /loadouts/L/sockets/b/advance: loop `x` has no list, so it is never exhausted
         warning graph::unreachable-socket 5:6 /loadouts/L/sockets/c: no way leads from the entry `plan` to socket `c`
         error loop::overlap 8:18 /loadouts/L/loops/y/sockets: loops `x` and `y` overlap, and neither lies inside the other
         error loop::overlap 9:18 /loadouts/L/loops/z/sockets: loops `x` and `z` have the same sockets",
    );
}

#[test]
fn a_loop_may_walk_a_list_of_the_state() {
    let sockets = |advance: &str| {
        format!(
            r#""plan": {{"materia": "text", "edges": [{{"to": "a"}}]}},
"a": {{"materia": "text", "advance": {advance}, "edges": [{{"to": "a"}}]}}"#
        )
    };
    let short = r#""l": {"sockets": ["a"], "exit": {"from": "a", "to": "end"}}"#;
    let unmoved = sockets("null");
    assert_found(
        &looped(&unmoved, short),
        "warning loop::no-list 5:33 /loadouts/L/loops/l/exit: loop `l` has no list, so it is never exhausted",
    );
    let region = r#""l": {"sockets": ["a"]}"#;
    let text = looped(&sockets(r#"{"cursor": "i", "items": "state.list"}"#), region);
    let (compiled, findings) = Project::with(text).compile(None);
    assert_eq!(render(&findings), "");
    let plan = compiled.unwrap().plan;
    assert_eq!(plan.loops["l"].cursor, "i");
    assert_eq!(plan.loops["l"].items.as_ref().unwrap().to_string(), "state.list");

    for (items, expected) in [
        ("{}", "warning loop::no-list 3:37 /loadouts/L/sockets/a/advance: loop `l` has no list, so it is never exhausted"),
        (r#"{"items": "item.parts"}"#, "warning loop::no-list 3:37 /loadouts/L/sockets/a/advance: loop `l` has no list, so it is never exhausted"),
        (
            r#"{"items": "$.list"}"#,
            "warning loop::no-list 3:37 /loadouts/L/sockets/a/advance: loop `l` has no list, so it is never exhausted
             warning path::no-output 3:47 /loadouts/L/sockets/a/advance/items: `$` is the output of one turn, and a loop walks one list",
        ),
        (
            r#"{"items": "list", "cursor": "a.b"}"#,
            "error path::bad-path 3:47 /loadouts/L/sockets/a/advance/items: `list` is not a path: it starts with none of $, state, item, lastJson, lastOutput
             error path::bad-target 3:65 /loadouts/L/sockets/a/advance/cursor: `cursor` must be one plain name",
        ),
    ] {
        assert_found(&looped(&sockets(items), region), expected);
    }
}

#[test]
fn members_of_a_loop_agree_on_its_cursor_and_list() {
    assert_found(
        &looped(
            r#""plan": {"materia": "text", "edges": [{"to": "a"}]},
"a": {"materia": "text", "advance": {"cursor": "i", "items": "state.x"}, "edges": [{"to": "b"}]},
"b": {"materia": "text", "advance": {"cursor": "j", "items": "state.y"}, "edges": [{"to": "a"}]}"#,
            r#""l": {"sockets": ["a", "b"]}"#,
        ),
        "warning loop::disagree 4:48 /loadouts/L/sockets/b/advance/cursor: loop `l` walks with `cursor` `i`, so `j` has no effect here
         warning loop::disagree 4:62 /loadouts/L/sockets/b/advance/items: loop `l` walks with `items` `state.x`, so `state.y` has no effect here",
    );
}

#[test]
fn a_consuming_loop_must_move_and_advance_needs_a_loop() {
    let found = |sockets: &str, loops: &str| render(&Project::with(looped(sockets, loops)).check());
    assert_eq!(
        found(&without_advance(), &work(&format!("\"exits\": [{EXIT}]"))),
        "warning loop::never-advances 8:9 /loadouts/L/loops/work: nothing moves loop `work` on: it stays at its first item"
    );
    assert_eq!(
        found(
            &WORKFLOW.replace(
                r#"[{"to": "build"}]},
"after""#,
                r#"[{"to": "after"}]},
"after""#
            ),
            ""
        ),
        "error loop::advance-outside 5:40 /loadouts/L/sockets/keep/advance: socket `keep` advances a loop, but is in none"
    );
    let text = WORKFLOW.replace(r#""keep": {"materia": "json""#, r#""keep": {"materia": "text""#);
    assert_eq!(
        found(&text, &work(&format!("\"exits\": [{EXIT}]"))),
        "error graph::needs-json 5:49 /loadouts/L/sockets/keep/advance/when: `advance` asks for `satisfied`, but the output of socket `keep` is not parsed as JSON"
    );
    let always = text.replace(r#""advance": {"when": "satisfied"}"#, r#""advance": {}"#);
    assert_eq!(found(&always, &work(&format!("\"exits\": [{EXIT}]"))), "", "nothing is read");
}

#[test]
fn exits_that_cannot_be_taken_are_reported() {
    let text = work(
        r#""exits": [
{"id": "a", "from": "keep", "condition": "satisfied", "targetSocketId": "after"},
{"id": "b", "from": "keep", "condition": "satisfied", "targetSocketId": "end"},
{"id": "c", "from": "keep", "condition": "not_satisfied", "targetSocketId": "end"},
{"id": "d", "from": "eval", "condition": "satisfied", "targetSocketId": "end"},
{"id": "e", "from": "eval", "condition": "always", "targetSocketId": "end"}]"#,
    );
    assert_found(
        &looped(WORKFLOW, &text),
        "warning loop::unreachable-exit 10:1 /loadouts/L/loops/work/exits/1: the exit `b` of loop `work` is never taken: one before it asks for the same
         warning loop::unreachable-exit 11:1 /loadouts/L/loops/work/exits/2: the exit `c` of loop `work` is never taken: `keep` advances only when `satisfied`
         warning loop::unreachable-exit 12:1 /loadouts/L/loops/work/exits/3: the exit `d` of loop `work` is never taken: `eval` never advances
         warning loop::unreachable-exit 13:1 /loadouts/L/loops/work/exits/4: the exit `e` of loop `work` is taken only for an empty list: `eval` never advances",
    );
}

#[test]
fn a_guarded_exit_needs_a_socket_that_can_give_a_verdict() {
    let sockets = WORKFLOW
        .replace(r#""keep": {"materia": "json""#, r#""keep": {"materia": "text""#)
        .replace(r#"{"when": "satisfied"}, "edges""#, r#"{}, "edges""#);
    let exit = EXIT.replace("always", "satisfied");
    let found =
        render(&Project::with(looped(&sockets, &work(&format!("\"exits\": [{exit}]")))).check());
    assert_eq!(
        found,
        "warning loop::unreachable-exit 8:111 /loadouts/L/loops/work/exits/0: the exit `e` of loop `work` is never taken: the output of `keep` is not parsed as JSON"
    );
}

#[test]
fn exits_lead_on_only_from_loops_that_are_entered() {
    let text = looped(
        r#""plan": {"materia": "text"},
"a": {"materia": "text", "advance": {"items": "state.x"}, "edges": [{"to": "a"}]},
"b": {"materia": "text"}"#,
        r#""l": {"sockets": ["a"], "exits": [{"id": "e", "from": "a", "condition": "always", "targetSocketId": "b"}]}"#,
    );
    assert_found(
        &text,
        "warning graph::unreachable-socket 3:6 /loadouts/L/sockets/a: no way leads from the entry `plan` to socket `a`
         warning graph::unreachable-socket 4:6 /loadouts/L/sockets/b: no way leads from the entry `plan` to socket `b`",
    );
    let entered = text.replacen(
        r#"{"materia": "text"}"#,
        r#"{"materia": "text", "edges": [{"to": "a"}]}"#,
        1,
    );
    assert_found(&entered, "");
}

#[test]
fn a_socket_that_advances_needs_a_way_to_the_next_item() {
    let found = |edges: &str| {
        let sockets = WORKFLOW.replace(
            r#""advance": {"when": "satisfied"}, "edges": [{"to": "build"}]"#,
            &format!(r#""advance": {{"when": "satisfied"}}{edges}"#),
        );
        render(&Project::with(looped(&sockets, &work(&format!("\"exits\": [{EXIT}]")))).check())
    };
    assert_eq!(
        found(""),
        "warning graph::may-not-match 5:9 /loadouts/L/sockets/keep: socket `keep` moves its loop on, but no edge leads to the next item"
    );
    assert_eq!(
        found(r#", "edges": [{"when": "not_satisfied", "to": "build"}]"#),
        "warning graph::may-not-match 5:72 /loadouts/L/sockets/keep/edges: the edges of socket `keep` may all fail while its loop has items left; the cast then ends there"
    );
    let both = r#", "edges": [{"when": "not_satisfied", "to": "keep"}, {"when": "satisfied", "to": "build"}]"#;
    assert_eq!(found(both), "");
}

#[test]
fn a_cast_cannot_begin_inside_a_loop_that_waits_for_its_generator() {
    let text = looped(WORKFLOW, &work(&format!("\"exits\": [{EXIT}]")))
        .replace(r#""entry": "plan""#, r#""entry": "eval""#);
    assert_found(
        &text,
        "error loop::entry-inside 1:153 /loadouts/L/entry: loadout `L` begins at `eval`, inside loop `work`, whose list nothing has given yet
         warning graph::unreachable-socket 2:9 /loadouts/L/sockets/plan: no way leads from the entry `eval` to socket `plan`",
    );
}
