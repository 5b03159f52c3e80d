// What the graph is told of each card, line and region, and how its library wants to hear it.
import type { Edge, Node } from "@xyflow/react";
import type { SocketState } from "../api/generated";
import type { ItemGroup } from "./groups";
import type { Point } from "./layout";
import type { Line } from "./rows";

export interface CardView {
  state: SocketState;
  word: string;
  /** Small print at the right: item and visit. */
  note: string;
  /** The newest line that it put out. */
  live: string;
  /** A hexagon: it asks before it runs. */
  gate: boolean;
  /** The materia's own colour, already found to be one. */
  color?: string | null;
}
export interface LineView {
  lit: boolean;
  flash: boolean;
  taken: number;
  partial: boolean;
  note: string;
  spent: boolean;
}
export interface RegionView {
  /** Its items; where they are many, neighbours share a cell. */
  cells: ItemGroup[];
  text: string;
  note: string;
  current: string | null;
  /** The title of the item that a person looks at. */
  locked: string | null;
}
export const NO_ITEMS: RegionView = { cells: [], text: "", note: "", current: null, locked: null };

export type CardNode = Node<
  {
    card: CardView;
    id: string;
    name: string;
    kind: string;
    generator: boolean;
    consumer: boolean;
    entry: boolean;
    selected: boolean;
    onSelect: (id: string) => void;
  },
  "socket"
>;
export type RegionNode = Node<
  { id: string; view: RegionView; item: string | null; onItem: (item: string | null) => void },
  "region"
>;
export type EndNode = Node<{ fails: boolean }, "end">;
export type LineEdge = Edge<
  {
    line: Line;
    points: Point[];
    label: Point;
    double: boolean;
    view: LineView | undefined;
    inside: boolean;
    feedBead: Point | null;
    name: string;
    selected: boolean;
    onSelect: (id: string) => void;
  },
  "line"
>;
