#!/usr/bin/env python3
"""Draws modelled against measured times as docs/model.svg.

    chart.py [ROWS.json] [--out FILE]     writes the picture
    chart.py [ROWS.json] --check          fails if the file has another picture

ROWS.json is what rungs.py writes: one object per rung with family, operator, shape, dtype, rung, held, measured_us and, where the
model has a time, modelled_us, low_us, high_us and bound. The picture has two panels: every rung as a point beside the diagonal, and
the error by what bounds a rung. It follows the reader's choice of light or dark. The same rows give the same file, byte by byte.
"""
import argparse
import json
import math
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
WIDTH, LEFT, RIGHT = 800, 84, 24
NEAR = 0.2  # the lines beside the diagonal: ± 20 %
SQUARE = WIDTH - LEFT - RIGHT  # the first panel is as high as it is wide: the diagonal is one
ROW = 34  # the height of a bound in the second panel
SPAN = math.log(4)  # the second panel reaches from a quarter of the measured time to four times it

STYLE = """
.back{fill:#fff}.ink{fill:#1c2330}.soft{fill:#5d687a}.grid{stroke:#e3e7ee}.line{stroke:#8b95a5;fill:none}.near{fill:#2f62d914}
.edge{stroke:#8b95a5;stroke-dasharray:4 4;fill:none}.fitted{stroke:#2f62d9;stroke-opacity:.55;stroke-linecap:round;fill:none}
.held{fill:#d9822b;fill-opacity:.75;stroke:none}.box{fill:#8b95a533;stroke:#5d687a}.median{stroke:#1c2330;stroke-width:2.5}
@media(prefers-color-scheme:dark){.back{fill:#11151c}.ink{fill:#e3e8f0}.soft{fill:#9aa6b8}.grid{stroke:#252d3a}.line{stroke:#6d798b}
.near{fill:#86aaff1c}.edge{stroke:#6d798b}.fitted{stroke:#86aaff}.held{fill:#f0a350}.box{fill:#9aa6b82e;stroke:#9aa6b8}
.median{stroke:#e3e8f0}}
text{font:13px system-ui,"Segoe UI",Roboto,sans-serif}.title{font-size:16px;font-weight:600}.end{text-anchor:end}.middle{text-anchor:middle}
"""


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def text(x, y, words, kind="soft"):
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(words)}</text>'


def time_text(us):
    return f"{us:g} µs" if us < 1000 else f"{us / 1000:g} ms" if us < 1e6 else f"{us / 1e6:g} s"


def at_part(part, values):
    """The value that this part of the others is below."""
    values = sorted(values)
    place = part * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def points(rows, x_of, y_of, size):
    """All rungs in two paths: a file with one element per rung would be several times as large."""
    fitted = "".join(f"M{x_of(row):.1f} {y_of(row):.1f}h0" for row in rows if not row["held"])
    held = "".join(f"M{x_of(row):.1f} {y_of(row) - size:.1f}l{size} {size}-{size} {size}-{size}-{size}z" for row in rows if row["held"])
    return [f'<path class="fitted" stroke-width="{1.5 * size:g}" d="{fitted}"/>'] * bool(fitted) + [f'<path class="held" d="{held}"/>'] * bool(held)


def size_of(rows):
    return 4 if len(rows) < 400 else 3


def said_of(rows, name):
    errors = [abs(row["modelled_us"] / row["measured_us"] - 1) if "modelled_us" in row else 1.0 for row in rows]
    return (f"{name}: {len(rows):,} rungs, median error {100 * at_part(0.5, errors):.1f} %, "
            f"90th percentile {100 * at_part(0.9, errors):.0f} %") if errors else ""


def scatter(rows, top):
    """Modelled against measured, both logarithmic."""
    times = [row[key] for row in rows for key in ("measured_us", "modelled_us")]
    low, high = math.log10(min(times)) - 0.15, math.log10(max(times)) + 0.15
    x = lambda us: LEFT + SQUARE * (math.log10(us) - low) / (high - low)
    y = lambda us: top + SQUARE * (high - math.log10(us)) / (high - low)
    out = []
    decades = range(math.ceil(low), math.floor(high) + 1)
    for us in [m * 10.0 ** e for e in range(math.floor(low), math.ceil(high)) for m in ([1] if len(decades) > 2 else [1, 2, 5])]:
        if not low <= math.log10(us) <= high: continue
        out.append(f'<path class="grid" d="M{x(us):.1f} {top}v{SQUARE}M{LEFT} {y(us):.1f}h{SQUARE}"/>')
        out.append(text(LEFT - 8, round(y(us), 1) + 4, time_text(us), "soft end"))
        out.append(text(round(x(us), 1), top + SQUARE + 18, time_text(us), "soft middle"))
    shift = SQUARE / (high - low)
    more, less = shift * math.log10(1 + NEAR), -shift * math.log10(1 - NEAR)  # up and down, in pixels
    right, bottom = LEFT + SQUARE, top + SQUARE
    out.append(f'<path class="near" d="M{LEFT} {bottom}V{bottom - more:.1f}L{right - more:.1f} {top}H{right}V{top + less:.1f}'
               f'L{LEFT + less:.1f} {bottom}Z"/>')
    out.append(f'<path class="edge" d="M{LEFT} {bottom - more:.1f}L{right - more:.1f} {top}M{LEFT + less:.1f} {bottom}L{right} {top + less:.1f}"/>')
    out.append(f'<path class="line" d="M{LEFT} {bottom}L{right} {top}"/>')
    out += points(rows, lambda row: x(row["measured_us"]), lambda row: y(row["modelled_us"]), size_of(rows))
    out.append(text(LEFT + SQUARE / 2, bottom + 40, "measured on the GPU", "ink middle"))
    out.append(f'<text class="ink middle" transform="translate(18 {top + SQUARE / 2:g}) rotate(-90)">modelled</text>')
    return out


def legend(x, y, rows):
    out = [f'<path class="fitted" stroke-width="7" d="M{x} {y - 4}h0"/>', text(x + 10, y, "fitted families", "ink")]
    x += 128
    if any(row["held"] for row in rows):
        out += [f'<path class="held" d="M{x} {y - 9}l5 5-5 5-5-5z"/>', text(x + 12, y, "held families, never fitted to", "ink")]
        x += 208
    return out + [f'<path class="edge" d="M{x} {y - 4}h26"/>', text(x + 34, y, f"± {100 * NEAR:.0f} %", "ink")]


def by_bound(rows):
    """[(bound, its rows)], the most frequent first."""
    groups = {}
    for row in rows:
        groups.setdefault(row.get("bound") or "unknown", []).append(row)
    return sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))


def causes(rows, top):
    """For each bound: the middle half of the errors as a box, nine tenths as a line, and every rung as a point."""
    left, right = LEFT + 26, WIDTH - RIGHT - 128
    x = lambda ratio: (left + right) / 2 + (right - left) / 2 * max(-1, min(1, math.log(ratio) / SPAN))
    groups, out = by_bound(rows), []
    bottom = top + ROW * len(groups)
    out.append(f'<path class="near" d="M{x(1 - NEAR):.1f} {top}H{x(1 + NEAR):.1f}V{bottom}H{x(1 - NEAR):.1f}Z"/>')
    for ratio in (0.25, 0.5, 0.8, 1, 1.2, 2, 4):
        out.append(f'<path class="{"line" if ratio == 1 else "grid"}" d="M{x(ratio):.1f} {top}V{bottom}"/>')
        out.append(text(round(x(ratio), 1), bottom + 17, f"{100 * (ratio - 1):+.0f} %".replace("-", "−").replace("+0 %", "0"), "soft middle"))
    for i, (bound, some) in enumerate(groups):
        y = top + ROW * (i + 0.5)
        ratios = [row["modelled_us"] / row["measured_us"] for row in some]
        part = lambda p: x(at_part(p, ratios))
        # Points of one row are spread by the golden ratio, which leaves no two neighbours at one height.
        spread = {id(row): y + (k * 0.618034 % 1 - 0.5) * (ROW - 12) for k, row in enumerate(some)}
        out += points(some, lambda row: x(row["modelled_us"] / row["measured_us"]), lambda row: spread[id(row)], size_of(rows))
        out.append(f'<path class="line" d="M{part(0.05):.1f} {y:g}H{part(0.95):.1f}"/>')
        out.append(f'<rect class="box" x="{part(0.25):.1f}" y="{y - 8:g}" width="{part(0.75) - part(0.25):.1f}" height="16" rx="2"/>')
        out.append(f'<path class="median" d="M{part(0.5):.1f} {y - 8:g}v16"/>')
        out.append(text(left - 10, y + 4.5, bound, "ink end"))
        error = at_part(0.5, [abs(ratio - 1) for ratio in ratios])
        out.append(text(WIDTH - RIGHT, y + 4.5, f"{len(some):,} · {100 * error:.0f} %", "soft end"))
    out.append(text(WIDTH - RIGHT, top - 8, "rungs · median error", "soft end"))
    out.append(text((left + right) / 2, bottom + 38, "modelled, compared with measured; the box holds half of the rungs, the line nine tenths", "soft middle"))
    return out, bottom + 48


def picture(rows):
    timed = [row for row in rows if "modelled_us" in row]
    if not timed: sys.exit("no row has a modelled time: there is nothing to draw")
    missing = len(rows) - len(timed)
    top = 130 if missing else 112
    body = [text(LEFT, 30, "Modelled against measured time", "ink title")]
    y = 50
    for part, name in ((rows, "all"), ([row for row in rows if row["held"]], "held")):
        if said := said_of(part, name): body.append(text(LEFT, y, said)); y += 18
    if missing: body.append(text(LEFT, y, f"{missing:,} without a modelled time, which counts as an error of 100 %"))
    body += legend(LEFT + 6, top - 14, rows) + scatter(timed, top)
    second = top + SQUARE + 122
    body.append(text(LEFT, second - 34, "Error by what bounds a rung, as the model sees it", "ink title"))
    more, height = causes(timed, second)
    body += more
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">'
            f"<title>Modelled against measured time of {len(rows)} rungs</title><style>{STYLE}</style>"
            f'<rect class="back" width="{WIDTH}" height="{height}" rx="8"/>\n' + "\n".join(body) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="?", type=Path, default=HERE / "modelled_rungs.json", metavar="ROWS.json")
    parser.add_argument("--out", type=Path, default=HERE.parents[1] / "docs" / "model.svg")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the file has another picture")
    arguments = parser.parse_args()
    drawn = picture(json.loads(arguments.rows.read_text()))
    if not arguments.check:
        arguments.out.write_text(drawn)
    elif not arguments.out.exists() or arguments.out.read_text() != drawn:
        sys.exit(f"{arguments.out} is out of date: run bench/model/chart.py")


if __name__ == "__main__":
    main()
