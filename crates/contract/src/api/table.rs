//! The table of endpoints.

use super::endpoint::{Access, Answer, Endpoint, Method, Param, of};
use super::name::Name;
use super::shapes as s;
use crate::body::{BoundsBody, Comparison, Difference, Health, Why, WorkspaceBody, WorkspaceDiff};
use crate::{Envelope, EventLine};

const PROJECT: Param = Param::text(
    "project",
    "the folder of the project, or its id; needed where the server serves several that have the cast",
);
const AT: Param = Param::number("at", "as of this event, instead of the newest");
const SENT: &str = "The payload that went over an edge at a `handoff.sent` event.";
const CURSOR: Param = Param::text("cursor", "where the list goes on, as the page before says");

/// The events of a stream of one cast, and of the stream of all.
const CAST_EVENTS: Answer =
    Answer::Events(&[("journal", of::<EventLine>), ("live", of::<s::LiveWords>)]);
const ALL_EVENTS: Answer = Answer::Events(&[
    ("cast", of::<s::CastSummary>),
    ("journal", of::<EventLine>),
    ("live", of::<s::LiveWords>),
]);

const fn get(name: Name, path: &'static str, says: &'static str, answer: Answer) -> Endpoint {
    Endpoint {
        name,
        method: Method::Get,
        path,
        says,
        query: &[PROJECT],
        body: None,
        answer,
        status: 200,
        access: Access::Known,
    }
}

const fn post(name: Name, path: &'static str, says: &'static str, answer: Answer) -> Endpoint {
    Endpoint { method: Method::Post, ..get(name, path, says, answer) }
}

/// Every endpoint, in the order of the documentation.
pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        query: &[Param::text("nonce", "1 to 64 letters and digits; the answer then has a `proof`")],
        access: Access::Open,
        ..get(
            Name::Health,
            "/api/health",
            "Whether the server is there.",
            Answer::Json(of::<s::Alive>),
        )
    },
    Endpoint {
        query: &[],
        ..post(
            Name::Codes,
            "/api/codes",
            "A code that opens the page signed in, once, within a minute.",
            Answer::Json(of::<s::Code>),
        )
    },
    Endpoint {
        query: &[],
        body: Some(of::<s::SessionBody>),
        access: Access::Open,
        ..post(
            Name::Session,
            "/api/session",
            "Exchanges a code for the cookie and the key of a page.",
            Answer::Json(of::<s::SessionKey>),
        )
    },
    Endpoint {
        query: &[],
        ..get(
            Name::Openapi,
            "/api/openapi.json",
            "This description.",
            Answer::Text("application/json"),
        )
    },
    Endpoint {
        query: &[],
        ..get(
            Name::Projects,
            "/api/projects",
            "The folders that are served.",
            Answer::Json(of::<s::Projects>),
        )
    },
    Endpoint {
        query: &[],
        body: Some(of::<s::AddProject>),
        status: 201,
        access: Access::Person,
        ..post(
            Name::AddProject,
            "/api/projects",
            "Serves one more folder of this user; for a person who has signed in.",
            Answer::Json(of::<s::ProjectItem>),
        )
    },
    Endpoint {
        query: &[],
        method: Method::Delete,
        ..post(
            Name::RemoveProject,
            "/api/projects/{project}",
            "Serves a folder no longer, named by its id. Nothing in it changes.",
            Answer::Json(of::<s::ProjectItem>),
        )
    },
    Endpoint {
        query: &[
            PROJECT,
            Param::text("status", "running, waiting, completed, failed or aborted"),
            Param::text("loadout", "the name of the loadout"),
            Param::text("text", "what the id or the request has in it"),
            CURSOR,
            Param::number("limit", "how many at the most"),
        ],
        ..get(Name::Casts, "/api/casts", "Casts, newest first.", Answer::Json(of::<s::Casts>))
    },
    Endpoint {
        query: &[],
        body: Some(of::<s::StartBody>),
        status: 201,
        ..post(
            Name::Start,
            "/api/casts",
            "Begins a cast of a loadout or of a link.",
            Answer::Json(of::<s::CastSummary>),
        )
    },
    Endpoint {
        query: &[PROJECT, AT],
        ..get(
            Name::Cast,
            "/api/casts/{id}",
            "A cast as `show --json` has it, with its graph and where each socket stands.",
            Answer::Json(of::<s::CastView>),
        )
    },
    Endpoint {
        query: &[
            PROJECT,
            Param::number("from", "the first event"),
            Param::number("to", "the last event"),
            Param::text("type", "the type of the event, or how it begins"),
            Param::text("node", "the socket"),
            Param::text("item", "the key of the work item"),
            Param::text("text", "what the event has in it"),
            Param::text("order", "asc or desc"),
            Param::number("limit", "how many at the most"),
        ],
        ..get(
            Name::Events,
            "/api/casts/{id}/events",
            "Events as `events --json` has them.",
            Answer::Json(of::<s::EventsPage>),
        )
    },
    Endpoint {
        query: &[PROJECT, Param::number("from", "the first event; `Last-Event-ID` is stronger")],
        ..get(Name::Stream, "/api/casts/{id}/stream", "Events as they come.", CAST_EVENTS)
    },
    get(
        Name::Turn,
        "/api/casts/{id}/turns/{seq}",
        "The turn that began at an event: prompt with layers, input, output, usage, timing.",
        Answer::Json(of::<s::TurnView>),
    ),
    Endpoint {
        query: &[PROJECT, AT],
        ..get(
            Name::Why,
            "/api/casts/{id}/nodes/{node}/why",
            "Why a socket ran, or why it does not.",
            Answer::Json(of::<Why>),
        )
    },
    get(
        Name::Given,
        "/api/casts/{id}/nodes/{node}/given",
        "The input that the next turn of a socket would get.",
        Answer::Json(of::<s::GivenView>),
    ),
    get(Name::Sent, "/api/casts/{id}/payloads/{seq}", SENT, Answer::Json(of::<Envelope>)),
    get(
        Name::Cost,
        "/api/casts/{id}/cost",
        "What was spent, by socket and by item.",
        Answer::Json(of::<s::Cost>),
    ),
    get(
        Name::Files,
        "/api/casts/{id}/files",
        "The files that turns left.",
        Answer::Json(of::<s::Files>),
    ),
    get(Name::File, "/api/casts/{id}/files/{*path}", "One of those files.", Answer::Bytes),
    get(
        Name::Workspace,
        "/api/casts/{id}/workspace",
        "Where the files of a cast are and what it changed, as `workspace --json` has it.",
        Answer::Json(of::<WorkspaceBody>),
    ),
    Endpoint {
        query: &[PROJECT, Param::number("turn", "only the turn that began at this event")],
        ..get(
            Name::WorkspaceDiff,
            "/api/casts/{id}/workspace/diff",
            "The changes of a cast in a workspace as text.",
            Answer::Json(of::<WorkspaceDiff>),
        )
    },
    post(
        Name::ApplyWorkspace,
        "/api/casts/{id}/workspace/apply",
        "Merges the branch of a cast into the checkout of the project, or refuses and changes nothing.",
        Answer::Json(of::<s::WorkspaceActed>),
    ),
    Endpoint {
        body: Some(of::<s::DropBody>),
        ..post(
            Name::DropWorkspace,
            "/api/casts/{id}/workspace/drop",
            "Removes workspace, branch and refs of a cast that has ended.",
            Answer::Json(of::<s::WorkspaceActed>),
        )
    },
    get(Name::Blob, "/api/blobs/{hash}", "A text that events name by its hash.", Answer::Bytes),
    Endpoint {
        body: Some(of::<s::ActBody>),
        ..post(
            Name::Act,
            "/api/casts/{id}/commands",
            "Does something to a cast.",
            Answer::Json(of::<s::Acted>),
        )
    },
    Endpoint {
        body: Some(of::<s::DriveBody>),
        status: 202,
        ..post(
            Name::Drive,
            "/api/casts/{id}/drive",
            "Takes over a cast that was prepared and trusted elsewhere: `--detach`.",
            Answer::Json(of::<s::CastSummary>),
        )
    },
    Endpoint {
        query: &[
            PROJECT,
            Param::text("from", "where the stream goes on, as its last `id` said"),
            Param::text("cast", "also the events of this cast"),
            Param::number("castFrom", "the first of those"),
        ],
        ..get(Name::Changes, "/api/stream", "Summaries of casts as they change.", ALL_EVENTS)
    },
    get(
        Name::Inbox,
        "/api/inbox",
        "Everything that waits for a person.",
        Answer::Json(of::<s::Inbox>),
    ),
    get(
        Name::Agents,
        "/api/agents",
        "Which agents could be asked here, as `doctor --json` says.",
        Answer::Json(of::<Health>),
    ),
    get(
        Name::Workers,
        "/api/workers",
        "Workers of the spaces on NATS, as `workers --json` says; none where casts are in a file.",
        Answer::Json(of::<s::Workers>),
    ),
    get(
        Name::Trust,
        "/api/trust",
        "What has to be approved before it runs.",
        Answer::Json(of::<s::TrustList>),
    ),
    Endpoint {
        query: &[],
        body: Some(of::<s::TrustBody>),
        ..post(
            Name::Approve,
            "/api/trust",
            "Approves what was shown under a hash.",
            Answer::Json(of::<s::Approved>),
        )
    },
    get(
        Name::Config,
        "/api/config",
        "The files of the configuration, by layer.",
        Answer::Json(of::<s::ConfigBody>),
    ),
    Endpoint {
        method: Method::Put,
        body: Some(of::<s::SaveBody>),
        ..post(
            Name::SaveConfig,
            "/api/config/{layer}/{*file}",
            "Saves a file of the configuration as it is given; `If-Match` names what it was.",
            Answer::Json(of::<s::Saved>),
        )
    },
    Endpoint {
        query: &[],
        body: Some(of::<s::CheckBody>),
        ..post(
            Name::Check,
            "/api/check",
            "Findings of documents as given.",
            Answer::Json(of::<s::Findings>),
        )
    },
    get(
        Name::Loadouts,
        "/api/loadouts",
        "Loadouts with their layer and file.",
        Answer::Json(of::<s::Catalog>),
    ),
    get(
        Name::Loadout,
        "/api/loadouts/{name}",
        "One loadout: its graph and findings.",
        Answer::Json(of::<s::LoadoutView>),
    ),
    get(
        Name::Bounds,
        "/api/loadouts/{name}/bounds",
        "The most turns that a loadout can take, as `bounds --json` says.",
        Answer::Json(of::<BoundsBody>),
    ),
    get(
        Name::Materia,
        "/api/materia",
        "Materia with their layer and file.",
        Answer::Json(of::<s::Catalog>),
    ),
    Endpoint {
        query: &[PROJECT, Param::text("otherProject", "the project of the other cast, if another")],
        ..get(
            Name::Compare,
            "/api/casts/{id}/compare/{other}",
            "Two casts side by side, as `compare --json` says.",
            Answer::Json(of::<Comparison>),
        )
    },
    get(
        Name::Choices,
        "/api/casts/{id}/choices",
        "The history of a cast as a walk: how its turns ended.",
        Answer::Json(of::<s::Choices>),
    ),
    get(
        Name::Drafts,
        "/api/drafts",
        "Texts of the configuration that are not saved yet.",
        Answer::Json(of::<s::Drafts>),
    ),
    get(Name::Draft, "/api/drafts/{id}", "One of them.", Answer::Json(of::<s::Draft>)),
    Endpoint {
        method: Method::Put,
        body: Some(of::<s::DraftBody>),
        ..post(
            Name::KeepDraft,
            "/api/drafts/{id}",
            "Keeps a draft; `If-Match` names the version that it had, 0 where there was none.",
            Answer::Json(of::<s::DraftKept>),
        )
    },
    Endpoint {
        method: Method::Delete,
        ..post(
            Name::DropDraft,
            "/api/drafts/{id}",
            "Throws a draft away; `If-Match` names its version.",
            Answer::Json(of::<s::DraftKept>),
        )
    },
    Endpoint {
        query: &[],
        body: Some(of::<s::DiffBody>),
        ..post(
            Name::Diff,
            "/api/diff",
            "What changed between two documents, as `check --diff --json` says.",
            Answer::Json(of::<Difference>),
        )
    },
    Endpoint {
        query: &[],
        body: Some(of::<s::WalkBody>),
        ..post(
            Name::Simulate,
            "/api/simulate",
            "Where a loadout leads when turns end as chosen. Nothing runs.",
            Answer::Json(of::<s::Walk>),
        )
    },
    Endpoint {
        query: &[],
        body: Some(of::<s::ExploreRequest>),
        ..post(
            Name::Explore,
            "/api/explore",
            "What a loadout can do, within a few seconds; each finding with its history as a walk. Nothing runs.",
            Answer::Json(of::<s::ExploreView>),
        )
    },
    Endpoint {
        query: &[],
        body: Some(of::<s::LinkBody>),
        ..post(
            Name::Link,
            "/api/link",
            "What a link would stitch together. Nothing is cast.",
            Answer::Json(of::<s::LinkView>),
        )
    },
    Endpoint {
        query: &[],
        body: Some(of::<s::TryBody>),
        ..post(
            Name::Try,
            "/api/utilities/try",
            "Runs a saved utility once with the given input, after consent to what was shown.",
            Answer::Json(of::<s::Tried>),
        )
    },
    Endpoint {
        query: &[],
        ..get(
            Name::Demo,
            "/api/demo",
            "Whether this server can play the demo.",
            Answer::Json(of::<s::DemoView>),
        )
    },
    Endpoint {
        query: &[],
        status: 201,
        ..post(
            Name::StartDemo,
            "/api/demo",
            "Casts the demo: scripted agents, no key, no network.",
            Answer::Json(of::<s::CastSummary>),
        )
    },
    Endpoint {
        query: &[],
        status: 202,
        ..post(
            Name::Stop,
            "/api/stop",
            "Ends the server; its casts rest.",
            Answer::Json(of::<s::Alive>),
        )
    },
    Endpoint {
        query: &[],
        ..get(
            Name::Metrics,
            "/metrics",
            "Figures for a collector.",
            Answer::Text("text/plain; version=0.0.4"),
        )
    },
];
