#!/usr/bin/env python3
"""Draws the ladders of a record as a picture: what each rung reaches, and the libraries beside it.

  bench/climb_chart.py bench/results/gemm.json docs/gemm.svg [--check]     --check: write nothing, fail if the file has another picture

One panel per ladder that was climbed as a whole, with one row per rung; sizes at which the library alone was timed are left out.
The scale is logarithmic, because a ladder begins a hundred times slower than it ends. The picture follows the reader's choice of
light or dark. The same record gives the same file, byte by byte.
"""
import argparse
import json
import math
import pathlib
import sys

WIDTH, LEFT, RIGHT, ROW = 800, 190, 170, 24
STYLE = """
.back{fill:#fff}.ink{fill:#1c2330}.soft{fill:#5d687a}.grid{stroke:#e3e7ee}.rung{fill:#2f62d9}.rival{fill:#d9822b}
.mark{stroke:#d9822b;stroke-dasharray:4 4;fill:none}
@media(prefers-color-scheme:dark){.back{fill:#11151c}.ink{fill:#e3e8f0}.soft{fill:#9aa6b8}.grid{stroke:#252d3a}.rung{fill:#86aaff}
.rival{fill:#f0a350}.mark{stroke:#f0a350}}
text{font:13px system-ui,"Segoe UI",Roboto,sans-serif}.title{font-size:16px;font-weight:600}.end{text-anchor:end}.middle{text-anchor:middle}
"""


def rate(climb, us):
    amount = climb["flops"] if climb["unit"] == "TFLOP/s" else 1000 * (climb["read"] + climb["written"])
    return amount / us / 1e6


def text(x, y, words, kind="soft"):
    words = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{words}</text>'


def panel(climb, top):
    """The ladder as elements of a picture, and where it ends."""
    steps = [step for step in climb["steps"] if "median_us" in step]
    rates = [rate(climb, step["median_us"]) for step in steps]
    low, high = min(rates) / 1.5, max(rates)
    across = WIDTH - LEFT - RIGHT
    x = lambda value: LEFT + across * math.log(value / low) / math.log(high / low)
    bottom = top + 40 + ROW * len(steps)
    said = f"{climb['operator']} {climb['shape']} {climb['dtype']} {climb.get('settings', '')}".rstrip()
    out = [text(24, top + 16, said, "ink title")]
    for exponent in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1):
        at = x(10**exponent)
        out.append(f'<path class="grid" d="M{at:.1f} {top + 30}V{bottom}"/>')
        out.append(text(at, bottom + 17, f"{10**exponent:g}", "soft middle"))
    best = max(value for step, value in zip(steps, rates) if not step.get("rival"))
    for value in (v for step, v in zip(steps, rates) if step.get("rival")):
        out.append(f'<path class="mark" d="M{x(value):.1f} {top + 30}V{bottom}"/>')
    for i, (step, value) in enumerate(zip(steps, rates)):
        y = top + 34 + ROW * i
        kind = "rival" if step.get("rival") else "rung"
        out.append(text(LEFT - 10, y + 15, step["name"], "ink end"))
        out.append(f'<rect class="{kind}" x="{LEFT}" y="{y + 3}" width="{x(value) - LEFT:.1f}" height="{ROW - 7}" rx="2"/>')
        percent = "" if step.get("rival") else f" · {100 * value / best:.3g} %"
        out.append(text(x(value) + 8, y + 15, f"{value:.3g} {climb['unit']}{percent}"))
    return out, bottom + 40


def picture(record):
    climbs = [climb for climb in record["climbs"] if sum("median_us" in s and not s.get("rival") for s in climb["steps"]) > 1]
    if not climbs:
        sys.exit("the record has no whole ladder: there is nothing to draw")
    body, top = [text(24, 30, f"{record['device']['name']}, {record['date']}; bars end at what a rung reaches, dashes are libraries")], 52
    for climb in climbs:
        more, top = panel(climb, top)
        body += more
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}" role="img">'
            f"<title>The climb, rung by rung</title><style>{STYLE}</style>"
            f'<rect class="back" width="{WIDTH}" height="{top}" rx="8"/>\n' + "\n".join(body) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the file has another picture")
    arguments = parser.parse_args()
    drawn = picture(json.loads(arguments.record.read_text()))
    if not arguments.check:
        arguments.out.write_text(drawn)
    elif not arguments.out.exists() or arguments.out.read_text() != drawn:
        sys.exit(f"{arguments.out} is out of date: run bench/climb_chart.py {arguments.record} {arguments.out}")


if __name__ == "__main__":
    main()
