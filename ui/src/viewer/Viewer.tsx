// The frame around an exported cast: what the file is, and the cast page.
import { FileText, Moon, Sun } from "lucide-react";
import { useState } from "react";
import { Cast } from "../pages/cast";
import { Boundary } from "../shared/Boundary";
import { Button } from "../shared/Button";
import { count } from "../shared/format";
import { CopyButton, Empty } from "../shared/parts";
import { FileShell, Main, Top } from "../shared/Shell";
import { oneLine } from "../shared/text";
import { applyTheme, theme } from "../shared/theme";
import type { Exported } from "./source";

export function Viewer({ file }: { file: Exported }) {
  const end = file.events.at(-1);
  return (
    <FileShell>
      <Top>
        <FileText className="ico" aria-hidden="true" />
        <span className="mono cut" data-testid="file-cast">
          {file.cast.castId}
        </span>
        <span className="dim cut grow" data-testid="file-line">
          {file.archive ? originOf(file.archive) : "An exported file, read only"}: {count(end?.seq ?? 0)} events
          {end ? `, the last at ${end.wallTime.slice(0, 16).replace("T", " ")}` : ""}
          {file.writtenBy ? `, written by ${file.writtenBy}` : ""}. It asks nothing of any server.
        </span>
        {file.stateHash ? (
          <span className="faint nowrap wide-only">
            State{" "}
            <span className="mono" data-testid="state-hash" title={file.stateHash}>
              {file.stateHash.slice(0, 12)}
            </span>{" "}
            <CopyButton text={file.stateHash} label="Copy the hash of the state" />
          </span>
        ) : null}
        <Look />
      </Top>
      <Main id="main" tabIndex={-1}>
        <Boundary>
          <Cast id={file.cast.castId} />
        </Boundary>
      </Main>
    </FileShell>
  );
}

/** Says that an archive is foreign, and what `materia replay` says about it. */
function originOf({ file, redacted, fault }: NonNullable<Exported["archive"]>): string {
  const state = fault
    ? `does not verify (${oneLine(fault)})`
    : redacted
      ? "texts replaced by their length, texts and chain unchecked"
      : "verified";
  return `A foreign archive, ${oneLine(file)}, read only, ${state}`;
}

function Look() {
  const [dark, setDark] = useState(
    () => theme() === "dark" || (theme() === "system" && matchMedia("(prefers-color-scheme: dark)").matches),
  );
  return (
    <Button
      look="quiet icon"
      aria-label={dark ? "Light" : "Dark"}
      onClick={() => {
        applyTheme(dark ? "light" : "dark");
        document.documentElement.dataset.theme = dark ? "light" : "dark";
        setDark(!dark);
      }}
    >
      {dark ? <Sun className="ico" /> : <Moon className="ico" />}
    </Button>
  );
}

export function Broken({ reason }: { reason: string }) {
  return (
    <Empty as="main" data-testid="file-broken">
      <h1>This file cannot be shown</h1>
      <p>{reason}</p>
    </Empty>
  );
}
