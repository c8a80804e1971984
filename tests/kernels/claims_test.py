"""Holds every rung to its claims (src/ladder/rung.h): the profiler counts what the rung does on a small case.

    claims_test.py RIDGE LADDERS [FAMILY …]    LADDERS is the program ridge_ladders
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

RIDGE, LADDERS, *FAMILIES = sys.argv[1:] or ("", "")
# Some threads load a parameter block, some elements of a vector are beyond the end.
TOLERANCE = 0.02
# Where the case of the tour is too small for what every block does once to be lost in the rest.
SHAPES = {"segmented_reduce": "64x65536", "axis_reduce": "64x64x256"}


def ladders(*arguments, **settings):
    process = subprocess.run([RIDGE, "run", "--quiet", "--device", "vm", LADDERS, "--", *arguments],
                             env={**os.environ, **settings}, capture_output=True, text=True)
    return [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]


def families():
    """The families asked for, or all of them, with what their rungs claim."""
    wanted = FAMILIES or [family["family"] for family in ladders("list")]
    return ladders("list", *wanted)


def profile(operator, rung, flags=(), **settings):
    """What the launch says of itself, and its kernels' profiles."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "profile.json"
        header = ladders("launch", operator, "--rung", rung, *flags, RIDGE_PROFILE=str(file), **settings)[-1]
        launches, text, decoder = [], file.read_text(), json.JSONDecoder()
        while text.strip():
            launch, end = decoder.raw_decode(text.lstrip())
            text = text.lstrip()[end:]
            launches.append(launch)
        return header, launches


def total(launches, key, **wanted):
    """Of instructions of the machine: of accesses that ptxas makes one access of, only the first counts."""
    return sum(i.get(key, 0) for launch in launches for i in launch["instructions"]
               if "merged_into" not in i and all(i.get(name) == value for name, value in wanted.items()))


def barriers(launch):
    threads = launch["block"][0] * launch["block"][1] * launch["block"][2]
    warps = launch["blocks_run"] * ((threads + 31) // 32)
    return total([launch], "barriers") / warps


def violations(claims, elements, launches):
    for name, action in (("global_loads_per_element", "ld"), ("global_stores_per_element", "st")):
        if name in claims:
            count = total(launches, "threads", reach="global", action=action) / elements
            if abs(count - claims[name]) > TOLERANCE * claims[name]:
                yield f"{name} is {count:.3f}, not {claims[name]:g}"
    if "barriers" in claims:
        met = max(barriers(launch) for launch in launches)
        if abs(met - claims["barriers"]) > TOLERANCE * claims["barriers"]:
            yield f"a thread meets {met:.3f} barriers, not {claims['barriers']}"
    if claims.get("conflict_free"):
        conflicts = total(launches, "wavefronts") - total(launches, "ideal_wavefronts")
        if conflicts:
            yield f"{conflicts} wavefronts are bank conflicts"


def cases(family):
    """The tour's case of every operator first, then its other formats, its choices, and without optional tensors."""
    operators = family["operators"]
    yield from ((operator["name"], ()) for operator in operators)
    for operator in operators:
        yield from ((operator["name"], ("--dtype", dtype)) for dtype in operator["formats"])
        for parameter in operator["parameters"]:
            for choice in parameter.get("choices", [])[1:]:
                yield operator["name"], ("--set", f"{parameter['name']}={choice}")
        if any(tensor.get("on_request") for tensor in operator["tensors"]):
            yield operator["name"], ("--with", "none")


def main():
    held = broken = 0
    for family in families():
        for rung in family["rungs"]:
            name = f"{family['family']}/{rung['name']}"
            if not rung["claims"]:
                print(f"{name} claims nothing")
                broken += 1
                continue
            size = ("--shape", SHAPES[family["family"]]) if family["family"] in SHAPES else ()
            for operator, flags in cases(family):  # until one that the rung can do
                header, launches = profile(operator, rung["name"], (*size, *flags))
                if "error" not in header:
                    break
            if "error" in header:
                print(f"{name} can do none of the cases: {header['error']}")
                broken += 1
                continue
            found = list(violations(rung["claims"], header["elements"], launches))
            for line in found:
                print(f"{name}: {line} ({header['shape']} {header['dtype']})")
            broken += bool(found)
            held += not found
    print(f"{held} rungs keep their claims, {broken} do not")
    return 1 if broken or not held else 0


if __name__ == "__main__":
    sys.exit(main())
