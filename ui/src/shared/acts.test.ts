import { expect, test } from "vitest";
import { commandLine, startLine } from "./acts";

test("each act has its command line", () => {
  const line = (act: Parameters<typeof commandLine>[1]) => commandLine("c1", act).join(" ");
  expect(line({ do: "approve", node: "merge" })).toBe("materia approve c1 merge");
  expect(line({ do: "deny", node: "merge", reason: "no", route: true })).toBe(
    "materia deny c1 merge --reason no --route",
  );
  expect(line({ do: "mode", value: "INTERACTIVE" })).toBe("materia mode c1 INTERACTIVE");
  expect(line({ do: "fork", at: 30 })).toBe("materia fork c1 --at 30");
  expect(line({ do: "budget", budget: { maxTurns: 80, maxCost: 2.5 } })).toBe(
    "materia budget c1 --max-turns 80 --max-cost 2.5",
  );
  expect(line({ do: "nodeBudget", node: "a", budgets: { turns: 3, timeMs: 5000 } })).toBe(
    "materia budget c1 --node a --max-turns 3 --max-time-ms 5000",
  );
  expect(line({ do: "trigger", node: "a", message: "again", approve: true })).toBe(
    "materia trigger c1 a again --approve",
  );
  expect(line({ do: "skip" })).toBe("materia skip c1");
  expect(line({ do: "skip", loop: "workItems", reason: "enough" })).toBe("materia skip c1 workItems --reason enough");
  expect(line({ do: "resume" })).toBe("materia resume c1");
  expect(line({ do: "resume", putBack: true })).toBe("materia resume c1 --put-back");
  expect(line({ do: "applyWorkspace" })).toBe("materia workspace c1 --apply");
  expect(line({ do: "dropWorkspace" })).toBe("materia workspace c1 --drop");
  expect(startLine({ request: "do it", workspace: "own", includeChanges: true }).join(" ")).toBe(
    "materia cast --workspace own --include-changes do it",
  );
  expect(line({ do: "pause" })).toBe("materia pause c1");
  expect(startLine({ request: "do it", loadout: "Demo", planning: true, budget: { maxTokens: 5 } }).join(" ")).toBe(
    "materia cast --loadout Demo --planning --max-tokens 5 do it",
  );
});
