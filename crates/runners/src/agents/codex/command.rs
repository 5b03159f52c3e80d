//! Command line of a turn.

use std::path::Path;

use super::super::tools::Grant;
use super::super::{AdapterError, Ask, Launch, Polite, environment};
use super::schema;

/// Variables of its own.
const OWN_NAMES: [&str; 5] =
    ["CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION"];

/// Features that add tools unknown to Materia.
const GUESTS: [&str; 2] = ["plugins", "apps"];

/// Features that provide its own tools.
const TOOLS: [&str; 5] = ["shell_tool", "unified_exec", "multi_agent", "goals", "view_image"];

/// The name of the file that holds the schema of the answer.
const SCHEMA_FILE: &str = "answer.schema.json";

pub(super) fn launch(ask: &Ask) -> Result<Launch, AdapterError> {
    let resumed = ask.resumed("codex")?;
    let mut argv = ask.program("codex");
    let mut say = |words: &[&str]| argv.extend(words.iter().map(|word| (*word).to_owned()));
    // Flags of `exec` stand before `resume`, which does not know them.
    say(&["exec", "--json", "--skip-git-repo-check"]);
    say(&["-c", "check_for_update_on_startup=false"]);
    let grant = Grant::of(ask);
    say(sandbox(&grant, ask)?);
    let mut off: Vec<&str> = Vec::new();
    if grant.restricts() {
        off.extend(GUESTS);
        say(&["-c", &untrusted(&ask.cwd)]);
    }
    if grant == Grant::Nothing {
        off.extend(TOOLS);
        say(&["-c", "web_search=\"disabled\""]);
    }
    for feature in off {
        say(&["-c", &format!("features.{feature}=false")]);
    }
    if ask.network == Some(true) && !grant.restricts() && !ask.confined {
        say(&["-c", "sandbox_workspace_write.network_access=true"]);
    }
    if let Some(model) = ask.chosen_model("codex")? {
        say(&["--model", model]);
    }
    let mut files = Vec::new();
    if let Some(wanted) = ask.schema.as_ref().filter(|wanted| schema::is_typed(wanted)) {
        let path = ask.scratch.join(SCHEMA_FILE);
        say(&["--output-schema", &path.to_string_lossy()]);
        files.push((path, schema::strict(wanted).to_string().into_bytes()));
    }
    for word in &ask.settings.args {
        say(&[word]);
    }
    if let Some(session) = resumed {
        say(&["resume", &session.id]);
    }
    // The prompt comes by standard input, which is closed behind it: it waits for that.
    say(&["-"]);
    Ok(Launch {
        argv,
        stdin: ask.prompt.clone().into_bytes(),
        set_env: Vec::new(),
        pass_env: environment::names(&OWN_NAMES, &ask.settings.env),
        files,
        // SIGTERM leaves its tools behind, SIGINT takes them along.
        polite: Polite::Interrupt,
    })
}

/// The setting that makes it leave the project's own settings aside. It looks for them in the folder and in all
/// above it, and by itself trusts each folder in which it may write.
fn untrusted(folder: &Path) -> String {
    let folders = folder.ancestors().map(|folder| {
        // A JSON string is a TOML string.
        let name = serde_json::Value::from(folder.to_string_lossy());
        format!("{name}={{trust_level=\"untrusted\"}}")
    });
    format!("projects={{{}}}", folders.collect::<Vec<_>>().join(","))
}

/// The sandbox it puts its tools into.
///
/// Inside Materia's own sandbox it cannot create one, and without one it runs no command unless an option allows it;
/// there only the outer sandbox confines it.
fn sandbox(grant: &Grant, ask: &Ask) -> Result<&'static [&'static str], AdapterError> {
    match grant {
        Grant::ReadOnly | Grant::Documents | Grant::Coding if ask.confined => {
            Ok(&["--dangerously-bypass-approvals-and-sandbox"])
        }
        Grant::Nothing | Grant::ReadOnly | Grant::Documents => Ok(&["--sandbox", "read-only"]),
        Grant::Coding => Ok(&["--sandbox", "workspace-write"]),
        Grant::Only(_) => Err(AdapterError::Cannot {
            agent: "codex",
            what: "be held to a list of tools".to_owned(),
            help: "write `\"tools\": \"readOnly\"` or `\"coding\"`, or choose another provider"
                .to_owned(),
        }),
    }
}
