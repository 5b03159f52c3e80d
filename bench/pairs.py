#!/usr/bin/env python3
"""Two programs side by side: is a step of this one dearer than a step of that one?

A disk is not the same from one minute to the next, so a figure of today says nothing beside one of
yesterday. Here both programs run once each in every round, in random order and in fresh folders; what counts
is the ratio within a round. Nothing is deleted before the end: making files is slow where many were deleted.

    bench/pairs.py OLD/target/release/materia-bench NEW/target/release/materia-bench [FOLDER [STEPS [ROUNDS]]]
"""

import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FIGURES = {"steps a second": "stepsASecond", "CPU a step": "cpuMsAStep"}


def run_once(program: str, room: Path, steps: str) -> dict[str, float]:
    folder = Path(tempfile.mkdtemp(dir=room))
    done = subprocess.run(
        [program, "--child", folder, "1", steps, "0"], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    programs = sys.argv[1:3]
    folder, steps, rounds = (sys.argv[3:] + ["/dev/shm", "3000", "30"][len(sys.argv) - 3 :])[:3]
    room = Path(tempfile.mkdtemp(prefix="materia-pairs-", dir=folder))
    ratios: dict[str, list[float]] = {name: [] for name in FIGURES}
    try:
        for _ in range(int(rounds)):
            told = [{}, {}]
            for which in random.sample([0, 1], k=2):
                told[which] = run_once(programs[which], room, steps)
            old, new = told
            for name, key in FIGURES.items():
                ratios[name].append(new[key] / old[key])
    finally:
        shutil.rmtree(room)
    for name, values in ratios.items():
        low, middle, high = statistics.quantiles(values, n=4)
        print(f"{name}: new/old {middle:.3f} (quartiles {low:.3f}, {high:.3f}; {rounds} rounds of {steps} steps)")


if __name__ == "__main__":
    main()
