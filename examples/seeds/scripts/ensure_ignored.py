"""Adds patterns to an ignore file, each once; says which were new."""

import json
import pathlib
import sys

given = json.load(sys.stdin)
wanted = given["params"].get("patterns", [])
path = pathlib.Path(given["cwd"]) / given["params"].get("file", ".gitignore")
before = path.read_text(encoding="utf-8") if path.exists() else ""
new = [pattern for pattern in wanted if pattern not in before.splitlines()]
if new:
    end = "\n" if before and not before.endswith("\n") else ""
    path.write_text(before + end + "".join(f"{pattern}\n" for pattern in new), encoding="utf-8")
said = {"ok": True, "file": str(path), "changed": bool(new), "added": new}
json.dump({"state": {"artifactIgnore": said}}, sys.stdout)
