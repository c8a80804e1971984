"""Holds the profiler's model of ptxas's accesses against the machine code of every rung that uses shared memory.

    disassembly_test.py DUMP NVCC SOURCES [--table] [RUNG …]

Compiles each rung for an H200 with line information; nvdisasm then says which PTX line each machine access came
from. A PTX line agrees when the accesses that the model gives it have the widths that the machine's have. Then the
profiler reads the machine code itself: what it does not leave open must agree everywhere. Ends with code 77 (skipped)
when there is no nvdisasm beside NVCC or on PATH.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SKIPPED = 77
# Of the shared accesses, and of the others, how many may differ: loops that ptxas unrolls merge across their turns.
ALLOWED = {"shared": 0.02, "global": 0.02}
SPACES = {"LDS": ("ld", "shared"), "STS": ("st", "shared"), "LDG": ("ld", "global"), "STG": ("st", "global")}
USES_SHARED = re.compile(r"__shared__|slices\.cuh|order\.cuh|tiles\.cuh|workers\.cuh|aligned_rows|reduce_columns|reduce_segments|"
                         r"block_scan|warp_per_row")


def width(opcode):
    words = opcode.split(".")
    for word, size in (("128", 16), ("64", 8), ("U16", 2), ("S16", 2), ("U8", 1), ("S8", 1)):
        if word in words:
            return size
    return 4


def machine(text):
    """By kernel: a set of (op, space, width, PTX line)."""
    kernels, kernel, line = collections.defaultdict(set), None, 0
    for row in text.splitlines():
        if match := re.match(r"\.text\.(\S+):", row):
            kernel, line = match[1], 0
        elif match := re.search(r"//## File .*, line (\d+)", row):
            line = int(match[1])
        elif match := re.match(r"\s+/\*[0-9a-f]+\*/\s+(@!?U?P\w+ )?\s*([A-Z0-9_.]+)", row):
            root = match[2].split(".")[0]
            if root in SPACES and not (match[1] and "PT " in match[1]):
                kernels[kernel].add((*SPACES[root], width(match[2]), line))
    return kernels


def model(dump, ptx, *disassembly):
    """By kernel: a list of (op, space, width, PTX lines), less those left open, which are counted; nothing for what the
    software GPU cannot load yet."""
    kernels, kernel = collections.defaultdict(list), None
    process = subprocess.run([dump, ptx, *disassembly], capture_output=True, text=True)
    if process.returncode:
        if "not supported by the software GPU" not in process.stderr:
            raise RuntimeError(process.stderr)
        return None, 0
    unclear = 0
    for row in process.stdout.splitlines():
        words = row.split()
        if words[0] == "kernel":
            kernel = words[1]
        elif words[0] == "unclear":
            unclear += 1
        else:
            kernels[kernel].append((words[0], words[1], int(words[2]), [int(n) for n in words[3:]]))
    return kernels, unclear


def compare(theirs, ours):
    """By space: [agreeing, differing] accesses of the model, and the differences."""
    tally, differences = collections.defaultdict(lambda: [0, 0]), []
    for kernel, accesses in ours.items():
        seen = collections.defaultdict(set)  # by (op, space, PTX line): widths
        for op, space, bytes_, line in theirs.get(kernel, ()):
            seen[op, space, line].add(bytes_)
        for op, space, bytes_, lines in accesses:
            if space == "local":
                continue
            found = set().union(*(seen[op, space, line] for line in lines))
            agrees = found == {bytes_}
            tally[space][not agrees] += 1
            if not agrees:
                differences.append(f"{kernel}: {op}.{space} at PTX lines {lines}: {bytes_} bytes, "
                                   f"the machine {sorted(found) or 'none'}")
    return tally, differences


def compile_rung(nvcc, sources, rung, folder):
    folder.mkdir()
    cubin = folder / "rung.cubin"
    subprocess.run([nvcc, "-O3", "-std=c++20", "-arch=sm_90", "-lineinfo", "-cubin", "-keep", "-keep-dir", folder,
                    f"-I{sources}/src", f"-I{sources}/include", "-o", cubin, sources / rung],
                   check=True, capture_output=True)
    return next(folder.glob("*.ptx")), cubin


def main(dump, nvcc, sources, *rest):
    nvdisasm = Path(nvcc).resolve().parent / "nvdisasm"
    nvdisasm = str(nvdisasm) if nvdisasm.exists() else shutil.which("nvdisasm")
    if not nvdisasm:
        print("no nvdisasm beside nvcc or on PATH: the model is not held against machine code here")
        return SKIPPED
    sources, table, rungs = Path(sources), "--table" in rest, [r for r in rest if r != "--table"]
    if not rungs:
        rungs = sorted(str(p.relative_to(sources)) for p in sources.glob("src/kernels/*/[0-9]*.cu")
                       if USES_SHARED.search(p.read_text()))
    totals, wrong, all_unclear = collections.defaultdict(lambda: [0, 0]), False, 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        built = [pool.submit(compile_rung, nvcc, sources, rung, Path(folder) / str(k)) for k, rung in enumerate(rungs)]
        for rung, files in zip(rungs, built):
            ptx, cubin = files.result()
            name, (ours, _) = rung.removeprefix("src/kernels/").removesuffix(".cu"), model(dump, ptx)
            if ours is None:
                print(f"{name} has instructions that the software GPU does not have yet")
                continue
            text = subprocess.run([nvdisasm, "-c", "-gp", cubin], check=True, capture_output=True, text=True).stdout
            disassembly = cubin.with_suffix(".sass")
            disassembly.write_text(text)
            theirs, (read, unclear) = machine(text), model(dump, ptx, disassembly)
            misread = compare(theirs, read)[1]
            print("".join(f"misread: {line}\n" for line in misread), end="")
            wrong |= bool(misread)
            all_unclear += unclear
            tally, differences = compare(theirs, ours)
            if not table:
                print("".join(line + "\n" for line in differences), end="")
            counts = {space: tally[space] for space in ("shared", "global")}
            print(f"| {name} | " + " | ".join(f"{a} of {a + d}" for a, d in counts.values()) + f" | {unclear} |")
            for space, (agree, differ) in counts.items():
                totals[space][0] += agree
                totals[space][1] += differ
    print(f"{all_unclear} accesses are left open by the machine code")
    for space, (agree, differ) in totals.items():
        print(f"{space}: {agree} of {agree + differ} accesses have the machine's width")
        wrong |= differ > ALLOWED[space] * (agree + differ) or not agree
    return int(wrong or not totals)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
