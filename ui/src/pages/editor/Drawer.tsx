// The drawer: the same document as a tree, as text, as a walk and with all its histories; beside it what was found.
import { useMemo } from "react";
import type { Walk } from "../../api/generated";
import { cx } from "../../shared/cx";
import { later } from "../../shared/later";
import { Tabs } from "../../shared/parts";
import { Explore } from "./Explore";
import css from "./editor.module.css";
import type { Explored, Play } from "./explored";
import type { FormProps } from "./fields";
import { Outline } from "./Outline";
import { Problems, summary } from "./Problems";
import { Simulate } from "./Simulate";
import { marksOf } from "./views";

const JsonPane = later(async () => (await import("./JsonPane")).JsonPane);

export type DrawerTab = "outline" | "json" | "simulate" | "explore";

interface DrawerProps extends FormProps {
  tab: DrawerTab;
  onTab: (tab: DrawerTab) => void;
  onWalk: (walk: Walk | null) => void;
  play: Play | null;
  onPlay: (play: Play | null) => void;
  explored: Explored;
}

export function Drawer(props: DrawerProps) {
  const { store, state, findings, tab, onTab, onWalk, play, onPlay, explored } = props;
  const { loadout } = state;
  const marks = useMemo(() => (loadout ? marksOf(loadout, findings) : new Map()), [loadout, findings]);
  return (
    <section className={css.drawer} aria-label="Drawer">
      <div className={css.dh}>
        <Tabs
          name="drawer"
          label="Drawer"
          items={[
            { id: "outline", label: "Outline" },
            { id: "json", label: "JSON" },
            { id: "simulate", label: "Simulate" },
            { id: "explore", label: "Explore" },
          ]}
          now={tab}
          onPick={onTab}
        />
        <span className="grow" />
        <span className="xs faint mono">{state.file}</span>
      </div>
      <div className={cx(css.dh, css.side)}>
        <h2 className="sm strong">
          Problems <span className="faint">{summary(findings)}</span>
        </h2>
      </div>
      <div id="drawer-body" className={css.dbody} role="tabpanel" aria-labelledby={`drawer-${tab}`}>
        {tab === "outline" ? <Outline store={store} state={state} marks={marks} /> : null}
        {tab === "json" ? <JsonPane store={store} state={state} findings={findings} /> : null}
        {tab === "simulate" ? <Simulate state={state} onWalk={onWalk} play={play} onPlay={onPlay} /> : null}
        {tab === "explore" ? <Explore store={store} fault={state.fault} explored={explored} onPlay={onPlay} /> : null}
      </div>
      <Problems store={store} state={state} findings={findings} />
    </section>
  );
}
