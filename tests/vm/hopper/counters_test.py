#!/usr/bin/env python3
"""The counters of `ridge profile --csv` beside what Nsight Compute read on an H200 for the same kernels (records/).

usage: counters_test.py RIDGE PROGRAM RECORD [PROGRAM RECORD …]

Every column of a record is compared, kernel by kernel, or stands in NOT_OURS with the reason.
"""
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

MACHINE_CODE = "counts all machine instructions"
TIME = "depends on time"
NOT_OURS = {
    "smsp__inst_executed": MACHINE_CODE,
    "smsp__inst_executed_pipe_adu": MACHINE_CODE + "; see ADU",
    "smsp__inst_executed_pipe_lsu": MACHINE_CODE,
    "smsp__inst_executed_pipe_uniform": MACHINE_CODE,
    "smsp__inst_executed_op_shared_atom": "0 in all of these kernels",
    "sm__sass_l1tex_pipe_lsu_wavefronts_mem_shared": "the sum of others, without atomics",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared": "with wavefronts that belong to no access (…_op_misc)",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_misc": "belongs to no access",
    "l1tex__data_bank_reads": "counts banks, of registers' loads and stores as well",
    "lts__t_sectors_srcunit_tex": "see L2",
    "lts__t_sectors_srcunit_tex_op_read": "see L2",
    "lts__t_sectors_srcunit_tex_op_write": "see L2",
    "lts__t_sectors_srcunit_tex_op_red": "see L2",
    "smsp__warps_issue_stalled_barrier": TIME,
    "smsp__warps_issue_stalled_gmma": TIME,
    "smsp__warps_issue_stalled_long_scoreboard": TIME,
    "smsp__warps_issue_stalled_membar": TIME,
}
# Kernels, and parts of the metrics that differ there, "$" being the end: docs/agreement.md says why.
KNOWN = {
    ("dsmem_load_one_lane", "dshared"), ("dsmem_load_one_lane", "sm__sass_data_bytes_mem_shared$"),
    ("bulk_load_4096_at_16", "lts__"),
}
# In these kernels nothing but copies goes to the L2.
L2 = ("ridge__bulk_l2_sectors", "lts__t_sectors_srcunit_tex", ("tma_", "bulk_"))
# Each wait and each arrival is one instruction of this pipe (one at a peer's mbarrier is two). What the first kernel has
# more than the second is what our counters have more.
ADU = [
    ("bar_sync", "mbarrier_nothing", ["ridge__barrier_waits"]),
    ("mbarrier_test_wait", "mbarrier_arrive", ["ridge__mbarrier_waits", "ridge__mbarrier_arrivals"]),
    ("mbarrier_arrive_and_wait", "mbarrier_arrive", ["ridge__mbarrier_waits"]),
    ("mbarrier_arrive_and_wait", "mbarrier_test_wait", ["ridge__mbarrier_arrivals"]),
    ("tma_load_inside", "tma_store_inside", ["ridge__mbarrier_arrivals", "ridge__mbarrier_waits"]),
    ("bulk_load_16", "bulk_store_4096", ["ridge__mbarrier_arrivals", "ridge__mbarrier_waits"]),
]


def rows_of(file):
    with open(file, encoding="utf-8") as text:
        return {row["kernel"]: row for row in csv.DictReader(text)}


def profile(ridge, program):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "profile.csv"
        subprocess.run([ridge, "profile", program, "--csv", str(file)], check=True, stdout=subprocess.DEVNULL)
        return rows_of(file)


class Tally:
    def __init__(self):
        self.by_metric = {}

    def compare(self, kernel, metric, ours, theirs):
        if any(kernel == k and part in metric + "$" for k, part in KNOWN):
            return
        same = int(float(ours)) == int(float(theirs))
        self.by_metric.setdefault(metric, [0, 0, 0])[0 if same else 1] += 1
        self.by_metric[metric][2] += same and int(float(theirs)) != 0
        if not same:
            print(f"{kernel}: {metric} is {ours}, the H200 counted {theirs}")

    def report(self):
        print(f"{'metric':72} equal  (not 0)  different")
        for metric, (equal, different, more) in self.by_metric.items():
            print(f"{metric:72} {equal:5}  {more:7}  {different:9}")
        equal, different = (sum(t[k] for t in self.by_metric.values()) for k in (0, 1))
        print(f"{equal} counters equal the hardware's, {different} do not")
        return different == 0 and equal > 0


def main(ridge, *pairs):
    tally, failed = Tally(), False
    for program, record in zip(pairs[::2], pairs[1::2]):
        ours, theirs = profile(ridge, program), rows_of(record)
        for kernel, row in theirs.items():
            if kernel not in ours:
                print(f"{kernel}: no launch")
                failed = True
                continue
            for metric, value in row.items():
                found = ours[kernel].get(metric + ".sum")
                if metric == "kernel" or metric in NOT_OURS:
                    continue
                if not found:
                    print(f"{kernel}: the profile has no {metric}.sum")
                    failed = True
                else:
                    tally.compare(kernel, metric, found, value)
            if L2[1] in row and kernel.startswith(L2[2]):
                tally.compare(kernel, L2[1], ours[kernel][L2[0]], row[L2[1]])
        for more, less, counters in ADU if "smsp__inst_executed_pipe_adu" in row else []:
            def difference(metric, rows):
                return int(rows[more][metric]) - int(rows[less][metric])
            found = sum(difference(c, ours) for c in counters)
            tally.compare(f"{more} − {less}", "smsp__inst_executed_pipe_adu", found,
                          difference("smsp__inst_executed_pipe_adu", theirs))
    return 0 if tally.report() and not failed else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
