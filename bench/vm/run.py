#!/usr/bin/env python3
"""Benchmarks the software GPU and records the result in bench/results/vm.json.

Each kernel of kernels.cu and hopper.cu runs on one worker thread, then on two; its instructions are counted in a run of
their own, so that counting does not slow the timed ones. A plain triple loop (plain_loop.cpp, g++ -O2) is timed in the
same run. Tensor copies of copies.cu run on one thread, beside memcpy. Rates are medians with quartiles. Also recorded:
time to load a large module, and the memory a small program takes.

  bench/vm/run.py [--preset vm] [--repeats 15] [--output FILE|-]
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "bench" / "vm"
KERNELS = {"kernels": ["sgemm", "wmma", "mma", "vector_add", "reduction", "collatz", "float4_swaps", "few_lanes"],
           "hopper": ["wgmma", "wgmma_tma"]}
PRODUCTS = {"wmma": (256, "f16"), "mma": (256, "f16"), "wgmma": (256, "bf16"), "wgmma_tma": (1024, "bf16")}
COPIES = [f"{what}_{way}{form}" for way in ("load", "store")
          for what, form in (("memcpy", ""), ("tensor", ""), ("memcpy", "_rows"), ("tensor", "_swizzled"))]
COPIED_BYTES = 64 << 20  # by each of them


def cpu_name():
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def quartiles(samples):
    low, middle, high = statistics.quantiles(samples, n=4)
    return {"median_s": middle, "q1_s": low, "q3_s": high, "samples_s": samples}


def build(nvcc, folder):
    for program in (*KERNELS, "copies"):
        subprocess.run([nvcc, "-std=c++17", "-O3", "-lineinfo", "-cudart", "shared",
                        "-gencode", "arch=compute_90a,code=compute_90a",
                        "-o", folder / program, HERE / f"{program}.cu"], check=True)
    subprocess.run(["g++", "-O2", "-o", folder / "plain_loop", HERE / "plain_loop.cpp"], check=True)


def run(program, *args, env):
    return subprocess.run([program, *args], env=env, check=True, capture_output=True, text=True)


def machine_scaling(folder, base):
    """Work two cores do together, relative to one alone: two independent one-thread processes at once. Virtual cores that
    share a physical one give less than 2, and no program on them can do better."""
    env = {**base, "RIDGE_THREADS": "1"}
    command = [folder / "kernels", "collatz", "15"]
    alone = statistics.median(float(x) for x in run(*command, env=env).stdout.split())
    pair = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    together = statistics.median(float(x) for p in pair for x in p.communicate()[0].split())
    return 2 * alone / together


def big_ptx(kernels):
    """A module of at least a megabyte, like a template-heavy program's."""
    body = "\n".join(f"  fma.rn.f32 %f{i % 30 + 1}, %f{(i * 7) % 30 + 1}, %f{(i * 3) % 30 + 1}, %f{i % 30 + 1};"
                     for i in range(400))
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    one = ("\n.visible .entry kernel_{k}(.param .u64 out)\n{{\n  .reg .f32 %f<32>; .reg .b64 %rd<4>;\n"
           "  ld.param.u64 %rd1, [out];\n{body}\n  st.global.f32 [%rd1], %f1;\n  ret;\n}}\n")
    return head + "".join(one.format(k=k, body=body) for k in range(kernels))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="vm")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--output", default=str(ROOT / "bench" / "results" / "vm.json"))
    parser.add_argument("--nvcc", default="nvcc")
    options = parser.parse_args()

    library = ROOT / "build" / options.preset / "lib"
    if not (library / "libcudart.so.13").exists():
        sys.exit(f"there is no {library}/libcudart.so.13: run ./ridge build first")
    base = {**os.environ, "LD_LIBRARY_PATH": str(library)}
    record = {"schema": 1, "date": datetime.date.today().isoformat(), "cpu": cpu_name(), "cores": os.cpu_count(),
              "kernels": {}, "copies": {}}

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(options.nvcc, folder)
        plain = [float(x) for x in run(folder / "plain_loop", str(options.repeats), env=base).stdout.split()]
        record["plain_loop"] = quartiles(plain)
        for program, kernel in ((p, k) for p, kernels in KERNELS.items() for k in kernels):
            counted = run(folder / program, kernel, "1", env={**base, "RIDGE_COUNT": "1"})
            instructions = int(re.search(r"(\d+) warp instructions", counted.stderr).group(1))
            entry = {"warp_instructions": instructions}
            for threads in (1, 2):
                env = {**base, "RIDGE_THREADS": str(threads)}
                times = run(folder / program, kernel, str(options.repeats + 1), env=env).stdout.split()
                entry[f"threads_{threads}"] = quartiles([float(x) for x in times[1:]])
            env = {**base, "RIDGE_THREADS": "1", "RIDGE_PROFILE": str(folder / "profile.json")}
            times = run(folder / program, kernel, str(options.repeats + 1), env=env).stdout.split()
            entry["profiled"] = quartiles([float(x) for x in times[1:]])
            record["kernels"][kernel] = entry
        for copy in COPIES:
            times = run(folder / "copies", copy, str(options.repeats + 1), env={**base, "RIDGE_THREADS": "1"}).stdout.split()
            record["copies"][copy] = quartiles([float(x) for x in times[1:]])
        record["machine_scaling"] = machine_scaling(folder, base)
        launches = run(folder / "kernels", "launches", "9", env={**base, "RIDGE_THREADS": "1"}).stdout.split()
        record["launch_us"] = statistics.median(float(x) for x in launches[1:]) * 1e6 / 1000
        (folder / "big.ptx").write_text(big_ptx(60), encoding="utf-8")
        record["module_bytes"] = (folder / "big.ptx").stat().st_size
        loader = ROOT / "build" / options.preset / "bin" / "vm_load_bench"
        if loader.exists():
            out = run(loader, folder / "big.ptx", "kernel_30", env=base).stdout.split()
            record["module_ready_s"], record["resident_overhead_mb"] = float(out[0]), float(out[1])

    print(f"{'kernel':<12}{'warp instr':>12}{'1 thread':>11}{'M warp/s':>10}{'2 threads':>11}{'speed-up':>10}{'profiled':>10}")
    for kernel, entry in record["kernels"].items():
        one, two = entry["threads_1"]["median_s"], entry["threads_2"]["median_s"]
        print(f"{kernel:<12}{entry['warp_instructions']:>12}{one * 1e3:>8.1f} ms"
              f"{entry['warp_instructions'] / one / 1e6:>10.0f}{two * 1e3:>8.1f} ms{one / two:>9.2f}x"
              f"{entry['profiled']['median_s'] / one:>9.2f}x")
    sgemm = record["kernels"]["sgemm"]["threads_1"]["median_s"]
    for kernel, (size, numbers) in PRODUCTS.items():
        rate = 2 * size**3 / record["kernels"][kernel]["threads_1"]["median_s"] / 1e9
        print(f"{kernel}, {size}^3 on {numbers}: {rate:.1f} GFLOP/s on one thread")
    for copy, entry in record["copies"].items():
        whole = "memcpy_load" if "load" in copy else "memcpy_store"
        rows = f", {100 * record['copies'][whole + '_rows']['median_s'] / entry['median_s']:.0f} % of memcpy by rows"
        print(f"{copy}: {COPIED_BYTES / entry['median_s'] / 1e9:.1f} GB/s on one thread,"
              f" {100 * record['copies'][whole]['median_s'] / entry['median_s']:.0f} % of memcpy"
              f"{rows if 'swizzled' in copy else ''}")
    print(f"plain loop, 512^3: {record['plain_loop']['median_s'] * 1e3:.1f} ms, "
          f"{record['plain_loop']['median_s'] / sgemm:.1f} times the software GPU's sgemm on one thread")
    print(f"two independent processes do {record['machine_scaling']:.2f} times the work of one on this machine")
    print(f"a launch of an empty kernel: {record['launch_us']:.1f} us")
    if "module_ready_s" in record:
        print(f"a {record['module_bytes'] / 1e6:.1f} MB module is ready to launch in {record['module_ready_s'] * 1e3:.1f} ms;"
              f" resident overhead {record['resident_overhead_mb']:.1f} MB")
    if options.output != "-":
        pathlib.Path(options.output).parent.mkdir(parents=True, exist_ok=True)
        # Samples on one line, as in the records of climbs.
        text = re.sub(r"\[[^][{}]*\]", lambda numbers: re.sub(r"\s+", " ", numbers[0]).replace("[ ", "[").replace(" ]", "]"),
                      json.dumps(record, indent=1))
        pathlib.Path(options.output).write_text(text + "\n", encoding="utf-8")
        print(f"recorded in {options.output}")


if __name__ == "__main__":
    main()
