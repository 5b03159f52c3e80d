//! The handlers of the endpoints, by resource.

mod acts;
mod begin;
mod cast;
mod cast_request;
mod casts;
mod config;
mod demo;
mod drafts;
mod events;
mod explore;
mod inbox;
mod metrics;
mod projects;
mod server;
mod streams;
pub(crate) mod trust;
mod workers;
mod workspace;

use std::sync::Arc;

use materia_contract::api::Name;
use materia_engine::BoxFuture;

use crate::http::problem::Answered;
use crate::request::Request;
use crate::state::App;

/// The code that answers an endpoint.
pub(crate) enum Handler {
    /// Reads or writes files. It blocks, so it runs off the runtime's threads.
    Look(fn(&Arc<App>, &Request) -> Answered),
    /// The same with an answer that may be large: only some of them are made at one time.
    LookAtLarge(fn(&Arc<App>, &Request) -> Answered),
    /// Waits for other tasks.
    Task(fn(Arc<App>, Request) -> BoxFuture<'static, Answered>),
}

macro_rules! task {
    ($handler:path) => {
        Handler::Task(|app, asked| Box::pin(async move { $handler(app, &asked).await }))
    };
}

/// The handler of an endpoint.
pub(crate) fn handler(name: Name) -> Handler {
    use Handler::{Look, LookAtLarge};
    match name {
        Name::Health => Look(server::health),
        Name::Codes => Look(server::code),
        Name::Session => task!(server::session),
        Name::Openapi => Look(server::openapi),
        Name::Stop => Look(server::stop),
        Name::Projects => Look(projects::list),
        Name::AddProject => Look(projects::add),
        Name::RemoveProject => Look(projects::remove),
        Name::Agents => task!(projects::agents),
        Name::Casts => Look(casts::casts),
        Name::Start => task!(begin::start),
        Name::Act => task!(acts::act),
        Name::Drive => task!(acts::drive),
        Name::Cast => LookAtLarge(cast::cast),
        Name::Events => LookAtLarge(events::events),
        Name::Stream => task!(streams::cast),
        Name::Changes => task!(streams::changes),
        Name::Turn => LookAtLarge(cast::turn),
        Name::Why => Look(cast::why),
        Name::Given => LookAtLarge(cast::given),
        Name::Sent => LookAtLarge(cast::sent),
        Name::Cost => Look(cast::cost),
        Name::Files => Look(cast::files),
        Name::File => LookAtLarge(cast::file),
        Name::Blob => LookAtLarge(cast::blob),
        Name::Compare => LookAtLarge(cast::compare),
        Name::Workspace => Look(workspace::workspace),
        Name::WorkspaceDiff => LookAtLarge(workspace::diff),
        Name::ApplyWorkspace => Look(workspace::apply),
        Name::DropWorkspace => Look(workspace::discard),
        Name::Inbox => Look(inbox::inbox),
        Name::Workers => Look(workers::workers),
        Name::Trust => Look(trust::list),
        Name::Approve => Look(trust::approve),
        Name::Config => Look(config::config),
        Name::SaveConfig => Look(config::save),
        Name::Check => Look(config::check),
        Name::Loadouts => Look(config::loadouts),
        Name::Loadout => Look(config::loadout),
        Name::Bounds => Look(config::bounds),
        Name::Materia => Look(config::materia),
        Name::Choices => Look(drafts::choices),
        Name::Drafts => Look(drafts::drafts),
        Name::Draft => Look(drafts::draft),
        Name::KeepDraft => Look(drafts::keep),
        Name::DropDraft => Look(drafts::throw_away),
        Name::Diff => Look(drafts::diff),
        Name::Simulate => Look(drafts::simulate),
        Name::Link => Look(drafts::linked),
        Name::Try => task!(drafts::tried),
        Name::Explore => task!(explore::explore),
        Name::Demo => Look(demo::available),
        Name::StartDemo => task!(demo::start),
        Name::Metrics => Look(metrics::metrics),
    }
}
