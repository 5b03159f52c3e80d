//! Agents that cannot do what is asked of them, found before anything runs.

use materia_compiler::agent_findings;

use crate::support::{Project, assert_found, render};

/// A loadout `L` with one socket `a` whose materia has these further fields.
fn asking(fields: &str, more: &str) -> String {
    format!(
        "{{\"materia\": {{\"m\": {{\"prompt\": \"p\"{fields}}}}},\n{more}\"loadouts\": {{\"L\": \
         {{\"entry\": \"a\", \"sockets\": {{\"a\": {{\"materia\": \"m\"}}}}}}}}}}"
    )
}

const MINE: &str = "\"agents\": {\"mine\": {\"protocol\": \"acp\", \"command\": [\"sh\"]}},\n";

#[test]
fn whoever_can_do_what_is_asked_is_not_mentioned() {
    for provider in ["claude", "codex", "gemini", "pi"] {
        for tools in ["\"none\"", "\"readOnly\"", "\"coding\""] {
            let fields = format!(", \"provider\": \"{provider}\", \"tools\": {tools}");
            assert_found(&asking(&fields, ""), "");
        }
    }
    for provider in ["claude", "gemini", "pi"] {
        let fields = format!(", \"provider\": \"{provider}\", \"tools\": [\"read\"]");
        assert_found(&asking(&fields, ""), "");
    }
    assert_found(&asking(", \"provider\": \"claude\", \"parse\": \"json\"", ""), "");
    assert_found(&asking(", \"provider\": \"scripted\", \"tools\": [\"read\"]", ""), "");
}

#[test]
fn a_list_of_tools_for_one_who_takes_none_is_refused() {
    let text = asking(", \"provider\": \"codex\", \"tools\": [\"read\"]", "");
    assert_found(
        &text,
        "error agent::tool-list 1:65 /materia/m/tools: `m` lists its tools, and Codex cannot be held to a list",
    );
    assert!(Project::with(text).compile(None).0.is_none());
}

#[test]
fn a_protocol_promises_little() {
    let found = |fields: &str| {
        let findings = Project::with(asking(fields, MINE)).check();
        render(&findings)
    };
    assert_eq!(
        found(", \"provider\": \"mine\", \"tools\": \"none\""),
        "warning agent::no-tools 1:64 /materia/m/tools: `m` may use no tools, and an ACP agent may still read files"
    );
    assert_eq!(
        found(", \"provider\": \"mine\", \"tools\": \"readOnly\""),
        "warning agent::read-only 1:64 /materia/m/tools: `m` may only read, and nothing but the sandbox of Materia keeps an ACP agent from writing"
    );
    assert_eq!(
        found(", \"provider\": \"mine\", \"session\": \"keep\""),
        "warning agent::session 1:19 /materia/m: socket `a` keeps its session, and an ACP agent need not be able to"
    );
    assert_eq!(found(", \"provider\": \"mine\", \"tools\": \"coding\""), "");
}

#[test]
fn an_answer_that_is_looked_for_in_text_is_mentioned() {
    assert_found(
        &asking(", \"provider\": \"gemini\", \"parse\": \"json\"", ""),
        "info agent::text-only 2:19 /loadouts/L: Gemini CLI checks no schema, so the answers of `a` are taken from its text",
    );
}

#[test]
fn an_unknown_provider_is_mentioned_with_the_nearest_name() {
    let text = asking(", \"provider\": \"cluade\"", MINE);
    let project = Project::with(text);
    let (compiled, findings) = project.compile(None);
    assert!(compiled.is_some(), "a script may answer all the same");
    assert_eq!(
        render(&findings),
        "warning agent::unknown 1:47 /materia/m/provider: there is no agent `cluade`"
    );
    let help = findings[0].help.as_deref().unwrap();
    assert!(help.contains("`claude`"), "{help}");
    assert_found(
        &asking(", \"provider\": \"acp\"", ""),
        "warning agent::unknown 1:47 /materia/m/provider: there is no agent `acp`",
    );
}

#[test]
fn agents_of_the_configuration_say_how_they_are_started() {
    assert_found(
        "{\"agents\": {\"mine\": {},\n\"acp1\": {\"protocol\": \"acp\"},\n\"pi\": {\"command\": []},\n\"codex\": {\"command\": [\"/opt/codex\"], \"idleMs\": 0}}}",
        "error document::out-of-range 4:48 /agents/codex/idleMs: `idleMs` must be at least 1, not 0
         error agent::no-protocol 1:21 /agents/mine: `mine` is no agent that is known, and it names no protocol
         error agent::no-command 2:9 /agents/acp1/command: agent `acp1` does not say which program to start
         error agent::no-command 3:19 /agents/pi/command: agent `pi` does not say which program to start",
    );
}

#[test]
fn the_agent_that_is_chosen_for_a_cast_is_held_to_the_plan_too() {
    let project = Project::with(asking(", \"tools\": [\"read\"], \"parse\": \"json\"", MINE));
    let (loaded, _) = project.load();
    let (compiled, findings) = project.compile(None);
    assert_eq!(render(&findings), "");
    let plan = compiled.unwrap().plan;
    let found = |chosen: &str| render(&agent_findings(&loaded, &plan, chosen));
    assert_eq!(found("claude"), "");
    assert_eq!(found("scripted"), "");
    assert!(found("codex").starts_with("error agent::tool-list 1:44 /materia/m/tools: "));
    assert!(found("pi").starts_with("info agent::text-only "));
    assert!(found("mine").contains("error agent::tool-list"));
    assert_eq!(found("nobody"), "warning agent::unknown -: there is no agent `nobody`");
}

#[test]
fn the_agent_that_the_configuration_prefers_is_held_to_every_plan() {
    assert_found(
        &asking(", \"tools\": [\"read\"]", "\"provider\": \"codex\",\n"),
        "error agent::tool-list 1:44 /materia/m/tools: `m` lists its tools, and Codex cannot be held to a list",
    );
    assert_found(
        &asking("", "\"provider\": \"codec\",\n"),
        "warning agent::unknown 2:13 /provider: there is no agent `codec`",
    );
    // Another one may be chosen on the command line, so that a cast is not refused for it.
    let preferred = asking(", \"tools\": [\"read\"]", "\"provider\": \"codex\",\n");
    assert!(Project::with(preferred).compile(None).0.is_some());
}

#[test]
fn prices_are_numbers_and_not_negative() {
    assert_found(
        "{\"prices\": {\"date\": \"2026-11-01\", \"models\": {\"m\": {\"input\": -1, \"output\": 2}}}}",
        "error document::out-of-range 1:61 /prices/models/m/input: `input` must be at least 0, not -1",
    );
}
