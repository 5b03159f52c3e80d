"""Says hello: what a utility is given, and what it gives back."""

import json
import sys

given = json.load(sys.stdin)
json.dump({"state": {"hello": {"ok": True, "message": given["params"]["message"]}}}, sys.stdout)
