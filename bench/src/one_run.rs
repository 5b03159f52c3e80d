//! One run alone: the cost of a step when each is made durable before the next begins.

use std::time::Duration;

use materia_journal::Options;

use crate::child::Task;
use crate::floor::{BareLoop, TurnFiles};
use crate::meter::{cpu_since, cpu_time, median, number};
use crate::report::{Bound, Figure, Report};
use crate::stage::{Cost, Stage};
use crate::{Outcome, Wanted, calm, room};

/// Rounds, each of the thing measured and of its floor.
const ROUNDS: u64 = 15;

/// About how long one round of one side takes, in seconds.
const ROUND_SECONDS: f64 = 0.5;

/// Steps of one round, at the least and at the most.
const ROUND_STEPS: std::ops::RangeInclusive<f64> = 200.0..=4_000.0;

/// Steps of the two runs whose syncs are counted; their difference leaves opening and closing out.
const SYNC_STEPS: (u64, u64) = (100, 1_100);

pub(crate) fn measure(report: &mut Report, _: &Wanted) -> Outcome<()> {
    calm::wait(report)?;
    against_the_floor(report)?;
    syncs(report)
}

fn against_the_floor(report: &mut Report) -> Outcome<()> {
    let folder = room::on_disk()?;
    let stage = Stage::open(&folder.join("root"), Options::default())?;
    let floor = BareLoop::open(&folder)?;
    let warm = stage.one("warm", 200)?;
    let bytes = warm.bytes_a_step();
    let steps = even(
        (warm.steps_a_second() * ROUND_SECONDS).clamp(*ROUND_STEPS.start(), *ROUND_STEPS.end()),
    );
    floor.commit(200, bytes, 1)?;
    let mut costs: Vec<Cost> = Vec::new();
    let mut floors = Vec::new();
    let mut files = TurnFiles::open(&folder.join("root"))?;
    let mut cpu_floors = Vec::new();
    let a_step = |spent: Duration| spent.as_secs_f64() * 1e3 / number(steps);
    for round in 0..ROUNDS {
        costs.push(stage.one(&format!("run-{round}"), steps)?);
        let spent = cpu_time();
        floors.push(number(steps) / floor.commit(steps, bytes, 1)?.as_secs_f64());
        cpu_floors.push((a_step(cpu_since(spent)), a_step(files.make(steps)?)));
    }
    let ratios = costs.iter().zip(&floors).map(|(cost, floor)| cost.steps_a_second() / floor);
    let note = format!(
        "median of {ROUNDS} rounds of {steps} steps in turns with as many bare rows of {bytes} bytes; {:.0} steps/s",
        median(costs.iter().map(Cost::steps_a_second))
    );
    report.add(
        Figure::new("one-run.of-floor", median(ratios), "of the floor")
            .floor(1.0)
            .limit(Bound::AtLeast, 0.5)
            .aim(0.7)
            .note(note),
    );
    let durable =
        costs.iter().zip(&floors).map(|(cost, floor)| cost.durable_steps_a_second() / floor);
    let figure = Figure::new("one-run.durable-of-floor", median(durable), "of the floor");
    report.add(
        figure
            .floor(1.0)
            .note("the same up to the last commit, without waiting for the last views"),
    );
    let cpu = median(costs.iter().map(Cost::cpu_ms_a_step));
    let rows = median(cpu_floors.iter().map(|(rows, _)| *rows));
    let files = median(cpu_floors.iter().map(|(_, files)| *files));
    let note = format!(
        "CPU time of the whole process, journal and views included; the floor is that of a bare row \
         ({rows:.3}) and of the four files that a turn leaves ({files:.3}), made without any thought"
    );
    let figure = Figure::new("one-run.cpu", cpu, "ms/step").floor(rows + files);
    report.add(figure.limit(Bound::AtMost, 0.22).aim(0.1).note(note));
    // The claim of a run and its creation are commits of their own.
    let extra = |cost: &Cost| number(cost.stats.commits.abs_diff(cost.steps + 2));
    let commits =
        1.0 + costs.iter().map(|cost| extra(cost) / number(cost.steps)).fold(0.0, f64::max);
    let figure = Figure::new("one-run.commits", commits, "per step").limit(Bound::AtMost, 1.0);
    report.add(figure.note("besides those that claim and create the run; the worst round"));
    Ok(())
}

fn even(steps: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was clamped")]
    let steps = steps as u64;
    steps / 2 * 2
}

fn syncs(report: &mut Report) -> Outcome<()> {
    let count = |steps| -> Outcome<Option<u64>> {
        let folder = room::on_disk()?;
        Task { runs: 1, steps, delay_ms: 0 }.syncs(&folder)
    };
    let (Some(few), Some(more)) = (count(SYNC_STEPS.0)?, count(SYNC_STEPS.1)?) else {
        crate::report::say("strace is not here: syncs are not counted");
        return Ok(());
    };
    let syncs = number(more.saturating_sub(few)) / number(SYNC_STEPS.1 - SYNC_STEPS.0);
    let figure = Figure::new("one-run.syncs", syncs, "per step").floor(1.0);
    let note = format!(
        "counted by strace: {few} in a run of {} steps, {more} in one of {}; a checkpoint adds two now and then",
        SYNC_STEPS.0, SYNC_STEPS.1
    );
    report.add(figure.limit(Bound::AtMost, 1.02).note(note));
    Ok(())
}
