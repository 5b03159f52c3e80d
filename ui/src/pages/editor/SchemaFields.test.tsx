// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { JsonObject } from "../../document";
import { drawn } from "../../testing/served";
import { labelOf, SchemaFields, SchemaGroups } from "./SchemaFields";

afterEach(cleanup);

const SOCKET = ["loadouts", "*", "sockets", "*"];
function fields(names: string[], raw: JsonObject = {}, off = false) {
  const put = vi.fn();
  const form = (now: JsonObject) => <SchemaFields place={SOCKET} raw={now} names={names} off={off} put={put} />;
  const { rerender } = drawn(form(raw));
  return { put, again: (now: JsonObject) => rerender(form(now)) };
}
const type = (name: string, value: string) => fireEvent.change(screen.getByLabelText(name), { target: { value } });

test("a name of the schema is read as words", () => {
  expect(["maxInFlight", "timeoutMs", "cwd"].map(labelOf)).toEqual(["Max in flight", "Timeout, ms", "Cwd"]);
});

test("a choice has the words of the schema, and none of them takes the field away", () => {
  const { put, again } = fields(["consume"]);
  const words = within(screen.getByLabelText("Consume")).getAllByRole("option");
  expect(words.map((one) => one.textContent)).toEqual(["default", "all", "one"]);
  type("Consume", "one");
  expect(put).toHaveBeenLastCalledWith(["consume"], "one");
  again({ consume: "one" });
  type("Consume", "");
  expect(put).toHaveBeenLastCalledWith(["consume"], undefined);
});

test("a number is written as a number; what is none is not written", () => {
  const { put } = fields(["timeoutMs"]);
  type("Timeout, ms", "3000");
  expect(put).toHaveBeenLastCalledWith(["timeoutMs"], 3000);
  put.mockClear();
  type("Timeout, ms", "3 s");
  expect(put).not.toHaveBeenCalled();
  type("Timeout, ms", "");
  expect(put).toHaveBeenLastCalledWith(["timeoutMs"], undefined);
});

test("names are written as a list, and stay as they are typed", () => {
  const { put, again } = fields(["dependsOn"]);
  type("Depends on", "Socket-1, ");
  expect(put).toHaveBeenLastCalledWith(["dependsOn"], ["Socket-1"]);
  again({ dependsOn: ["Socket-1"] });
  expect(screen.getByLabelText("Depends on")).toHaveProperty("value", "Socket-1, ");
});

test("an object has its own fields, with their way in their names", () => {
  const { put } = fields(["budgets"]);
  type("Budgets, Turns", "4");
  expect(put).toHaveBeenCalledWith(["budgets", "turns"], 4);
});

test("what cannot be changed cannot be typed into", () => {
  fields(["consume", "timeoutMs"], { timeoutMs: 5 }, true);
  for (const name of ["Consume", "Timeout, ms"]) expect(screen.getByLabelText(name)).toHaveProperty("disabled", true);
});

test("a group is open where one of its fields is set, and every field of the schema is somewhere", () => {
  drawn(
    <SchemaGroups
      place={SOCKET}
      raw={{ consume: "one" }}
      off={false}
      put={vi.fn()}
      groups={[
        ["Limits", ["timeoutMs"]],
        ["Input", ["consume"]],
      ]}
      elsewhere={["materia"]}
    />,
  );
  expect(screen.getByTestId("group-Input").closest("details")?.open).toBe(true);
  expect(screen.getByTestId("group-Limits").closest("details")?.open).toBe(false);
  expect(screen.getByTestId("group-More")).toBeDefined();
});
