// One bound of a new cast, beside what past casts took.
import { cx } from "../../shared/cx";
import { Input } from "../../shared/Field";
import css from "./launch.module.css";

/** Half and nine tenths of what past casts took. */
export function usual(values: number[]): { half: number; most: number; all: number[] } | null {
  const sorted = values.filter((value) => value > 0).sort((a, b) => a - b);
  if (sorted.length < 3) return null;
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { half: at(0.5), most: at(0.9), all: sorted };
}

export function Bound(props: {
  name: string;
  value: string;
  onChange: (value: string) => void;
  past: number[];
  show: (value: number) => string;
}) {
  const id = `max-${props.name.toLowerCase()}`;
  const range = usual(props.past);
  const limit = Number(props.value);
  const end = Math.max(limit || 0, range ? (range.all.at(-1) ?? 0) * 1.1 : 0) || 1;
  return (
    <div className={css.bound}>
      <label htmlFor={id}>{props.name}</label>
      <Input
        id={id}
        className="r"
        inputMode="decimal"
        value={props.value}
        placeholder="none"
        data-testid={id}
        onChange={(event) => props.onChange(event.target.value.replace(/[^0-9.]/g, ""))}
      />
      <span className={cx(css.range, !(range || limit) && css.none)} aria-hidden="true">
        {range ? (
          <i style={{ left: `${(range.half / end) * 100}%`, width: `${((range.most - range.half) / end) * 100}%` }} />
        ) : null}
        {limit ? <b style={{ left: `${(limit / end) * 100}%` }} /> : null}
      </span>
      <span className="faint sm">{range ? `${props.show(range.half)} to ${props.show(range.most)} usual` : ""}</span>
    </div>
  );
}
