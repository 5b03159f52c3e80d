// Which project is looked at. The address names it; where it does not and several are served, the page asks.
import { FolderGit2 } from "lucide-react";
import type { ReactNode } from "react";
import type { ProjectItem } from "../api/generated";
import { useProjects } from "./live";
import { Empty, Fault, Foreign } from "./parts";
import css from "./project.module.css";
import { useSearch } from "./router";

/** The project of the address, else the only one that is served, else none. */
export function useProject(): ProjectItem | null {
  const projects = useProjects();
  const [search] = useSearch();
  const wanted = search.get("project");
  if (wanted) return projects.find((one) => one.id === wanted) ?? null;
  return projects.length === 1 ? (projects[0] ?? null) : null;
}

/** Names the project of the page at its top. */
export function ProjectName() {
  const project = useProject();
  const projects = useProjects();
  if (!project && projects.length < 2) return null;
  return (
    <span className={css.project} title={project?.dir} data-testid="project-name">
      <FolderGit2 className="ico s" />
      <Foreign as="span" className="cut" text={project ? project.name : "All projects"} />
    </span>
  );
}

/** Asks for the project; the answer goes into the address. */
export function WhichProject({ title = "In which project?", children }: { title?: string; children?: ReactNode }) {
  const projects = useProjects();
  const [search, change] = useSearch();
  const wanted = search.get("project");
  if (projects.length === 0) return <Empty>Reading the projects…</Empty>;
  return (
    <section className={css.which} aria-label={title} data-testid="which-project">
      <h2>{title}</h2>
      {wanted ? <Fault>The server does not serve the project of this address.</Fault> : null}
      <ul>
        {projects.map((one, index) => (
          <li key={one.id}>
            <button
              type="button"
              data-autofocus={index === 0 ? true : undefined}
              data-testid={`project-${one.name}`}
              onClick={() => change({ project: one.id })}
            >
              <Foreign as="strong" text={one.name} />
              <Foreign as="span" className="mono dim" text={one.dir} mixed />
            </button>
          </li>
        ))}
      </ul>
      {children}
    </section>
  );
}
