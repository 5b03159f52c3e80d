// Generated from the table of endpoints in `contract::api`; `MATERIA_BLESS=1 cargo nextest run --workspace -E 'package(materia-schemas)'`
// writes it anew. Do not edit it.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export type Problem = { "type": string; "title": string; "status": number; "code": string; "detail": string; "findings"?: (Finding)[]; "questions"?: (TrustItem)[] };

export type Finding = { "code": string; "severity": Severity; "message": string; "help"?: string | null; "file"?: string | null; "pointer"?: string; "line"?: number | null; "column"?: number | null };

export type Severity = ("error" | "warning" | "info");

export type TrustItem = { "project": string; "hash": string; "castId"?: (RunId | null); "text": string; "runs": (string)[]; "question": Json };

export type RunId = string;

export type Alive = { "status": string; "version": string; "proof"?: string | null };

export type Code = { "code": string; "url": string };

export type SessionKey = { "key": string; "verifier": string };

export type SessionBody = { "code": string };

export type Projects = { "items": (ProjectItem)[] };

export type ProjectItem = { "id": string; "dir": string; "name": string; "problem"?: string | null };

export type AddProject = { "dir": string };

export type Casts = { "items": (CastSummary)[]; "next"?: string | null; "unreadable"?: (string)[] };

export type CastSummary = { "castId": RunId; "status": CastStatus; "loadout": string; "request": string; "startedAt": string; "fromCastId"?: string | null; "verdict"?: boolean | null; "project": string; "driven": boolean; "lastSeq": number; "updatedAt": string; "usage": UsageTotals; "waiting"?: (RunWaiting | null); "error"?: (RunFailed | null); "items"?: (Progress | null) };

export type CastStatus = ("running" | "waiting" | "completed" | "failed" | "aborted");

export type UsageTotals = { "turns": number; "tokens": number; "cost"?: number | null };

export type RunWaiting = { "reason": WaitReason; "node"?: (NodeId | null); "message": string };

export type WaitReason = ("interactive" | "approval" | "stall" | "multi_turn" | "budget" | "manual" | "run_for" | "trust" | "workspace");

export type NodeId = string;

export type RunFailed = { "code": ErrorCode; "message": string; "socket"?: (NodeId | null); "artifacts"?: (string)[]; "edgeId"?: (EdgeId | null) };

export type ErrorCode = ("utility_failed" | "utility_timeout" | "contract_error" | "provider_failed" | "script_exhausted" | "edge_exhausted" | "no_advance" | "graph_failed" | "workspace" | "internal");

export type EdgeId = string;

export type Progress = { "done": number; "total": number };

export type StartBody = { "project"?: string | null; "loadout"?: string | null; "link"?: (string)[] | null; "from"?: string | null; "request"?: string; "noRequest"?: boolean; "castId"?: string | null; "provider"?: string | null; "workspace"?: (WorkspaceKind | null); "includeChanges"?: boolean; "planning"?: boolean; "interactive"?: boolean; "budget"?: (Budget | null); "maxCost"?: number | null; "maxTurns"?: number | null; "maxTokens"?: number | null; "script"?: string | null; "virtualTime"?: boolean; "record"?: string | null; "replay"?: string | null };

export type WorkspaceKind = ("project" | "own");

export type Budget = { "maxTokens"?: number | null; "maxCost"?: number | null; "maxTurns"?: number | null; "warnAtPercent"?: number | null; "maxStorageMb"?: number | null };

export type CastView = { "castId": RunId; "status": CastStatus; "verdict"?: boolean | null; "loadout": string; "visits": (Visit)[]; "state": { [key: string]: Json }; "error"?: (RunFailed | null); "waiting"?: (RunWaiting | null); "usage": UsageTotals; "runDir": string; "lastSeq": number; "lastHash": string; "fromCastId"?: string | null; "request"?: string; "startedAt"?: string | null; "elapsedMs"?: number | null; "linked"?: (string)[]; "linkId"?: string | null; "questions"?: (OpenQuestion)[]; "answer"?: (Said | null); "workspace"?: string | null; "project": string; "driven": boolean; "at": number; "pace": Pace; "globalMode": GlobalMode; "budget": Budget; "plan": Plan; "planHash": string; "graph": Grid; "sockets": (SocketNow)[]; "edges": (EdgeNow)[]; "loops": (LoopNow)[]; "next": (Json)[] };

export type Visit = { "socket": NodeId; "visit": number; "attempt": number; "item"?: string | null; "itemLabel"?: string | null; "outcome": Outcome; "materia"?: string | null; "satisfied"?: boolean | null; "reason"?: string | null; "durationMs"?: number | null; "tokens"?: number | null; "cost"?: number | null; "refused"?: boolean };

export type Outcome = ("completed" | "rejected" | "failed" | "interrupted" | "running");

export type OpenQuestion = { "socket": NodeId; "hash": string; "denied": boolean; "reason"?: string | null };

export type Said = { "socket": NodeId; "visit": number; "attempt": number; "text": string };

export type Pace = ("AUTO" | "INTERACTIVE");

export type GlobalMode = ("PLANNING" | "IMPLEMENTATION");

export type Plan = { "loadout": string; "entry": NodeId; "nodes": { [key: string]: Node }; "loops"?: { [key: string]: Loop }; "limits": Limits; "budget"?: Budget; "docRoot": string };

export type Node = { "materia": string; "color"?: string | null; "behavior": Behavior; "parse": Parse; "verdict"?: (VerdictFrom | null); "env"?: { [key: string]: string }; "cwd"?: string | null; "socketParams"?: (string)[]; "assign"?: { [key: string]: Path }; "timeoutMs"?: number | null; "edges": (Edge)[]; "onFailure"?: (Edge | null); "retries"?: (Retries | null); "routing": Routing; "foreach"?: (Foreach | null); "mode": NodeMode; "control"?: (Control | null); "trigger": Trigger; "maxInFlight": number; "consume": Consume; "outputSelector": OutputSelector; "artifacts"?: (string)[]; "intervalMs"?: number | null; "cron"?: (Cron | null); "runAtStart"?: boolean; "approval"?: (Approval | null); "dependsOn"?: (NodeId)[]; "policy"?: (Policy | null); "onInterrupt": OnInterrupt; "generator"?: boolean; "advance"?: (Condition | null); "budgets"?: (NodeBudgets | null); "loops"?: (string)[]; "requires"?: (Path)[]; "reads"?: (Path)[]; "multiTurn"?: boolean; "session"?: SessionPolicy };

export type Behavior = ({ "type": "agent"; "prompt": string; "origin"?: string; "tools"?: (ToolsDoc | null); "model"?: string | null; "provider"?: string | null } | { "type": "utility"; "command": (string)[]; "params": { [key: string]: Json } });

export type ToolsDoc = (ToolSet | (string)[]);

export type ToolSet = ("none" | "readOnly" | "coding");

export type Parse = ("text" | "json");

export type VerdictFrom = ("exitCode");

export type Path = string;

export type Edge = { "id": EdgeId; "when": Condition; "where"?: (Guard | null); "to"?: (NodeId | null); "fails"?: boolean; "maxTraversals"?: number | null; "delivery"?: Delivery };

export type Condition = ("always" | "satisfied" | "not_satisfied");

export type Guard = { "path": Path; "test": Test };

export type Test = ({ "equals": Json } | { "notEquals": Json } | { "exists": boolean });

export type Delivery = { "mode": DeliveryMode; "maxBuffered": number; "overflow": Overflow; "debounceMs"?: number | null; "dedupeBy": DedupeBy; "dedupeWindowMs"?: number | null; "transform"?: (Transform | null) };

export type DeliveryMode = ("latest" | "queue" | "debounce" | "drop_if_busy");

export type Overflow = ("drop_newest" | "drop_oldest");

export type DedupeBy = ("payloadId" | "contentHash" | "none");

export type Transform = { "where"?: (Guard | null); "map"?: { [key: string]: Path } };

export type Retries = { "max": number; "delayMs": number };

export type Routing = ("first" | "all");

export type Foreach = { "items": Path; "as": string; "cursor": string };

export type NodeMode = ("interactive" | "auto");

export type Control = ("manual" | "automatic");

export type Trigger = ("manual_only" | "on_any_input" | "scheduled");

export type Consume = ("all" | "one");

export type OutputSelector = ("message.final" | "structured_output" | "artifacts:diff" | "artifacts:logs" | "composite");

export type Cron = { "expression": string; "timezone": string };

export type Approval = ("before");

export type Policy = { "tools"?: (ToolsDoc | null); "write"?: (string)[] | null; "network"?: boolean | null; "steer"?: boolean | null };

export type OnInterrupt = ("retry" | "ask");

export type NodeBudgets = { "turns"?: number | null; "timeMs"?: number | null; "cost"?: number | null };

export type SessionPolicy = ("auto" | "fresh" | "keep");

export type Loop = { "members": (NodeId)[]; "consumes"?: (NodeId | null); "items"?: (Path | null); "cursor": string; "exits"?: (Exit)[] };

export type Exit = { "id": string; "edgeId": EdgeId; "from": NodeId; "condition": Condition; "to"?: (NodeId | null); "fails"?: boolean };

export type Limits = { "maxRepairs": number; "maxNoAdvanceCycles": number; "maxConcurrentTurns": number; "maxCycleTurns"?: number; "maxRetries"?: number; "maxStorageMb"?: number; "maxOutputMb"?: number };

export type Grid = { "loadout": string; "entry": NodeId; "sockets": (GridSocket)[]; "ranks": ((NodeId)[])[]; "loops"?: { [key: string]: GridLoop } };

export type GridSocket = { "id": NodeId; "materia": string; "color"?: string | null; "type": SocketType; "edges": (GridEdge)[]; "onFailure"?: (GridFailure | null); "generator"?: boolean; "multiTurn"?: boolean; "advance"?: (Advance | null); "rank": number };

export type SocketType = ("agent" | "utility");

export type GridEdge = { "id": EdgeId; "when": Condition; "to": string; "where"?: (Guard | null); "maxTraversals"?: number | null; "back"?: boolean };

export type GridFailure = { "id": EdgeId; "to": string; "maxTraversals"?: number | null };

export type Advance = { "when": Condition };

export type GridLoop = { "sockets": (NodeId)[]; "cursor": string; "exits": (GridExit)[]; "consumes"?: (NodeId | null); "items"?: (Path | null) };

export type GridExit = { "id": string; "from": NodeId; "condition": Condition; "to": string };

export type SocketNow = { "socket": NodeId; "materia": string; "state": SocketState; "visits": number; "completed": number; "turns"?: (number)[]; "waits": number };

export type SocketState = ("idle" | "queued" | "running" | "needs_you" | "done" | "failed" | "stalled" | "aborted");

export type EdgeNow = { "id": EdgeId; "taken": number; "left": number };

export type LoopNow = { "id": string; "entry": number; "index": number; "total": number; "items": (Json)[] };

export type EventsPage = { "items": (Json)[]; "next"?: number | null };

export type EventLine = { "seq": number; "id": string; "runId": string; "ts": number; "wallTime": string; "nodeId"?: string | null; "inputHash"?: string | null; "prevHash": string; "hash": string } & ({ "type": "run.created"; "data": RunCreated } | { "type": "run.resumed"; "data": RunResumed } | { "type": "run.waiting"; "data": RunWaiting } | { "type": "run.completed"; "data": RunCompleted } | { "type": "run.failed"; "data": RunFailed } | { "type": "run.aborted"; "data": RunAborted } | { "type": "turn.started"; "data": TurnStarted } | { "type": "turn.completed"; "data": TurnCompleted } | { "type": "turn.failed"; "data": TurnFailed } | { "type": "turn.interrupted"; "data": TurnInterrupted } | { "type": "route.selected"; "data": RouteSelected } | { "type": "handoff.sent"; "data": HandoffSent } | { "type": "payload.delivered"; "data": PayloadDelivered } | { "type": "payload.consumed"; "data": PayloadConsumed } | { "type": "payload.superseded"; "data": PayloadSuperseded } | { "type": "payload.dropped"; "data": PayloadDropped } | { "type": "payload.deduplicated"; "data": PayloadDeduplicated } | { "type": "payload.filtered"; "data": PayloadFiltered } | { "type": "timer.set"; "data": TimerSet } | { "type": "timer.fired"; "data": TimerFired } | { "type": "turn.requested"; "data": TurnRequested } | { "type": "approval.requested"; "data": ApprovalRequested } | { "type": "approval.given"; "data": ApprovalGiven } | { "type": "approval.denied"; "data": ApprovalDenied } | { "type": "timeline.reached"; "data": TimelineReached } | { "type": "state.patched"; "data": StatePatched } | { "type": "output.fields_ignored"; "data": OutputFieldsIgnored } | { "type": "cursor.advanced"; "data": CursorAdvanced } | { "type": "loop.entered"; "data": LoopEntered } | { "type": "item.skipped"; "data": ItemSkipped } | { "type": "loop.exhausted"; "data": LoopExhausted } | { "type": "follow_up.captured"; "data": FollowUpCaptured } | { "type": "budget.warned"; "data": BudgetWarned } | { "type": "budget.changed"; "data": BudgetChanged } | { "type": "node.blocked"; "data": NodeBlocked } | { "type": "mode.changed"; "data": ModeChanged } | { "type": "run.revived"; "data": RunRevived } | { "type": "message.received"; "data": MessageReceived } | { "type": "socket.finished"; "data": SocketFinished } | { "type": "agents.chosen"; "data": AgentsChosen } | { "type": "storage.measured"; "data": StorageMeasured } | { "type": "workspace.publishing"; "data": WorkspacePublishing } | { "type": "workspace.published"; "data": WorkspacePublished });

export type RunCreated = { "request": string; "plan": Plan; "planHash": string; "cwd": string; "runDir": string; "pace": Pace; "globalMode": GlobalMode; "virtualTime"?: boolean; "script"?: (ScriptBinding | null); "agents"?: { [key: string]: Answerer }; "fromCastId"?: string | null; "fork"?: (ForkedFrom | null); "timeline"?: number; "link"?: (Link | null); "state"?: { [key: string]: Json }; "key"?: (StartKey | null); "workspace"?: (OwnWorkspace | null); "journalVersion": number };

export type ScriptBinding = { "path": string; "keys": { [key: string]: string } };

export type Answerer = { "provider": string; "programVersion"?: string | null; "model"?: string | null };

export type ForkedFrom = { "castId": RunId; "seq": number; "hash": string; "writtenBy": ([RunId, number])[]; "started"?: number | null };

export type Link = { "invocation": string; "targets": (LinkTarget)[]; "loadoutId": string; "loadoutName": string };

export type LinkTarget = { "kind": TargetKind; "name": string; "sockets": (NodeId)[] };

export type TargetKind = ("materia" | "loadout");

export type StartKey = { "key": CommandId; "body": string };

export type CommandId = string;

export type OwnWorkspace = { "kind": string; "base": string; "tree": string; "head": string; "refs": string; "git": string; "identity": Identity };

export type Identity = { "name": string; "email": string };

export type RunResumed = { "cwd": string; "runDir": string; "recast"?: boolean; "tree"?: string; "head"?: string; "refs"?: string; "putBack"?: boolean };

export type RunCompleted = { [key: string]: Json };

export type RunAborted = { "reason": string };

export type TurnStarted = { "visit": number; "attempt": number; "item"?: string | null; "itemLabel"?: string | null; "cause": Cause; "consumed": (string)[]; "prompt"?: string | null; "input"?: (UtilityInput | null); "layers"?: (PromptLayer)[]; "session"?: (SessionRef | null); "script"?: (ScriptEntry | null); "globalMode"?: (GlobalMode | null); "provider"?: string | null; "programVersion"?: string | null; "model"?: string | null; "tools"?: (ToolsDoc | null); "schema"?: Json; "approved"?: string | null; "tree"?: string | null; "head"?: string | null; "refs"?: string | null; "putBack"?: boolean };

export type Cause = ({ "kind": "input" } | { "kind": "foreach"; "index": number } | { "kind": "retry"; "turn": number } | { "kind": "repair"; "turn": number } | { "kind": "manual" } | { "kind": "recast"; "turn": number });

export type UtilityInput = { [key: string]: Json };

export type PromptLayer = { "name": string; "origin": string; "start": number; "end": number };

export type SessionRef = { "id": string; "resume": boolean };

export type ScriptEntry = { "key": string; "index": number };

export type TurnCompleted = { "turn": number; "visit": number; "attempt": number; "satisfied"?: boolean | null; "object"?: [number, number] | null; "context"?: string | null; "workItems"?: (Json)[] | null; "output": string; "stderr"?: string; "exitCode"?: number | null; "signal"?: number | null; "durationMs"?: number | null; "stdoutDropped"?: number; "stderrDropped"?: number; "whole"?: string | null; "lossy"?: boolean; "usage"?: (TurnUsage | null); "artifacts"?: (Artifact)[]; "transcript"?: (Transcript | null); "files"?: (LeftFile)[]; "notes"?: (string)[]; "class"?: (FailureClass | null); "retryAfterMs"?: number | null; "tree"?: string | null; "head"?: string | null; "refs"?: string | null; "offBase"?: boolean };

export type TurnUsage = { "inputTokens"?: number | null; "outputTokens"?: number | null; "cost"?: number | null };

export type Artifact = { "kind": string; "name": string; "hash": string; "content": string };

export type Transcript = { "path": string; "hash": string; "bytes": number; "dropped"?: number };

export type LeftFile = { "kind": string; "name": string; "hash": string; "bytes": number; "dropped"?: number };

export type FailureClass = ("transient" | "rate_limit" | "auth" | "contract" | "permanent" | "session_lost");

export type TurnFailed = { "turn": number; "visit": number; "attempt": number; "code": ErrorCode; "message": string; "repair"?: boolean; "retryAt"?: number | null; "sessionLost"?: boolean; "output": string; "stderr"?: string; "exitCode"?: number | null; "signal"?: number | null; "durationMs"?: number | null; "stdoutDropped"?: number; "stderrDropped"?: number; "whole"?: string | null; "lossy"?: boolean; "usage"?: (TurnUsage | null); "artifacts"?: (Artifact)[]; "transcript"?: (Transcript | null); "files"?: (LeftFile)[]; "notes"?: (string)[]; "class"?: (FailureClass | null); "retryAfterMs"?: number | null; "tree"?: string | null; "head"?: string | null; "refs"?: string | null; "offBase"?: boolean };

export type TurnInterrupted = { "turn": number; "visit": number; "attempt": number; "reason": InterruptReason; "tree"?: string; "head"?: string; "refs"?: string; "putBack"?: boolean | null };

export type InterruptReason = ("crash" | "stopped" | "aborted" | "run_failed" | "run_for" | "trust" | "workspace");

export type RouteSelected = { "turn"?: number | null; "edgeId"?: (EdgeId | null); "to": string; "satisfied"?: boolean | null };

export type HandoffSent = { "payloadId": string; "edgeId": EdgeId; "to": NodeId; "turn"?: number | null; "kind": EnvelopeKind; "preview": string; "offered"?: (Offered | null); "mapped"?: (PayloadContent | null); "sameness"?: string | null };

export type EnvelopeKind = ("message" | "handoff" | "tick" | "user");

export type Offered = { "payloadId"?: string | null; "kind"?: (EnvelopeKind | null); "message"?: string | null; "structured"?: Json; "artifacts"?: (ArtifactRef)[]; "status"?: (PayloadStatus | null) };

export type ArtifactRef = { "kind": string; "name": string; "hash": string };

export type PayloadStatus = { "ok": boolean; "reason"?: string | null };

export type PayloadContent = { "message"?: string | null; "structured"?: Json; "artifacts"?: (ArtifactRef)[]; "status"?: (PayloadStatus | null) };

export type PayloadDelivered = { "payloadId": string; "edgeId"?: (EdgeId | null) };

export type PayloadConsumed = { "payloadId": string };

export type PayloadSuperseded = { "payloadId": string; "edgeId": EdgeId; "by": string };

export type PayloadDropped = { "payloadId": string; "edgeId": EdgeId; "reason": DropReason };

export type DropReason = ("overflow" | "busy");

export type PayloadDeduplicated = { "payloadId": string; "edgeId": EdgeId; "of": string };

export type PayloadFiltered = { "payloadId": string; "edgeId": EdgeId };

export type TimerSet = { "timer": Timer; "at": number };

export type Timer = ({ "kind": "debounce"; "edgeId": EdgeId } | { "kind": "tick" } | { "kind": "retry"; "turn": number });

export type TimerFired = { "timer": Timer; "payloadId"?: string | null };

export type TurnRequested = { "message"?: string | null; "payloadId"?: string | null };

export type ApprovalRequested = { "hash": string; "payloads": (string)[] };

export type ApprovalGiven = { "hash": string };

export type ApprovalDenied = { "hash": string; "reason"?: string | null; "route"?: boolean };

export type TimelineReached = { "index": number; "act": Do };

export type Do = ({ "do": "offer"; "edge": string; "payload": Offered } | { "do": "trigger"; "node": NodeId; "message"?: string | null; "approve"?: boolean; "hash"?: string | null } | { "do": "approve"; "node": NodeId; "hash"?: string | null } | { "do": "deny"; "node": NodeId; "hash"?: string | null; "reason"?: string | null; "route"?: boolean } | { "do": "mode"; "value": Pace } | { "do": "pause" } | { "do": "globalMode"; "value": GlobalMode } | { "do": "crash" } | { "do": "say"; "node"?: (NodeId | null); "text": string } | { "do": "continue"; "node"?: (NodeId | null) } | { "do": "budget"; "budget": Budget } | { "do": "nodeBudget"; "node": NodeId; "budgets": NodeBudgets } | { "do": "resume"; "pace"?: (Pace | null) } | { "do": "recast" } | { "do": "revive" } | { "do": "skip"; "loop"?: string | null; "reason"?: string | null } | { "do": "stop"; "message"?: string | null } | { "do": "abort"; "reason"?: string | null });

export type StatePatched = { "turn": number; "merged"?: { [key: string]: Json }; "assigned"?: { [key: string]: Json } };

export type OutputFieldsIgnored = { "turn": number; "fields": (string)[]; "reason": string };

export type CursorAdvanced = { "cursor": string; "index": number; "count": number; "exhausted": boolean; "loop"?: string | null; "items"?: (Json)[] | null };

export type LoopEntered = { "loop": string; "entry": number; "count"?: number | null; "items"?: (Json)[] | null };

export type ItemSkipped = { "loop": string; "index": number; "item": string; "itemLabel": string; "dropped"?: (string)[]; "reason"?: string | null };

export type LoopExhausted = { "loop": string; "exit"?: string | null; "to": string };

export type FollowUpCaptured = { "turn": number; "target": NodeId; "item"?: string | null; "reason": string };

export type BudgetWarned = { "bound": BudgetBound; "spent": number; "limit": number };

export type BudgetBound = ("tokens" | "cost" | "turns");

export type BudgetChanged = { "budget"?: (Budget | null); "nodeBudgets"?: (NodeBudgets | null) };

export type NodeBlocked = { "reason": string };

export type ModeChanged = { "value": Mode; "reason": string; "evidence"?: (number)[]; "message"?: string | null };

export type Mode = (Pace | GlobalMode);

export type RunRevived = { "edgeId"?: (EdgeId | null) };

export type MessageReceived = { "payloadId": string; "text": string };

export type SocketFinished = { "turn": number };

export type AgentsChosen = { "agents": { [key: string]: Answerer } };

export type StorageMeasured = { "usedMb": number; "freeMb": number; "floorMb": number; "disk"?: (DiskMeasured | null) };

export type DiskMeasured = { "free": number; "floor": number };

export type WorkspacePublishing = { [key: string]: Json };

export type WorkspacePublished = { "branch": string; "commit": string; "kept"?: string | null };

export type LiveWords = { "socket": NodeId; "kind": string; "text": string };

export type TurnView = { "seq": number; "endSeq"?: number | null; "socket": NodeId; "materia": string; "visit": number; "attempt": number; "item"?: string | null; "itemLabel"?: string | null; "outcome": Outcome; "startedAt": string; "endedAt"?: string | null; "durationMs"?: number | null; "prompt"?: string | null; "layers": (PromptLayer)[]; "input"?: Json; "output"?: string | null; "parsed"?: Json; "stderr"?: string | null; "satisfied"?: boolean | null; "error"?: string | null; "usage"?: (TurnUsage | null); "provider"?: string | null; "model"?: string | null; "session"?: (SessionRef | null); "consumed": (string)[]; "changedFiles"?: boolean | null; "artifacts": (FileItem)[] };

export type FileItem = { "path": string; "bytes": number };

export type Why = { "node": NodeId; "ran": boolean; "visits": number; "sentence": string; "because": (Because)[]; "runnable": boolean; "conditions": (Condition2)[]; "suggestion"?: (Suggestion | null) };

export type Because = { "seq"?: number | null; "text": string };

export type Condition2 = { "name": string; "holds": boolean; "text": string; "events": (number)[]; "of"?: (Condition2)[] };

export type Suggestion = { "sentence": string; "steps": (SuggestedStep)[] };

export type SuggestedStep = { "kind": string; "command"?: string | null; "text": string } & ({ "do": "fork"; "at": number; "interactive"?: boolean } | { "do": "wait"; "turn"?: number | null; "node": NodeId } | Do);

export type GivenView = { "prompt"?: string | null; "layers": (PromptLayer)[]; "input"?: Json; "payloads": (Envelope)[] };

export type Envelope = { "payloadId": string; "kind": EnvelopeKind; "fromNodeId"?: (NodeId | null); "edgeId"?: (EdgeId | null); "ts": number; "message"?: string | null; "structured"?: Json; "artifacts"?: (ArtifactRef)[]; "status"?: (PayloadStatus | null) };

export type Cost = { "usage": UsageTotals; "budget": Budget; "bySocket": (Spent)[]; "byItem": (Spent)[] };

export type Spent = { "socket"?: (NodeId | null); "materia"?: string | null; "item"?: string | null; "label"?: string | null; "turns": number; "tokens": number; "cost"?: number | null; "durationMs": number };

export type Files = { "items": (FileItem)[] };

export type WorkspaceBody = { "castId": RunId; "kind": string; "checkout"?: string | null; "base"?: string | null; "branch"?: string | null; "published"?: string | null; "merged"?: boolean; "commits"?: (WorkspaceCommit)[]; "files"?: (WorkspaceFile)[] };

export type WorkspaceCommit = { "id": string; "subject": string };

export type WorkspaceFile = { "path": string; "added"?: number | null; "removed"?: number | null };

export type WorkspaceDiff = { "files": (WorkspaceFile)[]; "text": string; "cut": boolean };

export type WorkspaceActed = { "message": string; "workspace": WorkspaceBody };

export type DropBody = { "confirm"?: boolean };

export type Acted = { "events": (number)[]; "castId"?: (RunId | null); "waits"?: boolean; "questions"?: (OpenQuestion)[] };

export type ActBody = (ForkBody | ResumeBody | Do);

export type ForkBody = { "do": ForkWord; "at"?: number | null; "castId"?: string | null; "interactive"?: boolean };

export type ForkWord = ("fork");

export type ResumeBody = { "do": ResumeWord; "putBack": boolean; "pace"?: (Pace | null) };

export type ResumeWord = ("resume");

export type DriveBody = { "project"?: string | null; "do"?: (Do | null); "needs"?: (string)[]; "provider"?: string | null };

export type Inbox = { "items": (InboxItem)[] };

export type InboxItem = { "project": string; "castId": RunId; "loadout": string; "request": string; "reason": string; "message": string; "node"?: (NodeId | null); "since": string; "approval"?: (ApprovalAsked | null); "said"?: string | null; "trust"?: (TrustItem | null); "next": (Json)[] };

export type ApprovalAsked = { "hash": string; "runs": string; "argv"?: (string)[]; "cwd"?: string | null; "inputs": (string)[]; "writes": string; "routes": boolean; "shell"?: boolean; "denied"?: (Denied | null) };

export type Denied = { "seq": number; "at": string; "by": string; "reason"?: string | null };

export type Health = { "agents": (AgentHealth)[]; "uses"?: string | null; "sandbox": Sandbox; "gaps"?: (string)[]; "node"?: (NodeRuntime | null); "git"?: (GitProgram | null) };

export type AgentHealth = { "name": string; "label": string; "installed": boolean; "path"?: string | null; "version"?: string | null; "testedWith": string; "loggedIn"?: boolean | null; "evidence"?: string | null; "capabilities": Capabilities; "missing"?: string | null; "notRun"?: boolean; "model"?: string | null };

export type Capabilities = { "name": string; "label": string; "resume": boolean; "chosenSession": boolean; "schema": SchemaSupport; "readOnly": Guarded; "noTools": boolean; "toolList": boolean; "deltas": boolean; "tokens": boolean; "cost": boolean };

export type SchemaSupport = ("checked" | "passed" | "absent");

export type Guarded = ("tools" | "sandbox" | "nobody");

export type Sandbox = { "landlock": number; "planning": PlanningSupport; "filter"?: boolean; "cgroup"?: boolean; "userNamespaces"?: boolean };

export type PlanningSupport = ("enforced" | "partial" | "unavailable");

export type NodeRuntime = { "path": string; "version"?: string | null };

export type GitProgram = { "version": string; "workspaces": boolean };

export type TrustList = { "items": (TrustItem)[] };

export type Approved = { "hash": string; "casts": (RunId)[] };

export type TrustBody = { "project"?: string | null; "hash": string };

export type ConfigBody = { "items": (ConfigFile)[]; "findings": (Finding)[] };

export type ConfigFile = { "layer": string; "file": string; "text": string; "hash": string; "editable": boolean };

export type Saved = { "hash": string };

export type SaveBody = { "text": string };

export type Findings = { "ok": boolean; "findings": (Finding)[]; "graph"?: (Grid | null); "plan"?: (Plan | null) };

export type CheckBody = { "project"?: string | null; "files"?: { [key: string]: string }; "loadout"?: string | null };

export type Catalog = { "items": (CatalogItem)[] };

export type CatalogItem = { "name": string; "layer": string; "file": string; "active"?: boolean; "kind"?: (MateriaKind | null); "generator"?: boolean; "label"?: string | null; "description"?: string | null; "group"?: string | null; "color"?: string | null; "parse"?: (Parse | null); "value"?: Json };

export type MateriaKind = ("agent" | "utility");

export type LoadoutView = { "name": string; "graph"?: (Grid | null); "plan"?: (Plan | null); "findings": (Finding)[]; "mayWrite": boolean; "workspace": WorkspaceKind; "beside": (DrivenCast)[] };

export type DrivenCast = { "castId": RunId; "mayWrite": boolean };

export type BoundsBody = { "loadout": string; "items"?: number | null; "bounded": boolean; "sockets": (SocketBound)[]; "cast": CastBound; "unbounded"?: (NoBound)[] };

export type SocketBound = { "socket": NodeId; "materia": string; "visits": BoundOf; "attempts": number; "turns": BoundOf; "byDefault"?: boolean; "past"?: (PastTurns | null); "cost"?: (CostBound | null) };

export type BoundOf = { "formula"?: string | null; "most"?: number | null };

export type PastTurns = { "turns": number; "tokens": Quantiles; "cost"?: (Quantiles2 | null) };

export type Quantiles = { "p50": number; "p90": number; "largest": number };

export type Quantiles2 = { "p50": number; "p90": number; "largest": number };

export type CostBound = { "tokens"?: number | null; "cost"?: number | null; "enforced": boolean };

export type CastBound = { "visits": BoundOf; "turns": BoundOf; "maxTurns"?: number | null; "cost"?: (CostBound | null) };

export type NoBound = { "socket": NodeId; "field": string };

export type Comparison = { "a": Compared; "b": Compared; "forkedAt"?: number | null; "rows": (ComparedTurn)[]; "routes": (ComparedRoute)[]; "variables": (ComparedValue)[]; "totals": ComparedTotals };

export type Compared = { "castId": RunId; "loadout": string; "request": string; "status": CastStatus; "forkedFrom"?: (RunId | null); "usage": UsageTotals };

export type ComparedTurn = { "socket": NodeId; "materia": string; "item"?: string | null; "itemLabel"?: string | null; "attempt": number; "verdict": ComparedVerdict; "differs"?: (ComparedAspect)[]; "a"?: (TurnSide | null); "b"?: (TurnSide | null); "prompt"?: (TwoTexts | null); "output"?: (TwoTexts | null) };

export type ComparedVerdict = ("same" | "differs" | "only_a" | "only_b");

export type ComparedAspect = ("outcome" | "prompt" | "output" | "route" | "cost");

export type TurnSide = { "seq": number; "outcome": Outcome; "satisfied"?: boolean | null; "to"?: (string)[]; "cost"?: number | null; "tokens"?: number | null; "durationMs"?: number | null };

export type TwoTexts = { "a": string; "b": string };

export type ComparedRoute = { "edge": EdgeId; "a": number; "b": number };

export type ComparedValue = { "path": string; "a"?: Json; "b"?: Json };

export type ComparedTotals = { "turns": Two; "tokens": Two; "cost": Two2; "durationMs": Two };

export type Two = { "a": number; "b": number };

export type Two2 = { "a"?: number | null; "b"?: number | null };

export type Choices = { "loadout": string; "choices": (Choice)[] };

export type Choice = { "socket": NodeId; "outcome": ChosenEnd; "items"?: number | null; "text"?: string | null };

export type ChosenEnd = ("satisfied" | "not_satisfied" | "done" | "items" | "fails");

export type Drafts = { "items": (DraftItem)[] };

export type DraftItem = { "id": string; "layer": string; "file": string; "base": string; "version": number; "updatedAt": string; "bytes": number };

export type Draft = { "id": string; "layer": string; "file": string; "base": string; "text": string; "history": Json; "version": number; "updatedAt": string };

export type DraftKept = { "version": number; "updatedAt": string };

export type DraftBody = { "layer": string; "file": string; "base": string; "text": string; "history"?: Json };

export type Difference = { "added": (Change)[]; "removed": (Change)[]; "changed": (Change)[] };

export type Change = { "kind": ChangedKind; "path": string; "name": string; "from"?: Json; "to"?: Json };

export type ChangedKind = ("loadout" | "socket" | "edge" | "loop" | "exit" | "materia" | "setting" | "layout");

export type DiffBody = { "from": string; "to": string };

export type Walk = { "steps": (WalkStep)[]; "asks": (WalkAsk)[]; "status": CastStatus; "message"?: string | null; "script": Json; "case": Json; "findings": (Finding)[] };

export type WalkStep = { "socket": NodeId; "materia": string; "visit": number; "item"?: string | null; "itemLabel"?: string | null; "outcome"?: (ChosenEnd | null); "routes": (WalkRoute)[] };

export type WalkRoute = { "edge"?: (EdgeId | null); "to": string; "exit"?: boolean };

export type WalkAsk = { "socket": NodeId; "materia": string; "visit": number; "item"?: string | null; "itemLabel"?: string | null; "outcomes": (ChosenEnd)[] };

export type WalkBody = { "project"?: string | null; "files"?: { [key: string]: string }; "loadout"?: string; "request"?: string; "choices"?: (Choice)[] };

export type ExploreView = { "explored"?: (ExploreBody | null); "walks": (ExploreWalk)[]; "findings": (Finding)[] };

export type ExploreBody = { "loadout": string; "items": (number)[]; "complete": boolean; "stopped"?: string | null; "states": number; "ends": { [key: string]: number }; "unreachedSockets": (NodeId)[]; "unreachedEdges": (EdgeId)[]; "findings": (ExploreFinding)[]; "properties"?: (PropertyAnswer)[]; "notes": (string)[] };

export type ExploreFinding = { "kind": ExploreKind; "message": string; "socket"?: (NodeId | null); "other"?: (NodeId | null); "edge"?: (EdgeId | null); "loop"?: string | null; "history": ExploredHistory };

export type ExploreKind = ("fails" | "stuck" | "waits" | "drops" | "itemsLeft" | "unset" | "race");

export type ExploredHistory = { "steps": number; "end": string; "visits": (NodeId)[]; "script": Script; "plays": boolean };

export type Script = { "turns"?: { [key: string]: (Answer)[] }; "utilities"?: { [key: string]: (UtilityAnswer)[] }; "repeatLast"?: boolean; "only"?: boolean; "runForMs"?: number | null; "timeline"?: (TimelineEntry)[] };

export type Answer = { "text"?: string | null; "json"?: Json; "usage"?: (TurnUsage | null); "delayMs"?: number | null; "error"?: string | null; "class"?: (FailureClass | null); "retryAfterMs"?: number | null; "writes"?: { [key: string]: string }; "artifacts"?: { [key: string]: string } };

export type UtilityAnswer = { "stdout"?: string | null; "stderr"?: string | null; "exitCode"?: number | null; "delayMs"?: number | null; "error"?: string | null };

export type TimelineEntry = { "atMs": number } & ({ "do": "offer"; "edge": string; "payload": Offered } | { "do": "trigger"; "node": NodeId; "message"?: string | null; "approve"?: boolean; "hash"?: string | null } | { "do": "approve"; "node": NodeId; "hash"?: string | null } | { "do": "deny"; "node": NodeId; "hash"?: string | null; "reason"?: string | null; "route"?: boolean } | { "do": "mode"; "value": Pace } | { "do": "pause" } | { "do": "globalMode"; "value": GlobalMode } | { "do": "crash" } | { "do": "say"; "node"?: (NodeId | null); "text": string } | { "do": "continue"; "node"?: (NodeId | null) } | { "do": "budget"; "budget": Budget } | { "do": "nodeBudget"; "node": NodeId; "budgets": NodeBudgets } | { "do": "resume"; "pace"?: (Pace | null) } | { "do": "recast" } | { "do": "revive" } | { "do": "skip"; "loop"?: string | null; "reason"?: string | null } | { "do": "stop"; "message"?: string | null } | { "do": "abort"; "reason"?: string | null });

export type PropertyAnswer = { "property": string; "answer": Proof; "counterexample"?: (ExploredHistory | null) };

export type Proof = ("proved" | "refuted" | "undecided");

export type ExploreWalk = { "choices"?: (Choice)[] | null; "reason"?: string | null };

export type ExploreRequest = { "project"?: string | null; "files"?: { [key: string]: string }; "loadout"?: string };

export type LinkView = { "ok": boolean; "findings": (Finding)[]; "graph"?: (Grid | null); "plan"?: (Plan | null); "loadout"?: Json };

export type LinkBody = { "project"?: string | null; "files"?: { [key: string]: string }; "parts"?: (string)[] };

export type Tried = { "exitCode"?: number | null; "stdout": string; "stderr": string; "output": Json; "durationMs": number; "error"?: string | null };

export type TryBody = { "project"?: string | null; "materia": string; "input": Json; "consent"?: string | null };

export type DemoView = { "available": boolean };
