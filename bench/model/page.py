#!/usr/bin/env python3
"""Writes the tables of docs/model.md from h200.json, programs_h200.json, modelled_programs.json and modelled_rungs.json.

    page.py           writes them
    page.py --check   fails if the page has other tables
"""
import json
import re
import sys
from collections import Counter
from pathlib import Path

from rungs import summary

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "model.md"
GROUPS = {  # by the first word of a figure's name
    "DRAM": ["dram", "copy", "gather", "scatter"], "L2 and L1": ["l2", "l1", "store"], "Latency": ["latency"],
    "Shared memory": ["shared"], "Atomics on global memory": ["atomic"], "Issue, branches, barriers, fences": [
        "issue", "pair", "branch", "barrier", "fence"],
    "Tensor cores": ["mma", "wgmma", "sustained"], "Asynchronous copies": ["cp_async", "bulk", "tma", "mbarrier"],
    "Clusters": ["cluster"], "Launches, blocks, waves": ["event", "launch", "graph", "streams", "blocks", "waves", "grid_barrier",
                                                        "memset", "memcpy_device"],
    "Link and clocks": ["link", "clock"],
}
POINTS = 5  # of a curve


def number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def place(figure, x):
    """The x of a curve, with units where it counts bytes."""
    if not figure["over"].startswith("bytes") or x < 1024: return number(x)
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if x >= size: return f"{x / size:.4g} {unit}"


def value_of(figure):
    if not isinstance(figure["value"], list): return number(figure["value"])
    last = len(figure["at"]) - 1
    chosen = sorted({round(i * last / (POINTS - 1)) for i in range(POINTS)})
    return " · ".join(f"{place(figure, figure['at'][i])}: **{number(figure['value'][i])}**" for i in chosen)


def figure_tables(figures):
    lines = []
    for title, words in GROUPS.items():
        rows = [(name, figure) for name, figure in figures.items() if name.split(".")[0] in words]
        lines += ["", f"### {title}", "", "| figure | H200 | unit | how |", "|---|---|---|---|"]
        for name, figure in rows:
            over = f" Over {figure['over']}." if "over" in figure else ""
            how = figure["how"][0].upper() + figure["how"][1:]
            lines.append(f"| `{name}` | {value_of(figure)} | {figure['unit']} | {how}.{over} |".replace("..", "."))
    lines += ["", "### Instructions", "", "Latency: cycles of a dependent chain. Interval: cycles between instructions of one warp with 8 "
              "independent chains. Rate: lanes per", "cycle and SM with 32 warps.", "",
              "| instruction | latency | interval | rate | PTX |", "|---|---|---|---|---|"]
    for name in figures:
        if name.startswith("op.") and name.endswith(".rate"):
            op = name[:-5]
            ptx = figures[op + ".latency"]["how"].split(": ", 1)[1]
            cells = [number(figures[f"{op}.{key}"]["value"]) for key in ("latency", "interval", "rate")]
            lines.append(f"| `{op[3:]}` | {' | '.join(cells)} | `{ptx.replace('|', chr(92) + '|')}` |")
    return lines


def program_table(programs):
    bounds = Counter(program["ncu"]["bound"] for program in programs.values())
    said = ", ".join(f"{count} by {name}" for name, count in bounds.most_common())
    lines = ["", f"{len(programs)} programs; by Nsight Compute's figures they are bound: {said}.", "",
             "| program | what | cold µs | hot µs | DRAM % | L2 % | L1 % | issue % | bound |", "|---|---|---|---|---|---|---|---|---|"]
    for name, program in programs.items():
        ncu = program["ncu"]
        cells = [number(program["cold_us"]), number(program["hot_us"]),
                 *(f"{ncu[key]:.0f}" for key in ("dram_pct", "l2_pct", "l1_pct", "issue_pct")), ncu["bound"]]
        lines.append(f"| `{name}` | {program['what']} | {' | '.join(cells)} |")
    return lines


def compared_table(programs, modelled):
    errors, inside, agree, rows = [], 0, 0, []
    for name, model in modelled.items():
        measured, bound = programs[name]["cold_us"], programs[name]["ncu"]["bound"].replace("dram", "memory")
        error = model["modelled_us"] / measured - 1
        errors.append((abs(error), measured))
        inside += model["modelled_low_us"] <= measured <= model["modelled_high_us"]
        agree += model["bound"] == bound
        rows.append(f"| `{name}` | {number(model['modelled_us'])} | {number(measured)} | {100 * error:+.0f} % | {model['bound']} | {bound} |")
    count = len(rows)
    at = lambda part, of: sorted(of)[int(part * len(of))]
    short = [error for error, measured in errors if measured < 20]
    errors = [error for error, measured in errors]
    lines = ["| of the time | |", "|---|---|", f"| programs | {count} |", f"| error, median | {100 * at(0.5, errors):.1f} % |",
             f"| error, 90th percentile | {100 * at(0.9, errors):.0f} % |",
             f"| error of the {len(short)} below 20 µs, median | {100 * at(0.5, short):.0f} % |",
             f"| measured time inside the band | {inside} |", f"| bound as by Nsight Compute's figures | {agree} |", "",
             "| program | modelled µs | measured µs | error | bound, modelled | by Nsight Compute |", "|---|---|---|---|---|---|"]
    return lines + rows


def errors_row(name, rows):
    s = summary(rows)
    return (f"| {name} | {s['rungs']} | {100 * s['median']:.1f} % | {100 * s['p90']:.0f} % | {100 * s['order']:.0f} % of {s['pairs']} | "
            f"{100 * s['inside']:.0f} % |")


def rungs_tables(rows):
    groups = {"all": rows, "families that are fitted": [r for r in rows if not r["held"]],
              "families that are held": [r for r in rows if r["held"]], "below 20 µs": [r for r in rows if r["measured_us"] < 20]}
    head = "| {} | rungs | error, median | 90th percentile | neighbours in order | in the band |"
    lines = [head.format(""), "|---|---|---|---|---|---|", *(errors_row(name, some) for name, some in groups.items())]
    lines += ["", head.format("bound by"), "|---|---|---|---|---|---|"]
    bounds = Counter(row.get("bound", "no time") for row in rows)
    lines += [errors_row(bound, [r for r in rows if r.get("bound", "no time") == bound]) for bound, _ in bounds.most_common()]
    lines += ["", head.format("family"), "|---|---|---|---|---|---|"]
    for family in dict.fromkeys(row["family"] for row in rows):
        some = [row for row in rows if row["family"] == family]
        lines.append(errors_row(f"`{family}`" + (" (held)" if some[0]["held"] else ""), some))
    return lines


def main():
    record = json.loads((HERE / "h200.json").read_text())
    programs = json.loads((HERE / "programs_h200.json").read_text())["programs"]
    tables = {"figures": figure_tables(record["figures"]), "programs": program_table(programs),
              "compared": compared_table(programs, json.loads((HERE / "modelled_programs.json").read_text())),
              "rungs": rungs_tables(json.loads((HERE / "modelled_rungs.json").read_text()))}
    text = old = PAGE.read_text()
    for mark, lines in tables.items():
        body = "\n".join(lines).strip("\n")
        text, count = re.subn(rf"(<!-- {mark} -->\n).*?(\n<!-- /{mark} -->)", lambda m: m[1] + body + m[2], text, flags=re.S)
        if count != 1: sys.exit(f"{PAGE} has no marks <!-- {mark} --> and <!-- /{mark} -->")
    if "--check" in sys.argv[1:]:
        if text != old: sys.exit(f"{PAGE} is out of date: run bench/model/page.py")
    else: PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
