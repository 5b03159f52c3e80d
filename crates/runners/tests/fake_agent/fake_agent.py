#!/usr/bin/env python3
"""Plays a recording of an agent, byte for byte, and misbehaves as told.

  fake_agent.py RECORDING [OPTION…] -- [whatever an adapter appends, which is ignored]

RECORDING is the path of a recording without its ending: NAME.jsonl goes to standard output and
NAME.stderr to standard error, whichever of the two exists.

  --cut BYTES       play only so many bytes of standard output
  --lines COUNT     play only so many lines of it
  --piece BYTES     write so many bytes at a time (default: a line)
  --delay MS        wait between two pieces
  --heed            read all of standard input first, as agents do
  --prompt FILE     write what was read there (implies --heed)
  --child           start a tool in a session of its own, which lives on
  --hold            start a tool that keeps standard output open after we are gone
  --deaf            ignore every polite signal
  --then exit:CODE | kill:SIGNAL | hang     how to end (default: exit:0)
"""
import argparse
import os
import signal
import subprocess
import sys
import time


def arguments():
    words = sys.argv[1:]
    if "--" in words:
        words = words[: words.index("--")]
    parser = argparse.ArgumentParser()
    parser.add_argument("recording")
    parser.add_argument("--cut", type=int)
    parser.add_argument("--lines", type=int)
    parser.add_argument("--piece", type=int)
    parser.add_argument("--delay", type=int, default=0)
    parser.add_argument("--heed", action="store_true")
    parser.add_argument("--prompt")
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--hold", action="store_true")
    parser.add_argument("--deaf", action="store_true")
    parser.add_argument("--then", default="exit:0")
    return parser.parse_args(words)


def load(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def pieces(said, size):
    if size:
        return [said[at : at + size] for at in range(0, len(said), size)]
    return said.splitlines(keepends=True)


def write(target, data):
    while data:
        data = data[os.write(target, data) :]


def main():
    told = arguments()
    if told.deaf:
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(name, signal.SIG_IGN)
    if told.heed or told.prompt:
        heard = sys.stdin.buffer.read()
        if told.prompt:
            with open(told.prompt, "wb") as file:
                file.write(heard)
    if told.child:
        subprocess.Popen(
            ["sleep", "600"],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    if told.hold:
        subprocess.Popen(["sleep", "600"], start_new_session=True, stdin=subprocess.DEVNULL)

    said = load(f"{told.recording}.jsonl")
    if told.lines is not None:
        said = b"".join(said.splitlines(keepends=True)[: told.lines])
    if told.cut is not None:
        said = said[: told.cut]
    write(2, load(f"{told.recording}.stderr"))
    for piece in pieces(said, told.piece):
        write(1, piece)
        if told.delay:
            time.sleep(told.delay / 1000)

    kind, _, value = told.then.partition(":")
    if kind == "exit":
        os._exit(int(value or 0))
    if kind == "kill":
        signal.signal(int(value), signal.SIG_DFL) if int(value) != signal.SIGKILL else None
        os.kill(os.getpid(), int(value))
    while True:
        time.sleep(600)


main()
