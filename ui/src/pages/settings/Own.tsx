// What this browser keeps for its reader: the look, being told, the bounds of new casts.
import { useState } from "react";
import { BOUNDS, type Bounds, keepBounds, usualBounds } from "../../shared/bounds";
import { Input } from "../../shared/Field";
import { type Notices, notices, wishNotices } from "../../shared/notify";
import { Seg } from "../../shared/parts";
import { applyTheme, type Theme, theme } from "../../shared/theme";
import css from "./settings.module.css";

export function Own() {
  const [look, setLook] = useState<Theme>(theme());
  return (
    <>
      <h2>Look</h2>
      <Seg
        label="Theme"
        now={look}
        onPick={(next) => {
          applyTheme(next);
          setLook(next);
        }}
        items={{ system: "System", light: "Light", dark: "Dark" }}
      />
      <h2>Notifications</h2>
      <Told />
      <h2>Budget of new casts</h2>
      <Usual />
    </>
  );
}

function Told() {
  const [now, setNow] = useState<Notices>(notices);
  return (
    <>
      <p className="dim">
        The title of this tab shows the number of casts that need you. If you allow notifications, the system shows one
        while this tab is in the background.
      </p>
      {now === "unknown" ? (
        <p className="faint">This browser does not support notifications.</p>
      ) : now === "refused" ? (
        <p className="faint">
          This browser blocks notifications of this page. You can allow them in the settings of the browser.
        </p>
      ) : (
        <Seg
          label="Notifications"
          now={now}
          onPick={(next) => void wishNotices(next === "on").then(setNow)}
          items={{ off: "Only the title", on: "Title and notifications" }}
        />
      )}
    </>
  );
}

function Usual() {
  const [bounds, setBounds] = useState<Bounds>(usualBounds);
  return (
    <>
      <p className="dim">New casts start with these bounds. A cast waits for you when a bound is spent.</p>
      <div className={css.usual}>
        {BOUNDS.map(({ field, name }) => (
          <label key={field}>
            <span>{name}</span>
            <Input
              className="r"
              inputMode="decimal"
              placeholder="none"
              value={bounds[field]}
              data-testid={`usual-${field}`}
              onChange={(event) => {
                const next = { ...bounds, [field]: event.target.value.replace(/[^0-9.]/g, "") };
                setBounds(next);
                keepBounds(next);
              }}
            />
          </label>
        ))}
      </div>
    </>
  );
}
