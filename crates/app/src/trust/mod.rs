//! The trust gate: every run passes it before it starts (D35).
//!
//! ```text
//! a run, prepared ─► Gate ─► Untrusted<run> ─ questions, answered ─► Trusted<run> ─► Cleared ─► Host
//! ```
//!
//! A project's configuration is data until a person approves it: its programs, its agents with their prompts, models
//! and tools, where turns may write, every setting, and the files that the programs run and the agents read. A journal
//! is data too: a cast continues without a question only if it started here and runs what it ran before. The gate
//! checks everything again each time a cast starts or continues.
//!
//! Approvals are stored in the profile, never in the project: a repository cannot approve itself.
//!
//! # Invariants
//!
//! * Only this module makes a [`Trusted`], and [`Host`](crate::Host) runs nothing without one.
//! * The approved run is the one that starts: it goes in as [`Untrusted`], comes out, and is not read again.
//! * The hash of its content identifies a question. Other content is another question.
//!
//! Deliberately absent: prompting. A terminal or a page shows a [`Question`]; the answer comes back here.

mod agent_files;
mod cases;
mod changes;
mod command;
mod fact;
mod files;
mod pass;
mod program_file;
mod question;
mod shell;
mod starts;
mod store;
mod tools;

use std::path::{Path, PathBuf};

use materia_compiler::{Loaded, Part, PartKind, Program};
use materia_contract::{Behavior, Link, Node, Plan, RunCreated, RunId, content_hash};
use serde_json::json;

use crate::Result;
pub use agent_files::AgentFile;
pub use cases::Case;
pub use changes::Change;
use fact::{Fact, Kind};
pub use pass::{Bare, Cleared, Runs, Trusted, Untrusted};
pub use question::{About, Asked, AskedAgent, Question};
use starts::Approved;
pub use starts::Starts;
pub(crate) use starts::Watch;
use store::{Known, Store};
pub(crate) use tools::names_a_shell;

/// Approvals of a project, stored in the profile. If the store cannot be read, nothing is approved, and the warnings
/// say why.
#[derive(Debug, Clone)]
pub struct Gate {
    profile: Option<PathBuf>,
    project: PathBuf,
}

/// A cast that is about to begin.
#[derive(Clone, Copy)]
pub struct Begins<'a> {
    /// The configuration.
    pub loaded: &'a Loaded,
    /// Plan with the paths of this machine.
    pub plan: &'a Plan,
    /// Link that it comes from.
    pub link: Option<&'a Link>,
    /// Whether the configuration chose the loadout.
    pub by_choice: bool,
    /// The agents that would be asked.
    pub agents: &'a [String],
}

/// A cast that has begun.
#[derive(Clone, Copy)]
pub struct Begun<'a> {
    /// Its id.
    pub id: &'a RunId,
    /// How it began, as its journal has it.
    pub created: &'a RunCreated,
    /// Its plan, with the paths of this machine.
    pub plan: &'a Plan,
    /// Script that answers its agents, if the journal names it and not the present request.
    pub answers: Option<&'a Path>,
}

impl Gate {
    /// The gate of a project, which is a real path; approvals are kept in the folder of the profile.
    pub fn new(profile: Option<&Path>, project: &Path) -> Self {
        Self { profile: profile.map(Path::to_owned), project: project.to_owned() }
    }

    /// Question before a cast starts, if one is needed.
    pub fn begins(&self, cast: Begins<'_>, warnings: &mut Vec<String>) -> Result<Option<Question>> {
        let Begins { loaded, plan, link, by_choice, agents } = cast;
        let parts = materia_compiler::parts(loaded);
        let needed = materia_compiler::taking_part(&parts, plan, (link, by_choice), agents);
        let read = self.read_by(agents, loaded)?;
        Ok(self.asks_about(&parts, (&needed, read), Some(plan), warnings))
    }

    /// Questions before a cast continues: that it started here, the files that it runs and its script as they are now,
    /// the project's present settings of its agents, and the files that they read.
    pub fn goes_on(
        &self,
        cast: Begun<'_>,
        (loaded, agents): (&Loaded, &[String]),
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Question>> {
        let known = self.store().known(&self.project, warnings);
        let parts = materia_compiler::parts(loaded);
        let is_of_agents =
            |name: &str| name == "provider" || name.split('.').next() == Some("prices");
        let says = |part: &&Part| match part.kind {
            PartKind::Agent => agents.contains(&part.name),
            PartKind::Setting => is_of_agents(&part.name) && !agents.is_empty(),
            PartKind::Materia | PartKind::Loadout => false,
        };
        let needed: Vec<&Part> = parts.iter().filter(says).collect();
        let read = self.read_by(agents, loaded)?;
        let about_agents = self.asks_about(&parts, (&needed, read), None, warnings);
        let news = self.of_cast(cast, Some(loaded));
        let about_cast = asks_about_cast((cast, &self.project), news, &known);
        Ok(about_agents.into_iter().chain(about_cast).collect())
    }

    /// Questions before cases run on a copy of the project's configuration, including its programs.
    pub fn configuration(&self, loaded: &Loaded, warnings: &mut Vec<String>) -> Untrusted<()> {
        let parts = materia_compiler::parts(loaded);
        let all: Vec<&Part> = parts.iter().collect();
        let read = agent_files::Found::default();
        let question = self.asks_about(&parts, (&all, read), None, warnings);
        self.holds((), question.into_iter().collect())
    }

    /// The files of the project that are approved with its programs, as paths in the project.
    pub fn program_files(&self, loaded: &Loaded) -> Vec<String> {
        let parts = materia_compiler::parts(loaded);
        self.files(&parts.iter().collect::<Vec<_>>()).into_iter().map(|fact| fact.name).collect()
    }

    /// The files that these agents would read in the project; none, where no agent is asked.
    fn read_by(&self, agents: &[String], loaded: &Loaded) -> Result<agent_files::Found> {
        if agents.is_empty() {
            return Ok(agent_files::Found::default());
        }
        let (casts, home) =
            (materia_compiler::artifact_dir(loaded), materia_runners::agents::user_home());
        agent_files::of(&self.project, &casts, home.as_deref())
    }

    /// Stores that a cast begins here with consent, so that it may continue here. Of files that need approval, only
    /// approved ones are stored.
    pub(crate) fn has_begun(&self, cast: Begun<'_>, watch: &Watch, warnings: &mut Vec<String>) {
        let mut news = self.of_cast(cast, None);
        let asked = files::named(&self.project, watch.starts.programs());
        news.retain(|fact| {
            let watched = asked.iter().any(|file| file.kind == fact.kind && file.name == fact.name);
            !watched && !watch.approved.has(fact)
        });
        self.store().remember(&self.project, news, warnings);
    }

    /// Whether what the project says of an agent was approved; it says nothing of most.
    pub fn knows_agent(&self, loaded: &Loaded, name: &str, warnings: &mut Vec<String>) -> bool {
        let parts = materia_compiler::parts(loaded);
        let about = |part: &&Part| part.kind == PartKind::Agent && part.name == name;
        let needed: Vec<&Part> = parts.iter().filter(about).collect();
        let known = self.store().known(&self.project, warnings);
        self.facts(&needed).iter().all(|fact| known.has(fact))
    }

    /// A person changed the project's files by a command of this program. A choice is the person's own. What else
    /// the program has written needs no approval where everything was approved before.
    pub fn carries_over(&self, before: &[Part], after: &[Part], warnings: &mut Vec<String>) {
        let known = self.store().known(&self.project, warnings);
        let facts = |parts: &[Part]| self.facts(&parts.iter().collect::<Vec<_>>());
        let before = facts(before);
        let approved = before.iter().all(|fact| fact.kind == Kind::Setting || known.has(fact));
        let mut news = facts(after);
        news.retain(|fact| !before.contains(fact) && (approved || fact.kind == Kind::Setting));
        self.store().remember(&self.project, news, warnings);
    }

    /// A run that was not prepared: approval of everything in it is required, unless it began here.
    pub fn bare(
        &self,
        id: RunId,
        created: RunCreated,
        warnings: &mut Vec<String>,
    ) -> Untrusted<Bare> {
        let known = self.store().known(&self.project, warnings);
        let cast = Begun { id: &id, created: &created, plan: &created.plan, answers: None };
        let question = asks_about_cast((cast, &self.project), self.of_cast(cast, None), &known);
        self.holds(Bare { id, created: Box::new(created) }, question.into_iter().collect())
    }

    /// A run, to be released when its questions are answered.
    pub(crate) fn holds<T>(&self, what: T, questions: Vec<Question>) -> Untrusted<T> {
        Untrusted::new(what, questions, self.clone())
    }

    /// The same question about files that have changed while it was asked; `None` where none has.
    fn renewed(&self, question: &Question) -> Option<Question> {
        let mut news = question.news.clone();
        let mut changes = Vec::new();
        for fact in news.iter_mut().filter(|fact| fact.kind == Kind::File) {
            let now = files::again(&self.project, &fact.name);
            let now = now.unwrap_or_else(|| Fact::new(Kind::File, &fact.name, String::new(), ""));
            if !now.is(fact) {
                changes.push(Change::of(&now, Some(&fact.shown)));
                *fact = now;
            }
        }
        (!changes.is_empty()).then(|| question.again(news, changes))
    }

    /// Stored approvals, plus the given new ones.
    fn approved(&self, news: Vec<Fact>, warnings: &mut Vec<String>) -> Approved {
        let known = self.store().known(&self.project, warnings);
        Approved { project: self.project.clone(), known, news }
    }

    /// A person has approved what was asked: it is remembered.
    pub(crate) fn approve(&self, question: &Question, warnings: &mut Vec<String>) {
        self.store().remember(&self.project, question.news.clone(), warnings);
    }

    /// The question about these parts of the project's configuration and the files that agents read, if one of them is
    /// not approved. An approval covers the whole configuration, which is therefore shown.
    fn asks_about(
        &self,
        parts: &[Part],
        (needed, read): (&[&Part], agent_files::Found),
        plan: Option<&Plan>,
        warnings: &mut Vec<String>,
    ) -> Option<Question> {
        let known = self.store().known(&self.project, warnings);
        let agent_files::Found { files: read, facts: mut of_agents } = read;
        // An empty list is shown only if it was not empty before.
        of_agents.retain(|fact| !fact.shown.is_empty() || known.before(fact).is_some());
        if self.facts(needed).iter().chain(&of_agents).all(|fact| known.has(fact)) {
            return None;
        }
        let all: Vec<&Part> = parts.iter().collect();
        let mut news = self.facts(&all);
        news.extend(of_agents);
        news.retain(|fact| !known.has(fact));
        let changes = changed(&news, &known);
        let mut question = Question::new(About::Project, news, changes);
        question.files = files_of(&all);
        let ran = self.files(&all);
        question.files.extend(ran.into_iter().map(|fact| fact.name));
        let programs = all.iter().flat_map(|part| &part.programs);
        question.commands = programs.map(|program| Asked::of(program, &self.project)).collect();
        question.agents = all.iter().flat_map(|part| agents_of(part)).collect();
        question.read = read;
        question.writes = writes(&all, plan);
        question.settings = settings(&all);
        question.settings.extend(all.iter().flat_map(|part| steering(part)));
        Some(question)
    }

    /// Facts of a cast. With a configuration, files of programs that now belong to the user are left out.
    fn of_cast(&self, cast: Begun<'_>, loaded: Option<&Loaded>) -> Vec<Fact> {
        let Begun { created, plan, answers, .. } = cast;
        // The hash is computed, not read: a journal may claim any. The mode a cast began with is what
        // it falls back to.
        let began = json!({
            "plan": created.plan.hash(), "cwd": created.cwd, "runDir": created.run_dir,
            "globalMode": created.global_mode, "virtualTime": created.virtual_time,
            "script": created.script,
        });
        let mut facts =
            vec![Fact::new(Kind::Cast, &created.plan.loadout, content_hash(&began), "")];
        let starts = Starts::of(plan, created.link.as_ref(), loaded);
        facts.extend(files::named(&self.project, starts.programs()));
        if let Some(path) = answers {
            let (hash, shown) = files::answers(path);
            facts.push(Fact::new(Kind::Answers, &path.to_string_lossy(), hash, &shown));
        }
        facts
    }

    /// Facts of these parts, and of the files that their programs run.
    fn facts(&self, parts: &[&Part]) -> Vec<Fact> {
        let mut facts: Vec<Fact> = parts.iter().map(|part| Fact::part(part)).collect();
        facts.extend(self.files(parts));
        facts
    }

    fn files(&self, parts: &[&Part]) -> Vec<Fact> {
        files::named(&self.project, parts.iter().flat_map(|part| &part.programs))
    }

    fn store(&self) -> Store {
        Store::at(self.profile.as_deref())
    }
}

/// The question about a cast, if something of it is not approved.
fn asks_about_cast(
    (cast, project): (Begun<'_>, &Path),
    mut news: Vec<Fact>,
    known: &Known,
) -> Option<Question> {
    let began_here = news.iter().any(|fact| fact.kind == Kind::Cast && known.has(fact));
    news.retain(|fact| !known.has(fact));
    if news.is_empty() {
        return None;
    }
    let changes = if began_here { changed(&news, known) } else { Vec::new() };
    let mut question = Question::new(About::Cast, news, changes);
    if !began_here {
        question.files.push("the journal of this cast, which was not begun here".to_owned());
    }
    let told = question.news.iter().filter(|fact| fact.kind != Kind::Cast);
    question.files.extend(told.map(|fact| fact.name.clone()).collect::<Vec<_>>());
    let programs = programs(cast.plan);
    question.commands = programs.iter().map(|program| Asked::of(program, project)).collect();
    question.agents = plan_agents(cast.plan, cast.id);
    question.writes = plan_writes(cast.plan, None);
    let steers = |node: &Node| node.policy.as_ref().is_some_and(|it| it.steer == Some(true));
    let steering = cast.plan.nodes.iter().filter(|(_, node)| steers(node));
    question.settings.extend(steering.map(|(id, _)| may_steer(id.as_str())));
    if cast.created.cwd != materia_contract::path_tokens::WORKSPACE {
        let cwd = whole(&cast.created.cwd);
        question.settings.push(format!("works in `{cwd}`"));
    }
    if let Some(path) = cast.answers {
        let path = whole(&path.to_string_lossy());
        question
            .settings
            .push(format!("its agents are answered by `{path}`, which can write files"));
    }
    Some(question)
}

/// Changes since the last approval; empty if there was none.
fn changed(news: &[Fact], known: &Known) -> Vec<Change> {
    let kinds = [Kind::Materia, Kind::Loadout, Kind::Agent, Kind::Setting, Kind::File];
    let others = [Kind::AgentFile, Kind::AgentFiles, Kind::Answers, Kind::Cases];
    if !known.has_any(&kinds) && !known.has_any(&others) {
        return Vec::new();
    }
    let told = news.iter().filter(|fact| changes::is_told(fact.kind));
    told.map(|fact| Change::of(fact, known.before(fact).map(|entry| entry.shown.as_str())))
        .collect()
}

/// The files that parts stand in, each once.
fn files_of(parts: &[&Part]) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for part in parts {
        if !files.contains(&part.file) {
            files.push(part.file.clone());
        }
    }
    files
}

/// A text on one line, fit to be shown. What is approved is never cut.
fn whole(text: &str) -> String {
    crate::text::sanitize::one_line(text, usize::MAX)
}

/// Agent requests in a part.
fn agents_of(part: &Part) -> Vec<AskedAgent> {
    match part.kind {
        PartKind::Materia if part.content["type"] != "utility" => {
            let shown_by = vec!["materia".to_owned(), part.name.clone()];
            vec![AskedAgent::of(&part.name, &part.content, shown_by)]
        }
        PartKind::Loadout => {
            let sockets = part.content["sockets"].as_object().into_iter().flatten();
            let own = sockets.filter(|(_, socket)| {
                ["prompt", "model", "tools"].iter().any(|name| socket.get(*name).is_some())
            });
            let shown_by = ["loadout".to_owned(), format!("--show={}", part.name)];
            own.map(|(id, socket)| {
                AskedAgent::of(&format!("socket {id} of {}", part.name), socket, shown_by.to_vec())
            })
            .collect()
        }
        PartKind::Materia | PartKind::Agent | PartKind::Setting => Vec::new(),
    }
}

fn writes(parts: &[&Part], plan: Option<&Plan>) -> Vec<String> {
    let doc_root =
        parts.iter().find(|part| part.kind == PartKind::Setting && part.name == "docRoot");
    let doc_root = doc_root.and_then(|part| part.content.as_str());
    plan.map(|plan| plan_writes(plan, doc_root)).unwrap_or_default()
}

/// Where turns of a plan may write.
fn plan_writes(plan: &Plan, by_project: Option<&str>) -> Vec<String> {
    let bound = plan.nodes.iter().filter_map(|(id, node)| {
        let paths = node.policy.as_ref()?.write.as_ref()?;
        Some(format!("socket {id}: only {}", whole(&json!(paths).to_string())))
    });
    let mut writes: Vec<String> = bound.collect();
    if writes.len() < plan.nodes.len() {
        writes.push("anything that you may, unless Planning holds it back".to_owned());
    }
    let root = whole(&plan.doc_root);
    let said = if by_project.is_some() { ", which this project chose" } else { "" };
    writes.push(format!("under Planning: the folder `{root}`{said}"));
    writes
}

/// The sockets of a graph whose turns may control casts.
fn steering(part: &Part) -> Vec<String> {
    let sockets = part.content["sockets"].as_object().into_iter().flatten();
    let named = sockets.filter(|(_, socket)| socket["policy"]["steer"] == true);
    named.map(|(id, _)| format!("{} of {}", may_steer(id), part.name)).collect()
}

fn may_steer(socket: &str) -> String {
    let socket = crate::text::sanitize::one_line(socket, 100);
    format!("turns may control casts (begin, approve, carry on, end them): socket {socket}")
}

/// Other settings of a configuration.
fn settings(parts: &[&Part]) -> Vec<String> {
    let settings = parts
        .iter()
        .filter(|part| part.kind == PartKind::Setting)
        .map(|part| format!("{} = {}", whole(&part.name), whole(&part.content.to_string())));
    let replaced = parts.iter().filter(|part| part.replaces_shipped).map(|part| {
        let kind = Fact::part(part).kind.word();
        format!("its own {kind} `{}` takes the place of the shipped one", whole(&part.name))
    });
    let graphs = parts.iter().filter(|part| part.kind == PartKind::Loadout);
    let names: Vec<String> = graphs.map(|part| whole(&part.name)).collect();
    let graphs = (!names.is_empty()).then(|| format!("loadouts: {}", names.join(", ")));
    settings.chain(replaced).chain(graphs).collect()
}

/// The programs of a plan, each once.
fn programs(plan: &Plan) -> Vec<Program> {
    Starts::of(plan, None, None).programs().into_iter().cloned().collect()
}

/// The agents of a plan, each once.
fn plan_agents(plan: &Plan, cast: &RunId) -> Vec<AskedAgent> {
    let mut agents: Vec<AskedAgent> = Vec::new();
    let shown_by = ["events", cast.as_str(), "--type", "run.created", "--json"].map(str::to_owned);
    for node in plan.nodes.values() {
        if let Behavior::Agent { .. } = &node.behavior {
            let agent = AskedAgent::of(&node.materia, &json!(node.behavior), shown_by.to_vec());
            if !agents.contains(&agent) {
                agents.push(agent);
            }
        }
    }
    agents
}
