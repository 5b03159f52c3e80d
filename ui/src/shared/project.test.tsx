// @vitest-environment happy-dom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { project } from "../testing/demo";
import { drawn, openAt, serve } from "../testing/served";
import { Cli } from "./Cli";
import { ProjectName, WhichProject } from "./project";
import { Link } from "./router";

afterEach(cleanup);

const other = { id: "q", dir: "/home/ada/my other", name: "other" };
function opened(search: string, items = [project, other]) {
  openAt(`/loadouts${search}`);
  serve({ "/projects": { items } });
  drawn(
    <>
      <ProjectName />
      <Cli words={["materia", "casts"]} />
      <Link to="/materia">Materia</Link>
      <WhichProject />
    </>,
  );
}

test("the only project needs no choice: it is named, and commands run in it", async () => {
  opened("", [project]);
  expect((await screen.findByTestId("project-name")).textContent).toBe("greet");
  expect(screen.getByTestId("cli").textContent).toContain("materia -C /home/ada/greet casts");
  expect(screen.getByRole("link", { name: "Materia" }).getAttribute("href")).toBe("/materia");
});

test("one of several is chosen once, and links keep it", async () => {
  opened("");
  expect((await screen.findByTestId("project-name")).textContent).toBe("All projects");
  expect(screen.getByTestId("cli").textContent).toContain("$materia casts");
  fireEvent.click(screen.getByTestId("project-other"));
  await waitFor(() => expect(screen.getByTestId("project-name").textContent).toBe("other"));
  expect(screen.getByTestId("cli").textContent).toContain("materia -C '/home/ada/my other' casts");
  expect(screen.getByRole("link", { name: "Materia" }).getAttribute("href")).toBe("/materia?project=q");
});

test("a project that the server does not serve is said to be so, and another can be chosen", async () => {
  opened("?project=gone");
  await screen.findByText("The server does not serve the project of this address.");
  fireEvent.click(screen.getByTestId("project-greet"));
  await waitFor(() => expect(location.search).toBe("?project=p"));
});

test("until the projects are read the page says so", () => {
  opened("", []);
  expect(screen.getByText("Reading the projects…")).toBeDefined();
});
