#!/usr/bin/env python3
"""What a call from Python costs before the device computes: ours beside PyTorch's operator of the same arity.

  call_overhead.py [--rounds 200] [--json FILE]      PYTHONPATH=build/gpu/python (or vm), or an installed wheel

On a GPU the tensors have 256 elements, and calls are enqueued without waiting, so that the time is the host's alone; every
round ends with a synchronisation outside of its time. Without a GPU the tensors have no elements: nothing is launched, but
all else is done: arguments, checks, selection, outputs. Each time is the least of all rounds, per call, in microseconds; ours
and PyTorch's take turns. `dispatcher` is torch.ops.ridge.NAME, which calls with gradients and torch.compile go through.
"""
import argparse
import json
import sys
import time

import torch

import ridge
import ridge.torch  # noqa: F401

CALLS = 50  # per round


def cases(n, device):
    x, y, z = (torch.randn(n, device=device) for _ in range(3))
    rows, gamma, beta = torch.randn(1 if n else 0, n or 8, device=device), *(torch.randn(n or 8, device=device) for _ in range(2))
    width = gamma.shape[0]
    ops = torch.ops.ridge
    return {
        "relu (1 tensor)": (lambda: torch.relu(x), lambda: ridge.relu(x), lambda: ops.relu(x)),
        "add (2 tensors)": (lambda: torch.add(x, y), lambda: ridge.add(x, y), lambda: ops.add(x, y)),
        "softmax (1 tensor)": (lambda: torch.softmax(rows, -1), lambda: ridge.softmax(rows), lambda: ops.softmax(rows)),
        "rms_norm (2 tensors)": (lambda: torch.rms_norm(rows, (width,), gamma, 1e-5), lambda: ridge.rms_norm(rows, gamma), None),
        "layer_norm (3 tensors)": (lambda: torch.layer_norm(rows, (width,), gamma, beta), lambda: ridge.layer_norm(rows, gamma, beta),
                                   None),
        "add into a given output": (lambda: torch.add(x, y, out=z), lambda: ridge.add(x, y, out=z), None),
    }


def per_call(function, wait):
    wait()
    begin = time.perf_counter_ns()
    for _ in range(CALLS):
        function()
    end = time.perf_counter_ns()
    wait()
    return (end - begin) / CALLS / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", help="a file, or - for stdout")
    options = parser.parse_args()
    torch.set_num_threads(1)
    gpu = torch.cuda.is_available()
    wait = torch.cuda.synchronize if gpu else lambda: None
    rows = []
    for name, functions in cases(256 if gpu else 0, "cuda" if gpu else "cpu").items():
        best = [float("inf")] * 3
        for f in filter(None, functions):
            f()  # loads kernels
        for _ in range(options.rounds):
            for i, f in enumerate(functions):
                if f:
                    best[i] = min(best[i], per_call(f, wait))
        rows.append({"operator": name, "torch_us": best[0], "ridge_us": best[1], "ratio": best[1] / best[0],
                     "dispatcher_us": best[2] if functions[2] else None})
    record = {"torch": torch.__version__, "device": ridge.device_name(), "python": sys.version.split()[0], "calls": rows}
    if options.json:
        print(json.dumps(record), file=sys.stdout if options.json == "-" else open(options.json, "w", encoding="utf-8"))
    if options.json != "-":
        print(f"PyTorch {record['torch']}, {record['device']}; microseconds per call")
        for r in rows:
            dispatcher = f"  dispatcher {r['dispatcher_us']:6.2f}" if r["dispatcher_us"] else ""
            print(f"  {r['operator']:26} torch {r['torch_us']:6.2f}  ridge {r['ridge_us']:6.2f}  ratio {r['ratio']:5.2f}{dispatcher}")


if __name__ == "__main__":
    main()
