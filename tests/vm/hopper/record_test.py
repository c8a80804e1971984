#!/usr/bin/env python3
"""Runs a probe (probe/*.cu) on the software GPU and compares what it writes with the record of an H200.

usage: record_test.py RIDGE PROBE RECORD NAME
"""
import os
import re
import subprocess
import sys
import tempfile


def ranks_only(text):
    """Keeps the rank of shared addresses: where variables and windows begin is each device's own."""
    text = re.sub(r"([0-9a-f]{8})/([0-9a-f]{16})", lambda m: f"{m[1][:2]}/{m[2][8:10]}", text)
    text = re.sub(r"shared ([0-9a-f]{8})\b", lambda m: f"shared {m[1][:2]}", text)
    return re.sub(r"generic ([0-9a-f]{16})", lambda m: f"generic {m[1][8:10]}", text)


def cluster(lines):
    return [ranks_only(line) for line in lines]


def mbarrier(lines):
    """Not compared: times, the low half of a token, what a load sees of a live object, and what a
    kernel that was stopped had written before."""
    out, shows, stopped = [], False, False
    for line in lines:
        if line.startswith("list"):
            shows, stopped = "inval" in line, False
            out.append(line)
            continue
        stopped |= "word=ffffffffffffffff" in line
        if stopped:
            continue
        line = re.sub(r" cycles=\d+", "", line)
        line = re.sub(r"token=([0-9a-f]{8})[0-9a-f]{8}", r"token=\1", line)
        out.append(line if shows else re.sub(r"word=\w+", "", line))
    return out


def as_they_are(lines):
    return lines


# Misuses that end differently here: how, and why.
OTHERWISE = {
    "wgmma_half_a_warp": ("launch cudaSuccess, end cudaErrorLaunchTimeout",
                          "PTX leaves it open; the warp waits for its other lanes, and the report says so"),
    "wgmma_wraps": ("launch cudaSuccess, end cudaErrorIllegalAddress",
                    "the operand begins in the 1024 bytes before a block's variables, which only an H200 has"),
}


def ends(line):
    """What a kernel wrote before it was stopped is not compared; one that hangs is stopped here."""
    line = re.sub(r"killed after \d+ s", "end cudaErrorLaunchTimeout", line)
    return line.split(", wrote")[0]


def errors(ridge, probe, record):
    """One process for each misuse."""
    differ = 0
    with open(record, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in lines:
        name = line.split(":")[0]
        want = f"{name}: {OTHERWISE[name][0]}" if name in OTHERWISE else ends(line)
        run = subprocess.run([ridge, "run", "--device", "vm", "--timeout", "20", probe, "--", name],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        got = ends(run.stdout.strip())
        if got != want:
            differ += 1
            print(f"H200:         {line}\nwanted here:  {want}\nsoftware GPU: {got}\n")
    if differ:
        sys.exit(f"{differ} of {len(lines)} misuses end differently")
    print(f"{len(lines)} misuses end as they should, {len(lines) - len(OTHERWISE)} as on the H200")


def main():
    ridge, probe, record, name = sys.argv[1:]
    if name == "errors":
        return errors(ridge, probe, record)
    rules = {"cluster": cluster, "mbarrier": mbarrier, "bulk": as_they_are}[name]
    with tempfile.TemporaryDirectory() as folder:
        seen = os.path.join(folder, "seen.txt")
        run = subprocess.run([ridge, "run", "--device", "vm", probe, "--", seen],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if not os.path.exists(seen):
            sys.exit(f"the probe wrote nothing:\n{run.stderr}")
        with open(seen, encoding="utf-8") as file:
            got = rules(file.read().splitlines())
    with open(record, encoding="utf-8") as file:
        want = rules(file.read().splitlines())
    differences = [(a, b) for a, b in zip(want, got) if a != b]
    for a, b in differences[:10]:
        print(f"H200:         {a[:400]}\nsoftware GPU: {b[:400]}\n")
    if len(want) != len(got):
        sys.exit(f"{len(got)} lines, the record has {len(want)}")
    if differences:
        sys.exit(f"{len(differences)} of {len(want)} lines differ")
    print(f"{len(want)} lines as on the H200")


main()
