#!/usr/bin/env python3
"""Measures the constants of the GPU at hand for the model of time, and writes them as JSON.

    measure.py --out FILE [--program FILE] [--spec JSON] [SECTION…]

Without sections all are measured, which takes about half a minute. Named sections replace their figures in FILE. Figures that the
card cannot give (wgmma before Hopper, for example) are left out. `--program` names a program that is built already.
`--spec` is what the driver says of the card, which `ridge device --measure` gives; figures.py needs it to add a new card.
"""
import argparse
import datetime
import json
import subprocess
import sys
from pathlib import Path

from build import build, card

LONGEST = 60  # seconds for one section


def text_of(record):
    """One line per figure, and one per array of a curve."""
    figures = record["figures"]
    head = {key: value for key, value in record.items() if key != "figures"}
    lines = ["{"] + [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()] + [' "figures": {']
    for i, (name, figure) in enumerate(figures.items()):
        arrays = {key: value for key, value in figure.items() if isinstance(value, list)}
        words = {key: value for key, value in figure.items() if key not in arrays}
        line = f"  {json.dumps(name)}: " + json.dumps(words)[:-1]
        for key, value in arrays.items():
            line += f",\n   {json.dumps(key)}: {json.dumps(value)}"
        lines.append(line + "}" + ("," if i + 1 < len(figures) else ""))
    return "\n".join(lines + [" }", "}"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--program", type=Path)
    parser.add_argument("--spec", type=json.loads, default={})
    parser.add_argument("sections", nargs="*")
    options = parser.parse_args()
    gpu = card()
    if not options.program: print("building", file=sys.stderr, flush=True)
    program = (options.program or build("measure", gpu["compute_capability"])).resolve()
    known = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    record = {"figures": {}}
    if options.sections and options.out.exists():
        record = json.loads(options.out.read_text())
    failed = []
    asked = options.sections or known
    for number, section in enumerate(asked, 1):
        began = datetime.datetime.now()
        try:
            run = subprocess.run([program, section], capture_output=True, text=True, timeout=LONGEST)
            answer = run.stdout if run.returncode == 0 else ""
            complaint = run.stderr.strip()
        except subprocess.TimeoutExpired:
            answer, complaint = "", f"not done after {LONGEST} s"
        seconds = (datetime.datetime.now() - began).total_seconds()
        print(f"{number}/{len(asked)} {section}: {seconds:.1f} s {complaint}", file=sys.stderr, flush=True)
        if answer: record["figures"].update(json.loads(answer))
        else: failed.append(section)
    spec = options.spec or record.get("spec")
    record = {"schema": 1, **gpu, "date": datetime.date.today().isoformat(), **({"spec": spec} if spec else {}),
              "figures": record["figures"]}
    options.out.write_text(text_of(record))
    if failed:
        print(f"measure: these sections failed and are not in {options.out}: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
