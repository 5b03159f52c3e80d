// Beginnings of loadouts, and small graphs that can be put into one.
import type { JsonObject } from "./loadout";

export interface Template {
  name: string;
  description: string;
  loadout: JsonObject;
}

export const templates: Template[] = [
  {
    name: "Review until good",
    description: "Two sockets and a way back.",
    loadout: {
      entry: "Socket-1",
      sockets: {
        "Socket-1": { materia: "Build", edges: [{ when: "always", to: "Socket-2" }] },
        "Socket-2": {
          materia: "Auto-Eval",
          edges: [
            { when: "satisfied", to: "end" },
            { when: "not_satisfied", to: "Socket-1", maxTraversals: 3 },
          ],
        },
      },
    },
  },
  {
    name: "Loop over items",
    description: "A plan, then build, judge and commit each item.",
    loadout: {
      entry: "Socket-1",
      sockets: {
        "Socket-1": { materia: "Auto-Plan", edges: [{ when: "always", to: "Socket-2" }] },
        "Socket-2": { materia: "Build", edges: [{ when: "always", to: "Socket-3" }] },
        "Socket-3": {
          materia: "Auto-Eval",
          edges: [
            { when: "satisfied", to: "Socket-4" },
            { when: "not_satisfied", to: "Socket-2", maxTraversals: 3 },
          ],
        },
        "Socket-4": {
          materia: "Maintain",
          advance: { cursor: "workItemIndex", when: "satisfied" },
          edges: [
            { when: "not_satisfied", to: "Socket-2", maxTraversals: 3 },
            { when: "always", to: "Socket-2" },
          ],
        },
      },
      loops: {
        workItemIteration: {
          sockets: ["Socket-2", "Socket-3", "Socket-4"],
          consumes: { from: "Socket-1", output: "workItems" },
          exits: [{ id: "exit:Socket-4:always", from: "Socket-4", condition: "always", targetSocketId: "end" }],
        },
      },
    },
  },
  {
    name: "Build, then tell",
    description: "Two sockets in a row.",
    loadout: {
      entry: "Socket-1",
      sockets: {
        "Socket-1": { materia: "Build", edges: [{ when: "always", to: "Socket-2" }] },
        "Socket-2": { materia: "Narrate", edges: [{ when: "always", to: "end" }] },
      },
    },
  },
];
