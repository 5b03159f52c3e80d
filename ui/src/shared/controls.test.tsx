// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { Pause } from "lucide-react";
import { useState } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { drawn, serve } from "../testing/served";
import { useOnce } from "./ask";
import { NotOpened } from "./Boundary";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { DiffView } from "./DiffView";
import { FindField } from "./FindField";
import { JsonText } from "./JsonTree";
import { Keys } from "./keys";
import { Linked } from "./Linked";
import { Pop } from "./Pop";
import { CopyButton, Foreign, Meter, Reading } from "./parts";
import { Link } from "./router";
import { Check, Fact, Findings, Table } from "./Table";
import { useKeydown } from "./useKeydown";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function Finder({ onTake }: { onTake: (at: number) => void }) {
  const [at, setAt] = useState(0);
  return <FindField aria-label="Find" count={2} at={at} setAt={setAt} onWords={() => {}} onTake={() => onTake(at)} />;
}

function Hears({ name, heard }: { name: string; heard: string[] }) {
  useKeydown((event) => heard.push(name + event.key));
  return null;
}

function Once({ act }: { act: (word: string) => Promise<string> }) {
  const { run, busy, done } = useOnce(act);
  return (
    <Button onClick={() => run("said")} aria-busy={busy}>
      {done ?? "say"}
    </Button>
  );
}

test("a button submits nothing and has its sign", () => {
  render(
    <Button look="primary" icon={Pause} testid="pause">
      Pause
    </Button>,
  );
  const button = screen.getByTestId("pause");
  expect(button.getAttribute("type")).toBe("button");
  expect(button.className).toBe("btn primary");
  expect(button.querySelector("svg")).not.toBeNull();
});

test("a table has a head for each column, and those that have a width keep it", () => {
  render(
    <Table columns={[["Name", 120], ["Text"], ["Cost", 60, "r"]]}>
      <tbody />
    </Table>,
  );
  expect(screen.getAllByRole("columnheader").map((one) => one.textContent)).toEqual(["Name", "Text", "Cost"]);
  expect(screen.getByRole("columnheader", { name: "Cost" }).className).toBe("r");
  expect([...document.querySelectorAll("col")].map((one) => one.style.width)).toEqual(["120px", "", "60px"]);
});

test("a fact that is not known is left out", () => {
  render(
    <dl>
      <Fact name="Folder" className="mono">
        /tmp
      </Fact>
      <Fact name="Limit">{null}</Fact>
    </dl>,
  );
  expect(screen.getByText("Folder").nextElementSibling?.className).toBe("mono");
  expect(screen.queryByText("Limit")).toBeNull();
});

test("a box to tick tells whether it is ticked", () => {
  const onTick = vi.fn();
  render(<Check onTick={onTick}>Include changes</Check>);
  fireEvent.click(screen.getByRole("checkbox", { name: "Include changes" }));
  expect(onTick).toHaveBeenCalledWith(true);
});

test("findings have their code, their words and where it is wished their help, all as text", () => {
  const items = [{ code: "graph::no-entry", message: "no <b>entry</b>", help: "name one" }];
  const { rerender } = render(<Findings items={items} />);
  expect(screen.getByRole("listitem").textContent).toBe("graph::no-entry no <b>entry</b>");
  rerender(<Findings items={items} help />);
  expect(screen.getByText("name one")).toBeTruthy();
});

test("text of others stands in the element that is asked for", () => {
  render(<Foreign as="code" className="cut" data-testid="foreign" text={"a\u202eb"} />);
  const holder = screen.getByTestId("foreign");
  expect(holder.tagName).toBe("CODE");
  expect(holder.textContent).toBe("aU+202Eb");
  expect(holder.querySelector(".odd")?.textContent).toBe("U+202E");
});

test("what is yet to come and what could not be opened say so", () => {
  drawn(
    <>
      <Reading what="Reading both casts…" />
      <NotOpened title="Demo" error={new Error("There is none.")} to="/casts" all="All casts" />
    </>,
  );
  expect(screen.getByRole("status").textContent).toBe("Reading both casts…");
  expect(screen.getByRole("alert").textContent).toBe("There is none.");
  expect(screen.getByRole("link", { name: "All casts" }).getAttribute("href")).toBe("/casts");
});

test("a list that is found by words is walked and taken with keys", () => {
  const taken = vi.fn();
  render(<Finder onTake={taken} />);
  const field = screen.getByRole("textbox");
  for (const key of ["ArrowDown", "ArrowDown", "Enter"]) fireEvent.keyDown(field, { key });
  expect(taken).toHaveBeenCalledWith(1);
});

test("event numbers of a sentence are links, names are code", () => {
  const onEvent = vi.fn();
  render(<Linked text="`Build` ran because of events 3 and 12" onEvent={onEvent} />);
  expect(screen.getByText("Build").tagName).toBe("CODE");
  fireEvent.click(screen.getByRole("button", { name: "12" }));
  expect(onEvent).toHaveBeenCalledWith(12);
});

test("a difference has signs and numbers, other text and values stay as they are", () => {
  const { rerender } = render(<DiffView text={"@@ -1 +1 @@\n-old\n+new\n"} />);
  expect(document.querySelector(".add")?.textContent).toBe("1+new");
  expect(document.querySelector(".del")?.textContent).toBe("1−old");
  rerender(<DiffView text="no difference" />);
  expect(screen.getByText("no difference").tagName).toBe("PRE");
  rerender(<JsonText value={{ a: [1] }} />);
  expect(document.querySelector("pre")?.textContent).toBe('{\n  "a": [\n    1\n  ]\n}');
});

test("a text is copied, and the button says that it was", async () => {
  const writeText = vi.fn(async () => {});
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  render(<CopyButton text="materia casts" label="Copy the command" />);
  fireEvent.click(screen.getByRole("button", { name: "Copy the command" }));
  await screen.findByRole("button", { name: "Copied" });
  expect(writeText).toHaveBeenCalledWith("materia casts");
});

test("a meter warns from three quarters on and is never over its end", () => {
  const { container, rerender } = render(<Meter spent={1} limit={4} />);
  expect(container.querySelector(".warn")).toBeNull();
  rerender(<Meter spent={9} limit={4} />);
  expect(container.querySelector(".warn i")?.getAttribute("style")).toContain("100%");
});

test("a sheet is closed with Escape, and the keys of the page are in one", () => {
  const onClose = vi.fn();
  drawn(
    <Dialog label="Question" onClose={onClose}>
      <p>Sure?</p>
    </Dialog>,
  );
  fireEvent.keyDown(screen.getByText("Sure?"), { key: "Escape" });
  expect(onClose).toHaveBeenCalledOnce();
  drawn(<Keys onClose={() => {}} />);
  expect(screen.getByText("find casts, sockets, events, pages")).toBeTruthy();
});

test("a small sheet has its content while it is open, and its button says so", () => {
  const sheet = (open: boolean) => (
    <Pop open={open} onOpen={() => {}} opener={{ children: "More" }}>
      <p>Inside</p>
    </Pop>
  );
  const { rerender } = render(sheet(false));
  expect(screen.queryByText("Inside")).toBeNull();
  rerender(sheet(true));
  expect(screen.getByText("Inside")).toBeTruthy();
  expect(screen.getByRole("button", { name: "More" }).getAttribute("aria-expanded")).toBe("true");
});

test("a link goes there without loading the page, unless another window is asked for", () => {
  render(<Link to="/inbox">Inbox</Link>);
  fireEvent.click(screen.getByRole("link"));
  expect(location.pathname).toBe("/inbox");
});

test("keys are heard with what was drawn last, and not after the part is gone", () => {
  const heard: string[] = [];
  const { rerender, unmount } = render(<Hears name="a" heard={heard} />);
  rerender(<Hears name="b" heard={heard} />);
  fireEvent.keyDown(document.body, { key: "x" });
  unmount();
  fireEvent.keyDown(document.body, { key: "y" });
  expect(heard).toEqual(["bx"]);
});

test("what a person does is done once at a time, and again when it is over", async () => {
  serve({});
  let free = () => {};
  const act = vi.fn((word: string) => new Promise<string>((done) => (free = () => done(word))));
  drawn(<Once act={act} />);
  const button = screen.getByRole("button");
  fireEvent.click(button);
  fireEvent.click(button);
  await vi.waitFor(() => expect(act).toHaveBeenCalledOnce());
  free();
  await screen.findByText("said");
  fireEvent.click(button);
  await vi.waitFor(() => expect(act).toHaveBeenCalledTimes(2));
});
