// Forms made from the schema of the configuration: a field of the schema has its form as soon as it is there.
import { type ReactNode, useEffect, useState } from "react";
import type { Json } from "../../api/generated";
import { type Field, fieldAt, fieldNames, type JsonObject, object, strings } from "../../document";
import { cx } from "../../shared/cx";
import css from "./editor.module.css";
import { type Common, NumberField, Pairs, SelectField, TextField } from "./fields";

export type Put = (field: string[], value: Json | undefined) => void;

interface FieldsProps {
  /** The place of the object in the schema. */
  place: string[];
  raw: JsonObject;
  /** Which of its fields, in this order. */
  names: string[];
  off: boolean;
  put: Put;
  /** Words for fields that have none of their own in the schema. */
  usual?: Record<string, string>;
  /** The way from the object of the form to this one. */
  within?: string[];
}

export function SchemaFields({ place, raw, names, off, put, usual = {}, within = [] }: FieldsProps) {
  return names.map((name) => {
    const path = [...within, name];
    const field = fieldAt([...place, name]);
    if (field.kind === "object")
      return (
        <fieldset key={name} className={css.subFields}>
          <legend>{labelOf(name)}</legend>
          <p className={css.hint}>{field.about}</p>
          <SchemaFields
            place={[...place, name]}
            raw={object(raw[name])}
            names={fieldNames([...place, name])}
            off={off}
            put={put}
            usual={usual}
            within={path}
          />
        </fieldset>
      );
    return (
      <div key={name} className={cx(css.kvrow, css.schema, field.kind === "pairs" && css.pairs)}>
        <span className={css.k}>{labelOf(name)}</span>
        <div>
          <Control
            field={field}
            value={raw[name]}
            off={off}
            label={path.map(labelOf).join(", ")}
            testid={`field-${path.join(".")}`}
            usual={usual[path.join(".")] ?? "default"}
            onChange={(value) => put(path, value)}
          />
        </div>
        {says(field.about, name) ? <p className={css.hint}>{field.about}</p> : null}
      </div>
    );
  });
}

interface ControlProps {
  field: Field;
  value: Json | undefined;
  off: boolean;
  label: string;
  testid: string;
  usual: string;
  onChange: (value: Json | undefined) => void;
}

function Control({ field, value, off, label, testid, usual, onChange }: ControlProps) {
  const common = { label, testid, disabled: off };
  const word = typeof value === "string" ? value : "";
  switch (field.kind) {
    case "choice":
    case "yesno": {
      const words = field.kind === "yesno" ? ["true", "false"] : field.words;
      return (
        <SelectField
          {...common}
          value={value === undefined || value === null ? "" : String(value)}
          options={[
            { value: "", label: usual },
            ...words.map((one) => ({ value: one, label: yesNo[one] ?? one.replaceAll("_", " ") })),
          ]}
          onChange={(next) => onChange(next === "" ? undefined : field.kind === "yesno" ? next === "true" : next)}
        />
      );
    }
    case "number":
      return <NumberField {...common} value={value} placeholder={usual} onChange={onChange} />;
    case "text":
      return <TextField {...common} mono value={word} placeholder={usual} onChange={onChange} />;
    case "pairs":
      return <Pairs {...common} names={["Name", "Value"]} add="Add a line" value={object(value)} onChange={onChange} />;
    default:
      return (
        <Typed
          {...common}
          shown={field.kind === "any" ? shownAs(value) : Array.isArray(value) ? strings(value).join(", ") : word}
          placeholder={field.kind === "any" ? usual : [...field.words, "names, with commas"].join(", ")}
          onChange={(text) =>
            onChange(text === "" ? undefined : field.kind === "any" ? literal(text) : named(text, field))
          }
        />
      );
  }
}

const tight = (text: string) => text.replaceAll(/\s*,\s*/g, ",").replace(/,$/, "");

/** A text that means something else than its letters: what was typed stays as it was typed. */
function Typed(props: Common & { shown: string; placeholder: string; onChange: (text: string) => void }) {
  const [typed, setTyped] = useState(props.shown);
  useEffect(() => setTyped((now) => (tight(now) === tight(props.shown) ? now : props.shown)), [props.shown]);
  return (
    <TextField
      {...props}
      mono
      value={typed}
      onChange={(text) => {
        setTyped(text ?? "");
        props.onChange(text ?? "");
      }}
    />
  );
}

const yesNo: Record<string, string> = { true: "yes", false: "no" };
const shownAs = (value: Json | undefined) =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** A number, true, false or null as such; anything else is text. */
function literal(text: string): Json {
  return /^(true|false|null|-?\d+(\.\d+)?)$/.test(text) ? (JSON.parse(text) as Json) : text;
}

/** One of the words that stand for themselves, or a list of names. */
function named(text: string, field: Field): Json | undefined {
  if (field.words.includes(text)) return text;
  const names = text.split(",").map((one) => one.trim());
  return names.filter(Boolean).length > 0 ? names.filter(Boolean) : undefined;
}

/** Whether a description says more than the name. */
const says = (about: string, name: string) => about.replace(/\.$/, "").toLowerCase() !== name.toLowerCase();

/** `maxInFlight` as people read it. */
export function labelOf(name: string): string {
  const words = name.replace(/Ms$/, ", ms").replaceAll(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Fields under a title, folded unless one of them is set. */
export function Group({ title, open, children }: { title: string; open: boolean; children: ReactNode }) {
  const [shown, setShown] = useState(open);
  return (
    <details className={cx(css.f, css.group)} open={shown} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary className={css.l} data-testid={`group-${title}`}>
        {title}
      </summary>
      {shown ? children : null}
    </details>
  );
}

/** All fields of an object that have no form elsewhere, by groups; what no group names stands last. */
export function SchemaGroups(
  props: Omit<FieldsProps, "names" | "within"> & { groups: [string, string[]][]; elsewhere: string[]; open?: string[] },
) {
  const { groups, elsewhere, open = [], ...rest } = props;
  const grouped = groups.flatMap(([, names]) => names);
  const others = fieldNames(props.place).filter((name) => !grouped.includes(name) && !elsewhere.includes(name));
  return [...groups, ...(others.length > 0 ? [["More", others] as [string, string[]]] : [])].map(([title, names]) => (
    <Group key={title} title={title} open={open.includes(title) || names.some((name) => props.raw[name] !== undefined)}>
      <SchemaFields {...rest} names={names} />
    </Group>
  ));
}
