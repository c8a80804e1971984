"""The counters that `ridge profile --csv` gives beside what an H200 counted for the same source.

    truth_test.py RIDGE PROGRAM CSV [PROGRAM CSV …]    profiles each PROGRAM and compares with its CSV every column that
                                                      both have, kernel by kernel
"""
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

# What does not follow from addresses: the registers that this ptxas gives.
NOT_COMPARED = {"launch__registers_per_thread"}
# What we do not know: docs/agreement.md, "Where they differ".
KNOWN = {
    # Small arrays stay in registers, whoever indexes them.
    ("local_dynamic", "local_op"), ("local_by_lane", "local_op"),
    # How often a loop around a compare-and-swap is gone through depends on time, and on whether the value changes.
    *((name, part) for name in ("sa_float_pairs", "sa_float_quads", "sa_float_bank", "sa_double_pairs", "sa_or64_pairs")
      for part in ("shared", "memory_l1")),
    ("ga_half_spread", ""),
    # What Nsight Compute computes for a line with cp.async.cg; its hardware counters have no such conflicts.
    *((f"copy16_{name}", "memory_l1") for name in ("apart", "from32", "from48", "from128", "offset", "to32", "low_half",
                                                  "partly")),
}

def is_known(kernel, metric):
    return any(kernel == k and part in metric for k, part in KNOWN)


def rows_of(file):
    return {row["kernel"]: row for row in csv.DictReader(open(file))}


def compare(ridge, program, truth, tally):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "profile.csv"
        subprocess.run([ridge, "profile", program, "--csv", str(file)], check=True, stdout=subprocess.DEVNULL)
        ours = rows_of(file)
    for name, row in rows_of(truth).items():
        if name not in ours:
            print(f"{name}: no launch")
            tally[name] = [0, 1]
            continue
        for metric, true in row.items():
            found = ours[name].get(metric)
            if metric == "kernel" or metric in NOT_COMPARED or not found or not true or is_known(name, metric):
                continue
            different = int(float(found)) != int(float(true))
            tally.setdefault(metric, [0, 0])[different] += 1
            if different:
                print(f"{name}: {metric} is {found}, the H200 counted {true}")


def main(ridge, *pairs):
    tally = {}  # by metric: equal, different
    for program, truth in zip(pairs[::2], pairs[1::2]):
        compare(ridge, program, truth, tally)
    for metric, (equal, different) in tally.items():
        print(f"{metric:66} {equal:4} equal {different:4} not")
    equal, different = (sum(t[k] for t in tally.values()) for k in (0, 1))
    print(f"{equal} counters equal the hardware's, {different} do not")
    return 1 if different or not equal else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
