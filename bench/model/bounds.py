#!/usr/bin/env python3
"""Asks Nsight Compute what bounds the rungs of ladders on the GPU at hand.

    bounds.py --out FILE [--ladders build/gpu/programs/ridge_ladders] OPERATOR[:SHAPE[:DTYPE]]…

Launches every rung of each operator once, with a cold L2 and the clocks left alone. Per kernel: the throughput of each resource in
percent of its peak, some counters, and the bound by these figures, as in programs.py. A kernel belongs to the rung whose name is in
its own; of several kernels of one rung the longest counts.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

from build import card
from programs import METRICS, figures_of, known_metrics

ROOT = Path(__file__).resolve().parents[2]


def profile(program, wanted, words):
    run = subprocess.run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--metrics",
                          ",".join(wanted), program, "launch", *words], capture_output=True, text=True, timeout=240)
    rungs = []
    for line in run.stdout.splitlines():
        if line.startswith("{") and json.loads(line).get("event") == "launch": rungs.append(json.loads(line)["rung"])
    rows = [row for row in csv.DictReader(line for line in run.stdout.splitlines() if line.startswith('"')) if row.get("Kernel Name")]
    if not rows: print(f"bounds: {words}: {run.stdout[-300:]} {run.stderr[-300:]}", file=sys.stderr)
    return rungs, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--ladders", default=ROOT / "build/gpu/programs/ridge_ladders", type=Path)
    parser.add_argument("operators", nargs="+")
    options = parser.parse_args()
    known = known_metrics()
    wanted = [metric for metric in METRICS.values() if metric.startswith("launch__") or metric.split(".")[0] in known]
    found = []
    for text in options.operators:
        name, *rest = text.split(":")
        words = [name] + (["--shape", rest[0]] if rest else []) + (["--dtype", rest[1]] if len(rest) > 1 else [])
        try:
            rungs, rows = profile(options.ladders, wanted, words)
        except subprocess.TimeoutExpired:
            print(f"bounds: {text} took too long", file=sys.stderr)
            continue
        for row in rows:
            of = [rung for rung in rungs if f"::{rung}::" in row["Kernel Name"]]
            found.append({"operator": name, "shape": rest[0] if rest else "", "dtype": rest[1] if len(rest) > 1 else "",
                          "rung": of[0] if of else "", **figures_of(row)})
        options.out.write_text(json.dumps({"schema": 1, **card(), "kernels": found}, indent=None, separators=(",", ":"))
                               .replace('{"operator"', '\n{"operator"') + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
