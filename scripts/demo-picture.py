#!/usr/bin/env python3
"""Draws what `materia demo` says as a picture for the README: docs/demo.svg.

    scripts/demo-picture.py target/release/materia

The text is the program's own, line by line; only times, ids and the scratch folder are made the same each time.
"""

import html
import pathlib
import re
import subprocess
import sys
import tempfile

COLUMNS, LINE, CHAR, MARGIN = 112, 17, 7.8, 18


def said(program: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder) / "demo"
        ran = subprocess.run([program, "demo", str(scratch)], capture_output=True, text=True, check=True)
        text = ran.stderr + ran.stdout
        text = text.replace(str(scratch.resolve()), "/tmp/demo").replace(str(scratch), "/tmp/demo")
    text = re.sub(r"\b\d{8}T\d{6}-[0-9a-f]{6}\b", "20261116T090000-c0ffee", text)
    return [line[:COLUMNS] for line in text.splitlines()]


def colour(line: str) -> str:
    if line.startswith("$ "):
        return "#e6edf3"
    if "satisfied: false" in line or "sends" in line:
        return "#e3b341"
    if "completed" in line or "is done" in line:
        return "#7ee787"
    return "#adbac7"


def main() -> None:
    lines = ["$ materia demo", *said(sys.argv[1])]
    height = MARGIN * 2 + LINE * len(lines)
    width = int(MARGIN * 2 + COLUMNS * CHAR)
    rows = "\n".join(
        f'<text x="{MARGIN}" y="{MARGIN + LINE * (place + 1) - 5}" fill="{colour(line)}" xml:space="preserve">'
        f"{html.escape(line)}</text>"
        for place, line in enumerate(lines)
    )
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="ui-monospace, monospace" font-size="13" role="img" aria-label="What materia demo prints">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#22272e"/>\n{rows}\n</svg>\n'
    )
    target = pathlib.Path(__file__).resolve().parent.parent / "docs" / "demo.svg"
    target.write_text(picture, encoding="utf-8")
    print(f"{len(lines)} lines in {target}")


if __name__ == "__main__":
    main()
