// Command lines that somebody is asked about, whole.
import { Foreign } from "./parts";
import css from "./runs.module.css";

export function Runs({ items }: { items: string[] }) {
  return (
    <ul className={css.runs}>
      {items.map((run) => (
        <Foreign as="li" key={run} className="mono" text={run} mixed />
      ))}
    </ul>
  );
}
