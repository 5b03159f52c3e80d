//! Histories by chance, played by the engine and judged: by the laws of the kernel, by the verifier, and by the
//! properties of the loadout (V7).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use materia_contract::body::{FuzzBody, FuzzFinding, FuzzJudge};
use materia_contract::{NodeId, Plan, RunCreated, RunId};
use materia_engine::{MemoryJournal, ReplayError};
use materia_proof::explore::{Property, broken, created};
use materia_proof::fuzz::{Fuzzer, History, Kernel};

use crate::proof::crashtest::ended;
use crate::proof::play::Played;
use crate::proof::recorded::case;
use crate::text::sanitize::one_line;
use crate::{Failure, Result};

/// How many histories are tried to make one smaller.
const SHRINK_TRIES: usize = 400;

/// How far to go.
#[derive(Debug, Clone)]
pub struct Options {
    /// The seed of the first history; each further one has the next number.
    pub seed: u64,
    /// The most histories.
    pub histories: Option<u64>,
    /// The longest time.
    pub time: Option<Duration>,
    /// The properties that every history must have.
    pub properties: Vec<Property>,
}

/// A fault of a history: who found it, and a sentence about it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    judge: FuzzJudge,
    /// Two faults with the same one are taken to be the same.
    key: String,
    message: String,
}

/// The result of one history.
struct Judged {
    end: String,
    visits: Vec<NodeId>,
    fault: Option<Fault>,
}

/// A loadout under test. Tests put a fault into a part.
struct Subject<'a> {
    plan: &'a Plan,
    properties: &'a [Property],
    /// The rules that decide the histories.
    kernel: Kernel,
    /// Passes the record of a play to the verifier.
    written: fn(Arc<MemoryJournal>, &RunId) -> Arc<MemoryJournal>,
}

/// Plays histories of a plan until the limits are reached. `progress` hears how many were played.
pub fn fuzz(plan: &Plan, options: &Options, progress: impl FnMut(u64)) -> Result<FuzzBody> {
    let (properties, kernel) = (&*options.properties, Kernel::default());
    search(&Subject { plan, properties, kernel, written: |journal, _| journal }, options, progress)
}

fn search(
    subject: &Subject<'_>,
    options: &Options,
    mut progress: impl FnMut(u64),
) -> Result<FuzzBody> {
    let began = Instant::now();
    let mut body = FuzzBody {
        loadout: subject.plan.loadout.clone(),
        seed: options.seed,
        histories: 0,
        refused: 0,
        ends: indexmap::IndexMap::new(),
        findings: Vec::new(),
    };
    let mut ends: BTreeMap<String, u64> = BTreeMap::new();
    let mut known: Vec<String> = Vec::new();
    loop {
        let done = options.histories.is_some_and(|most| body.histories >= most)
            || options.time.is_some_and(|most| began.elapsed() >= most);
        if done {
            break;
        }
        let seed = options.seed.wrapping_add(body.histories);
        body.histories += 1;
        progress(body.histories);
        let history = subject.fuzzer().history(seed);
        let history =
            history.ok_or_else(|| Failure::resolution("the kernel does not take this plan"))?;
        let Some(judged) = subject.judge(&history)? else {
            body.refused += 1;
            continue;
        };
        *ends.entry(judged.end.clone()).or_default() += 1;
        let Some(fault) = judged.fault.clone().filter(|fault| !known.contains(&fault.key)) else {
            continue;
        };
        known.push(fault.key.clone());
        body.findings.push(subject.smaller(seed, history, judged, &fault));
    }
    body.ends = ends.into_iter().collect();
    Ok(body)
}

impl Subject<'_> {
    fn fuzzer(&self) -> Fuzzer<'_> {
        Fuzzer { plan: self.plan, kernel: self.kernel }
    }

    /// A history that fails in the same way, made as small as possible.
    fn smaller(&self, seed: u64, history: History, mut last: Judged, fault: &Fault) -> FuzzFinding {
        let small = self.fuzzer().shrink(history, SHRINK_TRIES, |smaller| {
            let Ok(Some(judged)) = self.judge(smaller) else { return false };
            let same = judged.fault.as_ref().is_some_and(|it| it.key == fault.key);
            if same {
                last = judged;
            }
            same
        });
        let message =
            last.fault.as_ref().map_or_else(|| fault.message.clone(), |it| it.message.clone());
        FuzzFinding {
            judge: fault.judge,
            message,
            seed,
            end: last.end,
            visits: last.visits,
            script: small.script,
        }
    }

    /// Plays a history and judges it; `None` where the play refuses an act of a person. A panic is a fault like others.
    fn judge(&self, history: &History) -> Result<Option<Judged>> {
        catch_unwind(AssertUnwindSafe(|| self.played(history))).unwrap_or_else(|_| {
            Ok(Some(Judged::without_end("panicked", "panic", "the program panicked".to_owned())))
        })
    }

    fn played(&self, history: &History) -> Result<Option<Judged>> {
        let (plan, id) = (self.plan, RunId::new("fuzz"));
        let begins = created(plan, 0);
        let begins = RunCreated { request: "fuzz".to_owned(), plan_hash: plan.hash(), ..begins };
        let mut script = history.script.clone();
        materia_kernel::order_timeline(&mut script.timeline);
        let played = match (case::again(&id, begins, &script, Vec::new()), &history.fault) {
            (Ok(played), _) => played,
            (Err(Failure::Broken(why)), _) => {
                return Ok(Some(Judged::without_end("broke off", "broken", why)));
            }
            (Err(Failure::Refused(_) | Failure::Contradiction(_)), Some(why)) => {
                return Ok(Some(Judged::without_end("refused", why, why.clone())));
            }
            (Err(Failure::Refused(_) | Failure::Contradiction(_)), None) => return Ok(None),
        };
        let Played { report, events, journal, .. } = played;
        let journal = (self.written)(journal, &id);
        let found =
            |judge, key: &str, message: String| Some(Fault { judge, key: key.to_owned(), message });
        let fault = match (&history.fault, materia_engine::replay(&*journal, &id, None)) {
            (Some(why), _) => found(FuzzJudge::Kernel, why, why.clone()),
            (None, Err(ReplayError::Fault { seq, fault, .. })) => {
                let why = fault.to_string();
                found(FuzzJudge::Verifier, &why, format!("event {seq}: {}", one_line(&why, 400)))
            }
            (None, Err(error)) => found(FuzzJudge::Verifier, "unreadable", error.to_string()),
            (None, Ok(_)) if history.meddled || history.cut => None,
            (None, Ok(_)) => {
                let (run, _) = materia_engine::load(&*journal, &id)?;
                broken(&run, &events, self.properties).map(|property| Fault {
                    judge: FuzzJudge::Property,
                    key: property.to_string(),
                    message: format!("`{property}` does not hold"),
                })
            }
        };
        let visits = report.visits.iter().map(|visit| visit.socket.clone()).collect();
        Ok(Some(Judged { end: ended(&report), visits, fault }))
    }
}

impl Judged {
    /// A history that the kernel did not bring to an end.
    fn without_end(end: &str, key: &str, message: String) -> Self {
        let fault = Fault { judge: FuzzJudge::Kernel, key: key.to_owned(), message };
        Self { end: end.to_owned(), visits: Vec::new(), fault: Some(fault) }
    }
}

/// The result as lines for a person.
pub fn told(body: &FuzzBody) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{} histories from seed {}", body.histories, body.seed);
    for (end, count) in &body.ends {
        let _ = writeln!(text, "  {count} end {end}");
    }
    if body.refused > 0 {
        let _ =
            writeln!(text, "  {} ended early: the cast refused an act of a person", body.refused);
    }
    for finding in &body.findings {
        let _ = writeln!(text, "\nSeed {}: {}", finding.seed, one_line(&finding.message, 500));
        let visits: Vec<&str> = finding.visits.iter().map(NodeId::as_str).collect();
        let _ = writeln!(text, "  ends {}: {}", finding.end, one_line(&visits.join(" "), 600));
        let script = serde_json::to_string_pretty(&finding.script).unwrap_or_default();
        let _ = writeln!(text, "{script}");
    }
    if body.findings.is_empty() {
        let _ = writeln!(text, "Nothing was found.");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use materia_contract::{
        Behavior, ChainHash, Condition, Do, Edge, EdgeId, EventBody, Input, Node, Pace, Parse,
        Record, StatePatched,
    };
    use materia_engine::{Batch, Epoch, Journal, PAGE_BYTES, blocking, wait};
    use materia_kernel::{evolve, take_with, visits_of};

    /// A judge sends work back; its verdict is kept in a variable.
    fn plan() -> Plan {
        let agent = || Behavior::Agent {
            prompt: "Do it.".into(),
            origin: String::new(),
            tools: None,
            model: None,
            provider: None,
        };
        let edge = |id: &str, when, to: Option<&str>, most| Edge {
            id: EdgeId::new(id),
            when,
            guard: None,
            to: to.map(NodeId::new),
            fails: false,
            max_traversals: most,
            delivery: materia_contract::Delivery::default(),
        };
        let mut build = Node::new("Build", agent());
        build.edges.push(edge("on", Condition::Always, Some("judge"), None));
        let mut judge = Node::new("Judge", agent());
        judge.parse = Parse::Json;
        judge.assign.insert("verdict".into(), "$.satisfied".parse().unwrap());
        judge.edges.push(edge("back", Condition::NotSatisfied, Some("build"), Some(3)));
        judge.edges.push(edge("out", Condition::Satisfied, None, None));
        Plan {
            loadout: "L".into(),
            entry: NodeId::new("build"),
            nodes: [(NodeId::new("build"), build), (NodeId::new("judge"), judge)].into(),
            loops: indexmap::IndexMap::new(),
            limits: materia_contract::Limits { max_repairs: 0, ..Default::default() },
            budget: materia_contract::Budget::default(),
            doc_root: "docs".into(),
        }
    }

    fn found(
        kernel: Kernel,
        written: fn(Arc<MemoryJournal>, &RunId) -> Arc<MemoryJournal>,
    ) -> FuzzBody {
        let options = Options { seed: 1, histories: Some(30), time: None, properties: Vec::new() };
        let plan = plan();
        let subject = Subject { plan: &plan, properties: &[], kernel, written };
        search(&subject, &options, |_| {}).unwrap()
    }

    fn sockets(finding: &FuzzFinding) -> Vec<&str> {
        finding.visits.iter().map(NodeId::as_str).collect()
    }

    /// V7: the kernel as a judge. An `evolve` that forgets what turns set is found by the shortest history that sets
    /// something, and nothing is found where nothing was planted.
    #[test]
    fn a_state_that_its_events_do_not_give_is_found() {
        assert_eq!(found(Kernel::default(), |journal, _| journal).findings, []);
        let evolve = |run: &mut materia_kernel::Run, event: &materia_contract::Event| {
            let mut event = event.clone();
            if let EventBody::StatePatched(patched) = &mut event.body {
                *patched = StatePatched { turn: patched.turn, ..StatePatched::default() };
            }
            evolve(run, &event);
        };
        let body = found(Kernel { evolve, ..Kernel::default() }, |journal, _| journal);
        let [finding] = &*body.findings else { panic!("{body:?}") };
        assert_eq!(finding.judge, FuzzJudge::Kernel);
        assert_eq!(finding.message, "the events do not give the state that the kernel has");
        assert_eq!(sockets(finding), ["build", "judge"], "the shortest way to a variable");
    }

    /// V7: an `evolve` that panics.
    #[test]
    fn a_panic_over_an_event_is_found() {
        let evolve = |run: &mut materia_kernel::Run, event: &materia_contract::Event| {
            assert!(!matches!(event.body, EventBody::StatePatched(_)), "planted");
            evolve(run, event);
        };
        let body = found(Kernel { evolve, ..Kernel::default() }, |journal, _| journal);
        let [finding] = &*body.findings else { panic!("{body:?}") };
        assert_eq!((finding.judge, &*finding.message), (FuzzJudge::Kernel, "the kernel panicked"));
    }

    /// V7: a refused input that leaves something behind.
    #[test]
    fn a_refused_input_that_changes_the_state_is_found() {
        let kernel = Kernel {
            take: |run, now, ticks, input| {
                let decided = take_with(run, now, ticks, input);
                if decided.is_err() {
                    let pause = Input::act(Do::Mode { value: Pace::Interactive });
                    let _ = take_with(run, now, &[], pause);
                }
                decided
            },
            ..Kernel::default()
        };
        let body = found(kernel, |journal, _| journal);
        let [finding] = &*body.findings else { panic!("{body:?}") };
        assert_eq!(finding.judge, FuzzJudge::Kernel);
        assert_eq!(finding.message, "an input that was refused changed the state");
    }

    /// V7: a panic of the kernel is found, and its history is made smaller like others.
    #[test]
    fn a_panic_is_found_and_its_history_is_made_smaller() {
        let kernel = Kernel {
            take: |run, now, ticks, input| {
                let again = *run.phase() != materia_kernel::Phase::New && visits_of(run, 0).0 == 2;
                assert!(!again, "planted");
                take_with(run, now, ticks, input)
            },
            ..Kernel::default()
        };
        let body = found(kernel, |journal, _| journal);
        let [finding] = &*body.findings else { panic!("{body:?}") };
        assert_eq!((finding.judge, &*finding.message), (FuzzJudge::Kernel, "the kernel panicked"));
        assert_eq!(sockets(finding)[..3], ["build", "judge", "build"]);
        assert!(finding.visits.len() <= 4, "{finding:?}");
    }

    /// The records of a journal, changed and hashed anew.
    fn forged(
        journal: &MemoryJournal,
        id: &RunId,
        change: impl FnOnce(&mut Vec<Record>),
    ) -> Arc<MemoryJournal> {
        let mut records = blocking(journal).read(id, 0, PAGE_BYTES).unwrap().records;
        change(&mut records);
        let mut head = ChainHash::origin(id);
        for (record, seq) in records.iter_mut().zip(1..) {
            record.seq = seq;
            record.hash = record.hash_after(head);
            head = record.hash;
        }
        let mut copy = MemoryJournal::default();
        copy.blobs = journal.blobs.clone();
        let batch = Batch {
            run: id.clone(),
            epoch: Epoch(0),
            after: 0,
            records: records.into(),
            receipt: None,
            verdict: None,
        };
        wait(copy.append(batch)).unwrap();
        Arc::new(copy)
    }

    /// V7: the verifier as a judge. Forged records whose hashes hold are found where the forged event stands, and the
    /// history is made smaller.
    #[test]
    fn a_record_that_the_rules_do_not_allow_is_found() {
        type Forge = fn(Arc<MemoryJournal>, &RunId) -> Arc<MemoryJournal>;
        let forgeries: [Forge; 3] = [
            // Work that was sent back counts as accepted.
            |journal, id| {
                forged(&journal, id, |records| {
                    for record in records.iter_mut().filter(|it| it.kind == "route.selected") {
                        record.data =
                            record.data.replace("\"satisfied\":false", "\"satisfied\":true");
                    }
                })
            },
            // A payload that nobody took.
            |journal, id| {
                forged(&journal, id, |records| {
                    let taken = |it: &Record| it.kind == "payload.consumed" && it.input.is_none();
                    if let Some(place) = records.iter().rposition(taken) {
                        records.remove(place);
                    }
                })
            },
            // A turn that starts before its payload is taken.
            |journal, id| {
                forged(&journal, id, |records| {
                    let starts = |it: &Record| it.kind == "turn.started" && it.input.is_none();
                    if let Some(place) = records.iter().rposition(starts) {
                        records.swap(place - 1, place);
                    }
                })
            },
        ];
        for (number, written) in forgeries.into_iter().enumerate() {
            let body = found(Kernel::default(), written);
            let finding = body.findings.first().unwrap_or_else(|| panic!("forgery {number}"));
            assert_eq!(finding.judge, FuzzJudge::Verifier, "{finding:?}");
            assert!(finding.message.starts_with("event "), "{finding:?}");
            let shortest = if number == 0 { 4 } else { 2 };
            assert!(finding.visits.len() <= shortest, "forgery {number}: {finding:?}");
        }
    }
}
