"""The counters of our own ladders beside what an H200 counted for them.

    ladders_test.py RIDGE LADDERS CSV             LADDERS is the program ridge_ladders; profiles what CSV names and compares
    ladders_test.py RIDGE LADDERS CSV NCU.csv ARGUMENT…   adds to CSV what `ncu --csv --page raw ridge_ladders launch
                                                  ARGUMENT…` read

A kernel that has changed since it was recorded (it executes other PTX instructions) is not compared, and told.
"""
import collections
import csv
import re
import subprocess
import sys
import tempfile
from pathlib import Path

OWN = ("ridge__ptx_warp_instructions", "ridge__ptx_thread_instructions")
# What this ptxas gives.
NOT_COMPARED = {"launch__registers_per_thread"}
# How often these look, wait and retry depends on time.
WAITS = {"reduce_vectors", "scan_tiles"}
# ptxas merges loads of several turns of a loop that it unrolls.
UNROLLED = {"reduce_cpu_partials"}
# The hardware's wavefronts are a little more where others are in the way; memory_l1_wavefronts_shared has none of that.
NOISE = 0.05


def short(name):
    name = name.replace("(anonymous namespace)::", "").replace("<unnamed>::", "").removeprefix("void ")
    return re.split(r"[<(]", name)[0].split("::")[-1]


def profile(ridge, ladders, arguments):
    """By (kernel, how many of its name came before): the row of its launches of one shape."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "profile.csv"
        subprocess.run([ridge, "profile", ladders, "--quiet", "--csv", str(file), "--", "launch", *arguments],
                       stdout=subprocess.DEVNULL)
        seen, rows = collections.Counter(), {}
        for row in csv.DictReader(open(file)):
            name = short(row["kernel"])
            rows[name, seen[name]] = row
            seen[name] += 1
        return rows


def record(ridge, ladders, file, ncu, arguments):
    ours = profile(ridge, ladders, arguments)
    launches = [row for row in csv.DictReader(line for line in open(ncu) if line.startswith('"')) if row["Kernel Name"]]
    shapes, rows = collections.OrderedDict(), []
    for launch in launches:
        key = (launch["Kernel Name"], launch["Grid Size"], launch["Block Size"])
        shapes.setdefault(key, []).append(launch)
    seen = collections.Counter()
    metrics = [m for m in launches[0] if m in next(iter(ours.values())) and m not in NOT_COMPARED]
    for (name, _, _), same in shapes.items():
        kernel = short(name)
        found = ours.get((kernel, seen[kernel]))
        if found:  # the software GPU has no tensor copies and clusters yet
            value = lambda m: max if m.startswith("launch__") else sum
            true = {m: value(m)(int(float(s[m].replace(",", ""))) for s in same) for m in metrics}
            rows.append({"arguments": " ".join(arguments), "kernel": kernel, "which": seen[kernel],
                         **{o: found[o] for o in OWN}, **true})
        seen[kernel] += 1
    old = list(csv.DictReader(open(file))) if Path(file).exists() else []
    with open(file, "w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows([r for r in old if r["arguments"] != " ".join(arguments)] + rows)


def is_right(kernel, metric, ours, true, row, found):
    if ours == true or kernel in WAITS or kernel in UNROLLED:
        return True
    if metric.startswith("l1tex__data_") and row["memory_l1_wavefronts_shared"] == found["memory_l1_wavefronts_shared"]:
        total = int(row["memory_l1_wavefronts_shared"])
        return ours <= true <= ours + NOISE * total
    return metric.startswith("smsp__inst_executed")  # with predication by a model


def main(ridge, ladders, file):
    sets = collections.OrderedDict()
    for row in csv.DictReader(open(file)):
        sets.setdefault(row["arguments"], []).append(row)
    tally, changed, wrong = {}, set(), 0
    for arguments, rows in sets.items():
        ours = profile(ridge, ladders, arguments.split())
        for row in rows:
            kernel = row["kernel"]
            found = ours.get((kernel, int(row["which"])))
            if not found or any(found[o] != row[o] for o in OWN) and kernel not in WAITS:
                changed.add(kernel)
                continue
            for metric, true in row.items():
                if "__" not in metric and not metric.startswith("memory_") or metric in OWN or metric in NOT_COMPARED \
                        or not found.get(metric):
                    continue
                a, b = int(float(found[metric])), int(true)
                tally.setdefault(metric, [0, 0])[a != b] += 1
                if not is_right(kernel, metric, a, b, row, found):
                    wrong += 1
                    print(f"{kernel}: {metric} is {a}, the H200 counted {b}")
    for metric, (equal, different) in tally.items():
        print(f"{metric:66} {equal:4} equal {different:4} not")
    equal, different = (sum(t[k] for t in tally.values()) for k in (0, 1))
    print(f"{equal} counters equal the hardware's, {different} do not, {wrong} of them for no reason that is known")
    if changed:
        print("changed since they were recorded:", ", ".join(sorted(changed)))
    return 1 if wrong or not equal else 0


if __name__ == "__main__":
    if len(sys.argv) > 5:
        record(*sys.argv[1:5], sys.argv[5:])
    else:
        sys.exit(main(*sys.argv[1:]))
