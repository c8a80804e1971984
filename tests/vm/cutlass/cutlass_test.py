#!/usr/bin/env python3
"""Builds and runs a product of CUTLASS 3 on the software GPU, under `ridge run` and `ridge check`.

CUTLASS is looked for in the folder of the environment variable CUTLASS_PATH (a checkout), then in the PyPI package
nvidia-cutlass. Without it the test is skipped.

usage: cutlass_test.py RIDGE SOURCE CASE
"""
import importlib.util
import os
import subprocess
import sys

SKIPPED = 77


def cutlass():
    """The folder that has include and tools/util/include, or none."""
    places = [os.environ.get("CUTLASS_PATH")]
    package = importlib.util.find_spec("cutlass_library")
    if package and package.submodule_search_locations:
        places += [os.path.join(place, "source") for place in package.submodule_search_locations]
    for place in places:
        if place and os.path.exists(os.path.join(place, "include/cutlass/cutlass.h")):
            return place
    return None


def main():
    ridge, source, case = sys.argv[1:]
    root = cutlass()
    if not root:
        print("skipped: there is no CUTLASS (set CUTLASS_PATH, or install nvidia-cutlass)")
        sys.exit(SKIPPED)
    flags = f"-std=c++17 --expt-relaxed-constexpr -DRIDGE_CASE={case} -I{root}/include -I{root}/tools/util/include"
    for verb in (["run", "--device", "vm"], ["check"]):
        done = subprocess.run([ridge, *verb, "--gpu", "h200", "--nvcc", flags, source])
        if done.returncode:
            sys.exit(f"ridge {verb[0]} ended with {done.returncode}")


main()
