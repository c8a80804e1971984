#!/usr/bin/env python3
"""Writes bench/results/README.md: the records of bench/record.sh as a page.

  bench/summary.py [--check]     --check: writes nothing, and fails where the file is not up to date
"""
import json
import pathlib
import re
import statistics
import sys

RESULTS = pathlib.Path(__file__).resolve().parent / "results"
HEAD = """# What the ladders reach

[bench/summary.py](../summary.py) writes this page from the records beside it, which [bench/record.sh](../record.sh) makes. For each
family it shows the whole ladder at one operator and size, then the fastest rung at every size. Times are medians with a cold L2
cache; ± is half the distance between the quartiles. *Of roof* compares with a kernel that moves as many bytes and does nothing else,
timed in the same run. *× libraries* is the library's time divided by ours; the two are timed in turns, launch by launch. *torch* is
eager PyTorch; if that would take several launches, *torch.compile* is shown instead.
"""


def time_text(us):
    return f"{us / 1000:.2f} ms" if us >= 1000 else f"{us:.1f} µs"


def rate(climb, us):
    per_us = climb["flops"] if climb["unit"] in ("GOP/s", "TFLOP/s") else climb["read"] + climb["written"]
    if climb["unit"] == "TFLOP/s":
        return f"{per_us / us / 1e6:.3g} TFLOP/s"
    return f"{per_us / us / 1000:.0f} {climb['unit']}"


def of_roof(climb, us):
    return f"{climb['memory']['median_us'] / us * 100:.0f} %" if "memory" in climb else ""


def beside(step, ours):
    """How much faster than this rival we are, from what was timed in turn with it."""
    return step["median_us"] / statistics.median(step["beside_us"] if "beside_us" in step else ours["us"])


def timed(climb, rival):
    return [s for s in climb["steps"] if bool(s.get("rival")) == rival and "median_us" in s]


def aligned(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.ljust(w) if i in (0, len(row) - 1) else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "```\n" + "\n".join(lines) + "\n```\n"


def ladder(climb):
    rows, before = [["rung", "time", "±", "rate", "of roof", "× before", "the idea"]], None
    best = min(timed(climb, rival=False), key=lambda s: s["median_us"])
    for step in climb["steps"]:
        if "median_us" not in step:
            why = "wrong: " + step["wrong"] if "wrong" in step else "not for this: " + step.get("unsupported", "")
            rows.append([step["name"], "", "", "", "", "", why])
            continue
        us = step["median_us"]
        spread = f"{(step['q3_us'] - step['q1_us']) / 2 / us * 100:.1f} %"
        if step.get("rival"):
            faster = f"{beside(step, best):.2f} × the time of {step.get('beside', best['name'])}"
            rows.append([step["name"], time_text(us), spread, rate(climb, us), of_roof(climb, us), "", faster])
            continue
        over = f"{before / us:.2f}" if before else ""
        rows.append([step["name"], time_text(us), spread, rate(climb, us), of_roof(climb, us), over, step.get("idea", "")])
        before = us
    title = f"`{climb['operator']}` {climb['shape']} {climb['dtype']} {climb.get('settings', '')}".rstrip()
    return title + "\n\n" + aligned(rows)


def sizes(climbs):
    rows = [["operator", "shape", "format", "settings", "rung", "time", "rate", "of roof", "× libraries"]]
    for climb in climbs:
        ours = timed(climb, rival=False)
        if not ours:
            continue
        best = min(ours, key=lambda s: s["median_us"])
        rivals = [f"{s['name']} {beside(s, best):.2f}" for s in timed(climb, rival=True)]
        us = best["median_us"]
        rows.append([climb["operator"], climb["shape"], climb["dtype"], climb.get("settings", ""), best["name"],
                     time_text(us), rate(climb, us), of_roof(climb, us), ", ".join(rivals)])
    if not any(row[3] for row in rows[1:]):
        rows = [row[:3] + row[4:] for row in rows]
    return aligned(rows)


def family_section(path):
    record = json.loads(path.read_text())
    if "climbs" not in record:  # bench/vm has a record of another kind
        return ""
    text = f"\n## {path.stem}\n\n{record['device']['name']}, {record['date']}\n\n"
    whole = next((climb for climb in record["climbs"] if timed(climb, rival=False)), None)
    if whole:
        text += ladder(whole) + "\n"
    return text + sizes(record["climbs"])


def main():
    text = HEAD + "".join(family_section(path) for path in sorted(RESULTS.glob("*.json")))
    target = RESULTS / "README.md"
    if "--check" not in sys.argv[1:]:
        target.write_text(text)
    elif not target.exists() or target.read_text() != text:
        sys.exit("bench/results/README.md is not what its records say: run bench/summary.py")
    # A record with one line per sample is many times as long, and so is its diff.
    long = [path.name for path in RESULTS.glob("*.json") if re.search(r"\[\s*\n\s*-?\d", path.read_text())]
    if long:
        sys.exit(f"arrays of numbers in bench/results belong on one line, as `ridge climb --json` writes them: {', '.join(long)}")


if __name__ == "__main__":
    main()
