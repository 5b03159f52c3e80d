//! The table of endpoints.

use super::endpoint::{Access, Answer, Endpoint, PROJECT, Param, delete, get, of, post, put};
use super::name::Name;
use super::shapes as s;
use crate::body::{BoundsBody, Comparison, Difference, Health, Why, WorkspaceBody, WorkspaceDiff};
use crate::{Envelope, EventLine};

const AT: Param = Param::number("at", "as of this event, instead of the newest");
const SENT: &str = "The payload that went over an edge at a `handoff.sent` event.";
const MERGES: &str =
    "Merges the branch of a cast into the checkout of the project, or refuses and changes nothing.";
const WORKERS: &str =
    "Workers of the spaces on NATS, as `workers --json` says; none where casts are in a file.";
const EXPLORES: &str = "What a loadout can do, within a few seconds; each finding with its history as a walk. \
     Nothing runs.";
const CURSOR: Param = Param::text("cursor", "where the list goes on, as the page before says");

/// The events of a stream of one cast, and of the stream of all.
const CAST_EVENTS: Answer =
    Answer::Events(&[("journal", of::<EventLine>), ("live", of::<s::LiveWords>)]);
const ALL_EVENTS: Answer = Answer::Events(&[
    ("cast", of::<s::CastSummary>),
    ("journal", of::<EventLine>),
    ("live", of::<s::LiveWords>),
]);

/// Every endpoint, in the order of the documentation.
pub const ENDPOINTS: &[Endpoint] = &[
    get(Name::Health, "/api/health")
        .says("Whether the server is there.")
        .gives::<s::Alive>()
        .query(&[Param::text("nonce", "1 to 64 letters and digits; the answer then has a `proof`")])
        .access(Access::Open),
    post(Name::Codes, "/api/codes")
        .says("A code that opens the page signed in, once, within a minute.")
        .gives::<s::Code>()
        .query(&[]),
    post(Name::Session, "/api/session")
        .says("Exchanges a code for the cookie and the key of a page.")
        .gives::<s::SessionKey>()
        .query(&[])
        .takes::<s::SessionBody>()
        .access(Access::Open),
    get(Name::Openapi, "/api/openapi.json")
        .says("This description.")
        .answers(Answer::Text("application/json"))
        .query(&[]),
    get(Name::Projects, "/api/projects")
        .says("The folders that are served.")
        .gives::<s::Projects>()
        .query(&[]),
    post(Name::AddProject, "/api/projects")
        .says("Serves one more folder of this user; for a person who has signed in.")
        .gives::<s::ProjectItem>()
        .query(&[])
        .takes::<s::AddProject>()
        .status(201)
        .access(Access::Person),
    delete(Name::RemoveProject, "/api/projects/{project}")
        .says("Serves a folder no longer, named by its id. Nothing in it changes.")
        .gives::<s::ProjectItem>()
        .query(&[]),
    get(Name::Casts, "/api/casts").says("Casts, newest first.").gives::<s::Casts>().query(&[
        PROJECT,
        Param::text("status", "running, waiting, completed, failed or aborted"),
        Param::text("loadout", "the name of the loadout"),
        Param::text("text", "what the id or the request has in it"),
        CURSOR,
        Param::number("limit", "how many at the most"),
    ]),
    post(Name::Start, "/api/casts")
        .says("Begins a cast of a loadout or of a link.")
        .gives::<s::CastSummary>()
        .query(&[])
        .takes::<s::StartBody>()
        .status(201),
    get(Name::Cast, "/api/casts/{id}")
        .says("A cast as `show --json` has it, with its graph and where each socket stands.")
        .gives::<s::CastView>()
        .query(&[PROJECT, AT]),
    get(Name::Events, "/api/casts/{id}/events")
        .says("Events as `events --json` has them.")
        .gives::<s::EventsPage>()
        .query(&[
            PROJECT,
            Param::number("from", "the first event"),
            Param::number("to", "the last event"),
            Param::text("type", "the type of the event, or how it begins"),
            Param::text("node", "the socket"),
            Param::text("item", "the key of the work item"),
            Param::text("text", "what the event has in it"),
            Param::text("order", "asc or desc"),
            Param::number("limit", "how many at the most"),
        ]),
    get(Name::Stream, "/api/casts/{id}/stream")
        .says("Events as they come.")
        .answers(CAST_EVENTS)
        .query(&[PROJECT, Param::number("from", "the first event; `Last-Event-ID` is stronger")]),
    get(Name::Turn, "/api/casts/{id}/turns/{seq}")
        .says("The turn that began at an event: prompt with layers, input, output, usage, timing.")
        .gives::<s::TurnView>(),
    get(Name::Why, "/api/casts/{id}/nodes/{node}/why")
        .says("Why a socket ran, or why it does not.")
        .gives::<Why>()
        .query(&[PROJECT, AT]),
    get(Name::Given, "/api/casts/{id}/nodes/{node}/given")
        .says("The input that the next turn of a socket would get.")
        .gives::<s::GivenView>(),
    get(Name::Sent, "/api/casts/{id}/payloads/{seq}").says(SENT).gives::<Envelope>(),
    get(Name::Cost, "/api/casts/{id}/cost")
        .says("What was spent, by socket and by item.")
        .gives::<s::Cost>(),
    get(Name::Files, "/api/casts/{id}/files")
        .says("The files that turns left.")
        .gives::<s::Files>(),
    get(Name::File, "/api/casts/{id}/files/{*path}").says("One of those files."),
    get(Name::Workspace, "/api/casts/{id}/workspace")
        .says("Where the files of a cast are and what it changed, as `workspace --json` has it.")
        .gives::<WorkspaceBody>(),
    get(Name::WorkspaceDiff, "/api/casts/{id}/workspace/diff")
        .says("The changes of a cast in a workspace as text.")
        .gives::<WorkspaceDiff>()
        .query(&[PROJECT, Param::number("turn", "only the turn that began at this event")]),
    post(Name::ApplyWorkspace, "/api/casts/{id}/workspace/apply")
        .says(MERGES)
        .gives::<s::WorkspaceActed>(),
    post(Name::DropWorkspace, "/api/casts/{id}/workspace/drop")
        .says("Removes workspace, branch and refs of a cast that has ended.")
        .gives::<s::WorkspaceActed>()
        .takes::<s::DropBody>(),
    get(Name::Blob, "/api/blobs/{hash}").says("A text that events name by its hash."),
    post(Name::Act, "/api/casts/{id}/commands")
        .says("Does something to a cast.")
        .gives::<s::Acted>()
        .takes::<s::ActBody>(),
    post(Name::Drive, "/api/casts/{id}/drive")
        .says("Takes over a cast that was prepared and trusted elsewhere: `--detach`.")
        .gives::<s::CastSummary>()
        .takes::<s::DriveBody>()
        .status(202),
    get(Name::Changes, "/api/stream")
        .says("Summaries of casts as they change.")
        .answers(ALL_EVENTS)
        .query(&[
            PROJECT,
            Param::text("from", "where the stream goes on, as its last `id` said"),
            Param::text("cast", "also the events of this cast"),
            Param::number("castFrom", "the first of those"),
        ]),
    get(Name::Inbox, "/api/inbox").says("Everything that waits for a person.").gives::<s::Inbox>(),
    get(Name::Agents, "/api/agents")
        .says("Which agents could be asked here, as `doctor --json` says.")
        .gives::<Health>(),
    get(Name::Workers, "/api/workers").says(WORKERS).gives::<s::Workers>(),
    get(Name::Trust, "/api/trust")
        .says("What has to be approved before it runs.")
        .gives::<s::TrustList>(),
    post(Name::Approve, "/api/trust")
        .says("Approves what was shown under a hash.")
        .gives::<s::Approved>()
        .query(&[])
        .takes::<s::TrustBody>(),
    get(Name::Config, "/api/config")
        .says("The files of the configuration, by layer.")
        .gives::<s::ConfigBody>(),
    put(Name::SaveConfig, "/api/config/{layer}/{*file}")
        .says("Saves a file of the configuration as it is given; `If-Match` names what it was.")
        .gives::<s::Saved>()
        .takes::<s::SaveBody>(),
    post(Name::Check, "/api/check")
        .says("Findings of documents as given.")
        .gives::<s::Findings>()
        .query(&[])
        .takes::<s::CheckBody>(),
    get(Name::Loadouts, "/api/loadouts")
        .says("Loadouts with their layer and file.")
        .gives::<s::Catalog>(),
    get(Name::Loadout, "/api/loadouts/{name}")
        .says("One loadout: its graph and findings.")
        .gives::<s::LoadoutView>(),
    get(Name::Bounds, "/api/loadouts/{name}/bounds")
        .says("The most turns that a loadout can take, as `bounds --json` says.")
        .gives::<BoundsBody>(),
    get(Name::Materia, "/api/materia")
        .says("Materia with their layer and file.")
        .gives::<s::Catalog>(),
    get(Name::Compare, "/api/casts/{id}/compare/{other}")
        .says("Two casts side by side, as `compare --json` says.")
        .gives::<Comparison>()
        .query(&[
            PROJECT,
            Param::text("otherProject", "the project of the other cast, if another"),
        ]),
    get(Name::Choices, "/api/casts/{id}/choices")
        .says("The history of a cast as a walk: how its turns ended.")
        .gives::<s::Choices>(),
    get(Name::Drafts, "/api/drafts")
        .says("Texts of the configuration that are not saved yet.")
        .gives::<s::Drafts>(),
    get(Name::Draft, "/api/drafts/{id}").says("One of them.").gives::<s::Draft>(),
    put(Name::KeepDraft, "/api/drafts/{id}")
        .says("Keeps a draft; `If-Match` names the version that it had, 0 where there was none.")
        .gives::<s::DraftKept>()
        .takes::<s::DraftBody>(),
    delete(Name::DropDraft, "/api/drafts/{id}")
        .says("Throws a draft away; `If-Match` names its version.")
        .gives::<s::DraftKept>(),
    post(Name::Diff, "/api/diff")
        .says("What changed between two documents, as `check --diff --json` says.")
        .gives::<Difference>()
        .query(&[])
        .takes::<s::DiffBody>(),
    post(Name::Simulate, "/api/simulate")
        .says("Where a loadout leads when turns end as chosen. Nothing runs.")
        .gives::<s::Walk>()
        .query(&[])
        .takes::<s::WalkBody>(),
    post(Name::Explore, "/api/explore")
        .says(EXPLORES)
        .gives::<s::ExploreView>()
        .query(&[])
        .takes::<s::ExploreRequest>(),
    post(Name::Link, "/api/link")
        .says("What a link would stitch together. Nothing is cast.")
        .gives::<s::LinkView>()
        .query(&[])
        .takes::<s::LinkBody>(),
    post(Name::Try, "/api/utilities/try")
        .says("Runs a saved utility once with the given input, after consent to what was shown.")
        .gives::<s::Tried>()
        .query(&[])
        .takes::<s::TryBody>(),
    get(Name::Demo, "/api/demo")
        .says("Whether this server can play the demo.")
        .gives::<s::DemoView>()
        .query(&[]),
    post(Name::StartDemo, "/api/demo")
        .says("Casts the demo: scripted agents, no key, no network.")
        .gives::<s::CastSummary>()
        .query(&[])
        .status(201),
    post(Name::Stop, "/api/stop")
        .says("Ends the server; its casts rest.")
        .gives::<s::Alive>()
        .query(&[])
        .status(202),
    get(Name::Metrics, "/metrics")
        .says("Figures for a collector.")
        .answers(Answer::Text("text/plain; version=0.0.4"))
        .query(&[]),
];
