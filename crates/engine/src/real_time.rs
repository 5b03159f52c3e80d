//! A run in real time.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use materia_contract::time::Micros;
use materia_kernel::{Effect, Input, Now, Phase, Run, is_idle, outstanding};

use crate::under_way::UnderWay;
use crate::{Asks, DriveError, Driver, Leave, Options, World, apply_command, files};

/// The wall clock, made monotonic: if the clock is set back, time continues from its last value, so that no timer
/// waits twice. After a pause without a driver, time continues from the last event.
struct Steady<'a> {
    world: &'a World,
    last: Mutex<(Micros, tokio::time::Instant)>,
}

impl<'a> Steady<'a> {
    fn new(world: &'a World, run: &Run) -> Self {
        let begun = world.clock.now().max(run.ts());
        Self { world, last: Mutex::new((begun, tokio::time::Instant::now())) }
    }

    fn now(&self) -> Now {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, then) = *last;
        let passed = Micros::try_from(then.elapsed().as_micros()).unwrap_or(0);
        let wall = self.world.clock.now();
        let at = wall.max(before.saturating_add(passed));
        *last = (at, tokio::time::Instant::now());
        Now { at, wall, until: None }
    }
}

/// Drives a run until it rests.
pub(crate) async fn drive(
    world: &World,
    mut driver: Box<Driver>,
    options: &Options,
    asks: &mut Asks,
    mut under_way: UnderWay,
) -> Result<Box<Driver>, DriveError> {
    let clock = Steady::new(world, driver.run());
    // Counted from the beginning of the run, also when it was resumed since.
    let deadline = options.run_for.map(|time| {
        let age = clock.now().at - driver.run().created_at();
        let age = Duration::from_micros(u64::try_from(age).unwrap_or(0));
        tokio::time::Instant::now() + time.saturating_sub(age)
    });
    let mut listening = true;
    while *driver.run().phase() == Phase::Running {
        under_way.start_owed((world, options), &driver, &BTreeSet::new());
        if options.leave.is_asked() {
            last_reports(&mut driver, &mut under_way, &clock).await?;
            return Ok(driver);
        }
        if driver.run().is_publishing() {
            let input = Box::pin(files::publish(world, &driver)).await;
            driver.take(clock.now(), input).await?;
            continue;
        }
        if deadline.is_none() && is_idle(driver.run()) {
            driver.take(clock.now(), Input::Idle).await?;
            continue;
        }
        // In this order: what a person asks comes first, and turns that end at once and for ever cannot
        // put off the end. A timer that is due fires with whatever else happens.
        let input = tokio::select! {
            biased;
            posted = asks.recv(), if listening => {
                match posted {
                    None => listening = false,
                    Some(posted) => {
                        let now = |_: &Driver| clock.now();
                        // In a box: it is seldom, and takes no room in a run that goes on by itself.
                        Box::pin(apply_command::obey(&mut driver, &mut under_way, *posted, now)).await?;
                    }
                }
                continue;
            },
            () = options.leave.asked(Leave::AfterTurns) => continue,
            () = sleep_until(deadline) => {
                under_way.end().await;
                Input::RunForElapsed
            }
            first = under_way.next() => {
                let mut ended = vec![first];
                ended.extend(under_way.also_ended());
                under_way.come_to(ended).await
            }
            () = timer(&clock, &driver) => Input::tick(),
        };
        driver.take(clock.now(), input).await?;
    }
    under_way.end().await;
    Ok(driver)
}

/// Takes the reports of turns in flight. Nothing starts after them: another process carries the run on.
async fn last_reports(
    driver: &mut Driver,
    under_way: &mut UnderWay,
    clock: &Steady<'_>,
) -> Result<(), DriveError> {
    while *driver.run().phase() == Phase::Running && !under_way.is_empty() {
        let mut ended = vec![under_way.next().await];
        ended.extend(under_way.also_ended());
        let input = under_way.come_to(ended).await;
        let until = matches!(input, Input::Moment(_)).then(|| driver.run().seq());
        driver.take_for(Now { until, ..clock.now() }, input, None).await?;
    }
    Ok(())
}

/// Resolves when the first timer of the run is due; never, if none is set.
async fn timer(clock: &Steady<'_>, driver: &Driver) {
    let due = outstanding(driver.run()).find_map(|effect| match effect {
        Effect::WakeAt(at) => Some(at),
        Effect::StartTurn(_) | Effect::Publish => None,
    });
    match due {
        Some(at) => {
            let left = u64::try_from(at - clock.now().at).unwrap_or(0);
            tokio::time::sleep(Duration::from_micros(left)).await;
        }
        None => std::future::pending().await,
    }
}

async fn sleep_until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
