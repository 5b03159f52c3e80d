//! Carries out commands while turns are in flight.
//!
//! Order of a stop (D57): first the reports of ended turns are appended together with the stop; only then are the
//! other turns ended.

use materia_contract::{Do, Input};
use materia_kernel::{Now, Phase};

use crate::under_way::UnderWay;
use crate::{DriveError, Driver, Posted};

/// Message of a stop that came without one.
const STOPPED: &str = "another process stopped the cast";

/// Takes a command. What does not fit the run any more is refused, and the run goes on as it is.
pub(crate) async fn obey(
    driver: &mut Driver,
    under_way: &mut UnderWay,
    posted: Posted,
    now: impl Fn(&Driver) -> Now,
) -> Result<(), DriveError> {
    let ends = posted.command.as_ref().is_ok_and(|command| command.what.ends_turns());
    let reports = if ends { under_way.ended_by_now() } else { Vec::new() };
    match driver.obey(now(driver), &posted, reports.clone()).await {
        Err(DriveError::Rejected(_)) if reports.is_empty() => return Ok(()),
        Err(DriveError::Rejected(_)) => {
            return driver.take(now(driver), Input::reports(reports)).await;
        }
        taken => taken?,
    }
    let message = match posted.command.map(|command| command.what) {
        Ok(Do::Stop { message }) => message.unwrap_or_else(|| STOPPED.to_owned()),
        Ok(Do::Abort { .. }) => {
            under_way.end().await;
            return Ok(());
        }
        Ok(_) | Err(_) => return Ok(()),
    };
    let reports = under_way.end().await;
    if *driver.run().phase() == Phase::Running {
        driver.take(now(driver), Input::Stopped { reports, message }).await?;
    }
    Ok(())
}
