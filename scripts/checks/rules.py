#!/usr/bin/env python3
"""Every rule that a comment, a test, a case or a page names stands in docs/reference/rules.md."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "rules.md"
WHERE = ["crates", "conformance", "docs", "bench", "loadouts", "utilities", "examples"]
KINDS = {".rs", ".md", ".json", ".mjs", ".py"}
NAMED = re.compile(r"(?<![\w-])([GHXLUDW]\d{1,2})(?![\w-])")
DEFINED = re.compile(r"^\| ([A-Z]\d{1,2}) \|", re.MULTILINE)


def texts():
    for folder in WHERE:
        for path in sorted((ROOT / folder).rglob("*")):
            if path == PAGE or "node_modules" in path.parts:
                continue
            if path.suffix in KINDS and path.is_file():
                yield path, path.read_text(errors="replace")


def main():
    known = set(DEFINED.findall(PAGE.read_text()))
    named, missing = set(), {}
    for path, text in texts():
        for rule in NAMED.findall(text):
            named.add(rule)
            if rule not in known:
                missing.setdefault(rule, path.relative_to(ROOT))
    for rule, path in sorted(missing.items()):
        print(f"{path} names {rule}, which docs/reference/rules.md does not explain", file=sys.stderr)
    print(f"{len(known)} rules, {len(named)} of them named, {len(missing)} unexplained")
    sys.exit(1 if missing or not named else 0)


if __name__ == "__main__":
    main()
