// Controls of the inspector. Each shows one field of the document and writes it as it is typed.
import { Plus, X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Finding, Json } from "../../api/generated";
import { Button, IconButton } from "../../shared/Button";
import { cx } from "../../shared/cx";
import { Input, Select } from "../../shared/Field";
import { Foreign } from "../../shared/parts";
import css from "./editor.module.css";
import type { EditorStore } from "./store";

/** What every form of the inspector is given. */
export interface FormProps {
  store: EditorStore;
  findings: Finding[];
}

export function Part({ title, hint, children }: { title: string; hint?: string; children: ReactNode }) {
  return (
    <section className={css.f}>
      <h3 className={css.l}>
        {title}
        {hint ? <span className="faint">{hint}</span> : null}
      </h3>
      {children}
    </section>
  );
}

export function Row({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={css.kvrow}>
      <span className={css.k}>{label}</span>
      <div>{children}</div>
    </div>
  );
}

export interface Common {
  label: string;
  testid?: string;
  disabled?: boolean;
}
const common = ({ label, testid, disabled }: Common) => ({ "aria-label": label, "data-testid": testid, disabled });

export function TextField(
  props: Common & {
    value: string;
    placeholder?: string;
    mono?: boolean;
    onChange: (value: string | undefined) => void;
  },
) {
  return (
    <Input
      className={props.mono ? "mono" : ""}
      {...common(props)}
      value={props.value}
      placeholder={props.placeholder}
      spellCheck={false}
      onChange={(event) => props.onChange(event.target.value || undefined)}
    />
  );
}

/** A name: it is taken when the person is done with it, and only if it can be one. */
export function NameField(
  props: Common & { value: string; fault: (value: string) => string | null; onDone: (value: string) => void },
) {
  const [typed, setTyped] = useState(props.value);
  useEffect(() => setTyped(props.value), [props.value]);
  const fault = typed === props.value ? null : props.fault(typed);
  const done = () => {
    if (typed !== props.value && !fault) props.onDone(typed);
  };
  return (
    <>
      <Input
        className="mono"
        {...common(props)}
        aria-invalid={fault !== null}
        value={typed}
        spellCheck={false}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={done}
        onKeyDown={(event) => {
          if (event.key === "Enter") done();
          if (event.key === "Escape") setTyped(props.value);
        }}
      />
      {fault ? <p className={css.err}>{fault}</p> : null}
    </>
  );
}

export function NumberField(
  props: Common & {
    value: Json | undefined;
    placeholder?: string;
    onChange: (value: number | undefined) => void;
  },
) {
  const shown = typeof props.value === "number" ? String(props.value) : "";
  const [typed, setTyped] = useState(shown);
  useEffect(
    () => setTyped((now) => (Number(now) === Number(shown) && now !== "" && shown !== "" ? now : shown)),
    [shown],
  );
  return (
    <Input
      inputMode="decimal"
      {...common(props)}
      value={typed}
      placeholder={props.placeholder}
      onChange={(event) => {
        setTyped(event.target.value);
        const number = Number(event.target.value);
        if (event.target.value.trim() === "") props.onChange(undefined);
        else if (Number.isFinite(number)) props.onChange(number);
      }}
    />
  );
}

interface SelectProps extends Common {
  value: string;
  options: { value: string; label: string }[];
  onChange: (value: string) => void;
  /** Whether it has the focus at first. */
  first?: boolean;
}

export function SelectField(props: SelectProps) {
  const known = props.options.some((one) => one.value === props.value);
  return (
    <Select
      {...common(props)}
      value={props.value}
      autoFocus={props.first}
      onChange={(event) => props.onChange(event.target.value)}
    >
      {known ? null : <option value={props.value}>{props.value || "choose"}</option>}
      {props.options.map((one) => (
        <option key={one.value} value={one.value}>
          {one.label}
        </option>
      ))}
    </Select>
  );
}

interface Named extends Omit<Common, "label"> {
  value: { [key: string]: Json };
  onChange: (value: { [key: string]: Json } | undefined) => void;
}

/** Where the fields of an output go in the state. */
export function Assign(props: Named) {
  return (
    <Part title="Assign" hint="output to state">
      <Pairs label="Assign" names={["Target", "Source"]} add="Add a target" {...props} />
    </Part>
  );
}

/** Names and values: the lines of an object whose values are words. A line without a name is not written yet. */
export function Pairs(props: Named & { label: string; names: [string, string]; add: string }) {
  const shown = JSON.stringify(props.value);
  const [rows, setRows] = useState<[string, Json][]>(() => Object.entries(props.value));
  const sent = useRef(shown);
  useEffect(() => {
    // What another view of the document changed.
    if (shown === sent.current) return;
    sent.current = shown;
    setRows(Object.entries(JSON.parse(shown) as { [key: string]: Json }));
  }, [shown]);
  const write = (next: [string, Json][]) => {
    setRows(next);
    const named = next.filter(([name]) => name !== "");
    // Two lines of one name would be one: nothing is written until they differ.
    if (new Set(named.map(([name]) => name)).size < named.length) return;
    const made = Object.fromEntries(named);
    sent.current = JSON.stringify(made);
    props.onChange(named.length > 0 ? made : undefined);
  };
  const change = (index: number, row: [string, Json]) => write(rows.map((one, at) => (at === index ? row : one)));
  return (
    <div className={css.pairs}>
      {rows.map(([key, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the name is what is being typed
        <div className={css.pair} key={index}>
          <Input
            className="mono"
            aria-label={`${props.names[0]} ${index + 1}`}
            aria-invalid={rows.some(([other], at) => at !== index && other === key)}
            value={key}
            disabled={props.disabled}
            onChange={(event) => change(index, [event.target.value, value])}
          />
          <Input
            className="mono"
            aria-label={`${props.names[1]} ${index + 1}`}
            value={typeof value === "string" ? value : JSON.stringify(value)}
            disabled={props.disabled}
            onChange={(event) => change(index, [key, event.target.value])}
          />
          <IconButton
            icon={X}
            label={`Remove ${key}`}
            disabled={props.disabled}
            onClick={() => write(rows.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <Button
        className={css.addline}
        look="quiet small"
        disabled={props.disabled || rows.some(([name]) => name === "")}
        onClick={() => setRows([...rows, ["", ""]])}
      >
        <Plus className="ico s" />
        {props.add}
      </Button>
    </div>
  );
}

/** A finding in its own words: names between backticks are set apart, and it is a sentence. */
export function Said({ text }: { text: string }) {
  const parts = text.split("`");
  const odd = parts.length % 2 === 0;
  const words = odd ? [text] : parts;
  const first = words[0] ?? "";
  return (
    <>
      {words.map((part, index) =>
        index % 2 === 1 ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a sentence have no other name
          <Foreign as="code" key={index} text={part} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a sentence have no other name
          <Foreign key={index} text={index === 0 ? first.charAt(0).toUpperCase() + first.slice(1) : part} />
        ),
      )}
      {/[.?!:]$/.test(text) ? "" : "."}
    </>
  );
}

/** What was found about one place. */
export function Found({ findings }: { findings: Finding[] }) {
  return findings.map((finding) => (
    <p
      key={`${finding.code}${finding.pointer}${finding.message}`}
      className={cx(css.err, "st", finding.severity === "error" ? "failed" : "needs_you")}
    >
      <Said text={finding.message} />
    </p>
  ));
}
