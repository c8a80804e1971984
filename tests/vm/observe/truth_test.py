"""The counters of the access patterns beside what an H200 counted for the same source (truth/patterns.csv).

    truth_test.py PROGRAM RIDGE    runs PROGRAM under `ridge run` and compares every metric named in METRICS
"""
import csv
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TRUTH = Path(__file__).parent / "truth" / "patterns.csv"


def total(profile, key, reach, action):
    return sum(i.get(key, 0) for i in profile["instructions"]
               if i.get("action") == action and i.get("reach") in (reach, "generic"))


# Of ncu's names, those that follow from addresses alone.
METRICS = {}
for op in ("ld", "st", "red", "atom"):
    METRICS[f"l1tex__t_requests_pipe_lsu_mem_global_op_{op}.sum"] = ("requests", "global", op)
    METRICS[f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum"] = ("sectors", "global", op)
    METRICS[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"] = ("wavefronts", "shared", op)


def counted(profile, metric):
    key, reach, action = METRICS[metric]
    value = total(profile, key, reach, action)
    if action == "atom" and reach == "shared":  # whether the result is used or not, it is one instruction there
        value += total(profile, key, reach, "red")
    return value


def main(program, ridge):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "profile.json"
        subprocess.run([ridge, "run", "--quiet", "--device", "vm", program], check=True,
                       env=dict(os.environ, RIDGE_PROFILE=str(file)), stdout=subprocess.DEVNULL)
        decoder, text, profiles = json.JSONDecoder(), file.read_text(), {}
        while text.strip():
            profile, end = decoder.raw_decode(text.lstrip())
            text = text.lstrip()[end:]
            name = profile["kernel"]
            for pattern in (row["kernel"] for row in csv.DictReader(TRUTH.open())):
                if name.startswith(f"_Z{len(pattern)}{pattern}"):
                    profiles[pattern] = profile
    wrong = agree = 0
    for row in csv.DictReader(TRUTH.open()):
        profile = profiles[row["kernel"]]
        for metric in METRICS:
            if metric not in row:
                continue
            ours, truth = counted(profile, metric), int(row[metric])
            if ours == truth:
                agree += 1
            else:
                wrong += 1
                print(f"{row['kernel']}: {metric} is {ours}, the H200 counted {truth}")
    print(f"{agree} counters equal the hardware's, {wrong} do not")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
