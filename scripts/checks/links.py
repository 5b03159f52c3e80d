#!/usr/bin/env python3
"""Every link between pages leads to a file and to a heading that exist; so does every path on the page of the architecture."""

import re
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = {"node_modules", "target", ".git"}
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
ARCHITECTURE = ROOT / "docs" / "architecture.md"
FOLDERS = "|".join(sorted(path.name for path in ROOT.iterdir() if path.is_dir() and path.name not in SKIPPED))
PATH = re.compile(rf"`((?:{FOLDERS})/[^`\s]*)`")
HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.MULTILINE)


def pages():
    for path in sorted(ROOT.rglob("*.md")):
        if not SKIPPED.intersection(path.relative_to(ROOT).parts):
            yield path


def without_code(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(path):
    """The anchors of a page, as GitHub makes them from headings."""
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    found = set()
    for heading in HEADING.findall(text):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = 0
        while (anchor if number == 0 else f"{anchor}-{number}") in found:
            number += 1
        found.add(anchor if number == 0 else f"{anchor}-{number}")
    return found


def main():
    links, wrong = 0, []
    for page in pages():
        for target in LINK.findall(without_code(page.read_text())):
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            name, _, anchor = target.partition("#")
            path = (page.parent / unquote(name)).resolve() if name else page
            if not path.exists():
                wrong.append(f"{page.relative_to(ROOT)}: {target} does not exist")
            elif anchor and path.suffix == ".md" and anchor not in anchors(path):
                wrong.append(f"{page.relative_to(ROOT)}: {target} names no heading")
    paths = PATH.findall(ARCHITECTURE.read_text())
    name = ARCHITECTURE.relative_to(ROOT)
    wrong += [f"{name}: `{path}` does not exist" for path in paths if not (ROOT / path).exists()]
    print("\n".join(wrong), file=sys.stderr)
    print(f"{links} links between pages and {len(paths)} paths of the architecture, {len(wrong)} faults")
    sys.exit(1 if wrong or not links or not paths else 0)


if __name__ == "__main__":
    main()
