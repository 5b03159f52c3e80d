// Command lines that do what a button does. Each names its project, so that it can be typed in any folder.
import css from "./cli.module.css";
import { cx } from "./cx";
import { useProjects } from "./live";
import { CopyButton, Foreign } from "./parts";
import { useSearch } from "./router";
import { quoted } from "./text";

/** The line for a project: the one that is named, else that of the page; `false` for none. */
export function useLine(words: string[], project?: string | null | false): string {
  const projects = useProjects();
  const [search] = useSearch();
  const id = project ?? search.get("project");
  const served = id ? projects.find((one) => one.id === id) : projects.length === 1 ? projects[0] : undefined;
  const [program = "", ...rest] = words;
  const dir = project === false ? undefined : served?.dir;
  return [program, ...(dir ? ["-C", dir] : []), ...rest].map(quoted).join(" ");
}

/** The command line that does the same as a button. */
export function Cli(props: { words: string[]; bare?: boolean; project?: string | null | false }) {
  const { words, bare = false, project } = props;
  const text = useLine(words, project);
  return (
    <div className={cx(css.cli, bare && css.bare)} data-testid="cli">
      {bare ? null : (
        <span className="faint" aria-hidden="true">
          $
        </span>
      )}
      <Foreign as="code" className={bare ? "cut" : ""} text={text} />
      <CopyButton text={text} label="Copy the command" />
    </div>
  );
}
