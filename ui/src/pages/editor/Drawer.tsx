// The drawer: the same document as a tree, as text, as a walk and with all its histories; beside it what was found.
import { memo } from "react";
import { cx } from "../../shared/cx";
import { later } from "../../shared/later";
import { Tabs } from "../../shared/parts";
import { changeSearch } from "../../shared/router";
import { Explore } from "./Explore";
import css from "./editor.module.css";
import { Outline } from "./Outline";
import { Problems, ProblemsTitle } from "./Problems";
import { Simulate } from "./Simulate";
import type { EditorStore } from "./store";

const JsonPane = later(async () => (await import("./JsonPane")).JsonPane);

export type DrawerTab = "outline" | "json" | "simulate" | "explore";

export const Drawer = memo(function Drawer({ store, tab }: { store: EditorStore; tab: DrawerTab }) {
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
          onPick={(drawer) => changeSearch({ drawer })}
        />
        <span className="grow" />
        <span className="xs faint mono">{store.state.file}</span>
      </div>
      <div className={cx(css.dh, css.side)}>
        <ProblemsTitle store={store} />
      </div>
      <div id="drawer-body" className={css.dbody} role="tabpanel" aria-labelledby={`drawer-${tab}`}>
        {tab === "outline" ? <Outline store={store} /> : null}
        {tab === "json" ? <JsonPane store={store} /> : null}
        {tab === "simulate" ? <Simulate store={store} /> : null}
        {tab === "explore" ? <Explore store={store} /> : null}
      </div>
      <Problems store={store} />
    </section>
  );
});
