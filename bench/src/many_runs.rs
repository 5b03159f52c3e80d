//! A thousand runs at once in one process: shared commits, and memory.

use crate::child::{Task, Told};
use crate::floor::BareLoop;
use crate::meter::{median, number};
use crate::report::{Bound, Figure, Report};
use crate::{Outcome, Wanted, calm, room};

const RUNS: u64 = 1_000;
const STEPS: u64 = 10;
const ROUNDS: usize = 7;

/// With a slow disk.
const DELAY_MS: u64 = 4;
const DELAYED_ROUNDS: usize = 3;
const DELAYED_STEPS_ALONE: u64 = 100;

pub(crate) fn measure(report: &mut Report, _: &Wanted) -> Outcome<()> {
    calm::wait(report)?;
    against_the_floor(report)?;
    with_a_slow_disk(report)
}

fn run(task: Task) -> Outcome<Told> {
    let folder = room::on_disk()?;
    task.run(&folder)
}

fn against_the_floor(report: &mut Report) -> Outcome<()> {
    let folder = room::on_disk()?;
    let floor = BareLoop::open(&folder)?;
    let all = Task { runs: RUNS, steps: STEPS, delay_ms: 0 };
    let mut ratios = Vec::new();
    let mut told = Vec::new();
    let mut floors = Vec::new();
    for _ in 0..ROUNDS {
        let one = run(all)?;
        let together = (one.batches / one.commits).max(1);
        let steps = RUNS * STEPS;
        let rate = number(steps) / floor.commit(steps, one.bytes_a_step, together)?.as_secs_f64();
        ratios.push(one.steps_a_second / rate);
        floors.push(rate);
        told.push(one);
    }
    let together = median(told.iter().map(|told| number(told.batches) / number(told.commits)));
    let note = format!(
        "median of {ROUNDS} rounds of {RUNS} runs of {STEPS} steps, in turns with the bare loop at the \
         mean batch of the journal ({together:.0} steps a commit); {:.0} steps/s against {:.0}",
        median(told.iter().map(|told| told.steps_a_second)),
        median(floors.iter().copied()),
    );
    report.add(
        Figure::new("many-runs.of-floor", median(ratios), "of the floor")
            .floor(1.0)
            .limit(Bound::AtLeast, 0.08)
            .aim(0.25)
            .note(note),
    );
    let durable = told.iter().zip(&floors).map(|(told, floor)| told.durable_steps_a_second / floor);
    let figure =
        Figure::new("many-runs.durable-of-floor", median(durable), "of the floor").floor(1.0);
    report.add(figure.note("the same up to the last commit, without waiting for the last views"));
    let memory = told.iter().map(|told| told.peak_memory_mb).fold(0.0, f64::max);
    let figure = Figure::new("many-runs.memory", memory, "MB").limit(Bound::AtMost, 95.0);
    report.add(figure.note("peak of the process that runs them; the worst round"));
    report.add(Figure::new(
        "many-runs.cpu",
        median(told.iter().map(|told| told.cpu_ms_a_step)),
        "ms/step",
    ));
    Ok(())
}

fn with_a_slow_disk(report: &mut Report) -> Outcome<()> {
    let all = Task { runs: RUNS, steps: STEPS, delay_ms: DELAY_MS };
    let alone = Task { runs: 1, steps: DELAYED_STEPS_ALONE, delay_ms: DELAY_MS };
    let mut pairs = Vec::new();
    for _ in 0..DELAYED_ROUNDS {
        pairs.push((run(all)?.steps_a_second, run(alone)?.steps_a_second));
    }
    let times = median(pairs.iter().map(|(all, alone)| all / alone));
    let note = format!(
        "{DELAY_MS} ms added to each commit; median of {DELAYED_ROUNDS} rounds; one run alone makes {:.0} steps/s",
        median(pairs.iter().map(|(_, alone)| *alone))
    );
    let figure = Figure::new("many-runs.slow-disk", times, "times one run").floor(1.0);
    report.add(figure.limit(Bound::AtLeast, 20.0).note(note));
    Ok(())
}
