//! Runs that workers shall drive, and the workers themselves: two buckets that are made when they are first needed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::stream::{Config, Stream};
use materia_contract::body::WorkerBody;
use materia_contract::time::wall_time;
use materia_contract::{Actor, CommandId, Do, GoOnFrom, RunId};
use materia_engine::{BoxFuture, ReadError};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::connection::{Connection, Fault};
use crate::host::host_name;
use crate::journal::NatsJournal;
use crate::lease::{self, Driver, OPERATION};
use crate::open::{bucket, fitting, made};
use crate::read;

/// The answer of the servers, awaited.
type Fetched<T> = BoxFuture<'static, Result<T, ReadError>>;

/// A worker that gave no sign of life for so long is gone.
const WORKER_AGE_MAX: Duration = Duration::from_secs(15);

/// A run that a worker shall drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Todo {
    /// The command with which it goes on.
    pub what: Do,
    /// The id of that command: its receipt says that it was taken.
    pub command: CommandId,
    /// The sender of that command.
    #[serde(default = "Actor::person", skip_serializing_if = "is_person")]
    pub actor: Actor,
    /// The files from which a run in a workspace goes on.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub go_on: GoOnFrom,
    /// Labels that its sockets need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The machine and folder of its project: only a worker that was started there has its files, unless they are
    /// stored in `workspace`.
    pub host: String,
    /// The folder.
    pub folder: String,
    /// Its files are stored as packs, and any worker can make its workspace: the path of the project's folder below
    /// the top of its repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The rules of the process that put it there.
    pub rules: u32,
    /// The agent that was named for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The hash of the blob with the script that answers its agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// The files of its programs that were approved, by name, with their hashes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub approved: BTreeMap<String, String>,
    /// The user who approved them, and the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Those files as blobs, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Sent>,
    /// Files of the profile that it runs, such as shipped utilities, with the hashes of their content.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub utilities: BTreeMap<String, String>,
}

/// A file that travels with a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// The hash of its blob.
    pub blob: String,
    /// Whether it can be started itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

fn is_person(actor: &Actor) -> bool {
    *actor == Actor::PERSON
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_usual(go_on: &GoOnFrom) -> bool {
    *go_on == GoOnFrom::Usual
}

/// A run in the bucket.
#[derive(Debug, Clone, PartialEq)]
pub struct InTodo {
    /// The run.
    pub run: RunId,
    /// How it is driven; `None` if this version cannot read it.
    pub todo: Option<Todo>,
    /// The version of this entry.
    pub revision: u64,
}

impl Connection {
    pub(crate) fn kept(&self, what: &str) -> Config {
        let name = bucket(self.options.space.as_str(), what);
        Config {
            name: format!("KV_{name}"),
            subjects: vec![format!("$KV.{name}.>")],
            max_messages_per_subject: 1,
            num_replicas: self.stream.cached_info().config.num_replicas,
            allow_rollup: true,
            ..Config::default()
        }
    }

    pub(crate) fn key(&self, what: &str, key: &str) -> String {
        format!("$KV.{}.{key}", bucket(self.options.space.as_str(), what))
    }

    /// A bucket, which is made where it is missing. Servers that have no leader yet are waited for.
    pub(crate) async fn bucket(&self, config: Config) -> Result<Stream, Fault> {
        let mut patience = self.patience();
        loop {
            match self.context.get_stream(&config.name).await {
                Ok(stream) => return fitting(stream, &config).map_err(Fault::Refused),
                Err(error) if error.kind() == GetStreamErrorKind::Request => {
                    patience.again(error.to_string()).await?;
                }
                Err(_) => return made(&self.context, config).await.map_err(Fault::Refused),
            }
        }
    }

    async fn todo(&self) -> Result<&Stream, Fault> {
        let make = || self.bucket(self.kept("todo"));
        self.buckets.todo.get_or_try_init(make).await
    }

    async fn workers(&self) -> Result<&Stream, Fault> {
        let config = Config {
            max_age: WORKER_AGE_MAX,
            duplicate_window: WORKER_AGE_MAX,
            ..self.kept("workers")
        };
        self.buckets.workers.get_or_try_init(|| self.bucket(config)).await
    }

    /// The messages of a bucket from a sequence on, with their keys.
    async fn entries(
        &self,
        stream: &Stream,
        what: &str,
        mut from: u64,
    ) -> Result<Vec<Entry>, Fault> {
        let (all, prefix) = (self.key(what, ">"), self.key(what, ""));
        let mut found = Vec::new();
        while let Some(message) = self.next(stream, &all, from).await? {
            from = message.sequence + 1;
            if let Some(key) = message.subject.strip_prefix(&prefix) {
                let seen = i64::try_from(message.time.unix_timestamp_nanos() / 1_000).unwrap_or(0);
                let (key, value) = (key.to_owned(), message.payload.to_vec());
                let removed = message.headers.get(OPERATION).is_some();
                found.push(Entry { key, value, removed, revision: message.sequence, seen });
            }
        }
        Ok(found)
    }
}

struct Entry {
    key: String,
    value: Vec<u8>,
    /// The entry says that its key was removed: other programs remove keys so.
    removed: bool,
    revision: u64,
    /// When it was written, in microseconds.
    seen: i64,
}

/// The list as it was read last, oldest first.
#[derive(Debug, Default)]
pub struct TodoList {
    /// The messages of the bucket then, and its last sequence.
    mark: (u64, u64),
    entries: Vec<InTodo>,
}

impl TodoList {
    /// Its entries.
    #[must_use]
    pub fn entries(&self) -> &[InTodo] {
        &self.entries
    }
}

impl NatsJournal {
    /// Has a run driven by a worker. A newer entry replaces an older one.
    #[must_use]
    pub fn put_todo(&self, run: &RunId, todo: &Todo) -> Fetched<()> {
        let connection = self.connection();
        let (run, todo) = (run.clone(), todo.clone());
        Box::pin(self.connection().run(async move {
            connection.todo().await?;
            let value = serde_json::to_vec(&todo).expect("an entry is data and always renders");
            let key = connection.key("todo", run.as_str());
            connection.publish_surely(&key, &HeaderMap::new(), &value).await?;
            Ok(())
        }))
    }

    /// The runs that workers shall drive, now. Only what has changed since `list` is read.
    #[must_use]
    pub fn todo(&self, mut list: TodoList) -> Fetched<TodoList> {
        let connection = self.connection();
        Box::pin(self.connection().run(async move {
            let stream = connection.todo().await?;
            let info = stream.get_info().await;
            let state = info.map_err(|error| Fault::Lost(error.to_string()))?.state;
            let mark = (state.messages, state.last_sequence);
            if list.mark == mark {
                return Ok(list);
            }
            for entry in connection.entries(stream, "todo", list.mark.1 + 1).await? {
                let Ok(run) = RunId::parse(&entry.key) else { continue };
                list.entries.retain(|known| known.run != run);
                if entry.removed {
                    continue;
                }
                let todo = serde_json::from_slice(&entry.value).ok();
                list.entries.push(InTodo { run, todo, revision: entry.revision });
            }
            if u64::try_from(list.entries.len()).ok() != Some(state.messages) {
                let left = connection.subjects(stream, &connection.key("todo", ">")).await?;
                let left: BTreeSet<String> = left.into_iter().map(|(key, _)| key).collect();
                let key = |run: &RunId| connection.key("todo", run.as_str());
                list.entries.retain(|entry| left.contains(&key(&entry.run)));
            }
            list.mark = mark;
            Ok(list)
        }))
    }

    /// The runs on the list that nobody drives, oldest first.
    #[must_use]
    pub fn waiting(&self) -> Fetched<Vec<RunId>> {
        let journal = self.clone();
        Box::pin(async move {
            let list = journal.todo(TodoList::default()).await?;
            journal.undriven(list.entries.into_iter().map(|entry| entry.run).collect()).await
        })
    }

    /// Those of some runs that nobody drives, in their order.
    #[must_use]
    pub fn undriven(&self, runs: Vec<RunId>) -> Fetched<Vec<RunId>> {
        let leases = self.leases(runs);
        Box::pin(async move {
            let all = leases.await?.into_iter();
            Ok(all.filter_map(|(run, lease)| lease.is_none().then_some(run)).collect())
        })
    }

    /// The leases of some runs, in their order: the revision of each, which changes when it is renewed; `None` for a
    /// run that nobody drives.
    #[must_use]
    pub fn leases(&self, runs: Vec<RunId>) -> Fetched<Vec<(RunId, Option<u64>)>> {
        let connection = self.connection();
        Box::pin(
            self.connection().run(async move { Ok(lease::revisions(&connection, runs).await?) }),
        )
    }

    /// Whether a run waits for a worker or is driven by one; its entry.
    #[must_use]
    pub fn todo_of(&self, run: &RunId) -> Fetched<Option<InTodo>> {
        let (connection, run) = (self.connection(), run.clone());
        Box::pin(self.connection().run(async move {
            let stream = connection.todo().await?;
            let last = connection.last(stream, &connection.key("todo", run.as_str())).await?;
            let last = last.filter(|last| last.headers.get(OPERATION).is_none());
            Ok(last.map(|last| {
                let todo = serde_json::from_slice(&last.payload).ok();
                InTodo { run, todo, revision: last.sequence }
            }))
        }))
    }

    /// Takes a run off the list, unless a newer entry has replaced this one.
    #[must_use]
    pub fn remove_todo(&self, revision: u64) -> Fetched<()> {
        let connection = self.connection();
        Box::pin(self.connection().run(async move {
            let stream = connection.todo().await?;
            // An error means that it is gone, or that the server is: then it is removed after the next look.
            let _ = stream.delete_message(revision).await;
            Ok(())
        }))
    }

    /// Changes whenever a run was put on the list.
    #[must_use]
    pub fn todo_changed(&self) -> Fetched<watch::Receiver<u64>> {
        let connection = self.connection();
        Box::pin(self.connection().run(async move {
            let stream = connection.todo().await?.clone();
            Ok(read::changes(&connection, stream, connection.key("todo", ">")))
        }))
    }

    /// A sign of life of a worker.
    #[must_use]
    pub fn announce(&self, worker: &WorkerBody) -> Fetched<()> {
        let (connection, worker) = (self.connection(), worker.clone());
        Box::pin(self.connection().run(async move {
            connection.workers().await?;
            let value = serde_json::to_vec(&worker).expect("a worker is data and always renders");
            let key = connection.key("workers", &worker.name);
            connection.publish_surely(&key, &HeaderMap::new(), &value).await?;
            Ok(())
        }))
    }

    /// Waits shortly until others can see that this process drives no run.
    #[must_use]
    pub fn given_up(&self) -> BoxFuture<'static, ()> {
        let connection = self.connection();
        Box::pin(self.connection().run(async move { lease::all_given_up(&connection).await }))
    }

    /// The worker has ended.
    #[must_use]
    pub fn withdraw_worker(&self, name: &str) -> Fetched<()> {
        let (connection, name) = (self.connection(), name.to_owned());
        Box::pin(self.connection().run(async move {
            let stream = connection.workers().await?;
            if let Some(last) = connection.last(stream, &connection.key("workers", &name)).await? {
                let _ = stream.delete_message(last.sequence).await;
            }
            Ok(())
        }))
    }

    /// The workers that gave a sign of life lately, by their names.
    #[must_use]
    pub fn workers(&self) -> Fetched<Vec<WorkerBody>> {
        let connection = self.connection();
        Box::pin(self.connection().run(async move {
            let stream = connection.workers().await?;
            let entries = connection.entries(stream, "workers", 1).await?;
            let read = |entry: Entry| {
                let worker: WorkerBody = serde_json::from_slice(&entry.value).ok()?;
                let seen_at = wall_time(entry.seen);
                (worker.name == entry.key).then_some(WorkerBody { seen_at, ..worker })
            };
            let mut workers: Vec<WorkerBody> = entries.into_iter().filter_map(read).collect();
            workers.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(workers)
        }))
    }

    /// An id for a command that no other has.
    #[must_use]
    pub fn fresh_command(&self) -> CommandId {
        CommandId::kept(format!("~{}", self.connection().nonce()))
    }

    /// Makes this process a worker, with a name that no other has. The leases that it takes then say so.
    #[must_use]
    pub fn worker_name(&self) -> String {
        let known = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' };
        let connection = self.connection();
        let name = || {
            let host: String = host_name().chars().map(known).take(40).collect();
            let nonce: String = connection.nonce().chars().rev().take(6).collect();
            format!("{host}-{}-{nonce}", std::process::id())
        };
        connection.worker.get_or_init(name).clone()
    }

    /// The driver of a run, if it is driven.
    #[must_use]
    pub fn driver(&self, run: &RunId) -> Fetched<Option<Driver>> {
        let (connection, run) = (self.connection(), run.clone());
        Box::pin(
            self.connection()
                .run(async move { Ok(lease::holder(&connection, &run).await?.map(Driver::from)) }),
        )
    }

    pub(crate) fn connection(&self) -> Arc<Connection> {
        Arc::clone(&self.inner.connection)
    }
}
