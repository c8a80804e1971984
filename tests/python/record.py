"""Writes what the programs of examples/triton launch into stored/, for replay.py: the PTX, the parameters, the arrays before the
first launch, and what the program itself compares its results with. Run it after a change of an example, with a Triton:

    ridge run --device vm --gpu h200 --python PATH record.py
"""
import base64
import json
import os
import re
import runpy
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import triton

from sizes import EXAMPLES, HERE, SIZES

ON_A100 = ("10", "11", "15")  # tl.dot is another instruction there
PACKED = {"i1": "B", "i8": "b", "u8": "B", "i16": "h", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "fp32": "f", "fp64": "d"}


def packed(data):
    return base64.b64encode(zlib.compress(bytes(data), 9)).decode()


class Recording:
    def __init__(self):
        self.buffers, self.known, self.launches, self.checks, self.arrays = [], {}, [], [], []

    def buffer(self, array):
        at = array.__array_interface__["data"][0]
        if at not in self.known:
            self.known[at] = len(self.buffers)
            self.arrays.append(array)  # so that no other gets its address
            self.buffers.append({"data": packed(array.tobytes()), "bytes": array.nbytes})
        return self.known[at]

    def note_launch(self, launcher, grid, args):
        params = []
        for k in launcher.own_arguments:
            kind, value = launcher.kinds[k], args[k]
            if kind.startswith("*"):
                params.append({"buffer": self.buffer(value.array)})
            else:
                params.append({"value": struct.pack("<" + PACKED[kind], value).hex()})
        self.launches.append({"grid": grid, "params": params})

    def note_kernel(self, kernel):
        launch = self.launches[-1]
        launch.update(kernel=kernel.metadata.name, block=32 * kernel.metadata.num_warps, shared=kernel.metadata.shared)
        return kernel.asm["ptx"]

    def note_check(self, what, got, expected, tolerance):
        self.checks.append({"what": what, "behind": len(self.launches), "buffer": self.buffer(got), "dtype": got.dtype.name,
                            "expected": packed(expected.astype(np.float32).tobytes()),
                            # and what float32 loses of the expected numbers
                            "tolerance": float(tolerance) + float(np.abs(expected).max()) * 2**-24})


def record(example, gpu):
    recording, texts = Recording(), {}
    launcher = triton.runtime.driver.active.launcher_cls
    plain_call, plain_run = launcher.__call__, triton.runtime.jit.JITFunction.run

    def call(self, x, y, z, stream, function, metadata, launch_metadata, enter, leave, *args):
        recording.note_launch(self, [x, y, z], args)
        return plain_call(self, x, y, z, stream, function, metadata, launch_metadata, enter, leave, *args)

    def run(self, *args, **kwargs):
        kernel = plain_run(self, *args, **kwargs)
        text = "\n".join(line.rstrip() for line in recording.note_kernel(kernel).splitlines()) + "\n"
        text = re.sub(r"^\s*//(?!\s*(begin|end) inline asm).*\n", "", text, flags=re.M)
        number = texts.setdefault(text, len(texts))
        recording.launches[-1]["ptx"] = f"{example.stem}{f'_{number}' if number else ''}.ptx"
        return kernel

    sys.path.insert(0, str(EXAMPLES))
    import common
    plain_check = common.check

    def check(what, got, expected, tolerance):
        plain_check(what, got, expected, tolerance)
        recording.note_check(what, got, expected, tolerance)

    launcher.__call__, triton.runtime.jit.JITFunction.run, common.check = call, run, check
    sys.argv = [str(example), *SIZES[example.stem[:2]].split()]
    try:
        runpy.run_path(str(example), run_name="__main__")
    finally:
        launcher.__call__, triton.runtime.jit.JITFunction.run, common.check = plain_call, plain_run, plain_check
    folder = HERE / "stored" / gpu
    folder.mkdir(parents=True, exist_ok=True)
    for text, number in texts.items():
        (folder / f"{example.stem}{f'_{number}' if number else ''}.ptx").write_text(text)
    (folder / f"{example.stem}.json").write_text(
        json.dumps({"buffers": recording.buffers, "launches": recording.launches, "checks": recording.checks}, indent=1) + "\n")


def main():
    triton.knobs.compilation.disable_line_info = True  # it would hold paths of this machine
    gpu = os.environ["RIDGE_GPU"]
    for example in sorted(EXAMPLES.glob("[0-9]*.py")):
        if gpu == "h200" or example.stem[:2] in ON_A100:
            record(example, gpu)


if __name__ == "__main__":
    main()
