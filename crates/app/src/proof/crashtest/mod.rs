//! A cast played again and again, with memory lost at each point at which that can happen (V6).
//!
//! Every play is one of the engine in simulated time on a journal in memory. A crash drops the driver and all it holds;
//! then the run is opened from its journal, as `resume` does. The position in a script is a fold over the events, so a
//! turn that is asked again gets the answer that it had.

mod copy;
mod end;
mod points;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use materia_contract::body::{CrashDifference, CrashPoint, CrashtestBody, Differs, RanAgain};
use materia_contract::script::Script;
use materia_contract::{Answerers, Behavior, NodeId, RunCreated, RunId, WaitReason};
use materia_engine::{Approval, EngineError, MemoryJournal, Runner, SystemClock, World};
use materia_kernel::Phase;
use materia_proof::dice::Dice;
use materia_runners::{Runners, ScriptedRunner, UtilityRunner};
use tokio::sync::mpsc;

use crate::cast::prepare::Beginning;
use crate::project::Project;
use crate::project::profile;
use crate::proof::play::simulated;
use crate::text::sanitize::one_line;
use crate::trust::{Starts, Trusted};
use crate::{Failure, Result};
use copy::Stage;
use end::End;
use points::{Decisions, Passed, Points, Turns};

pub(crate) use told::ended;
pub use told::told;

/// Up to so many points every pair of them is played.
pub const ALL_PAIRS_POINTS_MAX: usize = 100;
/// How many pairs are chosen by chance where there are more points.
pub const CHOSEN_PAIRS: usize = 1_000;

/// How far to go.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Whether pairs of points are played, too.
    pub pairs: bool,
    /// Chooses the pairs where there are too many.
    pub seed: u64,
}

/// Plays a cast in which the script answers everything. Nothing has to be approved, since nothing runs.
pub fn scripted(
    beginning: &Beginning,
    options: Options,
    progress: impl FnMut(u64, u64),
) -> Result<CrashtestBody> {
    let (created, script) = parts(beginning)?;
    let bound = created.script.as_ref().map(|script| &script.keys);
    let runs = |(id, behavior): &(&NodeId, &Behavior)| {
        let answered = bound.is_some_and(|keys| keys.contains_key(*id));
        matches!(behavior, Behavior::Utility { .. }) && !answered
    };
    let nodes = created.plan.nodes.iter().map(|(id, node)| (id, &node.behavior));
    let unanswered: Vec<String> =
        nodes.filter(runs).map(|(id, _)| format!("`{}`", one_line(id.as_str(), 100))).collect();
    if !unanswered.is_empty() {
        return Err(Failure::resolution(format!(
            "the script has no results under `utilities` for {}; add them, or have the programs run in copies of the project",
            unanswered.join(", ")
        )));
    }
    let cast = Cast {
        id: &beginning.id,
        created,
        script,
        stage: Stage::new(None)?,
        supervisor: None,
        approval: Approval::default(),
    };
    cast.test(options, progress)
}

/// Plays a cast whose utilities run, each play in a new copy of the project.
pub fn real(
    project: &Project,
    beginning: &Trusted<Beginning>,
    supervisor: &Path,
    options: Options,
    warnings: &mut Vec<String>,
    progress: impl FnMut(u64, u64),
) -> Result<CrashtestBody> {
    materia_safe_fs::sweep();
    let (created, script) = parts(beginning)?;
    let loaded = &beginning.prepared.loaded;
    let scripts = materia_compiler::needed_scripts(loaded, &created.plan);
    profile::ready(loaded.shelf(), &scripts, warnings)?;
    let stage = Stage::new(Some(project))?;
    let plan = stage.folders().created(&created).plan;
    let starts = Starts::of(&plan, created.link.as_ref(), Some(loaded));
    let approval = beginning.approval_in_copy(&stage.work(), starts);
    let supervisor = Some(supervisor);
    let cast = Cast { id: &beginning.id, created, script, stage, supervisor, approval };
    cast.test(options, progress)
}

/// The beginning of the cast and its script.
fn parts(beginning: &Beginning) -> Result<(RunCreated, Script)> {
    let script = beginning.prepared.script.clone().unwrap_or_default();
    if script.only {
        return Err(Failure::usage(
            "the script leaves sockets to their agents (`\"only\": true`), and here no agent is asked",
        ));
    }
    Ok((RunCreated { agents: Answerers::default(), ..beginning.created.clone() }, script))
}

/// A cast that is played.
struct Cast<'a> {
    id: &'a RunId,
    created: RunCreated,
    script: Script,
    stage: Stage<'a>,
    /// The supervisor of programs; without one, none is started.
    supervisor: Option<&'a Path>,
    approval: Approval,
}

/// A play that has ended.
struct Play {
    end: End,
    passed: Passed,
    /// The end in words.
    told: String,
    /// Why a program was not started.
    withheld: Option<String>,
    /// Whether a budget ended it.
    spent: bool,
}

/// A play with crashes that ended otherwise.
struct Other {
    at: Vec<CrashPoint>,
    /// The sockets that ran again.
    again: BTreeSet<NodeId>,
    /// Whether the difference can come from that.
    to_blame: bool,
    differences: Vec<CrashDifference>,
}

impl Cast<'_> {
    fn test(&self, options: Options, mut progress: impl FnMut(u64, u64)) -> Result<CrashtestBody> {
        let first = self.play(&[])?;
        if let Some(why) = &first.withheld {
            return Err(Failure::trust(format!("{}; nothing was tested", one_line(why, 1_000))));
        }
        let mut notes = Vec::new();
        let ignored = if self.supervisor.is_some() {
            self.differs_by_itself(&first, &mut notes)?
        } else {
            notes.push(
                "No program ran, for the script gave every result; what programs do to files was not compared.".to_owned(),
            );
            BTreeSet::new()
        };
        let mut tally = Tally {
            first: &first,
            real: self.supervisor.is_some(),
            ignored,
            others: Vec::new(),
            again: BTreeMap::new(),
            harmless: BTreeSet::new(),
        };
        let mut counts = Vec::new();
        let points = first.passed.points.len() as u64;
        for number in 1..=points {
            progress(number, points);
            let play = self.play(&[number])?;
            counts.push(play.passed.points.len() as u64);
            tally.take(&play);
        }
        let pairs = if options.pairs { chosen(&counts, options.seed) } else { Vec::new() };
        for (place, (one, other)) in pairs.iter().enumerate() {
            progress(place as u64 + 1, pairs.len() as u64);
            tally.take(&self.play(&[*one, *other])?);
        }
        if options.pairs && counts.len() > ALL_PAIRS_POINTS_MAX {
            notes.push(format!(
                "{} pairs of points were chosen by seed {}; not all were played.",
                pairs.len(),
                options.seed
            ));
        }
        let plan = &self.created.plan;
        let is_utility = |id: &NodeId| {
            plan.nodes.get(id).is_some_and(|it| matches!(it.behavior, Behavior::Utility { .. }))
        };
        let materia =
            |id: &NodeId| plan.nodes.get(id).map(|it| it.materia.clone()).unwrap_or_default();
        let again = std::mem::take(&mut tally.again).into_iter();
        let repeated = again
            .filter(|(socket, _)| is_utility(socket))
            .map(|(socket, points)| RanAgain { materia: materia(&socket), socket, points });
        Ok(CrashtestBody {
            loadout: plan.loadout.clone(),
            real: self.supervisor.is_some(),
            end: first.told.clone(),
            points: first.passed.points.clone(),
            plays: points,
            pairs: pairs.len() as u64,
            repeated: repeated.collect(),
            findings: told::findings(tally.others, &tally.harmless, plan),
            notes,
        })
    }

    /// The parts of the end that differ from one play to the next without any crash.
    fn differs_by_itself(
        &self,
        first: &Play,
        notes: &mut Vec<String>,
    ) -> Result<BTreeSet<(Differs, String)>> {
        let again = self.play(&[])?;
        let differences = first.end.differences(&again.end, &BTreeSet::new());
        let named = differences.into_iter().map(|it| (it.kind, it.name));
        let ignored: BTreeSet<_> = named.collect();
        for (kind, name) in &ignored {
            notes.push(format!(
                "{} `{}` differs from play to play without a crash, so it is not compared.",
                told::word(*kind),
                one_line(name, 200)
            ));
        }
        Ok(ignored)
    }

    /// Plays the cast from its beginning, with memory lost at the points with these numbers.
    fn play(&self, crashes: &[u64]) -> Result<Play> {
        self.stage.renew()?;
        let broken = |error: std::io::Error| Failure::Broken(format!("cannot play: {error}"));
        let folders = self.stage.folders();
        let journal = MemoryJournal::default();
        let points = Points::new(journal.clone(), crashes);
        let (created, mut options) = simulated(
            self.created.clone(),
            self.script.timeline.clone(),
            self.script.run_for_ms,
            &folders,
        );
        options.approval = self.approval.clone();
        let mut begins = Some(created);
        loop {
            // Nothing but the journal is there after a crash.
            let world = World {
                journal: Arc::new(journal.clone()),
                observer: Arc::new(Decisions(Arc::clone(&points))),
                runner: Arc::new(Turns { inner: self.runner(), points: Arc::clone(&points) }),
                clock: Arc::new(SystemClock),
            };
            let (_nobody, mut asks) = mpsc::unbounded_channel();
            let (begins, options) = (begins.take(), options.clone());
            let driven = async {
                let to_rest = async {
                    match begins {
                        Some(created) => {
                            let id = self.id.clone();
                            materia_engine::cast(&world, id, created, options, &mut asks).await
                        }
                        None => materia_engine::resume(&world, self.id, options, &mut asks).await,
                    }
                };
                tokio::select! {
                    biased;
                    () = points.lost() => Ok::<_, EngineError>(true),
                    ended = to_rest => ended.map(|_| false),
                }
            };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let lost = runtime.map_err(broken)?.block_on(driven)?;
            points.take_up();
            let rests = *materia_engine::load(&journal, self.id)?.0.phase() != Phase::Running;
            if !lost || rests {
                break;
            }
        }
        let report = materia_engine::report(&journal, self.id, &folders)?;
        let waiting = report.waiting.as_ref().filter(|it| it.reason == WaitReason::Trust);
        Ok(Play {
            withheld: waiting.map(|it| it.message.clone()),
            spent: report.waiting.as_ref().is_some_and(|it| it.reason == WaitReason::Budget),
            told: told::ended(&report),
            end: End::of(&report, self.stage.left()?),
            passed: points.passed(),
        })
    }

    /// Performs turns: the script, and programs where they run.
    fn runner(&self) -> Arc<dyn Runner> {
        let scripted: Arc<dyn Runner> = Arc::new(ScriptedRunner::new(self.script.clone()));
        let utility: Arc<dyn Runner> = match self.supervisor {
            Some(supervisor) => Arc::new(UtilityRunner::new(supervisor.to_owned())),
            None => Arc::clone(&scripted),
        };
        Arc::new(Runners { utility, scripted: Some(scripted), mock: None, agent: None })
    }
}

/// The results of plays with crashes.
struct Tally<'a> {
    first: &'a Play,
    /// Whether programs run.
    real: bool,
    /// Parts of the end that are not compared.
    ignored: BTreeSet<(Differs, String)>,
    others: Vec<Other>,
    /// The sockets that ran again, each with the points of one crash.
    again: BTreeMap<NodeId, Vec<u64>>,
    /// Sockets that ran again, and by themselves, without any difference.
    harmless: BTreeSet<NodeId>,
}

impl Tally<'_> {
    fn take(&mut self, play: &Play) {
        let before = |node: &NodeId| self.first.passed.performed.get(node).copied().unwrap_or(0);
        let performed = play.passed.performed.iter();
        let again: BTreeSet<NodeId> = performed
            .filter(|(node, times)| **times > before(node))
            .map(|(node, _)| node.clone())
            .collect();
        if let [point] = &*play.passed.crashes {
            for node in &again {
                self.again.entry(node.clone()).or_default().push(point.number);
            }
        }
        let differences = self.first.end.differences(&play.end, &self.ignored);
        if differences.is_empty() {
            self.harmless.extend(again);
        } else {
            let at = play.passed.crashes.clone();
            // A turn that runs again counts for a budget, and an answer of a script is the same each time.
            let to_blame = self.real && !play.spent;
            self.others.push(Other { at, again, to_blame, differences });
        }
    }
}

/// The pairs of crash points to test. `counts` has, for a first crash at each point, the number of points of that run:
/// the second crash comes at a later point of the same run.
fn chosen(counts: &[u64], seed: u64) -> Vec<(u64, u64)> {
    let firsts = counts.iter().zip(1_u64..);
    let all =
        firsts.flat_map(|(count, first)| (first + 1..=*count).map(move |second| (first, second)));
    let mut all: Vec<(u64, u64)> = all.collect();
    if counts.len() <= ALL_PAIRS_POINTS_MAX {
        return all;
    }
    let mut dice = Dice::new(seed);
    let many = CHOSEN_PAIRS.min(all.len());
    for place in 0..many {
        let other = place + dice.below(all.len() - place);
        all.swap(place, other);
    }
    all.truncate(many);
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// V6: each pair of up to 100 points, otherwise 1,000 by the seed.
    #[test]
    fn all_pairs_of_few_points_and_a_thousand_of_many() {
        assert_eq!(chosen(&[3, 3, 4], 1), [(1, 2), (1, 3), (2, 3), (3, 4)]);
        assert_eq!(chosen(&[100; 100], 1).len(), 100 * 99 / 2);
        let many = [120; 101];
        let one = chosen(&many, 1);
        assert_eq!(one.len(), CHOSEN_PAIRS);
        let unique: BTreeSet<_> = one.iter().collect();
        assert_eq!(unique.len(), CHOSEN_PAIRS);
        assert!(one.iter().all(|(first, second)| first < second && *second <= 120));
        assert_eq!(one, chosen(&many, 1));
        assert_ne!(one, chosen(&many, 2));
    }
}
