//! Command line of a turn.

use super::super::tools::{Grant, Tool};
use super::super::{AdapterError, Ask, Launch, Polite, SessionPlan, environment};

/// Default number of retries of a failed request. Its own default of ten would hide minutes of waiting from the user.
const RETRIES_DEFAULT: u32 = 2;

/// Variables of its own.
const OWN_NAMES: [&str; 14] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_DEFAULT_*",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "API_TIMEOUT_MS",
    "IS_SANDBOX",
];

/// Tools without a restriction.
const CODING: [&str; 10] = [
    "Read",
    "Grep",
    "Glob",
    "Edit",
    "Write",
    "NotebookEdit",
    "Bash",
    "Task",
    "WebFetch",
    "WebSearch",
];

/// Read-only tools.
const READING: [&str; 3] = ["Read", "Grep", "Glob"];

pub(super) fn launch(ask: &Ask) -> Result<Launch, AdapterError> {
    let resumed = ask.resumed("claude")?;
    let mut argv = ask.program("claude");
    let mut say = |words: &[&str]| argv.extend(words.iter().map(|word| (*word).to_owned()));
    say(&["-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages"]);
    match (&ask.session, resumed) {
        (_, Some(session)) => say(&["--resume", &session.id]),
        (SessionPlan::Fresh { id }, None) => say(&["--session-id", &id.to_string()]),
        (SessionPlan::Resume(_), None) => {}
    }
    if let Some(model) = ask.chosen_model("claude")? {
        say(&["--model", model]);
    }
    let grant = Grant::of(ask);
    let (tools, allowed) = tools(&grant, &ask.doc_root);
    say(&["--permission-mode", "dontAsk", "--tools", &tools.join(",")]);
    if !allowed.is_empty() {
        say(&["--allowedTools", &allowed.join(",")]);
    }
    if grant.restricts() {
        // Hooks and servers of the project could do what the socket forbids.
        say(&["--setting-sources", "user", "--strict-mcp-config"]);
    }
    if let Some(schema) = &ask.schema {
        say(&["--json-schema", &schema.to_string()]);
    }
    if let Some(most) = ask.settings.max_cost {
        say(&["--max-budget-usd", &most.to_string()]);
    }
    argv.extend(ask.settings.args.iter().cloned());
    let retries = ask.settings.retries.unwrap_or(RETRIES_DEFAULT);
    Ok(Launch {
        argv,
        stdin: ask.prompt.clone().into_bytes(),
        set_env: vec![
            ("CLAUDE_CODE_MAX_RETRIES".to_owned(), retries.to_string()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC".to_owned(), "1".to_owned()),
            ("DISABLE_AUTOUPDATER".to_owned(), "1".to_owned()),
        ],
        pass_env: environment::names(&OWN_NAMES, &ask.settings.env),
        files: Vec::new(),
        polite: Polite::Terminate,
    })
}

/// The tools that exist in the turn, and the rules of those that may be used without asking. A tool that exists and is
/// not allowed is refused, because no user can be asked.
fn tools(grant: &Grant, doc_root: &str) -> (Vec<String>, Vec<String>) {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    match grant {
        Grant::Nothing => (Vec::new(), Vec::new()),
        Grant::ReadOnly => (owned(&READING), owned(&READING)),
        Grant::Coding => (owned(&CODING), owned(&CODING)),
        Grant::Documents => {
            let mut tools = owned(&READING);
            let mut allowed = tools.clone();
            tools.extend(owned(&["Edit", "Write"]));
            // One rule for edits covers every tool that writes files.
            allowed.push(format!("Edit(/{}/**)", doc_root.trim_matches('/')));
            (tools, allowed)
        }
        Grant::Only(list) => {
            let mut allowed: Vec<String> = Vec::new();
            for rule in list.iter().flat_map(rules) {
                if !allowed.contains(&rule) {
                    allowed.push(rule);
                }
            }
            let mut tools: Vec<String> = Vec::new();
            for rule in &allowed {
                // `Bash(cargo *)` is a rule about the tool `Bash`; servers bring their own tools.
                let name = rule.split('(').next().unwrap_or(rule);
                if !name.starts_with("mcp__") && !tools.iter().any(|tool| tool == name) {
                    tools.push(name.to_owned());
                }
            }
            (tools, allowed)
        }
    }
}

/// The names of a tool here.
fn rules(tool: &Tool) -> Vec<String> {
    let names: &[&str] = match tool {
        Tool::Read => &["Read"],
        Tool::Grep => &["Grep"],
        Tool::Find | Tool::List => &["Glob"],
        Tool::Shell => &["Bash"],
        Tool::Edit => &["Edit"],
        Tool::Write => &["Write"],
        Tool::Web => &["WebFetch", "WebSearch"],
        Tool::Other(name) => return vec![name.clone()],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}
