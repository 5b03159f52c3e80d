//! Command line of a turn.

use std::fmt::Write as _;

use materia_contract::GlobalMode;

use super::super::tools::{Grant, Tool};
use super::super::{AdapterError, Ask, Launch, Polite, SessionPlan, environment};

/// Variables of its own.
const OWN_NAMES: [&str; 11] = [
    "GEMINI_API_KEY",
    "GEMINI_MODEL",
    "GEMINI_CLI_HOME",
    "GOOGLE_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_VERTEX_BASE_URL",
];

/// Read-only tools.
const READING: [Tool; 5] = [Tool::Read, Tool::Grep, Tool::Find, Tool::List, Tool::Web];

/// The name of the file that holds the rules of the turn.
const POLICY_FILE: &str = "policy.toml";

pub(super) fn launch(ask: &Ask) -> Result<Launch, AdapterError> {
    let resumed = ask.resumed("gemini")?;
    let mut argv = ask.program("gemini");
    let mut say = |words: &[&str]| argv.extend(words.iter().map(|word| (*word).to_owned()));
    say(&["--output-format", "stream-json"]);
    match (&ask.session, resumed) {
        (_, Some(session)) => say(&["--resume", &session.id]),
        (SessionPlan::Fresh { id }, None) => say(&["--session-id", &id.to_string()]),
        (SessionPlan::Resume(_), None) => {}
    }
    if let Some(model) = ask.chosen_model("gemini")? {
        say(&["--model", model]);
    }
    let grant = Grant::of(ask);
    let trusted = trusts(&grant, ask.mode);
    if !trusted
        && let Grant::Only(tools) = &grant
        && tools.contains(&Tool::Shell)
    {
        return Err(AdapterError::Cannot {
            agent: "gemini",
            what: "run commands in Planning mode, where it leaves the project's settings aside"
                .to_owned(),
            help: "leave `shell` out of the tools of the socket, or choose another provider"
                .to_owned(),
        });
    }
    let (mode, rules) = rules(&grant, ask.confined);
    say(&["--approval-mode", mode]);
    let mut files = Vec::new();
    if let Some(rules) = rules {
        let path = ask.scratch.join(POLICY_FILE);
        say(&["--policy", &path.to_string_lossy()]);
        files.push((path, rules.into_bytes()));
    }
    argv.extend(ask.settings.args.iter().cloned());
    Ok(Launch {
        argv,
        stdin: ask.prompt.clone().into_bytes(),
        set_env: vec![
            ("GEMINI_CLI_TRUST_WORKSPACE".to_owned(), trusted.to_string()),
            // Without relaunching itself it needs half the resources and receives signals.
            ("GEMINI_CLI_NO_RELAUNCH".to_owned(), "true".to_owned()),
        ],
        pass_env: environment::names(&OWN_NAMES, &ask.settings.env),
        files,
        polite: Polite::Terminate,
    })
}

/// Whether the folder is passed as trusted, so that it loads the project's own settings, servers and hooks. They were
/// approved with the project, and apply if the turn may do what they can do.
fn trusts(grant: &Grant, mode: GlobalMode) -> bool {
    match grant {
        Grant::Nothing | Grant::ReadOnly | Grant::Documents => false,
        Grant::Coding => true,
        Grant::Only(_) => mode == GlobalMode::Implementation,
    }
}

/// The mode and the rules on top of it.
///
/// A tool that would ask for permission is left out, because no user can be asked. A rule that allows a tool is enough
/// for all but the tool that runs commands, which asks in every mode except `yolo`.
fn rules(grant: &Grant, confined: bool) -> (&'static str, Option<String>) {
    let mut tools = READING.to_vec();
    match grant {
        Grant::Nothing => ("default", Some(only(&[]))),
        Grant::Documents if confined => {
            tools.extend([Tool::Edit, Tool::Write]);
            ("default", Some(only(&tools)))
        }
        Grant::ReadOnly | Grant::Documents => ("default", Some(only(&tools))),
        Grant::Coding => ("yolo", None),
        Grant::Only(tools) => {
            let mode = if tools.contains(&Tool::Shell) { "yolo" } else { "default" };
            (mode, Some(only(tools)))
        }
    }
}

/// Rules that refuse every tool but these.
fn only(tools: &[Tool]) -> String {
    let mut rules = String::new();
    for name in tools.iter().flat_map(names) {
        push(&mut rules, &name, "allow", 950);
    }
    push(&mut rules, "*", "deny", 900);
    rules
}

fn push(rules: &mut String, tool: &str, decision: &str, priority: u32) {
    // A JSON string is a TOML string.
    let tool = serde_json::Value::from(tool);
    writeln!(
        rules,
        "[[rule]]\ntoolName = {tool}\ndecision = \"{decision}\"\npriority = {priority}\n"
    )
    .expect("writing to a string cannot fail");
}

/// The names of a tool here.
fn names(tool: &Tool) -> Vec<String> {
    let names: &[&str] = match tool {
        Tool::Read => &["read_file", "read_many_files"],
        Tool::Grep => &["grep_search", "search_file_content"],
        Tool::Find => &["glob"],
        Tool::List => &["list_directory"],
        Tool::Shell => &["run_shell_command"],
        Tool::Edit => &["replace"],
        Tool::Write => &["write_file"],
        Tool::Web => &["web_fetch", "google_web_search"],
        Tool::Other(name) => return vec![name.clone()],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}
