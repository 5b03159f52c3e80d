// @vitest-environment happy-dom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { listed, loadedStore, serveDemo, summary } from "../testing/demo";
import { drawn, openAt } from "../testing/served";
import { watch } from "./live";
import { useLive } from "./live-state";
import { Palette } from "./Palette";

afterEach(cleanup);

const cast = summary("c1", "Mend the parser", { status: "failed", loadout: "Pair" });
function opened() {
  const onClose = vi.fn();
  useLive.setState({ casts: listed(cast) });
  drawn(<Palette onClose={onClose} />);
  return { onClose, field: screen.getByRole("textbox") };
}
const hits = () => screen.getAllByRole("listitem").map((one) => one.textContent);

test("pages and casts are found by their words, their loadout and their id", () => {
  openAt("/casts");
  const { field } = opened();
  expect(document.activeElement).toBe(field);
  expect(hits()).toEqual(["New cast", "Casts", "Inbox", "Loadouts", "Materia", "Settings", "Mend the parserc1Failed"]);
  fireEvent.change(field, { target: { value: "parser pair" } });
  expect(hits()).toEqual(["Mend the parserc1Failed"]);
  fireEvent.change(field, { target: { value: "nothing like it" } });
  expect(screen.getByText("No results.")).toBeDefined();
});

test("the marked one is walked to with the arrow keys and taken with Enter", () => {
  openAt("/casts");
  const { field, onClose } = opened();
  for (const key of ["ArrowDown", "ArrowDown"]) fireEvent.keyDown(field, { key });
  expect(screen.getByRole("button", { current: true }).textContent).toBe("Inbox");
  fireEvent.keyDown(field, { key: "Enter" });
  expect(onClose).toHaveBeenCalledOnce();
  expect(location.pathname).toBe("/inbox");
});

test("Enter goes nowhere while nothing is found", () => {
  openAt("/casts");
  const { field, onClose } = opened();
  fireEvent.change(field, { target: { value: "zzz" } });
  fireEvent.keyDown(field, { key: "Enter" });
  expect(onClose).not.toHaveBeenCalled();
});

test("in a cast its sockets and events are found too", async () => {
  openAt("/casts/demo?project=p");
  serveDemo(80);
  const leave = watch(await loadedStore());
  const { field } = opened();
  fireEvent.change(field, { target: { value: "44" } });
  expect(hits()).toEqual(["Event 44", "Events with “44”in this cast"]);
  fireEvent.change(field, { target: { value: "build" } });
  fireEvent.click(screen.getByRole("button", { name: "Build Socket-2" }));
  expect(new URLSearchParams(location.search).get("socket")).toBe("Socket-2");
  leave();
});
