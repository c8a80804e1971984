#!/usr/bin/env python3
"""Compares the model of time with an H200 on the ordinary kernels of bench/model/programs.

    compare.py [--build build/vm] [--record FILE] [NAME…]

Builds the programs for the software GPU, runs each once with the model, and prints modelled beside measured times (cold_us of
programs_h200.json), the errors' median and 90th percentile, and how often both name the same bound. Takes some minutes.
--record modelled_programs.json keeps what the model says; page.py writes the table of docs/model.md from it.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rungs import software_gpu

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OURS = {"dram": "memory"}  # a bound's name there: here


def build(folder):
    program = folder / "programs"
    subprocess.run(["nvcc", "-std=c++20", "-O3", "-lineinfo", "-arch=compute_90a", "-cudart", "shared", f"-I{ROOT / 'src'}",
                    f"-I{ROOT / 'include'}", *sorted((HERE / "programs").glob("*.cu")), "-o", program], check=True)
    return program


def modelled(program, library, names, folder):
    """By program: what the model says of its one launch."""
    environment = os.environ | software_gpu(library.parent) | {"RIDGE_MODEL": str(folder / "times.json")}
    subprocess.run([program, "once", *names], check=True, env=environment, stdout=subprocess.DEVNULL)
    launches = [json.loads(line) for line in (folder / "times.json").read_text().splitlines()]
    # The last line sums up; kernels named fill make the inputs.
    launches = [one for one in launches if "name" in one and "::fill_" not in one["name"]]
    listed = names or subprocess.run([program, "list"], check=True, env=environment, capture_output=True,
                                     text=True).stdout.split()
    if len(launches) != len(listed):
        sys.exit(f"{len(listed)} programs made {len(launches)} launches: which is whose?")
    return dict(zip(listed, launches))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build/vm", type=Path, help="where the software GPU was built")
    parser.add_argument("--record", type=Path, help="a file to write what the model says to")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    measured = json.loads((HERE / "programs_h200.json").read_text())["programs"]
    # In the order of `programs list`, which is the order in which they run.
    names = [name for name in measured if name in arguments.names]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        times = modelled(build(folder), arguments.build / "lib", names, folder)
    if arguments.record:
        kept = ("modelled_us", "modelled_low_us", "modelled_high_us", "bound")
        record = {name: {key: model[key] for key in kept} for name, model in times.items()}
        arguments.record.write_text(json.dumps(record, indent=1) + "\n")
    errors, agree, inside = [], 0, 0
    print(f"{'program':24}{'modelled':>12}{'measured':>12}{'error':>8}  bound, modelled and by ncu")
    for name, model in times.items():
        if name not in measured:
            continue
        truth, bound = measured[name]["cold_us"], measured[name]["ncu"]["bound"]
        error = model["modelled_us"] / truth - 1
        errors.append(abs(error))
        agree += model["bound"] == OURS.get(bound, bound)
        inside += model["modelled_low_us"] <= truth <= model["modelled_high_us"]
        print(f"{name:24}{model['modelled_us']:9.1f} µs{truth:9.1f} µs{100 * error:6.0f} %  {model['bound']}, {OURS.get(bound, bound)}")
    errors.sort()
    count = len(errors)
    print(f"\n{count} programs: median error {100 * errors[count // 2]:.1f} %, 90th percentile {100 * errors[count * 9 // 10]:.0f} %, "
          f"{inside} inside the band, {agree} bounds agree")


if __name__ == "__main__":
    main()
