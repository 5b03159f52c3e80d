// What kind a socket is, by its shape. A materia's own colour fills it and nothing else.
import type { ReactNode } from "react";
import { materiaColor } from "../shared/color";
import { cx } from "../shared/cx";
import css from "./graph.module.css";

const shapes: Record<string, { label: string; body: ReactNode }> = {
  agent: {
    label: "agent",
    body: (
      <>
        <circle className={css.own} cx="8" cy="8" r="5.5" />
        <path d="M5.1 7.2a3.2 3.2 0 0 1 2-2.1" />
      </>
    ),
  },
  utility: { label: "utility", body: <path d="m3 4.5 3.5 3.5L3 11.500M8.500 12H13" /> },
  generator: {
    label: "generator",
    body: (
      <>
        <path className={css.own} d="M8 2.300 14 5.500 8 8.700 2 5.500z" />
        <path d="m2 8.300 6 3.200 6-3.200M2 11.100l6 3.200 6-3.200" />
      </>
    ),
  },
};

/** What a socket is to the items of a loop, in words: it makes them, or takes them one by one. */
export function Badges({ generator, consumer }: { generator: boolean; consumer: boolean }) {
  if (!generator && !consumer) return null;
  return (
    <span className={css.badges}>
      {generator ? <span className={css.badge}>Generator</span> : null}
      {consumer ? <span className={css.badge}>Loop consumer</span> : null}
    </span>
  );
}

interface KindProps {
  kind: string;
  color?: string | null | undefined;
}

function lookOf(color: KindProps["color"]) {
  const own = materiaColor(color);
  return { className: cx(css.kind, "ico", own && css.owned), ...(own ? { style: { color: own } } : {}) };
}

/** The same sign within a picture, at a place of it. */
export function KindSign({ kind, x, y, color }: KindProps & { x: number; y: number }) {
  return (
    <g {...lookOf(color)} transform={`translate(${x} ${y}) scale(0.875)`}>
      {(shapes[kind] ?? shapes.agent)?.body}
    </g>
  );
}

export function KindIcon({ kind, color }: KindProps) {
  const { label, body } = shapes[kind] ?? shapes.agent ?? { label: kind, body: null };
  return (
    <svg {...lookOf(color)} viewBox="0 0 16 16" role="img" aria-label={label}>
      {body}
    </svg>
  );
}
