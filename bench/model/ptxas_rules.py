#!/usr/bin/env python3
"""Finds out how long a loop ptxas unrolls, and how long an if it predicates, by compiling bodies of every length.

    ptxas_rules.py [--arch sm_90]

src/vm/timing/unrolled.cpp and src/vm/observe/machine.cpp hold the rules that this shows. Needs ptxas and nvdisasm (of the CUDA
toolkit, or of PyPI's nvidia-cuda-nvcc and nvidia-cuda-nvdisasm), and no GPU. Run it again with a new toolkit: other numbers
mean that the rules have to follow. Takes about ten seconds.
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MOST = 64  # instructions that are added to a body
HEAD = ".version 8.7\n.target {arch}\n.address_size 64\n"
ENTRY = """.visible .entry {name}(.param .u64 in, .param .u64 out, .param .u32 n)
{{
 .reg .pred %p<9>; .reg .b32 %r<20>; .reg .f32 %f<99>; .reg .b64 %rd<20>;
 .shared .align 16 .b8 tile[8192];
 ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [n];
 cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
 mov.u32 %r2, %tid.x; mul.wide.u32 %rd4, %r2, 4; add.s64 %rd1, %rd1, %rd4; mov.u32 %r4, tile; add.s32 %r4, %r4, %r2;
 ld.global.f32 %f1, [%rd2]; ld.global.f32 %f2, [%rd2+128]; mov.f32 %f3, %f2; ld.global.u32 %r3, [%rd2+256];
{body}
 add.f32 %f1, %f1, %f2; add.f32 %f1, %f1, %f3; st.global.f32 [%rd2], %f1; st.global.u32 [%rd2+64], %r3;
 ret;
}}
"""


def fmas(count):
    return " fma.rn.f32 %f2, %f2, %f3, %f1;\n" * count


def loads(count, space):
    base = {"global": "%rd1", "shared": "%r4"}[space]
    names = [f"%f{10 + i}" for i in range(count)]
    text = "".join(f" ld.{space}.f32 {name}, [{base}+{576 * i}];\n" for i, name in enumerate(names))
    return text + "".join(f" add.f32 %f1, %f1, {name};\n" for name in names)


STEP = {"global": " add.s64 %rd1, %rd1, 65536;\n", "shared": " add.s32 %r4, %r4, 65536;\n"}
COUNT = " add.s32 %r2, %r2, 256;\n setp.lt.s32 %p1, %r2, %r1;\n @%p1 bra turn;\n"
LOOPS = {  # what beside n multiply-adds is in the body
    "a loop of arithmetic": lambda n: "turn:\n" + fmas(n) + COUNT,
    "… with a load from global memory": lambda n: "turn:\n" + loads(1, "global") + STEP["global"] + fmas(n) + COUNT,
    "… with four of them": lambda n: "turn:\n" + loads(4, "global") + STEP["global"] + fmas(n) + COUNT,
    "… with a load from shared memory": lambda n: "turn:\n" + loads(1, "shared") + STEP["shared"] + fmas(n) + COUNT,
    "… with four of them (shared)": lambda n: "turn:\n" + loads(4, "shared") + STEP["shared"] + fmas(n) + COUNT,
    "… with a load and a store": lambda n: "turn:\n" + loads(1, "global") + " st.global.f32 [%rd1+4], %f1;\n" + STEP["global"] +
                                           fmas(n) + COUNT,
    "… with a load and a barrier": lambda n: "turn:\n bar.sync 0;\n" + loads(1, "global") + STEP["global"] + fmas(n) + COUNT,
    "… with a load and a shuffle": lambda n: "turn:\n shfl.sync.bfly.b32 %r3, %r3, 1, 31, -1;\n" + loads(1, "global") +
                                             STEP["global"] + fmas(n) + COUNT,
}
IF = " setp.ge.s32 %p1, %r3, %r1;\n @%p1 bra skip;\n"
IFS = {
    "an if of arithmetic": lambda n: IF + fmas(n) + "skip:\n",
    "… and as much else": lambda n: IF + fmas(n) + " bra join;\nskip:\n" + fmas(n) + "join:\n",
    "… with a load from global memory": lambda n: IF + loads(1, "global") + fmas(n) + "skip:\n",
    "… with two of them": lambda n: IF + loads(2, "global") + fmas(n) + "skip:\n",
    "… with a load, and an else of one": lambda n: IF + loads(1, "global") + fmas(n) + " bra join;\nskip:\n mov.f32 %f1, 0f00000000;\njoin:\n",
    "… with a store": lambda n: IF + fmas(n) + " st.global.f32 [%rd1+4], %f1;\nskip:\n",
}


def machine_code(bodies, arch, tools, folder):
    """By kernel: its machine instructions and labels."""
    (folder / "k.ptx").write_text(HEAD.format(arch=arch) + "".join(ENTRY.format(name=f"k{i}", body=b) for i, b in enumerate(bodies)))
    subprocess.run([tools["ptxas"], f"-arch={arch}", "-o", folder / "k.cubin", folder / "k.ptx"], check=True)
    text = subprocess.run([tools["nvdisasm"], "-c", folder / "k.cubin"], check=True, capture_output=True, text=True).stdout
    code = {}
    for line in text.splitlines():
        if found := re.match(r"\.text\.(\S+):", line): code[found[1]] = current = []
        elif found := re.match(r"(\.L_x_\d+):", line): current.append(found[1])
        elif found := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", line): current.append(found[1])
    return [code[f"k{i}"] for i in range(len(bodies))]


def branches(code):
    """(place, target's place) of every branch but the last, which follows the end."""
    at = {line: i for i, line in enumerate(code) if line.startswith(".L_x")}
    found = [(i, at[m[1]]) for i, line in enumerate(code) if (m := re.search(r"BRA.*?(\.L_x_\d+)", line))]
    return [one for one in found if one[1] != one[0] - 1]


def is_unrolled(code, count):
    return sum("FFMA" in line for line in code) >= 4 * count


def is_predicated(code, _):
    return not branches(code)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="sm_90")
    arch = parser.parse_args().arch
    tools = {name: shutil.which(name) for name in ("ptxas", "nvdisasm")}
    if missing := [name for name, path in tools.items() if not path]:
        sys.exit(f"ptxas_rules: {' and '.join(missing)} not found on PATH")
    with tempfile.TemporaryDirectory() as scratch:
        for title, kinds, holds in (("unrolled", LOOPS, is_unrolled), ("predicated", IFS, is_predicated)):
            for name, make in kinds.items():
                codes = machine_code([make(n) for n in range(1, MOST)], arch, tools, Path(scratch))
                most = max((n for n, code in enumerate(codes, 1) if holds(code, n)), default=0)
                print(f"{name:40} {title} with up to {most:2} multiply-adds" if most else f"{name:40} never {title}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
