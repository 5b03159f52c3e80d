#!/usr/bin/env python3
"""Holds the crates of the lock file to deny.toml: licences, doubled versions, where they come from. Needs no network."""

import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def packages(target):
    """The crates that are built for a target, as the lock file has them."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    command += ["--filter-platform", target]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if told.returncode != 0:
        sys.exit(f"cargo metadata failed:\n{told.stderr}")
    return json.loads(told.stdout)["packages"]


def is_allowed(expression, allowed):
    """Whether a licence expression can be met by licences that are allowed."""
    words = re.findall(r"\(|\)|[^\s()/]+|/", expression)
    place = 0

    def peek():
        return words[place] if place < len(words) else None

    def take():
        nonlocal place
        place += 1
        return words[place - 1]

    def either():
        met = both()
        while peek() in ("OR", "/"):
            take()
            met = both() or met
        return met

    def both():
        met = one()
        while peek() == "AND":
            take()
            met = one() and met
        return met

    def one():
        if peek() == "(":
            take()
            met = either()
            take()
            return met
        name = take()
        if peek() == "WITH":
            take()
            name = f"{name} WITH {take()}"
        return name in allowed

    return either()


def faults(rules, crates):
    allowed = set(rules["licenses"]["allow"])
    skipped = {entry["crate"] for entry in rules["bans"]["skip"]}
    versions = defaultdict(set)
    for crate in crates:
        name = f"{crate['name']}@{crate['version']}"
        ours = crate["source"] is None
        if not ours and not is_allowed(crate["license"] or "none", allowed):
            yield f"{name}: the licence `{crate['license']}` is not among those of deny.toml"
        if not ours and not crate["source"].startswith("registry+https://github.com/rust-lang/crates.io-index"):
            yield f"{name} comes from `{crate['source']}`; only the registry of Rust is allowed"
        if name not in skipped:
            versions[crate["name"]].add(crate["version"])
        if ours:
            for needed in crate["dependencies"]:
                if needed["req"] == "*" and needed["source"] is not None:
                    yield f"{name} takes any version of {needed['name']}"
    for name, several in versions.items():
        if len(several) > 1:
            yield f"{name} is there in versions {', '.join(sorted(several))}; one will do, or deny.toml says why not"
    present = {f"{crate['name']}@{crate['version']}" for crate in crates}
    for name in sorted(skipped - present):
        yield f"deny.toml makes an exception for {name}, which is not there any more"


def main():
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    crates = packages(rules["graph"]["targets"][0])
    found = list(faults(rules, crates))
    for fault in found:
        print(fault, file=sys.stderr)
    print(f"{len(crates)} crates, {len(found)} faults")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
