//! Command line of a turn.

use super::super::tools::{Grant, Tool};
use super::super::{AdapterError, Ask, Launch, Polite, SessionPlan, environment};

/// Variables of its own.
const OWN_NAMES: [&str; 2] = ["PI_CODING_AGENT_DIR", "PI_OFFLINE"];

/// Read-only tools.
const READING: [&str; 4] = ["read", "grep", "find", "ls"];

pub(super) fn launch(ask: &Ask) -> Result<Launch, AdapterError> {
    let resumed = ask.resumed("pi")?;
    let mut argv = ask.program("pi");
    let mut say = |words: &[&str]| argv.extend(words.iter().map(|word| (*word).to_owned()));
    say(&["-p", "--mode", "json"]);
    // One flag begins a session or goes on with it.
    match (&ask.session, resumed) {
        (_, Some(session)) => say(&["--session-id", &session.id]),
        (SessionPlan::Fresh { id }, None) => say(&["--session-id", &id.to_string()]),
        (SessionPlan::Resume(_), None) => {}
    }
    if let Some(model) = ask.chosen_model("pi")? {
        say(&["--model", model]);
    }
    say(&["--no-extensions", "--no-skills"]);
    let grant = Grant::of(ask);
    if grant.restricts() {
        say(&["--no-approve"]);
    }
    let tools = tools(&grant, ask.confined);
    if tools.is_empty() {
        say(&["--no-tools"]);
    } else {
        say(&["--tools", &tools.join(",")]);
    }
    argv.extend(ask.settings.args.iter().cloned());
    let mut own: Vec<&str> = OWN_NAMES.to_vec();
    own.extend(keys(ask.model.as_deref()));
    Ok(Launch {
        argv,
        stdin: ask.prompt.clone().into_bytes(),
        set_env: vec![("PI_TELEMETRY".to_owned(), "0".to_owned())],
        pass_env: environment::names(&own, &ask.settings.env),
        files: Vec::new(),
        polite: Polite::Terminate,
    })
}

/// The key of the provider that the model belongs to, and of no other.
fn keys(model: Option<&str>) -> &'static [&'static str] {
    let provider = model.and_then(|model| model.split_once('/')).map(|(provider, _)| provider);
    match provider {
        Some("anthropic") => &["ANTHROPIC_API_KEY", "ANTHROPIC_OAUTH_TOKEN"],
        Some("openai") => &["OPENAI_API_KEY"],
        Some("google") => &["GEMINI_API_KEY"],
        Some("openrouter") => &["OPENROUTER_API_KEY"],
        Some("groq") => &["GROQ_API_KEY"],
        Some("xai") => &["XAI_API_KEY"],
        Some("mistral") => &["MISTRAL_API_KEY"],
        Some(_) | None => &[],
    }
}

/// The tools it may use.
fn tools(grant: &Grant, confined: bool) -> Vec<String> {
    let mut tools: Vec<&str> = READING.to_vec();
    match grant {
        Grant::Nothing => tools.clear(),
        // It knows no folders: without our sandbox around it, it can be trusted with none.
        Grant::Documents if confined => tools.extend(["edit", "write"]),
        Grant::ReadOnly | Grant::Documents => {}
        Grant::Coding => tools.extend(["bash", "edit", "write"]),
        Grant::Only(list) => return list.iter().map(name).collect(),
    }
    tools.into_iter().map(str::to_owned).collect()
}

/// The name of a tool here.
fn name(tool: &Tool) -> String {
    let name = match tool {
        Tool::Read => "read",
        Tool::Grep => "grep",
        Tool::Find => "find",
        Tool::List => "ls",
        Tool::Shell => "bash",
        Tool::Edit => "edit",
        Tool::Write => "write",
        Tool::Web => "web",
        Tool::Other(name) => name,
    };
    name.to_owned()
}
