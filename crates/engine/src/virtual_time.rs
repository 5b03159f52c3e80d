//! A run in simulated time: nothing is waited for, everything happens in a fixed order.
//!
//! Turns are performed as soon as they start; what they report lies on an agenda until its instant
//! comes. At one instant completions follow in the order in which their turns started (D7), and
//! all that is runnable has started before a turn without delay ends.

use std::collections::{BTreeMap, BTreeSet};

use materia_contract::time::Micros;
use materia_kernel::{Input, Phase};

use crate::real_time::{UnderWay, ask_input, kernel_report};
use crate::{Asks, DriveError, Driver, Options, TurnReport, World};

/// Drives a run until it rests.
pub(crate) async fn drive(
    world: &World,
    mut driver: Driver,
    options: Options,
    asks: &mut Asks,
) -> Result<Driver, DriveError> {
    let mut now = driver.run().ts();
    let mut agenda: BTreeMap<(Micros, u64), TurnReport> = BTreeMap::new();
    let mut under_way = UnderWay::default();
    let mut asked = None;
    let deadline = options.run_for.map(|time| driver.run().created_at() + micros(time));
    let mut reported = BTreeSet::new();
    while *driver.run().phase() == Phase::Running {
        under_way.start_owed(world, &driver, &reported);
        while asked.is_none() && !under_way.is_empty() {
            tokio::select! {
                (turn, report) = under_way.next() => {
                    reported.insert(turn);
                    agenda.insert((now + micros(report.after), turn), report);
                }
                Some(ask) = asks.recv() => asked = Some(ask),
            }
        }
        if let Some(ask) = asked.take().or_else(|| asks.try_recv().ok()) {
            under_way.stop_all().await;
            driver.take(now, ask_input(ask)).await?;
            continue;
        }
        let due = agenda.first_key_value().map(|((due, _), _)| *due);
        if let Some(deadline) = deadline
            && due.is_none_or(|due| due > deadline)
        {
            driver.take(deadline.max(now), Input::RunForElapsed).await?;
            continue;
        }
        now = now.max(due.expect("a run that runs has turns in flight, and all have reported"));
        let mut reports = Vec::new();
        while let Some(next) = agenda.first_entry()
            && next.key().0 <= now
        {
            let ((_, turn), report) = next.remove_entry();
            reported.remove(&turn);
            reports.push(kernel_report(turn, report));
        }
        // At one instant turns end in the order they started, whenever they were due.
        reports.sort_by_key(|report| report.turn);
        driver.take(now, Input::Reports(reports)).await?;
    }
    Ok(driver)
}

fn micros(time: std::time::Duration) -> Micros {
    Micros::try_from(time.as_micros()).unwrap_or(Micros::MAX / 4)
}
