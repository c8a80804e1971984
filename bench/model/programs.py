#!/usr/bin/env python3
"""Times the ordinary kernels of bench/model/programs on the GPU at hand, with what Nsight Compute says of them.

    programs.py --out FILE [--program FILE] [--no-ncu] [NAME…]

Per program: `cold_us` and `hot_us` between two events (median of 15, with quartiles), `graph_us` per launch for short ones, and
`ncu`: the throughput of each resource in percent of its peak, some counters, and the resource that bounds the kernel by these
figures. Nsight Compute runs with a cold L2 and leaves the clocks alone. All programs take about a minute.
"""
import argparse
import csv
import datetime
import json
import subprocess
import sys
from pathlib import Path

from build import build, card

PEAK, ACTIVE = ".avg.pct_of_peak_sustained_elapsed", ".avg.pct_of_peak_sustained_active"
METRICS = {  # by our names
    "us": "gpu__time_duration.sum",
    "dram_pct": "gpu__dram_throughput" + PEAK,
    "l2_pct": "lts__throughput" + PEAK,
    "l1_pct": "l1tex__throughput" + ACTIVE,
    "memory_pct": "gpu__compute_memory_throughput" + PEAK,
    "sm_pct": "sm__throughput" + PEAK,
    "shared_wavefronts_pct": "l1tex__data_pipe_lsu_wavefronts" + ACTIVE,
    "issue_pct": "sm__inst_issued" + ACTIVE,
    "alu_pct": "sm__inst_executed_pipe_alu" + ACTIVE,
    "fma_pct": "sm__inst_executed_pipe_fma" + ACTIVE,
    "fma_cycles_pct": "sm__pipe_fma_cycles_active" + ACTIVE,
    "fp16_pct": "sm__inst_executed_pipe_fp16" + ACTIVE,
    "fp64_pct": "sm__pipe_fp64_cycles_active" + ACTIVE,
    "fp64_inst_pct": "sm__inst_executed_pipe_fp64" + ACTIVE,
    "sfu_pct": "sm__inst_executed_pipe_xu" + ACTIVE,
    "lsu_pct": "sm__inst_executed_pipe_lsu" + ACTIVE,
    "tensor_pct": "sm__pipe_tensor_cycles_active" + ACTIVE,
    "tensor_inst_pct": "sm__inst_executed_pipe_tensor" + ACTIVE,
    "occupancy_pct": "sm__warps_active" + ACTIVE,
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "l2_hit_pct": "lts__t_sector_hit_rate.pct",
    "l1_hit_pct": "l1tex__t_sector_hit_rate.pct",
    "l2_sectors": "lts__t_sectors.sum",
    "l1_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "warp_instructions": "smsp__inst_executed.sum",
    "cycles": "gpc__cycles_elapsed.max",
    "active_cycles": "sm__cycles_active.avg",
    "registers": "launch__registers_per_thread",
    "shared_bytes": "launch__shared_mem_per_block",
    "grid": "launch__grid_size",
    "block": "launch__block_size",
    "waves": "launch__waves_per_multiprocessor",
}
FILLS = 8  # kernels that fill the buffers, before the first program
BOUNDS = {  # what ncu's figures say of each resource; the highest of them bounds the kernel
    "memory": ["dram_pct"], "l2": ["l2_pct"], "l1_shared": ["l1_pct", "shared_wavefronts_pct", "lsu_pct"],
    "issue": ["issue_pct", "alu_pct"], "fma": ["fma_pct", "fma_cycles_pct"], "fp64": ["fp64_pct", "fp64_inst_pct"],
    "sfu": ["sfu_pct"], "tensor": ["tensor_pct", "tensor_inst_pct"],
}
BUSY = 60  # percent; below it, latency bounds the kernel


def bound(figures, sms):
    if figures["grid"] < sms: return "idle"
    share = {name: max(figures.get(field, 0) for field in fields) for name, fields in BOUNDS.items()}
    highest = max(share, key=share.get)
    return highest if share[highest] >= BUSY else "latency"


def known_metrics():
    """Base names that this chip has; the launch's own attributes always exist."""
    answer = subprocess.run(["ncu", "--query-metrics"], capture_output=True, text=True)
    return {line.split()[0] for line in answer.stdout.splitlines() if line.strip() and "__" in line.split()[0]}


def figures_of(row):
    """Our names and numbers of one row of ncu's CSV; what the chip does not have is left out."""
    figures = {"kernel": row["Kernel Name"].split("(")[0].removeprefix("void ").removeprefix("unnamed>::")}
    for ours, metric in METRICS.items():
        value = row.get(metric, "")
        if value not in ("", "n/a"): figures[ours] = round(float(value.replace(",", "")), 4)
    if "us" in figures: figures["us"] = round(figures["us"] / 1e3, 3)  # from ns
    return figures | {"bound": bound(figures, int(row["launch__sm_count"].replace(",", "")))}


def profile(program, names, log):
    known = known_metrics()
    wanted = [metric for metric in METRICS.values() if metric.startswith("launch__") or metric.split(".")[0] in known]
    run = subprocess.run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
                          "--launch-skip", str(FILLS), "--metrics", ",".join(wanted), program, "once", *names],
                         capture_output=True, text=True)
    log.write_text(run.stdout + run.stderr)
    rows = [row for row in csv.DictReader(line for line in run.stdout.splitlines() if line.startswith('"'))
            if row.get("Kernel Name")]
    if len(rows) != len(names):
        sys.exit(f"programs: ncu saw {len(rows)} kernels instead of {len(names)}; see {log}")
    return [figures_of(row) for row in rows]


def text_of(gpu, date, programs):
    """One line per program."""
    head = {"schema": 1, **gpu, "date": date, "cache": "cold in cold_us and ncu, hot in hot_us and graph_us"}
    lines = ["{"] + [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()] + [' "programs": {']
    rows = [f"  {json.dumps(name)}: {json.dumps(figures)}" for name, figures in programs.items()]
    return "\n".join([*lines, ",\n".join(rows), " }", "}"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--program", type=Path)
    parser.add_argument("--no-ncu", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    gpu = card()
    program = (options.program or build("programs", gpu["compute_capability"])).resolve()
    times = subprocess.run([program, "time", *options.names], stdout=subprocess.PIPE, text=True, check=True).stdout
    programs = json.loads(times)

    date = datetime.date.today().isoformat()
    options.out.write_text(text_of(gpu, date, programs))  # the times, should ncu fail
    if not options.no_ncu:
        for name, figures in zip(programs, profile(program, list(programs), options.out.with_suffix(".ncu.log"))):
            programs[name]["ncu"] = figures
        options.out.write_text(text_of(gpu, date, programs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
