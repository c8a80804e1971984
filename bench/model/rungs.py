#!/usr/bin/env python3
"""Compares the model of time with the records of climbs in bench/results and shapes_h200.json, rung by rung.

    rungs.py [--build build/vm] [--out modelled_rungs.json] [--every N] [--check] [--verbose] [FAMILY…]

Has every rung of every recorded case modelled on the software GPU (nothing is verified here: `./ridge test` does that), and writes
one line per rung to FILE: what was measured, what the model says, its band and its bound, and whether the family is held
(docs/model.md). Prints the errors' median and 90th percentile, how often neighbouring rungs are in the right order, and how often
the band holds the measured time. The whole takes about ten minutes; --every 4 takes every fourth case of each family. --check
fails if the errors are larger than docs/model.md promises. --out modelled_rungs.json keeps the rows for chart.py and page.py.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from held import is_held

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ridge/registers"  # as `ridge` has it
APART = 1.1  # neighbouring rungs that differ by less on the GPU have no order


def recorded(families):
    """(family, case) of all records, and of cases that were only timed for this comparison."""
    for file in [*sorted((ROOT / "bench/results").glob("*.json")), HERE / "shapes_h200.json"]:
        record = json.loads(file.read_text())
        for climb in record.get("climbs", []):
            family = climb.get("family", file.stem)
            if climb.get("same"): continue  # in place: no flag asks for that
            if not families or family in families:
                yield family, climb


def words_of(climb):
    """The command line of ridge_ladders for a recorded case."""
    words = ["measure", climb["operator"], "--unverified", "--shape", climb["shape"], "--dtype", climb["dtype"]]
    for name, dtype in climb.get("formats", {}).items():
        words += ["--dtype", f"{name}={dtype}"]
    for name, value in climb.get("parameters", {}).items():
        words += ["--set", f"{name}={value}"]
    if climb.get("distribution"):
        words += ["--distribution", climb["distribution"]]
    return words


def software_gpu(build):
    """The environment in which programs run on it, and registers come from ptxas, as `ridge` has it."""
    CACHE.mkdir(parents=True, exist_ok=True)
    return {"LD_LIBRARY_PATH": str(build / "lib"), "RIDGE_PTXAS": shutil.which("ptxas") or "", "RIDGE_PTXAS_CACHE": str(CACHE)}


def modelled(build, climb):
    """By rung: what the model says."""
    run = subprocess.run([build / "programs/ridge_ladders", *words_of(climb)], env=os.environ | software_gpu(build),
                         capture_output=True, text=True)
    steps = {}
    for line in run.stdout.splitlines():
        answer = json.loads(line)
        if answer.get("event") == "step" and "modelled_us" in answer:
            steps[answer["name"]] = answer
        elif answer.get("event") == "failure":
            print(f"{climb['operator']} {climb['shape']}: {answer['error']}", file=sys.stderr)
    if run.returncode:
        print(f"{climb['operator']} {climb['shape']}: exit {run.returncode} {run.stderr[-300:]}", file=sys.stderr)
    return steps


def rows_of(family, climb, steps, is_held):
    rows = []
    for step in climb["steps"]:
        if step.get("rival") or "median_us" not in step:
            continue
        said = steps.get(step["name"])
        rows.append({"family": family, "operator": climb["operator"], "shape": climb["shape"], "dtype": climb["dtype"],
                     "settings": climb.get("settings", ""), "rung": step["name"], "measured_us": round(step["median_us"], 3),
                     "by_graph": step.get("by_graph", False), "held": is_held,
                     **({"modelled_us": round(said["modelled_us"], 3), "low_us": round(said["modelled_low_us"], 3),
                         "high_us": round(said["modelled_high_us"], 3), "bound": said["bound"]} if said else {})})
    return rows


def case_of(row):
    return row["family"], row["operator"], row["shape"], row["dtype"], row["settings"]


def summary(rows):
    """Of a list of rows: figures as in the issue's table."""
    errors = sorted(abs(row["modelled_us"] / row["measured_us"] - 1) if "modelled_us" in row else 1.0 for row in rows)
    inside = sum("low_us" in row and row["low_us"] <= row["measured_us"] <= row["high_us"] for row in rows)
    pairs = right = 0
    for a, b in zip(rows, rows[1:]):
        if case_of(a) != case_of(b): continue
        truth = a["measured_us"] / b["measured_us"]
        if max(truth, 1 / truth) < APART: continue
        pairs += 1
        right += "modelled_us" in a and "modelled_us" in b and (a["modelled_us"] > b["modelled_us"]) == (truth > 1)
    n = len(errors)
    return {"rungs": n, "median": errors[n // 2], "p90": errors[n * 9 // 10], "pairs": pairs, "order": right / max(1, pairs),
            "inside": inside / max(1, n)} if n else {}


def print_summary(rows):
    groups = {"all": rows, "fitted": [r for r in rows if not r["held"]], "held": [r for r in rows if r["held"]],
              "below 20 µs": [r for r in rows if r["measured_us"] < 20]}
    for name, some in groups.items():
        if s := summary(some):
            print(f"{name:12} {s['rungs']:5} rungs: median error {100 * s['median']:.1f} %, 90th percentile {100 * s['p90']:.0f} %, "
                  f"order right {100 * s['order']:.0f} % of {s['pairs']}, in band {100 * s['inside']:.0f} %")


PROMISES = {"median": 0.12, "p90": 0.35, "order": 0.90, "inside": 0.75}  # of a few rungs; of all it is more


def keeps_promises(rows):
    s = summary(rows)
    return s["median"] <= PROMISES["median"] and s["p90"] <= PROMISES["p90"] and \
        s["order"] >= PROMISES["order"] and s["inside"] >= PROMISES["inside"]


def text_of(rows):
    return "[\n" + ",\n".join(" " + json.dumps(row) for row in rows) + "\n]\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build/vm", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--every", default=1, type=int)
    parser.add_argument("--check", action="store_true", help="fail if the errors are too large")
    parser.add_argument("--verbose", action="store_true", help="print every rung")
    parser.add_argument("families", nargs="*", metavar="FAMILY")
    arguments = parser.parse_args()
    rows, seen = [], {}
    for family, climb in recorded(arguments.families):
        seen[family] = seen.get(family, -1) + 1
        if seen[family] % arguments.every: continue
        start = time.time()
        more = rows_of(family, climb, modelled(arguments.build, climb), is_held(family))
        rows += more
        print(f"{family} {climb['operator']} {climb['shape']} {climb['dtype']} {climb.get('settings', '')}  ({time.time() - start:.1f} s)",
              file=sys.stderr)
        for row in more if arguments.verbose else []:
            said = row.get("modelled_us", 0)
            print(f"  {row['rung']:24}{row['measured_us']:10.1f} µs{said:10.1f} µs{100 * (said / row['measured_us'] - 1):6.0f} %  "
                  f"{row.get('bound', '')}", file=sys.stderr)
        if arguments.out: arguments.out.write_text(text_of(rows))
    print_summary(rows)
    return 1 if arguments.check and not keeps_promises(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
