#!/usr/bin/env python3
"""Times PyTorch beside Ridge in one process, launch by launch.

Each line of the file of cases is one, {"operator": …, "dtype": …, "shape": …}; each gets one line of JSON on stdout: the samples
of PyTorch's eager operator (and of torch.compile where asked) and those of our chosen rung, taken in turn with a cold
L2. An operator without a counterpart here gets {"skipped": …}. `ridge climb` runs this where a Python with a
CUDA-enabled PyTorch is found.

  torch_rivals.py --library build/gpu/programs/libridge_bench.so --cases cases.jsonl [--pairs 50] [--compile]
"""
import argparse
import ctypes
import json
import os
import sys

import torch
import torch.nn.functional as F

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64,
          "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "u32": torch.uint32}
SHORTEST_BY_EVENTS = 15.0  # µs; shorter ones are replayed as a graph
LAUNCHES_A_GRAPH = 32
PATTERN = 1 << 22  # elements after which inputs repeat


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_char_p), ("rank", ctypes.c_int),
                ("shape", ctypes.c_int64 * 8), ("role", ctypes.c_int)]


def load(path):
    library = ctypes.CDLL(path)
    library.ridge_bench_error.restype = ctypes.c_char_p
    library.ridge_bench_open.restype = ctypes.c_void_p
    library.ridge_bench_choose.restype = ctypes.c_char_p
    library.ridge_bench_workspace.restype = ctypes.c_int64
    library.ridge_bench_bytes.restype = ctypes.c_double
    for name in ("tensors", "tensor", "fill", "choose", "workspace", "launch", "close", "bytes"):
        getattr(library, "ridge_bench_" + name).argtypes = None
    return library


# What PyTorch does for an operator: (named tensors) -> a function of no arguments that does it once.
# Outputs are written in place where PyTorch can, so that neither side pays for an allocation.
def unary(f):
    return lambda t: lambda: f(t["x"])


def activation_bwd(f):
    def make(t):
        x = t["x"].detach().requires_grad_()
        y = f(x)
        return lambda: torch.autograd.grad(y, x, t["dy"], retain_graph=True)
    return make


ACTIVATIONS = {
    "relu": F.relu, "leaky_relu": lambda x: F.leaky_relu(x, 0.01), "hardtanh": F.hardtanh,
    "clip": lambda x: torch.clamp(x, -1, 1), "sigmoid": torch.sigmoid, "tanh": torch.tanh, "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "elu": F.elu, "softplus": F.softplus,
}
OPERATORS = {
    "vector_add": lambda t: lambda: torch.add(t["a"], t["b"], out=t["out"]),
    "matrix_add": lambda t: lambda: torch.add(t["a"], t["b"], out=t["out"]),
    "matrix_copy": lambda t: lambda: t["out"].copy_(t["in"]),
    "transpose": lambda t: lambda: t["out"].copy_(t["in"].transpose(-1, -2)),
    "reverse_array": lambda t: lambda: torch.flip(t["in"], (0,)),
    "sum": lambda t: lambda: torch.sum(t["x"], dim=0, out=t["out"][0]),
    "mean": lambda t: lambda: torch.mean(t["x"], dim=0, out=t["out"][0]),
    "max": lambda t: lambda: torch.max(t["x"]),
    "min": lambda t: lambda: torch.min(t["x"]),
    "product": lambda t: lambda: torch.prod(t["x"]),
    "argmax": lambda t: lambda: torch.argmax(t["x"]),
    "norm_l1": lambda t: lambda: torch.linalg.vector_norm(t["x"], 1),
    "norm_l2": lambda t: lambda: torch.linalg.vector_norm(t["x"], 2),
    "dot": lambda t: lambda: torch.dot(t["x"], t["y"]),
    "sum_axis": lambda t: lambda: torch.sum(t["x"], dim=1),
    "mean_axis": lambda t: lambda: torch.mean(t["x"], dim=1),
    "max_axis": lambda t: lambda: torch.amax(t["x"], dim=1),
    "min_axis": lambda t: lambda: torch.amin(t["x"], dim=1),
    "product_axis": lambda t: lambda: torch.prod(t["x"], dim=1),
    "argmax_axis": lambda t: lambda: torch.argmax(t["x"], dim=1),
    "norm_l1_axis": lambda t: lambda: torch.linalg.vector_norm(t["x"], 1, dim=1),
    "norm_l2_axis": lambda t: lambda: torch.linalg.vector_norm(t["x"], 2, dim=1),
    "inclusive_scan": lambda t: lambda: torch.cumsum(t["in"], 0, out=t["out"]),
    "softmax": lambda t: lambda: torch.softmax(t["x"], -1, out=t["y"]),
    "log_softmax": lambda t: lambda: torch.log_softmax(t["x"], -1, out=t["y"]),
    "gemv": lambda t: lambda: torch.mv(t["A"], t["x"], out=t["y"]),
    "swiglu": lambda t: lambda: F.silu(t["gate"]) * t["up"],
    "geglu": lambda t: lambda: F.gelu(t["gate"]) * t["up"],
}
for name, f in ACTIVATIONS.items():
    OPERATORS[name] = unary(f)
    OPERATORS[name + "_bwd"] = activation_bwd(f)


class Contestant:
    """Something to launch, over several sets of inputs."""

    def __init__(self, name, launches):
        self.name, self.launches, self.samples, self.graph = name, launches, [], None

    def capture(self):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for i in range(LAUNCHES_A_GRAPH):
                self.launches[i % len(self.launches)]()
        self.graph = graph

    def run(self, turn):
        if self.graph:
            self.graph.replay()
        else:
            self.launches[turn % len(self.launches)]()


def time_once(contestant, turn, flush):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    flush.fill_(turn & 127)
    begin.record()
    contestant.run(turn)
    end.record()
    end.synchronize()
    us = begin.elapsed_time(end) * 1e3
    return us / LAUNCHES_A_GRAPH if contestant.graph else us


def make_set(library, bench, seed_shift):
    tensors = {}
    for i in range(library.ridge_bench_tensors(ctypes.c_void_p(bench))):
        spec = Tensor()
        library.ridge_bench_tensor(ctypes.c_void_p(bench), i, ctypes.byref(spec))
        shape = list(spec.shape[:spec.rank])
        dtype = DTYPES[spec.dtype.decode()]
        tensor = torch.empty(shape, dtype=dtype, device="cuda")
        if spec.role != 1 and tensor.numel():
            flat = tensor.view(-1)
            # Structured inputs (indices, offsets) are whole; others repeat a pattern.
            whole = not dtype.is_floating_point
            count = flat.numel() if whole else min(flat.numel(), PATTERN)
            host = torch.empty(count, dtype=dtype)
            library.ridge_bench_fill(ctypes.c_void_p(bench), i, ctypes.c_void_p(host.data_ptr()), ctypes.c_int64(count))
            part = host.cuda()
            for start in range(0, flat.numel(), count):
                flat[start:start + count] = part[:min(count, flat.numel() - start)]
        tensors[spec.name.decode()] = tensor
    return tensors


def ours(library, bench, tensors):
    pointers = (ctypes.c_void_p * len(tensors))(*[t.data_ptr() for t in tensors.values()])
    rung = library.ridge_bench_choose(ctypes.c_void_p(bench), pointers).decode()
    size = library.ridge_bench_workspace(ctypes.c_void_p(bench), pointers)
    workspace = torch.empty(max(size, 1), dtype=torch.uint8, device="cuda")

    def launch(keep=(tensors, workspace)):
        code = library.ridge_bench_launch(ctypes.c_void_p(bench), pointers, ctypes.c_void_p(workspace.data_ptr()),
                                          ctypes.c_int64(size), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        if code:
            raise RuntimeError(library.ridge_bench_error().decode())
    return rung, launch


def run_case(library, case, pairs, with_compile):
    make = OPERATORS.get(case["operator"])
    if make is None:
        return {"skipped": "PyTorch has no counterpart here"}
    bench = library.ridge_bench_open(case["operator"].encode(), case["dtype"].encode(), case["shape"].encode())
    if not bench:
        return {"skipped": library.ridge_bench_error().decode()}
    properties = torch.cuda.get_device_properties(0)
    moved = library.ridge_bench_bytes(ctypes.c_void_p(bench))
    l2 = getattr(properties, "L2_cache_size", 60 << 20)
    sets = max(1, min(LAUNCHES_A_GRAPH, int(-(-2 * l2 // max(moved, 1)))))
    inputs = [make_set(library, bench, s) for s in range(sets)]
    rung, launches = "", []
    for tensors in inputs:
        rung, launch = ours(library, bench, tensors)
        launches.append(launch)
    contestants = [Contestant("ridge", launches), Contestant("torch", [make(t) for t in inputs])]
    if with_compile:
        contestants.append(Contestant("compile", [torch.compile(make(t)) for t in inputs]))
    flush = torch.empty(2 * l2, dtype=torch.uint8, device="cuda")
    for contestant in contestants:
        for turn in range(3):
            last = time_once(contestant, turn, flush)
        contestant.first = last
    if min(c.first for c in contestants) < SHORTEST_BY_EVENTS:
        for contestant in contestants:
            try:
                contestant.capture()
            except RuntimeError as error:
                print(f"{case['operator']}: {contestant.name} cannot be captured: {error}", file=sys.stderr)
                torch.cuda.synchronize()
    for turn in range(pairs):
        for contestant in contestants if turn % 2 else reversed(contestants):
            contestant.samples.append(time_once(contestant, turn, flush))
    library.ridge_bench_close(ctypes.c_void_p(bench))
    result = {"rung": rung, "by_graph": contestants[0].graph is not None}
    for contestant in contestants:
        result[contestant.name + "_us"] = contestant.samples
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libridge_bench.so of a gpu build")
    parser.add_argument("--cases", type=argparse.FileType(), default=sys.stdin)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--compile", action="store_true", help="torch.compile as well")
    arguments = parser.parse_args()
    library = load(os.path.abspath(arguments.library))
    for line in arguments.cases:
        case = json.loads(line)
        with torch.no_grad() if not case["operator"].endswith("_bwd") else torch.enable_grad():
            try:
                result = run_case(library, case, arguments.pairs, arguments.compile)
            except (RuntimeError, torch.OutOfMemoryError) as error:
                result = {"skipped": str(error).splitlines()[0]}
        print(json.dumps({**case, **result}), flush=True)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
