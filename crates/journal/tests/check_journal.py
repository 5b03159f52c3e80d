#!/usr/bin/env python3
"""Checks a journal of materia, from docs/reference/journal.md alone.

    python3 check_journal.py journal.db

Prints one line a cast and exits with 0 if everything holds; otherwise names the first event that does
not. Uses nothing of materia, and nothing but the standard library: BLAKE3 is below.
"""

import json
import os
import re
import sqlite3
import struct
import sys
import uuid

# --- BLAKE3, as its specification has it -------------------------------------------------------

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
ORDER = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
MIXED = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
         (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
CHUNK_START, CHUNK_END, PARENT, ROOT, CONTEXT, MATERIAL = 1, 2, 4, 8, 32, 64
MASK = 0xFFFFFFFF


def turned(x, by):
    return ((x >> by) | (x << (32 - by))) & MASK


def compress(cv, block, counter, length, flags):
    m = list(struct.unpack("<16I", block.ljust(64, b"\0")))
    v = [*cv, *IV[:4], counter & MASK, counter >> 32, length, flags]
    for step in range(7):
        for n, (a, b, c, d) in enumerate(MIXED):
            for word, by, to in ((m[2 * n], 16, 12), (m[2 * n + 1], 8, 7)):
                v[a] = (v[a] + v[b] + word) & MASK
                v[d] = turned(v[d] ^ v[a], by)
                v[c] = (v[c] + v[d]) & MASK
                v[b] = turned(v[b] ^ v[c], to)
        m = [m[n] for n in ORDER]
    return [v[n] ^ v[n + 8] for n in range(8)]


def tree(data, key, counter, flags, root):
    if len(data) <= 1024:
        blocks = [data[at:at + 64] for at in range(0, len(data), 64)] or [b""]
        cv = key
        for n, block in enumerate(blocks):
            last = n + 1 == len(blocks)
            how = flags | (CHUNK_START if n == 0 else 0) | (CHUNK_END | root if last else 0)
            cv = compress(cv, block, counter, len(block), how)
        return cv
    chunks = (len(data) - 1) // 1024
    left = 1024 << (chunks.bit_length() - 1)
    halves = (tree(data[:left], key, counter, flags, 0)
              + tree(data[left:], key, counter + left // 1024, flags, 0))
    return compress(key, struct.pack("<16I", *halves), 0, 64, flags | PARENT | root)


def blake3(data, key=IV, flags=0):
    return struct.pack("<8I", *tree(data, key, 0, flags, ROOT))


def derive_key(context, material):
    return blake3(material, struct.unpack("<8I", blake3(context.encode(), IV, CONTEXT)), MATERIAL)


# --- JSON whose numbers stay as they are written -----------------------------------------------

class Number(str):
    """A number with a fraction or an exponent, as text."""


def read(text):
    return json.loads(text, parse_float=Number)


def text_of(value):
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(text_of(k) + ":" + text_of(v) for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(text_of, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


# --- The journal -------------------------------------------------------------------------------

class Wrong(Exception):
    pass


def event_id(cast, seq):
    """The id of an event, and of the payload that it creates."""
    bytes16 = bytearray(derive_key("materia 2026-11-15 id of an event",
                                   cast.encode() + struct.pack("<Q", seq))[:16])
    bytes16[6] = bytes16[6] & 0x0F | 0x80
    bytes16[8] = bytes16[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(bytes16)))


def records(db, run):
    """Every event of a run with what is stored of its hash; `input` is there where a decision begins."""
    rows = db.execute("SELECT place & 0xFFFFFFFFFF, ts, ts - lag, input, events, hashes FROM decisions "
                      "WHERE place >> 40 = ? ORDER BY place", (run,))
    for seq, ts, wall, given, events, hashes in rows:
        told = split(events)
        if len(hashes) != 4 * len(told) + 28:
            raise Wrong(f"event {seq}: {len(told)} events have {len(hashes)} bytes of hashes")
        for n, (kind, node, data) in enumerate(told):
            yield (seq + n, ts + n, wall, kind, node, data, given if n == 0 else None,
                   hashes[4 * n:4 * n + 4] if n + 1 < len(told) else hashes[-32:])


def split(events):
    """The types, nodes and datas of a decision; each data is the exact text that stands there."""
    told, at, decoder = [], 1, json.JSONDecoder()
    while events[at:] not in ("", "]"):
        kind, at = decoder.raw_decode(events, at + 1)
        node, at = decoder.raw_decode(events, at + 1)
        start = at + 1
        _, at = decoder.raw_decode(events, start)
        told.append((kind, node, events[start:at]))
        at += 2 if events[at:at + 2] == "]," else 1
    return told


def sealed(previous, seq, ts, wall, kind, node, data, given):
    """The hash of an event behind `previous`."""
    parts = [previous, struct.pack("<Qqq", seq, ts, wall)]
    parts.append(bytes([(node is not None) | (given is not None) << 1]))
    for text in (kind, node or "", data):
        parts += [struct.pack("<Q", len(text.encode())), text.encode()]
    if given is not None:
        parts.append(blake3(given.encode()))
    return blake3(b"".join(parts))


class Blobs:
    """Texts and files that are kept apart, by their hash, in `blobs` beside the journal."""

    def __init__(self, folder):
        self.folder, self.checked = folder, 0

    def get(self, seq, digits):
        path = os.path.join(self.folder, digits[:2], digits[2:])
        try:
            with open(path, "rb") as file:
                held = file.read()
        except OSError as error:
            raise Wrong(f"event {seq}: the blob {digits} is missing") from error
        if blake3(held).hex() != digits:
            raise Wrong(f"event {seq}: the blob {digits} was altered")
        self.checked += 1
        return held

    def whole(self, seq, value):
        """A value with its texts in the place of what names them."""
        if isinstance(value, list):
            return [self.whole(seq, one) for one in value]
        if not isinstance(value, dict):
            return value
        if "$blob" in value:
            held = self.get(seq, value["$blob"])
            if list(value) != ["$blob", "bytes"] or len(held) != value["bytes"]:
                raise Wrong(f"event {seq}: what it says of the blob {value['$blob']} is not so")
            return held.decode()
        return {name[1:] if re.fullmatch(r"\$+\$blob", name) else name: self.whole(seq, one)
                for name, one in value.items()}


class Fold:
    """As much of a run as the inputs of utilities are taken from."""

    def __init__(self, cast):
        self.cast, self.state, self.payloads, self.outputs, self.read = cast, {}, {}, {}, {}
        self.checked = self.skipped = 0

    def take(self, seq, ts, kind, node, data):
        if kind == "run.created":
            self.created = data
            self.state = dict(data.get("state", {}))
            self.payloads[self.id(1)] = {"payloadId": self.id(1), "kind": "user", "ts": ts,
                                         "message": data["request"]}
        if kind in ("run.created", "run.resumed"):
            self.cwd, self.run_dir = data["cwd"], data["runDir"]
        elif kind == "state.patched":
            self.state.update(data.get("merged", {}))
            for target, value in data.get("assigned", {}).items():
                place, *deeper = target.split(".")
                inside = self.state
                for name in deeper:
                    inside = inside.setdefault(place, {})
                    place = name
                inside[place] = value
        elif kind == "turn.completed":
            self.outputs[data["turn"]] = data
        elif kind == "handoff.sent":
            self.send(seq, ts, node, data)
        elif kind == "turn.started" and isinstance(data.get("input"), dict):
            self.start(seq, node, data)

    def id(self, seq):
        for cast, last in self.created.get("fork", {}).get("writtenBy", []):
            if seq <= last:
                return event_id(cast, seq)
        return event_id(self.cast, seq)

    def send(self, seq, ts, node, data):
        if data["payloadId"] != self.id(seq):
            raise Wrong(f"event {seq}: its payload has another id than the event")
        plain = self.created["plan"]["nodes"][node].get("outputSelector") == "message.final"
        turn = self.outputs.get(data.get("turn"))
        if plain and turn and "mapped" not in data and "offered" not in data \
                and turn.get("satisfied") is not False:
            self.payloads[data["payloadId"]] = {
                "payloadId": data["payloadId"], "kind": data["kind"], "fromNodeId": node,
                "edgeId": data["edgeId"], "ts": ts, "message": turn["output"],
                "status": {"ok": True}}

    def start(self, seq, node, data):
        parts = data["input"]
        if "hash" not in parts or "socketId" in parts:
            return  # As version 2 has it: whole.
        whole = self.read.get(parts["sameAs"]) if "sameAs" in parts else self.whole(node, data)
        if whole is None:
            self.skipped += 1
            return
        self.read[seq] = whole
        if blake3(text_of(whole).encode()).hex() != parts["hash"]:
            raise Wrong(f"event {seq}: its input does not have the hash that is noted")
        self.checked += 1

    def whole(self, node, data):
        """The object that the utility reads; None where this program does not follow."""
        given = {}
        for name, part in data["input"]["fields"].items():
            if isinstance(part, list):
                given[name] = part[0]
            elif part == "cwd":
                given[name] = self.cwd
            elif part == "runDir":
                given[name] = self.run_dir
            elif part == "request":
                given[name] = self.created["request"]
            elif part == "params":
                given[name] = self.created["plan"]["nodes"][node]["behavior"].get("params", {})
            elif part == "state":
                given[name] = self.state
            elif part == "inputs" and all(it in self.payloads for it in data["consumed"]):
                given[name] = [self.payloads[it] for it in data["consumed"]]
            else:
                return None
        return given


def check(db, run, cast, last_seq, last_hash, blobs):
    previous = derive_key("materia 2026-11-15 origin of a run", cast.encode())
    fold, count, decisions = Fold(cast), 0, 0
    blobs.checked = 0
    for seq, ts, wall, kind, node, data, given, found in records(db, run):
        count += 1
        if seq != count:
            raise Wrong(f"event {count}: event {seq} is in its place")
        if given is not None:
            decisions += 1
            if "input" not in read(given) or "at" not in read(given):
                raise Wrong(f"event {seq}: its input is none")
        previous = sealed(previous, seq, ts, wall, kind, node, data, given)
        if not previous.startswith(found):
            raise Wrong(f"event {seq}: its hash does not fit")
        if seq == last_seq and previous != last_hash:
            raise Wrong(f"event {seq}: it is not the one that was noted as the last")
        data = read(data)
        if "$blob" in json.dumps(data):
            data = blobs.whole(seq, data)
        if kind == "run.created" and data["journalVersion"] not in (5, 6):
            raise Wrong(f"event {seq}: its version is neither 5 nor 6")
        if kind in ("turn.completed", "turn.failed"):
            for left in data.get("files", []) + [it for it in [data.get("transcript")] if it]:
                blobs.get(seq, left["hash"])
        fold.take(seq, ts, kind, node, data)
    if count < last_seq:
        raise Wrong(f"event {count + 1}: it is missing")
    return {"cast": cast, "events": count, "decisions": decisions,
            "inputs": fold.checked, "inputsSkipped": fold.skipped, "blobs": blobs.checked}


def main(path):
    db = sqlite3.connect(path)
    if db.execute("PRAGMA user_version").fetchone()[0] != 7:
        sys.exit(f"{path} is not of format 7")
    good, blobs = True, Blobs(os.path.join(os.path.dirname(path), "blobs"))
    runs = db.execute("SELECT runs.run, id, seq, hash FROM runs JOIN heads USING (run) ORDER BY 1")
    for run, cast, seq, found in runs.fetchall():
        try:
            print(json.dumps(check(db, run, cast, seq, found, blobs)))
        except Wrong as wrong:
            print(json.dumps({"cast": cast, "wrong": str(wrong)}))
            good = False
        except (ValueError, sqlite3.Error) as error:
            print(json.dumps({"cast": cast, "wrong": f"it cannot be read: {error}"}))
            good = False
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main(sys.argv[1])
