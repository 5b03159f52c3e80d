// Holds the shapes that the page is written against to those that the server is described by: where a field that the
// page reads is gone there, or is of another kind, this file does not compile.
import type * as G from "./generated";
import type * as P from "./types";

/** The fields that both have, as the server has them. */
type Shared<Page, Server> = Pick<Server, keyof Page & keyof Server>;
/** The fields that the page needs and the server does not have. */
type Missing<Page, Server> = Exclude<RequiredKeys<Page>, keyof Server>;
type RequiredKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? never : K }[keyof T];
/** Whether the page may read what the server sends. */
type Fits<Page, Server> = Missing<Page, Server> extends never ? keyof Shared<Page, Server> : never;

type Held<T extends string> = T;

export type Checked = [
  Held<Fits<P.Summary, G.CastSummary>>,
  Held<Fits<P.TurnView, G.TurnView>>,
  Held<Fits<P.Cost, G.Cost>>,
  Held<Fits<P.InboxItem, G.InboxItem>>,
  Held<Fits<P.Given, G.GivenView>>,
  Held<Fits<P.Payload, G.Envelope>>,
  Held<Fits<P.TrustItem, G.TrustItem>>,
  Held<Fits<P.Problem, G.Problem>>,
  Held<Fits<P.Project, G.ProjectItem>>,
  Held<Fits<P.Usage, G.UsageTotals>>,
  Held<Fits<P.Layer, G.PromptLayer>>,
  Held<Fits<P.Comparison, G.Comparison>>,
  Held<Fits<P.ComparedTurn, G.ComparedTurn>>,
  Held<Fits<P.TurnSide, G.TurnSide>>,
  Held<Fits<P.Workspace, G.WorkspaceBody>>,
  Held<Fits<P.WorkspaceDiff, G.WorkspaceDiff>>,
];

/** Nothing is missing: a type that is `never` is no value. */
export const missing: Record<
  | Missing<P.Summary, G.CastSummary>
  | Missing<P.TurnView, G.TurnView>
  | Missing<P.Cost, G.Cost>
  | Missing<P.InboxItem, G.InboxItem>
  | Missing<P.Given, G.GivenView>
  | Missing<P.Payload, G.Envelope>
  | Missing<P.TrustItem, G.TrustItem>
  | Missing<P.Problem, G.Problem>
  | Missing<P.Project, G.ProjectItem>
  | Missing<P.Usage, G.UsageTotals>
  | Missing<P.Layer, G.PromptLayer>
  | Missing<P.Comparison, G.Comparison>
  | Missing<P.ComparedTurn, G.ComparedTurn>
  | Missing<P.TurnSide, G.TurnSide>
  | Missing<P.Workspace, G.WorkspaceBody>
  | Missing<P.WorkspaceDiff, G.WorkspaceDiff>,
  true
> = {};
/** The words of states are the same. */
export const words: [
  P.CastStatus extends G.CastStatus ? (G.CastStatus extends P.CastStatus ? true : never) : never,
  P.SocketState extends G.SocketState ? (G.SocketState extends P.SocketState ? true : never) : never,
] = [true, true];
