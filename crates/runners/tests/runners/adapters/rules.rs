//! `tools` and the mode of the cast in the words of each agent.

use materia_contract::{GlobalMode, ToolSet, ToolsDoc};
use materia_runners::agents::{AdapterError, Ask, Grant, Reach};

use super::{adapter, ask};

/// The words of a command line that are about permission, and the rules it brings along.
fn rules(agent: &str, ask: &Ask) -> String {
    const ABOUT: [(&str, usize); 9] = [
        ("--permission-mode", 1),
        ("--tools", 1),
        ("--allowedTools", 1),
        ("--sandbox", 1),
        ("--approval-mode", 1),
        ("--dangerously-bypass-approvals-and-sandbox", 0),
        ("--no-tools", 0),
        ("--setting-sources", 1),
        ("--no-approve", 0),
    ];
    let launch = adapter(agent).launch(ask).unwrap();
    let mut said = Vec::new();
    for (at, word) in launch.argv.iter().enumerate() {
        if let Some((_, more)) = ABOUT.iter().find(|(name, _)| name == word) {
            said.push(launch.argv[at..=at + more].join("="));
        }
    }
    for (_, bytes) in &launch.files {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let names = text.split("toolName = ").skip(1).map(|rule| {
            let name = rule.lines().next().unwrap().trim_matches('"');
            if rule.contains("\"deny\"") { format!("-{name}") } else { format!("+{name}") }
        });
        said.push(names.collect::<Vec<_>>().join(","));
    }
    said.join(" ")
}

fn with(tools: ToolsDoc) -> Ask {
    Ask { tools: Some(tools), ..ask() }
}

fn set(tools: ToolSet) -> Ask {
    with(ToolsDoc::Set(tools))
}

fn list(names: &[&str]) -> Ask {
    with(ToolsDoc::List(names.iter().map(|name| (*name).to_owned()).collect()))
}

fn planning(asked: Ask, confined: bool) -> Ask {
    Ask { mode: GlobalMode::Planning, confined, ..asked }
}

const GEMINI_READS: &str = "+read_file,+read_many_files,+grep_search,+search_file_content,+glob,\
                            +list_directory,+web_fetch,+google_web_search";

#[test]
fn no_tools() {
    let asked = set(ToolSet::None);
    let own = "--permission-mode=dontAsk --tools= --setting-sources=user";
    assert_eq!(rules("claude", &asked), own);
    assert_eq!(rules("codex", &asked), "--sandbox=read-only");
    let codex = adapter("codex").launch(&asked).unwrap().argv.join(" ");
    assert!(
        codex.contains("features.shell_tool=false") && codex.contains("web_search=\"disabled\"")
    );
    assert_eq!(rules("gemini", &asked), "--approval-mode=default -*");
    assert_eq!(rules("pi", &asked), "--no-approve --no-tools");
    assert_eq!(rules("claude", &list(&[])), own, "an empty list is none");
}

#[test]
fn read_only() {
    let asked = set(ToolSet::ReadOnly);
    assert_eq!(
        rules("claude", &asked),
        "--permission-mode=dontAsk --tools=Read,Grep,Glob --allowedTools=Read,Grep,Glob \
         --setting-sources=user"
    );
    assert_eq!(rules("codex", &asked), "--sandbox=read-only");
    assert_eq!(rules("gemini", &asked), format!("--approval-mode=default {GEMINI_READS},-*"));
    assert_eq!(rules("pi", &asked), "--no-approve --tools=read,grep,find,ls");
}

#[test]
fn coding_and_nothing_said_are_the_same() {
    for agent in ["claude", "codex", "gemini", "pi"] {
        assert_eq!(rules(agent, &set(ToolSet::Coding)), rules(agent, &ask()), "{agent}");
    }
    let all = "Read,Grep,Glob,Edit,Write,NotebookEdit,Bash,Task,WebFetch,WebSearch";
    let said = format!("--permission-mode=dontAsk --tools={all} --allowedTools={all}");
    assert_eq!(rules("claude", &ask()), said);
    assert_eq!(rules("codex", &ask()), "--sandbox=workspace-write");
    assert_eq!(rules("gemini", &ask()), "--approval-mode=yolo");
    assert_eq!(rules("pi", &ask()), "--tools=read,grep,find,ls,bash,edit,write");
}

#[test]
fn a_list_of_tools() {
    let asked = list(&["read", "find", "bash", "read"]);
    assert_eq!(
        rules("claude", &asked),
        "--permission-mode=dontAsk --tools=Read,Glob,Bash --allowedTools=Read,Glob,Bash \
         --setting-sources=user"
    );
    assert_eq!(
        rules("gemini", &asked),
        "--approval-mode=yolo +read_file,+read_many_files,+glob,+run_shell_command,-*"
    );
    assert_eq!(rules("pi", &asked), "--no-approve --tools=read,find,bash");
    let refused = adapter("codex").launch(&asked).unwrap_err();
    assert!(matches!(refused, AdapterError::Cannot { .. }), "{refused}");
    assert!(refused.to_string().contains("\"tools\": \"readOnly\""), "{refused}");
}

#[test]
fn a_list_may_use_the_words_of_the_agent() {
    let asked = list(&["Bash(cargo *)", "mcp__docs__search"]);
    assert_eq!(
        rules("claude", &asked),
        "--permission-mode=dontAsk --tools=Bash --allowedTools=Bash(cargo *),mcp__docs__search \
         --setting-sources=user"
    );
}

#[test]
fn planning_without_a_sandbox_of_ours_lets_only_rules_about_folders_write() {
    let asked = planning(ask(), false);
    assert_eq!(
        rules("claude", &asked),
        "--permission-mode=dontAsk --tools=Read,Grep,Glob,Edit,Write \
         --allowedTools=Read,Grep,Glob,Edit(/docs/**) --setting-sources=user"
    );
    assert_eq!(rules("codex", &asked), "--sandbox=read-only");
    assert_eq!(rules("gemini", &asked), format!("--approval-mode=default {GEMINI_READS},-*"));
    assert_eq!(rules("pi", &asked), "--no-approve --tools=read,grep,find,ls");
    let listed = planning(list(&["read", "bash", "write"]), false);
    assert_eq!(rules("pi", &listed), "--no-approve --tools=read");
}

#[test]
fn planning_inside_our_sandbox_may_write_documents() {
    let asked = planning(ask(), true);
    assert_eq!(rules("codex", &asked), "--dangerously-bypass-approvals-and-sandbox");
    let writes = format!("--approval-mode=default {GEMINI_READS},+replace,+write_file,-*");
    assert_eq!(rules("gemini", &asked), writes);
    assert_eq!(rules("pi", &asked), "--no-approve --tools=read,grep,find,ls,edit,write");
    // A folder of another name.
    let elsewhere = Ask { doc_root: "notes/plans/".to_owned(), ..asked };
    assert!(rules("claude", &elsewhere).contains("Edit(/notes/plans/**)"));
}

#[test]
fn the_network_is_opened_to_commands_only_where_the_policy_says_so() {
    let line = |ask: &Ask| adapter("codex").launch(ask).unwrap().argv.join(" ");
    let open = |network| Ask { network, ..ask() };
    let words = "sandbox_workspace_write.network_access=true";
    assert!(line(&open(Some(true))).contains(words));
    assert!(!line(&open(Some(false))).contains(words));
    assert!(!line(&open(None)).contains(words));
}

#[test]
fn how_far_a_turn_may_write() {
    assert_eq!(Grant::reach(&ask()), Reach::Project);
    assert_eq!(Grant::reach(&planning(ask(), true)), Reach::Documents);
    assert_eq!(Grant::reach(&set(ToolSet::ReadOnly)), Reach::Nothing);
    assert_eq!(Grant::reach(&list(&["read", "grep"])), Reach::Nothing);
    assert_eq!(Grant::reach(&list(&["read", "edit"])), Reach::Project);
    assert_eq!(Grant::reach(&planning(list(&["mcp__x"]), true)), Reach::Documents);
}
