// At the end of the demo: what a reader could do next.
import { useState } from "react";
import type { CastState } from "../../fold";
import { Confirm, type Target } from "../../shared/ActButton";
import { Button, LinkButton } from "../../shared/Button";
import { Cli } from "../../shared/Cli";
import { cx } from "../../shared/cx";
import { isDemo, keepDemo } from "../../shared/demo";
import { Pop } from "../../shared/Pop";
import { State } from "../../shared/parts";
import { navigate } from "../../shared/router";
import css from "./style.module.css";

export function DemoEnd({ state, target }: { state: CastState; target: Target }) {
  const [closed, setClosed] = useState(false);
  const [own, setOwn] = useState(false);
  if (closed || state.status !== "completed" || !isDemo(state.castId)) return null;
  const back = state.marks.find((mark) => mark.kind === "back");
  return (
    <section className={cx(css.banner, "st done")} aria-label="What next" data-testid="demo-end">
      <State state="done" word="The demo is done" />
      <span className="grow">
        Every step is an event. Go back to any event with the time bar, or fork the cast from it.
      </span>
      {back ? (
        <Confirm
          target={target}
          act={{ do: "fork", at: back.seq }}
          testid="demo-fork"
          title={`Fork at event ${back.seq}, where the work was sent back`}
          text="A new cast starts with everything that this cast had at that event. This cast does not change."
          verb="Fork from the rework"
          onDone={(done) => done.castId && navigate(`/casts/${encodeURIComponent(done.castId)}`)}
        >
          Fork from the rework
        </Confirm>
      ) : null}
      <LinkButton to={`/loadouts/${encodeURIComponent(state.loadout)}`} data-testid="demo-loadout">
        Open this loadout
      </LinkButton>
      <Pop
        open={own}
        onOpen={setOwn}
        label="On your repository"
        opener={{ look: "primary", testid: "demo-own", children: "Run it on my repository" }}
      >
        <h2>In a terminal, in your repository</h2>
        <div className="stack">
          <div className="dim">
            A server shows the folder in which it was started. These two commands start it in your repository.
          </div>
          <Cli words={["materia", "init"]} project={false} />
          <Cli words={["materia", "ui"]} project={false} />
        </div>
      </Pop>
      <Button
        look="quiet"
        onClick={() => {
          keepDemo(null);
          setClosed(true);
        }}
      >
        Close
      </Button>
    </section>
  );
}
