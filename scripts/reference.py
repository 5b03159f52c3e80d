#!/usr/bin/env python3
"""Writes the generated pages of docs/reference: configuration, events and commands.

  scripts/reference.py MATERIA           compares the pages; exits 1 and names each one that is out of date
  scripts/reference.py MATERIA --write   writes them

MATERIA is the program whose `--help` is printed. The other pages come from schemas/.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "reference"
NOTE = "<!-- Written by scripts/reference.py. Change the sources that it names, not this page. -->\n"

# The parts of a configuration: the name in the schema, the heading, and where it stands.
PARTS = [
    (None, "Configuration", "The outermost object of `materia.json`."),
    ("Loadout", "Loadout", "In `loadouts.NAME`: a graph of sockets."),
    ("Socket", "Socket", "In `loadouts.NAME.sockets.ID`: a place in the graph."),
    ("EdgeDoc", "Edge", "In `edges` of a socket. Edges are tried in order."),
    ("WhereDoc", "Comparison", "In `where` of an edge or a transform. It has exactly one of `equals`, `notEquals` and `exists`."),
    ("TransformDoc", "Transform", "In `transform` of an edge. It sees the payload as `$` and nothing else."),
    ("OnFailureDoc", "Way after a failure", "In `onFailure` of a socket."),
    ("AdvanceDoc", "Advance", "In `advance` of a socket: moves the loop to its next item."),
    ("ForeachDoc", "Foreach", "In `foreach` of a socket: one run for each element of a list."),
    ("NodeBudgetsDoc", "Budgets of a socket", "In `budgets` of a socket."),
    ("PolicyDoc", "Policy", "In `policy` of a socket: permissions of its turns."),
    ("SocketPromptForm", "Prompt of a socket", "In `prompt` of a socket, if it is not a string."),
    ("LoopDoc", "Loop", "In `loadouts.NAME.loops.ID`."),
    ("ConsumesDoc", "Source of a loop", "In `consumes` of a loop."),
    ("ExitDoc", "Exit of a loop", "In `exits` of a loop."),
    ("ExitShorthandDoc", "Short exit of a loop", "In `exit` of a loop. With `consumes`, the socket in `from` also moves the loop to its next item, unless it has its own `advance`."),
    ("Materia", "Materia", "In `materia.NAME`: an agent or a utility."),
    ("PromptFile", "Prompt in a file", "In `prompt`, if the text is in a file."),
    ("RetriesDoc", "Retries", "In `retries` of a utility or its socket."),
    ("ScriptLocator", "Shipped script", "In `script` of a utility."),
    ("LimitsDoc", "Limits", "In `limits`."),
    ("BudgetDoc", "Budget", "In `budget`."),
    ("AgentDoc", "Agent", "In `agents.NAME`."),
    ("PricesDoc", "Prices", "In `prices`."),
    ("PriceDoc", "Price of a model", "In `prices.models.NAME`."),
]


def schema(name):
    return json.loads((ROOT / "schemas" / name).read_text())


def cell(text):
    text = re.sub(r"\[(`[^`]*`)\]\([\w:]+\)", r"\1", text)
    return " ".join(text.split()).replace("|", "\\|")


def code(value):
    return "`" + json.dumps(value, ensure_ascii=False).replace("|", "\\|") + "`"


def anchor(heading):
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


class Config:
    """Reads types of the configuration's schema as words for people."""

    def __init__(self):
        self.schema = schema("config.schema.json")
        self.headings = {name: heading for name, heading, _ in PARTS if name}
        self.shown = set()

    def definition(self, name):
        return self.schema["$defs"][name] if name else self.schema

    def kind(self, one):
        """The type of a field: its words, a link to its part, or a JSON type."""
        if "$ref" in one:
            name = one["$ref"].rsplit("/", 1)[1]
            if name in self.headings:
                heading = self.headings[name]
                return f"[{heading.lower()}](#{anchor(heading)})"
            self.shown.add(name)
            return self.kind({k: v for k, v in self.definition(name).items()})
        for several in ("anyOf", "oneOf"):
            if several in one:
                kinds = [self.kind(part) for part in one[several] if part.get("type") != "null"]
                return " or ".join(dict.fromkeys(kinds))
        if "const" in one:
            return f"`{one['const']}`"
        if "enum" in one:
            return " or ".join(f"`{word}`" for word in one["enum"])
        kind = one.get("type", "any value")
        kind = next((it for it in kind if it != "null"), "any value") if isinstance(kind, list) else kind
        if kind == "array" and "items" in one:
            return f"list of {self.kind(one['items'])}"
        if kind == "object" and isinstance(one.get("additionalProperties"), dict):
            return f"map of {self.kind(one['additionalProperties'])}"
        bounds = []
        if kind in ("integer", "number"):
            if one.get("minimum"):
                bounds.append(f"from {one['minimum']:,}")
            if "maximum" in one and one["maximum"] < 2**31:
                bounds.append(f"to {one['maximum']:,}")
        return " ".join([kind, *bounds])

    def rows(self, name):
        definition = self.definition(name)
        required = definition.get("required", [])
        for field, one in definition["properties"].items():
            missing = [what for what in ("description", "examples") if not one.get(what)]
            if missing:
                sys.exit(f"{name or 'Config'}.{field} in crates/contract has no {' and no '.join(missing)}")
            if field in required:
                default = "required"
            else:
                default = code(one["default"]) if one.get("default") not in (None, []) else "none"
            example = code({field: one["examples"][0]})[2:-2]
            yield f"| `{field}` | {self.kind(one)} | {default} | {cell(one['description'])} | `{example}` |"


def configuration():
    config = Config()
    lines = [
        "# Configuration",
        "",
        NOTE,
        "Every field of `materia.json`, from `schemas/config.schema.json`. The file is JSON; comments (`//`, `/* */`) and trailing",
        "commas are allowed. An unknown field is kept and reported. [Where configuration comes from](files.md#where-configuration-comes-from)",
        "lists the files. [Paths](paths.md) explains values such as `$.files`.",
        "",
        "A default of *none* means that the field has no effect if it is missing. `materia schemas .materia` writes the schema for your editor:",
        "put `\"$schema\": \".materia/config.schema.json\"` into the file.",
    ]
    for name, heading, text in PARTS:
        lines += ["", f"## {heading}", "", text, "", "| field | type | default | meaning | example |", "|---|---|---|---|---|"]
        lines += config.rows(name)
    words = [name for name in config.shown if "oneOf" in config.definition(name)]
    lines += ["", "## Words", "", "Fields that take one of a few words."]
    for name in sorted(words):
        definition = config.definition(name)
        lines += ["", f"**{cell(definition['description'])}**", "", "| word | meaning |", "|---|---|"]
        lines += [f"| `{one['const']}` | {cell(one.get('description', ''))} |" for one in definition["oneOf"]]
    unlisted = set(config.schema["$defs"]) - set(config.headings) - config.shown
    if unlisted:
        sys.exit(f"PARTS of scripts/reference.py lacks {sorted(unlisted)}")
    return "\n".join(lines) + "\n"


def fields(definition):
    """The fields of an event's data, each with its description."""
    required = definition.get("required", [])
    for field, one in definition.get("properties", {}).items():
        text = cell(one.get("description", "")).split(". ")[0].rstrip(".")
        yield f"| `{field}` | {'always' if field in required else 'sometimes'} | {text} |"


def events():
    event = schema("event.schema.json")
    lines = [
        "# Events",
        "",
        NOTE,
        "Every type of event, from `schemas/event.schema.json`. `materia events ID --json` prints one event a line. *Run* means cast here, and",
        "*node* means socket. [The journal](journal.md) describes how events are stored.",
        "",
        "## Every event",
        "",
        "| field | present | meaning |",
        "|---|---|---|",
        *fields(event),
        "| `type` | always | One of the types below |",
        "| `data` | always | The fields of that type |",
    ]
    group = None
    for one in event["oneOf"]:
        name = one["properties"]["type"]["const"]
        if name.split(".")[0] != group:
            group = name.split(".")[0]
            lines += ["", f"## `{group}`"]
        lines += ["", f"### `{name}`", "", cell(one["description"])]
        data = one["properties"].get("data", {})
        definition = event["$defs"][data["$ref"].rsplit("/", 1)[1]] if "$ref" in data else data
        rows = list(fields(definition))
        if rows:
            lines += ["", "| field of `data` | present | meaning |", "|---|---|---|", *rows]
    return "\n".join(lines) + "\n"


def commands(materia):
    def ask(*words):
        said = subprocess.run([materia, *words], capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin"})
        return said.stdout.rstrip()

    whole = ask("--help")
    names = re.findall(r"^  (\S+)", whole.split("\nCommands:\n")[1].split("\n\n")[0], re.MULTILINE)
    names = [name for name in names if name != "help"]
    lines = [
        "# Commands",
        "",
        NOTE,
        "The help of every command. `materia help COMMAND` prints the same. Data goes to standard output, messages to standard error.",
        "[Output for programs](output.md) lists the fields of `--json`, [Exit codes](exit-codes.md) the exit codes.",
        "",
        " · ".join(f"[{name}](#materia-{name})" for name in names),
        "",
        "## `materia`",
        "",
        "```text",
        whole,
        "```",
    ]
    for name in names:
        text = ask(name, "--help")
        # The options of every command stand once, above.
        text = re.sub(r"\n\nOptions for every command:\n.*?(?=\n\n[A-Z]|\Z)", "", text, flags=re.DOTALL)
        lines += ["", f"## `materia {name}`", "", "```text", text, "```"]
    return "\n".join(line.rstrip() for line in "\n".join(lines).split("\n")) + "\n"


def main():
    words = [word for word in sys.argv[1:] if word != "--write"]
    if len(words) != 1:
        sys.exit(__doc__)
    pages = {"configuration.md": configuration(), "events.md": events(), "commands.md": commands(words[0])}
    stale = []
    for name, text in pages.items():
        path = PAGES / name
        if "--write" in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(name)
    if stale:
        sys.exit(f"docs/reference: {', '.join(stale)} out of date; run scripts/reference.py target/debug/materia --write")
    print(f"{len(pages)} generated pages")


if __name__ == "__main__":
    main()
