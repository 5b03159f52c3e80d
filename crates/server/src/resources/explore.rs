//! Explorations of a loadout as an editor has it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use materia_app::proof::explore::{self, Options};
use materia_app::{edit::simulate, project};
use materia_contract::api::{ExploreRequest, ExploreView, ExploreWalk};
use materia_engine::off_thread;

use crate::http::limits::{EXPLORATION_MAX, EXPLORED_STATES_MAX};
use crate::http::problem::{Answered, Refused};
use crate::request::{Request, json};
use crate::spill::spilled;
use crate::state::App;

/// Cancels an exploration when the request that waits for it is dropped.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// `POST /api/explore`.
pub(crate) async fn explore(app: Arc<App>, asked: &Request) -> Answered {
    let body: ExploreRequest = asked.json()?;
    let cancelled = Arc::new(AtomicBool::new(false));
    let _guard = CancelOnDrop(Arc::clone(&cancelled));
    let ending = || Refused::conflict("the server ends, and the exploration with it");
    let room = app.unless_ending(Arc::clone(&app.explorations).acquire_owned()).await;
    let room = room.ok_or_else(ending)?;
    let place = Arc::clone(&app);
    let explored = off_thread(move || {
        // Kept until the search has really stopped.
        let _room = room;
        view(&place, &body, cancelled)
    });
    let view = app.unless_ending(explored).await.ok_or_else(ending)??;
    spilled(json(&view), &app.settings.state_dir, ()).await
}

fn view(
    app: &App,
    body: &ExploreRequest,
    cancelled: Arc<AtomicBool>,
) -> Result<ExploreView, Refused> {
    let served = app.rooms.only(body.project.as_deref())?;
    let checked = served.project.compile_given(&body.files, Some(&body.loadout));
    let findings = checked.findings;
    let made = checked.made.filter(|_| !project::has_errors(&findings));
    let Some(plan) = made.map(|made| made.plan) else {
        return Ok(ExploreView { explored: None, walks: Vec::new(), findings });
    };
    let options = Options {
        max_states: EXPLORED_STATES_MAX,
        time: Some(EXPLORATION_MAX),
        cancelled,
        ..Options::default()
    };
    let explored = explore::explore(&plan, &options, |_, _| {}).body();
    let walks = explored.findings.iter().map(|finding| {
        let (choices, reason) = match simulate::choices_of(&plan, &finding.history) {
            Ok(choices) => (Some(choices), None),
            Err(reason) => (None, Some(reason)),
        };
        ExploreWalk { choices, reason }
    });
    let walks = walks.collect();
    Ok(ExploreView { explored: Some(explored), walks, findings })
}
