#!/usr/bin/env python3
"""Measures how easy pages are to read (Flesch reading ease). Start and How to must be above 55.

  scripts/checks/reading.py          checks README.md, docs/start and docs/how-to
  scripts/checks/reading.py FILE…    prints the figures of these files

Code blocks, tables and headings are left out; words in backticks count. 60 to 70 is plain English.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEAST = 55


def prose(text):
    text = re.sub(r"^```.*?^```\s*$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    lines = [line for line in text.split("\n") if not re.match(r"\s*(\||#|!\[)", line)]
    # An item of a list is a sentence of its own.
    lines = [re.sub(r"^\s*([-*]|\d+\.)\s+", "\n\n", line) for line in lines]
    text = "\n".join(lines)
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)


def syllables(word):
    word = word.lower()
    if len(word) <= 3:
        return 1
    word = re.sub(r"(?:[^laeiouy]es|[^td]ed|[^laeiouy]e)$", "", word)
    return max(1, len(re.findall(r"[aeiouy]{1,2}", word)))


def ease(text):
    sentences = words = parts = 0
    for block in re.split(r"\n\s*\n", prose(text)):
        for sentence in re.split(r"(?<=[.!?])\s+", block.replace("\n", " ")):
            found = re.findall(r"[A-Za-z]+(?:'[a-z]+)?", sentence)
            if found:
                sentences += 1
                words += len(found)
                parts += sum(map(syllables, found))
    if words == 0:
        return None
    return 206.835 - 1.015 * words / sentences - 84.6 * parts / words


def main():
    named = [Path(name) for name in sys.argv[1:]]
    paths = named or [ROOT / "README.md", *sorted(ROOT.glob("docs/start/*.md")), *sorted(ROOT.glob("docs/how-to/*.md"))]
    hard, least = [], 1000
    for path in paths:
        figure = ease(path.read_text())
        if figure is None:
            continue
        least = min(least, figure)
        if named:
            print(f"{figure:6.1f}  {path}")
        elif figure <= LEAST:
            hard.append(f"{path.relative_to(ROOT)} has a reading ease of {figure:.1f}; use shorter sentences and words (above {LEAST})")
    if not named:
        print("\n".join(hard), file=sys.stderr)
        print(f"{len(paths)} pages, the lowest reading ease is {least:.1f}")
    sys.exit(1 if hard else 0)


if __name__ == "__main__":
    main()
