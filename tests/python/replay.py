"""Launches the stored kernels of examples/triton through the driver API, as Triton's launcher does, and compares the results with
what float64 gives. It needs neither Triton nor NumPy.

    replay.py GPU    with libcuda.so.1 in LD_LIBRARY_PATH
"""
import array
import base64
import ctypes
import json
import os
import re
import struct
import sys
import zlib
from pathlib import Path

HERE = Path(__file__).parent
CODES = {"float32": "f", "float64": "d", "float16": "e", "int32": "i", "int64": "q", "uint8": "B"}


def unpacked(text):
    return zlib.decompress(base64.b64decode(text))


class Device:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.do("cuInit", 0)
        context = ctypes.c_void_p()
        self.do("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.do("cuCtxSetCurrent", context)

    def do(self, name, *arguments):
        if result := getattr(self.cuda, name)(*arguments):
            raise RuntimeError(f"{name}: CUresult {result}")

    def allocate(self, data):
        address = ctypes.c_uint64()
        self.do("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(len(data)))
        self.do("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
        return address

    def read(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.do("cuMemcpyDtoH_v2", data, address, ctypes.c_size_t(size))
        return data.raw

    def launch(self, function, launch, buffers, count):
        values = []
        for param in launch["params"]:
            data = struct.pack("<Q", buffers[param["buffer"]].value) if "buffer" in param else bytes.fromhex(param["value"])
            values.append(ctypes.create_string_buffer(data, max(len(data), 8)))
        values += [ctypes.create_string_buffer(8) for _ in range(count - len(values))]  # scratch memory that it does not have
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
        if launch["shared"] > 48 * 1024:
            self.do("cuFuncSetAttribute", function, 8, launch["shared"])
        self.do("cuLaunchKernel", function, *launch["grid"], launch["block"], 1, 1, launch["shared"], None, pointers, None)
        self.do("cuCtxSynchronize")


def compare(check, data):
    got = struct.unpack(f"<{len(data) // struct.calcsize(CODES[check['dtype']])}{CODES[check['dtype']]}", data)
    expected = array.array("f", unpacked(check["expected"]))
    if len(got) != len(expected):
        return f"{len(got)} numbers instead of {len(expected)}"
    for k, (x, y) in enumerate(zip(got, expected)):
        if not abs(x - y) <= check["tolerance"]:
            return f"{x} instead of {y} at {k}"
    return None


def replay(device, file):
    stored = json.loads(file.read_text())
    buffers = [device.allocate(unpacked(b["data"])) for b in stored["buffers"]]
    functions, done, wrong = {}, 0, []
    for number, launch in enumerate(stored["launches"], 1):
        ptx = (file.parent / launch["ptx"]).read_text()
        key = launch["ptx"]
        if key not in functions:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            device.do("cuModuleLoadData", ctypes.byref(module), ptx.encode())
            device.do("cuModuleGetFunction", ctypes.byref(function), module, launch["kernel"].encode())
            entry = re.search(r"\.entry.*?\)", ptx, re.S).group()
            functions[key] = function, entry.count(".param")
        device.launch(functions[key][0], launch, buffers, functions[key][1])
        for check in stored["checks"]:
            if check["behind"] != number:
                continue
            done += 1
            if fault := compare(check, device.read(buffers[check["buffer"]], stored["buffers"][check["buffer"]]["bytes"])):
                wrong.append(f"{file.stem}, {check['what']}: {fault}")
    return done, wrong


def main():
    files = sorted((HERE / "stored" / sys.argv[1]).glob("*.json"))
    os.environ["RIDGE_GPU"] = sys.argv[1]
    device, done, wrong = Device(), 0, []
    for file in files:
        count, faults = replay(device, file)
        done, wrong = done + count, wrong + faults
    print("\n".join(wrong) or f"{done} results of {len(files)} programs are right")
    return 0 if done and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
