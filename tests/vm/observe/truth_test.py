"""The counters of access patterns beside what an H200 counted for the same source.

    truth_test.py RIDGE PROGRAM CSV [PROGRAM CSV …]    runs each PROGRAM under `ridge run` and compares with its CSV
                                                      every metric that METRICS knows, kernel by kernel; once more
                                                      with the machine code read, where nvdisasm is installed
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def total(profile, key, reach, *actions):
    return sum(i.get(key, 0) for i in profile["instructions"]
               if i.get("action") in actions and i.get("reach") in (reach, "generic"))


def conflicts(profile, *actions):
    return total(profile, "wavefronts", "shared", *actions) - total(profile, "ideal_wavefronts", "shared", *actions)


# Whether an atomic's result is used or not, it is one instruction in shared memory, not in global memory.
SHARED = {"ld": ("ld",), "st": ("st",), "atom": ("atom", "red")}
ALL = ("ld", "st", "atom", "red")

# Of ncu's names, those that follow from addresses alone: the function that reads them from a profile.
METRICS = {
    "memory_l1_wavefronts_shared": lambda p: total(p, "wavefronts", "shared", *ALL),
    "memory_l1_wavefronts_shared_ideal": lambda p: total(p, "ideal_wavefronts", "shared", *ALL),
    "launch__shared_mem_per_block_static": lambda p: p["static_shared"],
}
for op in ("ld", "st", "red", "atom"):
    METRICS[f"l1tex__t_requests_pipe_lsu_mem_global_op_{op}.sum"] = lambda p, op=op: total(p, "requests", "global", op)
    METRICS[f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum"] = lambda p, op=op: total(p, "sectors", "global", op)
for op, actions in SHARED.items():
    METRICS[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"] = (
        lambda p, a=actions: total(p, "wavefronts", "shared", *a))
    METRICS[f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum"] = lambda p, a=actions: conflicts(p, *a)
# Warps that the machine sends through with no lane switched on count as well.
for op in ("ld", "st"):
    METRICS[f"smsp__inst_executed_op_shared_{op}.sum"] = (
        lambda p, op=op: total(p, "shared_requests", "shared", op) + total(p, "switched_off", "shared", op))
    METRICS[f"smsp__inst_executed_op_global_{op}.sum"] = (
        lambda p, op=op: total(p, "requests", "global", op) + total(p, "switched_off", "global", op))


def disassembler():
    """What lets the profiler read machine code; nothing where the toolkit has no nvdisasm."""
    path = os.environ["PATH"] + ":/usr/local/cuda/bin"
    ptxas, nvdisasm = shutil.which("ptxas", path=path), shutil.which("nvdisasm", path=path)
    return {"RIDGE_PROFILE_PTXAS": ptxas, "RIDGE_PROFILE_NVDISASM": nvdisasm} if ptxas and nvdisasm else {}


def profiles_of(ridge, program, settings):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "profile.json"
        env = dict(os.environ, RIDGE_PROFILE=str(file), RIDGE_PROFILE_PTX=folder, **settings)
        subprocess.run([ridge, "run", "--quiet", "--device", "vm", program], check=True, env=env,
                       stdout=subprocess.DEVNULL)
        decoder, text, profiles = json.JSONDecoder(), file.read_text(), []
        while text.strip():
            profile, end = decoder.raw_decode(text.lstrip())
            text = text.lstrip()[end:]
            profiles.append(profile)
            widths = "machine code" if settings else "model"
            assert profile["widths"] == widths, f"{profile['kernel']}: widths are of the {profile['widths']}"
        return profiles


def compare(ridge, program, truth, tally, settings):
    profiles = profiles_of(ridge, program, settings)
    rows = list(csv.DictReader(open(truth)))
    for row in rows:
        name = row["kernel"]
        found = [p for p in profiles if p["kernel"].startswith(f"_Z{len(name)}{name}")]
        if len(found) != 1:
            print(f"{name}: {len(found)} launches")
            tally[name] = [0, 1]
            continue
        for metric, read in METRICS.items():
            if not row.get(metric):
                continue
            ours, truly = read(found[0]), int(float(row[metric]))
            tally.setdefault(metric, [0, 0])[ours != truly] += 1
            if ours != truly:
                print(f"{name}: {metric} is {ours}, the H200 counted {truly}")


def main(ridge, *pairs):
    wrong = held(ridge, pairs, {})
    return held(ridge, pairs, disassembler()) | wrong if disassembler() else wrong


def held(ridge, pairs, settings):
    tally = {}  # by metric: equal, different
    for program, truth in zip(pairs[::2], pairs[1::2]):
        compare(ridge, program, truth, tally, settings)
    print("with the machine code read:" if settings else "as modelled:")
    for metric, (equal, different) in tally.items():
        print(f"{metric:66} {equal:4} equal {different:4} not")
    equal, different = (sum(t[k] for t in tally.values()) for k in (0, 1))
    print(f"{equal} counters equal the hardware's, {different} do not")
    return 1 if different or not equal else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
