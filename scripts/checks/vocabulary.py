#!/usr/bin/env python3
"""Counts phrasings that vocabulary.txt does not allow in pages, messages and doc comments.

  scripts/checks/vocabulary.py           fails if one is used more often than vocabulary.txt allows
  scripts/checks/vocabulary.py --list    also prints every place of the comments and messages
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "scripts" / "checks" / "vocabulary.txt"
ENTRY = re.compile(r"(docs|messages|comments)\s+(\d+)\s+(.+?)\s+=>\s+(.+)")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# Sentences of the kernel are part of recorded decisions, and the second checker compares them; they change with the
# version of the rules only.
FIXED = ("kernel", "verifier")


def rust(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.rs")):
            yield path


def docs():
    pages = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CHANGELOG.md"]
    pages += [ROOT / folder / "README.md" for folder in ("examples", "conformance", "utilities", "loadouts")]
    for page in pages:
        yield page, 1, page.read_text()


def messages():
    for path in rust("crates"):
        parts = path.relative_to(ROOT).parts
        if parts[1] in FIXED or "tests" in parts or path.name in ("tests.rs", "build.rs") or path.name.endswith("_contract.rs"):
            continue
        for number, line in enumerate(path.read_text().split("#[cfg(test)]")[0].split("\n"), 1):
            if not line.lstrip().startswith("//"):
                for text in STRING.findall(line):
                    yield path, number, text


def comments():
    for path in rust("crates", "bench", "fuzz"):
        before = ""
        for number, line in enumerate(path.read_text().split("\n"), 1):
            found = re.match(r"\s*(//[/!]) ?(.*)", line)
            # The first line of each comment.
            if found and not before.startswith(found[1]):
                yield path, number, found[2]
            before = line.strip()


def main():
    entries = [line for line in LIST.read_text().split("\n") if line and not line.startswith("#")]
    places = {"docs": list(docs()), "messages": list(messages()), "comments": list(comments())}
    failed = False
    for line in entries:
        entry = ENTRY.fullmatch(line)
        if not entry:
            sys.exit(f"vocabulary.txt: this line cannot be read: {line}")
        where, most, advice = entry[1], int(entry[2]), entry[4]
        # A phrase may go over the end of a line.
        pattern = re.compile(entry[3].replace(" ", r"\s+"), re.IGNORECASE)
        hits = [
            (path, number + text.count("\n", 0, hit.start()))
            for path, number, text in places[where]
            for hit in pattern.finditer(text)
        ]
        if len(hits) > most:
            failed = True
            print(f"{where}: {len(hits)} times {entry[3]}, {most} allowed; instead: {advice}", file=sys.stderr)
        if hits and (len(hits) > most and most == 0 or "--list" in sys.argv):
            for path, number in hits:
                print(f"  {path.relative_to(ROOT)}:{number}", file=sys.stderr)
        if len(hits) < most:
            print(f"{where}: {len(hits)} times {entry[3]}; lower the {most} in vocabulary.txt")
    print(f"{len(entries)} phrasings, {'some are used too often' if failed else 'none is used too often'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
