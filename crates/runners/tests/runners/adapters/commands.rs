//! The command lines, word for word.

use std::path::PathBuf;

use materia_contract::{Amount, GlobalMode, ToolSet, ToolsDoc};
use materia_runners::agents::{AdapterError, Ask, Launch, Polite, allows};
use serde_json::json;

use super::{FRESH, adapter, ask, resumed};

fn launch(agent: &str, ask: &Ask) -> Launch {
    adapter(agent).launch(ask).unwrap()
}

fn line(agent: &str, ask: &Ask) -> String {
    launch(agent, ask).argv.join(" ")
}

fn reading() -> Ask {
    Ask { tools: Some(ToolsDoc::Set(ToolSet::ReadOnly)), ..ask() }
}

#[test]
fn a_first_turn() {
    let asked = Ask { model: Some("m".to_owned()), ..reading() };
    assert_eq!(
        line("claude", &asked),
        format!(
            "claude -p --output-format stream-json --verbose --include-partial-messages \
             --session-id {FRESH} --model m --permission-mode dontAsk --tools Read,Grep,Glob \
             --allowedTools Read,Grep,Glob --setting-sources user --strict-mcp-config"
        )
    );
    assert_eq!(
        line("codex", &asked),
        "codex exec --json --skip-git-repo-check -c check_for_update_on_startup=false \
         --sandbox read-only -c projects={\"/project\"={trust_level=\"untrusted\"},\"/\"={trust_level=\"untrusted\"}} -c features.plugins=false -c features.apps=false --model m -"
    );
    assert_eq!(
        line("gemini", &asked),
        format!(
            "gemini --output-format stream-json --session-id {FRESH} --model m \
             --approval-mode default --policy /scratch/policy.toml"
        )
    );
    assert_eq!(
        line("pi", &asked),
        format!(
            "pi -p --mode json --session-id {FRESH} --model m --no-extensions --no-skills \
             --no-approve --tools read,grep,find,ls"
        )
    );
}

#[test]
fn a_further_turn() {
    for (agent, words) in [
        ("claude", "--resume s-1"),
        ("codex", "resume s-1 -"),
        ("gemini", "--resume s-1"),
        ("pi", "--session-id s-1"),
    ] {
        let line = line(agent, &resumed(agent, "s-1", None));
        assert!(line.contains(words), "{line}");
        assert!(!line.contains(&FRESH.to_string()), "{line}");
    }
    // What stands behind `resume` is not understood.
    let line = line("codex", &resumed("codex", "s-1", None));
    assert!(line.find("--sandbox") < line.find("resume"), "{line}");
    assert!(line.ends_with("resume s-1 -"), "{line}");
}

#[test]
fn a_session_of_another_agent_is_refused() {
    let asked = resumed("codex", "s-1", None);
    for agent in ["claude", "gemini", "pi"] {
        let refused = adapter(agent).launch(&asked).unwrap_err();
        assert!(matches!(refused, AdapterError::ForeignSession { .. }), "{refused}");
    }
}

#[test]
fn the_prompt_goes_by_standard_input() {
    let prompt = "x".repeat(300_000);
    let asked = Ask { prompt: prompt.clone(), ..ask() };
    for agent in ["claude", "codex", "gemini", "pi"] {
        let launch = launch(agent, &asked);
        assert_eq!(launch.stdin, prompt.as_bytes(), "{agent}");
        assert!(launch.argv.iter().all(|word| word.len() < 4_096), "{agent}");
    }
}

#[test]
fn a_schema_goes_where_it_is_understood() {
    let schema = json!({ "type": "object", "properties": { "context": { "type": "string" } } });
    let asked = Ask { schema: Some(schema.clone()), ..ask() };
    let claude = launch("claude", &asked).argv;
    let at = claude.iter().position(|word| word == "--json-schema").unwrap();
    assert_eq!(claude[at + 1], schema.to_string());
    let codex = launch("codex", &asked);
    assert!(codex.argv.join(" ").contains("--output-schema /scratch/answer.schema.json"));
    let (path, bytes) = &codex.files[0];
    assert_eq!(path, &PathBuf::from("/scratch/answer.schema.json"));
    let written: serde_json::Value = serde_json::from_slice(bytes).unwrap();
    assert_eq!(written["required"], json!(["context"]));
    for agent in ["gemini", "pi"] {
        assert_eq!(launch(agent, &asked), launch(agent, &ask()), "{agent} takes none");
    }
}

#[test]
fn each_agent_sees_its_own_keys_and_no_other() {
    const SECRETS: [(&str, &str); 5] = [
        ("claude", "ANTHROPIC_API_KEY"),
        ("codex", "OPENAI_API_KEY"),
        ("codex", "CODEX_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
        ("gemini", "GOOGLE_APPLICATION_CREDENTIALS"),
    ];
    for agent in ["claude", "codex", "gemini", "pi"] {
        let names = launch(agent, &ask()).pass_env;
        for (owner, secret) in SECRETS {
            assert_eq!(allows(&names, secret), owner == agent, "{agent} and {secret}");
        }
        for other in ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "MATERIA_CONFIG"] {
            assert!(!allows(&names, other), "{agent} and {other}");
        }
        for common in ["PATH", "HOME", "LC_ALL", "HTTPS_PROXY"] {
            assert!(allows(&names, common), "{agent} and {common}");
        }
    }
}

#[test]
fn pi_sees_the_key_of_the_provider_it_is_asked_for() {
    let asked = Ask { model: Some("anthropic/some-model".to_owned()), ..ask() };
    let names = launch("pi", &asked).pass_env;
    assert!(allows(&names, "ANTHROPIC_API_KEY") && !allows(&names, "OPENAI_API_KEY"));
}

#[test]
fn the_configuration_names_program_arguments_and_variables() {
    let mut asked = ask();
    asked.settings.program = Some(vec!["node".to_owned(), "/opt/agent.js".to_owned()]);
    asked.settings.args = vec!["--effort".to_owned(), "high".to_owned()];
    asked.settings.env = vec!["MY_PROVIDER_*".to_owned()];
    asked.settings.retries = Some(0);
    for agent in ["claude", "codex", "gemini", "pi"] {
        let launch = launch(agent, &asked);
        assert_eq!(launch.argv[..2], ["node", "/opt/agent.js"], "{agent}");
        assert!(launch.argv.join(" ").contains("--effort high"), "{agent}");
        assert!(allows(&launch.pass_env, "MY_PROVIDER_KEY"), "{agent}");
    }
    let tries = ("CLAUDE_CODE_MAX_RETRIES".to_owned(), "0".to_owned());
    assert!(launch("claude", &asked).set_env.contains(&tries));
}

#[test]
fn a_budget_is_passed_to_the_one_who_keeps_it() {
    let mut asked = ask();
    asked.settings.max_cost = Some(Amount::from_millionths(250_000));
    assert!(line("claude", &asked).contains("--max-budget-usd 0.25"));
    assert!(!line("claude", &ask()).contains("budget"), "where there is none, none is passed");
    for agent in ["codex", "gemini", "pi"] {
        assert_eq!(line(agent, &asked), line(agent, &ask()), "{agent} knows no budget");
    }
}

#[test]
fn each_agent_names_where_it_keeps_its_state() {
    for (agent, place, moved) in [
        ("claude", ".claude", "/elsewhere"),
        ("codex", ".codex", "/elsewhere"),
        ("gemini", ".gemini", "/elsewhere/.gemini"),
        ("pi", ".pi/agent", "/elsewhere"),
    ] {
        let home = adapter(agent).home().unwrap();
        let mut settings = ask().settings;
        assert_eq!(home.place(&settings), Some(PathBuf::from("/home/user").join(place)), "{agent}");
        settings.state_dir = Some(PathBuf::from("/elsewhere"));
        assert_eq!(home.place(&settings), Some(PathBuf::from(moved)), "{agent}");
    }
}

#[test]
fn a_name_of_a_session_or_a_model_that_looks_like_a_flag_reaches_no_arguments() {
    for agent in ["claude", "codex", "gemini", "pi"] {
        let flag = Ask { model: Some("--yolo".to_owned()), ..ask() };
        assert!(
            matches!(adapter(agent).launch(&flag), Err(AdapterError::Cannot { .. })),
            "{agent}"
        );
        for id in ["--dangerously-skip-permissions", "-c", "", "a b", "../../x"] {
            let refused = adapter(agent).launch(&resumed(agent, id, None)).unwrap_err();
            assert!(matches!(refused, AdapterError::UnusableSession { .. }), "{agent}: {refused}");
        }
    }
}

#[test]
fn the_settings_of_the_project_are_left_aside_where_a_turn_may_only_look_or_plan() {
    let looking = Ask { tools: Some(ToolsDoc::Set(ToolSet::ReadOnly)), ..ask() };
    let planning = Ask { mode: GlobalMode::Planning, confined: true, ..ask() };
    let trust = |asked: &Ask| {
        let set = launch("gemini", asked).set_env;
        set.iter().find(|(name, _)| name == "GEMINI_CLI_TRUST_WORKSPACE").unwrap().1.clone()
    };
    for asked in [&looking, &planning] {
        assert!(line("claude", asked).contains("--setting-sources user --strict-mcp-config"));
        let codex = line("codex", asked);
        let aside =
            r#"projects={"/project"={trust_level="untrusted"},"/"={trust_level="untrusted"}}"#;
        assert!(codex.contains(aside), "{codex}");
        assert_eq!(trust(asked), "false");
        assert!(line("pi", asked).contains("--no-approve"));
    }
    assert!(!line("claude", &ask()).contains("--setting-sources"));
    assert!(!line("codex", &ask()).contains("trust_level"));
    assert_eq!(trust(&ask()), "true");
    let shell = Ask { tools: Some(ToolsDoc::List(vec!["bash".to_owned()])), ..planning };
    let refused = adapter("gemini").launch(&shell).unwrap_err();
    assert!(refused.to_string().contains("leaves the project's settings aside"), "{refused}");
}

#[test]
fn codex_is_interrupted_and_the_others_are_terminated() {
    for (agent, polite) in [
        ("claude", Polite::Terminate),
        ("codex", Polite::Interrupt),
        ("gemini", Polite::Terminate),
        ("pi", Polite::Terminate),
    ] {
        assert_eq!(launch(agent, &ask()).polite, polite, "{agent}");
    }
}

#[test]
fn every_probe_says_how_to_get_the_agent() {
    for agent in ["claude", "codex", "gemini", "pi"] {
        let probe = adapter(agent).probe();
        assert_eq!(probe.program, agent);
        assert!(probe.install.starts_with("npm install"));
        assert!(!probe.how_to_log_in.is_empty() && !probe.tested.is_empty());
    }
}
