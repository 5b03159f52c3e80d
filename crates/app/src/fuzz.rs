//! Histories by chance, played by the engine and judged: by the laws of the kernel, by the verifier, and by the
//! properties of the loadout (V7).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use materia_contract::body::{FuzzBody, FuzzFinding, FuzzJudge};
use materia_contract::{NodeId, Plan, RunCreated, RunId};
use materia_engine::ReplayError;
use materia_proof::explore::{Property, broken, created};
use materia_proof::fuzz::{History, history, shrink};

use crate::crashtest::ended;
use crate::failure::Failure;
use crate::play::Played;
use crate::recorded::case;
use crate::sanitize::one_line;

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

/// Plays histories of a plan until the limits are reached. `progress` hears how many were played.
pub fn fuzz(
    plan: &Plan,
    options: &Options,
    mut progress: impl FnMut(u64),
) -> Result<FuzzBody, Failure> {
    let began = Instant::now();
    let mut body = FuzzBody {
        loadout: plan.loadout.clone(),
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
        let history = history(plan, seed)
            .ok_or_else(|| Failure::resolution("the kernel does not take this plan"))?;
        let Some(judged) = judge(plan, &history, &options.properties)? else {
            body.refused += 1;
            continue;
        };
        *ends.entry(judged.end.clone()).or_default() += 1;
        let Some(fault) = judged.fault.clone().filter(|fault| !known.contains(&fault.key)) else {
            continue;
        };
        known.push(fault.key.clone());
        body.findings.push(smaller(plan, seed, (history, judged, &fault), &options.properties));
    }
    body.ends = ends.into_iter().collect();
    Ok(body)
}

/// A history that fails in the same way, made as small as possible.
fn smaller(
    plan: &Plan,
    seed: u64,
    (history, judged, fault): (History, Judged, &Fault),
    properties: &[Property],
) -> FuzzFinding {
    let mut last = judged;
    let small = shrink(plan, history, SHRINK_TRIES, |smaller| {
        let Ok(Some(judged)) = judge(plan, smaller, properties) else { return false };
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
fn judge(
    plan: &Plan,
    history: &History,
    properties: &[Property],
) -> Result<Option<Judged>, Failure> {
    catch_unwind(AssertUnwindSafe(|| played(plan, history, properties))).unwrap_or_else(|_| {
        let message = "the program panicked".to_owned();
        let fault = Some(Fault { judge: FuzzJudge::Kernel, key: "panic".to_owned(), message });
        Ok(Some(Judged { end: "panicked".to_owned(), visits: Vec::new(), fault }))
    })
}

fn played(
    plan: &Plan,
    history: &History,
    properties: &[Property],
) -> Result<Option<Judged>, Failure> {
    let id = RunId::new("fuzz");
    let begins = created(plan, 0);
    let begins = RunCreated { request: "fuzz".to_owned(), plan_hash: plan.hash(), ..begins };
    let found =
        |judge, key: &str, message: String| Some(Fault { judge, key: key.to_owned(), message });
    let mut script = history.script.clone();
    materia_kernel::order_timeline(&mut script.timeline);
    let Played { report, events, journal } = match case::again(&id, begins, &script) {
        Ok(played) => played,
        Err(Failure::Broken(why)) => {
            let fault = found(FuzzJudge::Kernel, "broken", why);
            return Ok(Some(Judged { end: "broke off".to_owned(), visits: Vec::new(), fault }));
        }
        Err(Failure::Refused(_) | Failure::Contradiction(_)) => return Ok(None),
    };
    let visits = report.visits.iter().map(|visit| visit.socket.clone()).collect();
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
            broken(&run, &events, properties).map(|property| Fault {
                judge: FuzzJudge::Property,
                key: property.to_string(),
                message: format!("`{property}` does not hold"),
            })
        }
    };
    Ok(Some(Judged { end: ended(&report), visits, fault }))
}

/// The result as lines for a person.
#[must_use]
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
