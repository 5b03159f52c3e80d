//! Fields that take one of a few words.

use crate::enum_words::words;

words!(
    /// The verdict that an edge asks for.
    Condition {
        /// Any verdict, or none.
        Always = "always",
        /// The verdict is true.
        Satisfied = "satisfied",
        /// The verdict is false.
        NotSatisfied = "not_satisfied",
    }
);
words!(
    /// Where the turns of a cast work.
    WorkspaceKind {
        /// In the project folder.
        Project = "project",
        /// In a copy of the repository that belongs to the cast.
        Own = "own",
    }
);
words!(
    /// How many matching edges are taken.
    Routing {
        /// The first: the node is a step of a state machine.
        First = "first",
        /// Every one: the node is part of a dataflow graph.
        All = "all",
    }
);
words!(
    /// How output is read.
    Parse {
        /// Kept as it is.
        Text = "text",
        /// Parsed as one JSON value.
        Json = "json",
    }
);
words!(
    /// The input that a materia needs in a link.
    Expects {
        /// Any text.
        Text = "text",
        /// A JSON object.
        Json = "json",
        /// Work items.
        WorkItems = "workItems",
    }
);
words!(
    /// Where the verdict of a utility comes from, where it is not in its output.
    VerdictFrom {
        /// Its exit code: 0 is satisfied, anything else is not.
        ExitCode = "exitCode",
    }
);
words!(
    /// Whether the scheduler may start turns at a node.
    NodeMode {
        /// Only a person.
        Interactive = "interactive",
        /// The scheduler.
        Auto = "auto",
    }
);
words!(
    /// Another name for `mode`, which it overrides.
    Control {
        /// Only a person starts turns, as with `interactive`.
        Manual = "manual",
        /// The scheduler starts turns, as with `auto`.
        Automatic = "automatic",
    }
);
words!(
    /// The event that starts a turn.
    Trigger {
        /// Only a person.
        ManualOnly = "manual_only",
        /// An input.
        OnAnyInput = "on_any_input",
        /// The clock: `intervalMs` or `cron`.
        Scheduled = "scheduled",
    }
);
words!(
    /// How many waiting payloads a turn takes.
    Consume {
        /// Everything.
        All = "all",
        /// The oldest payload.
        One = "one",
    }
);
words!(
    /// How payloads wait on an edge.
    DeliveryMode {
        /// Only the newest.
        Latest = "latest",
        /// All, in order.
        Queue = "queue",
        /// One after a quiet period.
        Debounce = "debounce",
        /// Only for an idle node.
        DropIfBusy = "drop_if_busy",
    }
);
words!(
    /// Which payload goes when an edge is full.
    Overflow {
        /// The one that arrives.
        DropNewest = "drop_newest",
        /// The one that waited longest.
        DropOldest = "drop_oldest",
    }
);
words!(
    /// When two payloads count as the same.
    DedupeBy {
        /// Their id.
        PayloadId = "payloadId",
        /// Their content.
        ContentHash = "contentHash",
        /// Nothing.
        None = "none",
    }
);
words!(
    /// Which part of an output travels on.
    OutputSelector {
        /// The final text.
        MessageFinal = "message.final",
        /// The parsed output.
        StructuredOutput = "structured_output",
        /// The diff.
        ArtifactsDiff = "artifacts:diff",
        /// The logs.
        ArtifactsLogs = "artifacts:logs",
        /// Text, parsed output and the named artifacts.
        Composite = "composite",
    }
);
words!(
    /// Whether a turn waits for a person.
    Approval {
        /// Before it starts.
        Before = "before",
    }
);
words!(
    /// How `resume` treats a turn that a crash interrupted.
    OnInterrupt {
        /// It runs again at once with the same inputs.
        Retry = "retry",
        /// A person decides.
        Ask = "ask",
    }
);
words!(
    /// Whether a provider session is kept between turns.
    SessionPolicy {
        /// Within one work item.
        Auto = "auto",
        /// Never.
        Fresh = "fresh",
        /// Always.
        Keep = "keep",
    }
);
